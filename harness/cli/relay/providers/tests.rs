use super::*;

fn read(set: &[(&str, &str)]) -> Result<Upstreams> {
    Upstreams::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

#[test]
fn only_providers_that_are_called_have_to_be_configured() {
    let upstreams = read(&[("ANTHROPIC_API_KEY", "k"), ("RETAKE_UPSTREAM_OLLAMA", "http://localhost:11434/")]).unwrap();
    assert_eq!(upstreams.of("anthropic").unwrap().to_string(), "https://api.anthropic.com");
    assert_eq!(upstreams.of("ollama").unwrap().to_string(), "http://localhost:11434");
    let missing = "the service called Gemini, but no key is set for it: set GEMINI_API_KEY or RETAKE_UPSTREAM_GEMINI";
    assert_eq!(upstreams.of("gemini").unwrap_err(), missing);
    assert_eq!(upstreams.names(), ["anthropic", "ollama"]);
    assert_eq!(read(&[("OPENAI_API_KEY", "")]).unwrap().names(), [""; 0]);
    assert!(read(&[("RETAKE_UPSTREAM_OPENAI", "host")]).unwrap_err().to_string().contains("is not a URL"));
}

#[test]
fn addresses_are_put_together() {
    let url = |provider: usize, base: &str, path: &str| {
        Upstream { provider, base: base.to_owned(), named_by: None, key: None, signing: None, whole_path: false }
            .url(path)
    };
    assert_eq!(url(0, "https://h/api/v1", "/v1/responses"), "https://h/api/v1/responses");
    assert_eq!(url(0, "https://h", "/v1/chat/completions"), "https://h/chat/completions");
    assert_eq!(url(1, "https://h", "/v1/messages?beta=true"), "https://h/v1/messages?beta=true");
    assert_eq!(url(1, "https://h/v1", "/v1/messages"), "https://h/v1/messages");
    let gemini = url(2, "https://h", "/v1beta/models/m:streamGenerateContent?key=ours&alt=sse");
    assert_eq!(gemini, "https://h/v1beta/models/m:streamGenerateContent?alt=sse");
    assert_eq!(url(2, "https://h/v1beta", "/v1beta/models"), "https://h/v1beta/models");
    let of_url = |base: &str, path: &str| Upstreams::of_url(base).unwrap().of("openai").unwrap().url(path);
    assert_eq!(of_url("https://h/", "/v1/chat/completions"), "https://h/v1/chat/completions");
    assert_eq!(of_url("https://h/api/v1", "/v1/chat/completions"), "https://h/api/v1/chat/completions");
    assert_eq!(of_url("https://h/paas/v4", "/v1/chat/completions"), "https://h/paas/v4/chat/completions");
    assert_eq!(of_url("https://h/v1beta", "/v1beta/models/m:x?key=ours"), "https://h/v1beta/models/m:x");
    assert_eq!(of_url("http://h:1", "/api/chat"), "http://h:1/api/chat");
    assert!(Upstreams::of_url("h:1").is_err() && Upstreams::of_url("").is_err());
}

#[test]
fn a_key_goes_to_its_own_provider_and_to_an_address_that_is_named_for_it() {
    let keys = |base: &str, address: &'static str| {
        let value = move |name: &str| match name {
            "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "AZURE_OPENAI_API_KEY" => Some(name.to_owned()),
            "RETAKE_UPSTREAM_OPENAI" => Some(address.to_owned()),
            _ => None,
        };
        let upstreams = Upstreams::of_base(base, value);
        ["openai", "anthropic", "gemini"].map(|name| upstreams.of(name).unwrap().key.clone().map(|(_, key)| key))
    };
    let (openai, anthropic, azure) = (
        Some("OPENAI_API_KEY".to_owned()),
        Some("ANTHROPIC_API_KEY".to_owned()),
        Some("AZURE_OPENAI_API_KEY".to_owned()),
    );
    assert_eq!(keys("https://api.openai.com/v1", ""), [openai.clone(), None, None]);
    assert_eq!(keys("https://api.anthropic.com", ""), [None, anthropic, None]);
    assert_eq!(keys("https://gateway.example/v1", ""), [None, None, None]);
    assert_eq!(keys("https://gateway.example/v1", "https://gateway.example"), [openai, None, None]);
    assert_eq!(keys("https://team.openai.azure.com/openai", ""), [azure, None, None]);
}

#[test]
fn azure_takes_its_key_as_its_own_clients_send_it() {
    let set = [
        ("RETAKE_UPSTREAM_OPENAI", "https://team.openai.azure.com"),
        ("AZURE_OPENAI_API_KEY", "azure"),
        ("OPENAI_API_KEY", "openai"),
    ];
    let upstreams = read(Box::leak(Box::new(set))).unwrap();
    let upstream = upstreams.of("openai").unwrap();
    let path = "/openai/deployments/small/chat/completions?api-version=1";
    let uri = "https://team.openai.azure.com/openai/deployments/small/chat/completions?api-version=1";
    assert_eq!(upstream.uri(path).unwrap().to_string(), uri);
    assert_eq!(header_of(upstream), Some(("api-key".to_owned(), "azure".to_owned())));
}

/// Returns the header that brings a provider its key.
fn header_of(upstream: &Upstream) -> Option<(String, String)> {
    let (name, value) = upstream.key_header().unwrap()?;
    Some((name.to_string(), value.to_str().unwrap().to_owned()))
}

#[test]
fn keys_are_sent_as_each_provider_takes_them() {
    let upstreams = read(&[("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a"), ("GOOGLE_API_KEY", "g")]).unwrap();
    let header = |name: &str| header_of(upstreams.of(name).unwrap()).unwrap();
    assert_eq!(header("anthropic"), ("x-api-key".to_owned(), "a".to_owned()));
    assert_eq!(header("gemini"), ("x-goog-api-key".to_owned(), "g".to_owned()));
    assert_eq!(header("openai"), ("authorization".to_owned(), "Bearer o".to_owned()));
    // A client of Gemini may have sent the model server's key in the URL.
    let gemini = upstreams.of("gemini").unwrap().uri("/v1beta/models/m:x?key=ours&alt=sse").unwrap();
    assert_eq!(gemini.query(), Some("key=g&alt=sse"));
    assert_eq!(upstreams.of("openai").unwrap().uri("/v1/models?key=ours").unwrap().query(), None);
}

#[test]
fn a_name_and_a_password_in_an_address_are_sent_as_a_browser_sends_them() {
    let upstreams = read(&[("RETAKE_UPSTREAM_OPENAI", "https://team:p%40ss+1@gateway.example/v1")]).unwrap();
    let upstream = upstreams.of("openai").unwrap();
    assert_eq!(upstream.uri("/v1/models").unwrap(), "https://gateway.example/v1/models");
    assert_eq!(header_of(upstream), Some(("authorization".to_owned(), "Basic dGVhbTpwQHNzKzE=".to_owned())));
}

#[test]
fn the_addresses_of_a_users_own_clients_count_after_those_for_recording() {
    let upstreams = read(&[
        ("OPENAI_BASE_URL", "https://team:pass@gateway.example/v1/"),
        ("OPENAI_API_BASE", "https://old.example"),
        ("OPENAI_API_KEY", "o"),
        ("AZURE_OPENAI_ENDPOINT", "https://azure.example"),
        ("ANTHROPIC_BASE_URL", "https://unused.example"),
        ("RETAKE_UPSTREAM_ANTHROPIC", "https://for-recording.example"),
        ("ANTHROPIC_AUTH_TOKEN", "t"),
        ("OLLAMA_HOST", "0.0.0.0"),
    ])
    .unwrap();
    let said = "calls go to OpenAI at https://gateway.example/v1 (OPENAI_BASE_URL), Ollama at http://0.0.0.0:11434 (OLLAMA_HOST)";
    assert_eq!(upstreams.of_clients().as_deref(), Some(said));
    let (openai, anthropic) = (upstreams.of("openai").unwrap(), upstreams.of("anthropic").unwrap());
    assert_eq!(openai.uri("/v1/chat/completions").unwrap(), "https://gateway.example/v1/chat/completions");
    assert_eq!(header_of(openai), Some(("authorization".to_owned(), "Bearer o".to_owned())));
    let unreachable =
        "the provider at https://gateway.example/v1 cannot be reached: why; its address is that of OPENAI_BASE_URL";
    assert_eq!(openai.unreachable("why"), unreachable);
    assert_eq!(anthropic.to_string(), "https://for-recording.example");
    assert_eq!(header_of(anthropic), Some(("authorization".to_owned(), "Bearer t".to_owned())));
    let vertex =
        [("RETAKE_UPSTREAM_GEMINI", "https://eu-aiplatform.googleapis.com"), ("GOOGLE_OAUTH_ACCESS_TOKEN", "g")];
    let vertex = read(&vertex).unwrap();
    assert_eq!(header_of(vertex.of("gemini").unwrap()), Some(("authorization".to_owned(), "Bearer g".to_owned())));
    let azure = read(&[("AZURE_OPENAI_ENDPOINT", "https://azure.example"), ("AZURE_OPENAI_API_KEY", "a")]).unwrap();
    assert_eq!(header_of(azure.of("openai").unwrap()), Some(("api-key".to_owned(), "a".to_owned())));
    assert_eq!(read(&[("OPENAI_API_KEY", "o")]).unwrap().of_clients(), None);
    let wrong = read(&[("ANTHROPIC_BASE_URL", "gateway:80")]).unwrap_err().to_string();
    assert!(wrong.contains("ANTHROPIC_BASE_URL") && wrong.contains("expected `https:` or `http:`"), "{wrong}");
}

#[test]
fn the_address_of_ollama_may_be_short() {
    for (short, url) in [
        ("localhost", "http://localhost:11434"),
        (":80", "http://127.0.0.1:80"),
        ("[::1]", "http://[::1]:11434"),
        ("h:1/base", "http://h:1/base"),
        ("https://h", "https://h"),
    ] {
        assert_eq!(of_ollama(short), url);
    }
}

#[test]
fn bedrock_is_called_in_the_region_that_is_set() {
    let path = "/model/m/converse";
    let of = |set: &[(&str, &str)]| read(set).unwrap().of("bedrock").unwrap().clone();
    let keyed = ("AWS_BEARER_TOKEN_BEDROCK", "b");
    let uri = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse";
    for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
        assert_eq!(of(&[keyed, (name, "eu-west-1")]).uri(path).unwrap(), uri);
    }
    let none = "Bedrock is called in a region, and none is set: set AWS_REGION";
    assert_eq!(of(&[keyed]).uri(path).unwrap_err(), none);
    let gateway = ("RETAKE_UPSTREAM_BEDROCK", "https://gateway.example");
    assert!(of(&[keyed, gateway]).uri(path).is_ok());
    let secret = ("AWS_SECRET_ACCESS_KEY", "s");
    for (set, lacking) in
        [(&[secret][..], "AWS_ACCESS_KEY_ID"), (&[secret, ("AWS_ACCESS_KEY_ID", "i"), gateway], "AWS_REGION")]
    {
        let said = format!("AWS_SECRET_ACCESS_KEY is set, and {lacking} is not");
        assert_eq!(of(set).key_header().unwrap_err(), said);
    }
}

mod editions;
mod encodings;
mod harmless;
mod matrix;
mod samples;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::samples::SAMPLES;
use super::*;
use crate::json::{Json, Layout};
use crate::secrets::forms::{Edition, SECOND, SecretForm};
use crate::secrets::table::FORMS;

fn scrubbed(text: &str) -> (String, Vec<String>) {
    let mut fired = Fired::new();
    let text = Scrub::known().text(text, &mut fired).into_owned();
    (text, fired.into_iter().filter(|name| name != SECOND).collect())
}

fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns a form as it is searched for today.
fn form(name: &str) -> &'static SecretForm {
    FORMS.iter().find(|form| form.name == name && form.is_of(Edition::Second)).unwrap_or_else(|| panic!("{name}"))
}

/// Returns the part of a sample that scrubbing must remove.
fn secret(sample: &(&str, &str, &str)) -> String {
    let whole = format!("{}{}", sample.1, sample.2);
    let found = form(sample.0).find(&whole, Edition::Second);
    assert_eq!(found.len(), 1, "{whole}");
    whole[found[0].clone()].to_owned()
}

#[test]
fn each_form_is_found_alone_and_in_a_text() {
    for form in FORMS.iter().filter(|form| form.is_of(Edition::Second)) {
        assert!(SAMPLES.iter().any(|sample| sample.0 == form.name), "no sample of {}", form.name);
        assert_eq!(
            FORMS
                .iter()
                .filter(|other| other.is_of(Edition::Second))
                .filter(|other| other.name == form.name || other.placeholder() == form.placeholder())
                .count(),
            1
        );
    }
    for sample in SAMPLES {
        let (name, whole, secret) = (sample.0, format!("{}{}", sample.1, sample.2), secret(sample));
        let form = form(name);
        let expected = whole.replace(&secret, form.placeholder());
        for (before, after) in
            [("", ""), ("it is ", ", he said"), ("\"", "\""), ("a\n", "\nb"), ("`", "`."), ("k=", " ")]
        {
            let (text, fired) = scrubbed(&format!("{before}{whole}{after}"));
            assert_eq!(
                (text.as_str(), fired),
                (&*format!("{before}{expected}{after}"), vec![name.to_owned()]),
                "{name}"
            );
            assert_eq!(scrubbed(&text), (text.clone(), vec![]), "{name} a second time");
        }
        // In JSON that is itself a string, like the arguments of tool calls.
        let nested = Json::object([("note", Json::from(format!("first line\n{whole}\nlast").as_str()))]);
        let nested = nested.print(Layout::Compact);
        let (text, fired) = scrubbed(&nested);
        assert_eq!(fired, [name], "{nested}");
        let note = Json::parse(text.as_bytes()).unwrap().str_of("note").unwrap().to_owned();
        assert_eq!(note, format!("first line\n{expected}\nlast"), "{name}");
        // In base64, with both alphabets.
        let url_safe = to_base64(whole.as_bytes()).replace('+', "-").replace('/', "_");
        for encoded in [to_base64(whole.as_bytes()), url_safe] {
            let (text, fired) = scrubbed(&format!("data:text/plain;base64,{encoded} end"));
            assert_eq!(fired, [name], "{name} in base64");
            let inner = text.strip_prefix("data:text/plain;base64,").unwrap().strip_suffix(" end").unwrap();
            let inner = STANDARD.decode(inner.replace('-', "+").replace('_', "/")).unwrap();
            assert_eq!(String::from_utf8(inner).unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    let long = "a".repeat(400);
    for text in [
        "the risk-assessment-of-many-things and task-0123456789abcdefghijklmn",
        "a bearer of good news, a bearer authentication-mechanism, Bearer tokens",
        "http://localhost:8080/path@here and mailto:someone@example.com and https://user@host/",
        "postgres://app:${PASSWORD}@db and postgres://app:***@db and redis://:{password}@host",
        "sk-learn, sk-proj-short, ghp_short, AKIA, hf_hub, npm_config, xoxb-1, SG.a.b, eyJ.eyJ.x",
        "/usr/local/lib/python3.12/site-packages/sklearn/linear_model and 01234567-89ab-cdef-0123-456789abcdef",
        "secret access key: ask your administrator; security token service",
        "-----BEGIN PRIVATE KEY----- is how one begins",
        "call_0123456789abcdefABCDEF chatcmpl-0123456789abcdefABCDEF msg_01XFDUDYJgAACzvnptvVoYEL",
        "dGhpcyBpcyBhIHBsYWluIHRleHQgaW4gYmFzZTY0",
        &long,
        // Names, examples and plain words in the place of a secret.
        "csk-short, disk-0123456789abcdefghijklmn, figd_x, dp.pt.short, ATATT, sntrys_, NRAK-1, PMAK-1, 12345678:AA, bot1:x",
        "version NodeJS.v20.ab.c, My.File.Name and Module-function-of-service.exampl.of-a-dotted-path-that-is-long-enough",
        "OPENAI_API_KEY=<KEY> SERVICE_API_KEY=${SERVICE_API_KEY} X_API_KEY=xxxxxxxxxxxxxxxx1234 api_key=your-api-key-12345678",
        "api_key = os.environ[\"SERVICE_API_KEY\"]; api-key: string, required; api_key: Optional[str] = None",
        "api_key=sk_your_key_here_0123 secret = get_secret_value_from_vault2 and client_secret: my-service-account-2-of-3",
        "max_tokens: 4096, next_page_token=Zq81kLm02nXp47RtvB6, prompt_cache_key: Zq81kLm02nXp47RtvB6, token: Zq81kLm02nXp47Rt",
        "primary key: 9f86d081884c7d659a2feaa0c55ad015, key=9f86d081884c7d659a2feaa0c55ad015, monkey: Zq81kLm02nXp47RtvB6",
        "password=changeme1! password: P@ssw0rd! pwd=/home/me/2024/X password: ******** passwd: ${DB_PASSWORD_1} password=<PW>",
        "password: string, pass: 12345678901, Passwords: 8 characters, one Digit1 or more; pwd: https://A1.b2.c3/x!",
        "Authorization: AWS4-HMAC-SHA256 Credential=…, authorization: required, Authorization: Bearer <token>, authorization: bearer-token-authentication-scheme-2",
        "cookie: theme=dark; lang=en-GB, Cookie: session=<SESSION>, cookie: consent=accepted-all-of-the-cookies-2024",
    ] {
        assert_eq!(scrubbed(text), (text.to_owned(), vec![]));
    }
}

#[test]
fn secrets_are_removed_from_keys_and_from_values_that_only_their_key_identifies() {
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    let text = format!(
        r#"{{"env":[{{"name":"AWS_SECRET_ACCESS_KEY","value":"{secret}"}}],"secretAccessKey":"{secret}","sk-proj-abcdefghijklmnop1234":1,"hash":"{secret}"}}"#
    );
    let (mut json, mut fired) = (Json::parse(text.as_bytes()).unwrap(), Fired::new());
    Scrub::known().json(&mut json, &mut fired);
    let expected = format!(
        r#"{{"<OPENAI_KEY>":1,"env":[{{"name":"AWS_SECRET_ACCESS_KEY","value":"<AWS_SECRET_KEY>"}}],"hash":"{secret}","secretAccessKey":"<AWS_SECRET_KEY>"}}"#
    );
    assert_eq!(json.print(Layout::Compact), expected);
    assert_eq!(fired.into_iter().collect::<Vec<_>>(), ["aws-secret-key", SECOND, "openai-key"]);
}

#[test]
fn the_value_of_a_variable_is_found_in_each_of_its_encodings() {
    let value = "p\"a/s\\s w\u{f6}rd+1";
    let scrub = Scrub::default().with_value("STRIPE", value);
    let mut fired = Fired::new();
    let in_json = Json::from(value).print(Layout::Compact);
    let base64 = to_base64(value.as_bytes());
    let url = "p%22a%2Fs%5Cs%20w%C3%B6rd%2B1";
    for (text, expected) in [
        (value, "<STRIPE>"),
        (&in_json, "\"<STRIPE>\""),
        (&*Json::from(&*in_json).print(Layout::Compact), r#""\"<STRIPE>\"""#),
        (url, "<STRIPE>"),
        ("%3CSTRIPE%3E", "<STRIPE>"),
        (base64.trim_end_matches('='), &to_base64(b"<STRIPE>")),
    ] {
        assert_eq!(scrub.text(text, &mut fired), expected);
    }
    assert_eq!(fired.into_iter().collect::<Vec<_>>(), [SECOND, "env:STRIPE"]);
    let basic = to_base64(format!("user:{value}").as_bytes());
    let same = to_base64(b"user:<STRIPE>");
    assert_eq!(scrub.text(&basic, &mut Fired::new()), same);
}

#[test]
fn a_list_is_read_in_any_order_and_an_unknown_name_is_an_error() {
    let read = |names: &[&str]| Scrub::of_names(names.iter().copied(), |_| Some("s3cr3t-value".to_owned()));
    let scrub = read(&["openai-key", "jwt", "env:STRIPE"]).unwrap();
    let text = "s3cr3t-value sk-proj-abcdefghijklmnop1234 AKIAIOSFODNN7EXAMPLE";
    assert_eq!(scrub.text(text, &mut Fired::new()), "<STRIPE> <OPENAI_KEY> AKIAIOSFODNN7EXAMPLE");
    assert_eq!(scrub.names().iter().collect::<Vec<_>>(), ["env:STRIPE", "jwt", "openai-key"]);
    let error = read(&["open-key"]).unwrap_err();
    assert_eq!(error, "\"open-key\" is not a known form of a secret; did you mean \"openai-key\"?");
}

#[test]
fn variables_that_look_like_secrets_are_found_in_calls() {
    let environment = [
        ("STRIPE", "declared-value"),
        ("DEPLOY_TOKEN", "t0ken-of-a-deploy"),
        ("MY_APIKEY", "k3y-of-something"),
        ("WEBHOOK_SECRET", "=k3y-of-a-hook"),
        ("KEYBOARD", "querty-layout-1"),
        ("SIGNING_KEY_FILE", "/home/me/key.pem"),
        ("API_KEY", "changeme"),
        ("SHORT_KEY", "abc1234"),
        ("HOME", "/home/me-and-more"),
    ];
    let environment = || environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let secrets = Secrets::new(["STRIPE", "UNSET"], environment(), Suspects::default()).unwrap();
    let found = |text: &str| {
        let call = Json::object([("messages", Json::from(vec![Json::from(text)]))]);
        secrets.undeclared_in(&call, "/v1/x").map(str::to_owned)
    };
    assert_eq!(found("use t0ken-of-a-deploy now").as_deref(), Some("DEPLOY_TOKEN"));
    assert_eq!(found("k3y-of-something").as_deref(), Some("MY_APIKEY"));
    for fine in ["declared-value", "querty-layout-1", "/home/me/key.pem", "changeme", "abc1234", "/home/me-and-more"] {
        assert_eq!(found(fine), None, "{fine}");
    }
    assert_eq!(secrets.undeclared_in(&Json::Null, "/hooks/k3y-of-something"), Some("MY_APIKEY"));
    assert_eq!(secrets.undeclared_in(&Json::Null, "/hooks/%3Dk3y-of-a-hook"), Some("WEBHOOK_SECRET"));
    assert_eq!(
        secrets.undeclared_in(&Json::Null, "/hooks/%3CWEBHOOK_SECRET%3E"),
        None,
        "a placeholder is not the value"
    );
    let text = secrets.scrub().text("declared-value t0ken-of-a-deploy", &mut Fired::new()).into_owned();
    assert_eq!(text, "<STRIPE> <DEPLOY_TOKEN>");
    let error = Secrets::new(["SHORT"], [("SHORT".to_owned(), "abc".to_owned())], Suspects::default()).unwrap_err();
    assert_eq!(error, "the value of SHORT has 3 characters: a secret needs at least 6 to be told from other text");
}

/// A rule of `suite.toml` decides what becomes of a text that only stands where secrets do.
#[test]
fn suspected_secrets_are_replaced_unless_a_rule_keeps_them() {
    let text = "password=Tr0ub4dor!3 SERVICE_API_KEY=Zq81kLm02nXp47Rt sk-proj-abcdefghijklmnop1234";
    let of = |password| {
        let suspects = Suspects { password, ..Suspects::default() };
        let secrets = Secrets::new([""; 0], [], suspects).unwrap();
        let mut fired = Fired::new();
        let text = secrets.scrub().text(text, &mut fired).into_owned();
        (text, secrets.scrub().undecided(&fired).into_iter().map(|(name, _)| name).collect::<Vec<_>>())
    };
    let masked = "password=<SUSPECTED_PASSWORD> SERVICE_API_KEY=<SUSPECTED_KEY> <OPENAI_KEY>".to_owned();
    assert_eq!(of(Suspected::Refuse), (masked.clone(), vec!["suspected-password", "suspected-key"]));
    assert_eq!(of(Suspected::Mask), (masked, vec!["suspected-key"]));
    let kept = "password=Tr0ub4dor!3 SERVICE_API_KEY=<SUSPECTED_KEY> <OPENAI_KEY>".to_owned();
    assert_eq!(of(Suspected::Keep), (kept, vec!["suspected-key"]));
}

#[test]
fn values_of_headers_and_settings_are_recognized_by_their_key() {
    let text = r#"{"headers":{"Cookie":"session=Zq81kLm02nXp47RtvB6","X-Api-Key":"Zq81kLm02nXp47RtvB6","X-Id":"Zq81kLm02nXp47RtvB6"},"env":[{"name":"DB_PASSWORD","value":"Tr0ub4dor!3"}],"key":"Zq81kLm02nXp47RtvB6"}"#;
    let mut json = Json::parse(text.as_bytes()).unwrap();
    Scrub::known().json(&mut json, &mut Fired::new());
    let expected = r#"{"env":[{"name":"DB_PASSWORD","value":"<SUSPECTED_PASSWORD>"}],"headers":{"Cookie":"<SUSPECTED_COOKIE>","X-Api-Key":"<SUSPECTED_KEY>","X-Id":"Zq81kLm02nXp47RtvB6"},"key":"Zq81kLm02nXp47RtvB6"}"#;
    assert_eq!(json.print(Layout::Compact), expected);
}

#[test]
fn more_names_of_variables_mark_a_secret() {
    for name in ["SESSION_COOKIE", "DATABASE_URI", "SENTRY_DSN", "MY_PRIVATE", "PASSWORD_SALT", "SLACK_WEBHOOK"] {
        for (value, secret) in [
            ("https://user:pw@host/1", true),
            ("https://host/hooks/Zq81kLm02nXp47RtvB6", true),
            ("just-some-value", true),
            ("http://localhost:3000/callback", false),
        ] {
            let secrets = Secrets::new([""; 0], [(name.to_owned(), value.to_owned())], Suspects::default()).unwrap();
            let found = secrets.undeclared_in(&Json::from(value), "/v1/x");
            assert_eq!(found, secret.then_some(name), "{name}={value}");
        }
    }
}

/// A stream may break off, or an answer reach its limit, in the middle of a secret.
#[test]
fn most_of_a_value_at_the_end_of_a_text_is_removed_too() {
    let scrub = Scrub::default().with_value("STRIPE", "cust0mer-zebra-quartz");
    let text = |text: &str| scrub.text(text, &mut Fired::new()).into_owned();
    for end in ["cust0mer-zebra-quartz", "cust0mer-zebra-quart", "cust0mer-zebra-", "cust0mer%2Dzebra%2Dq"] {
        assert_eq!(text(&format!("it is {end}")), "it is <STRIPE>", "{end}");
    }
    for fine in ["it is cust0mer", "it is cust0mer-zebra-quar, I think", "zebra-quartz"] {
        assert_eq!(text(fine), fine);
    }
}

//! Texts that look a little like secrets and are none: none of them is changed.

use super::*;

const HARMLESS: [&str; 56] = [
    "http://localhost:3000?email=ann@example.com",
    "http://127.0.0.1:8080#mail=ann@example.com",
    "from transformers import 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",
    "hf_Llama2ForCausalLMWithValueHead",
    "npm_configRegistryDefaultUrlTimeoutMs=30000",
    "sk-SlovakRepublicBratislava2024",
    "sk-LearnPreprocessingStandardScaler",
    "https://api.example.com/a?signature=required-for-all",
    "https://api.example.com/a?access_token=your_access_token_goes_here",
    "cookie: visitor_id=Zq81kLm02nXp47RtvB6; theme=dark",
    "set-cookie: _ga_device=GA1.2.1234567890.1700000000; Path=/",
    "gsk_ReleaseNotesForVersionTwentyFour",
    "https://app.example.com/back?code=authorization_code&state=start",
    "https://app.example.com/?token=<TOKEN>&auth=basic-authentication",
    "next_page_token=Zq81kLm02nXp47RtvB6",
    "docker run -u 1000:1000 -p 8080:80 --name web nginx",
    "docker run --user www-data:www-data image",
    "curl -u \"$USER:$PASSWORD\" https://a.example.com",
    "curl -u user:password https://a.example.com",
    "mkdir -p build/output && cp -p a b",
    "mysql -u root -p app < dump.sql",
    "psql --password --host db",
    "tool --token $TOKEN --api-key ${API_KEY} --secret <SECRET>",
    "{\"auth\": \"required\", \"auths\": {}}",
    "{\"auth\": \"none\"} auth: enabled auth=true",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "machine learning login page password reset",
    "machine HOST login USER password <PASSWORD>",
    "git clone https://github.com/example/a-rather-long-repository-name.git",
    "https://documentation-of-things@example.com/",
    "A PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\n\u{2026}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n<your key here>\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----",
    "if key.startswith(\"-----BEGIN PRIVATE KEY-----\"):\n    return load_pem_private_key(key.encode(), password=None)",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx3vQ\n-----END PUBLIC KEY-----",
    "PuTTY-User-Key-File-2: is how the first line begins",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\nparent 2c26b46b68ffc68ff99b453c1d30413413422d70",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "\"integrity\": \"sha512-Zq81kLm02nXp47RtvB6q8Zkq1sYt5mT0wZq81kLm02nXp47RtvB6q8Zkq1sYt5mT0wAA==\"",
    "dGhpcyBpcyBhIHBsYWluIHRleHQgaW4gYmFzZTY0LCB3aGljaCBpcyBi\ncm9rZW4gaW50byBsaW5lcyBhbmQgaGFzIG5vdGhpbmcgaW4gaXQ=\nThanks, Ann",
    "SkeletonComponent SKU0000000000000000000000000000000 SK8",
    "API-REFERENCE-OF-THE-SERVICE and API-KEYS",
    "pa-ragraph, fc-dimension, ak_parameter_of_the_request, re_compile_pattern_of_the_module",
    "{\"kty\": \"EC\", \"crv\": \"P-256\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\"}",
    "this.props.children and is.defineProperty, s.replaceAll",
    "kind: ConfigMap\ndata:\n  greeting: hello-there-everybody",
    "kind: Secret\nmetadata:\n  name: database",
    "x = 5 | 3; 12345678901234|5",
    "EAAAccessibilityApiAutomation",
    "1 + 1 = 2, a+b+c 50% off, C++",
    "key-value-store key-1234567890abcdef glacier-storage",
    "sentry: dt0c01 pat.example.com SG.Report pul-request ico-nography",
    "_password_reset and _auth_middleware = require_authentication",
];

#[test]
fn no_harmless_text_is_changed() {
    for text in HARMLESS {
        assert_eq!(scrubbed(text), (text.to_owned(), vec![]));
        let in_json = Json::from(text).print(Layout::Compact);
        assert_eq!(scrubbed(&in_json), (in_json.clone(), vec![]));
        let encoded = to_base64(format!("it says: {text} (end)").as_bytes());
        assert_eq!(scrubbed(&encoded), (encoded.clone(), vec![]));
    }
    let all = HARMLESS.join("\n\n");
    assert_eq!(scrubbed(&all), (all.clone(), vec![]));
}

#[test]
fn the_beginning_of_a_key_in_a_picture_is_none() {
    let bytes =
        |from: u8, length: u8| (0..length).map(|at| at.wrapping_mul(at).wrapping_mul(31) ^ from).collect::<Vec<_>>();
    let picture = |middle: &str| {
        let [before, after] = [bytes(7, 90), bytes(99, 60)].map(|bytes| to_base64(&bytes).replace(['+', '/'], "x"));
        format!("{before}{middle}{after}")
    };
    for (middle, form) in [("+BSA", "brave-key"), ("wZ1/ABSKmZx3", "bedrock-key"), ("a8r/EAAAq8Z1", "square-token")] {
        let text = picture(middle);
        for text in [format!("data:image/png;base64,{text}"), format!(r#"{{"signature": "{text}"}}"#), text.clone()] {
            assert_eq!(scrubbed(&text), (text.clone(), vec![]));
        }
        // Not base64, since nothing has this length; and a path, which may well have it.
        assert_eq!(scrubbed(&format!("{text}x")).1, [form]);
        let key = &text[text.find(['+', '/']).unwrap() + 1..];
        for at in 0..4 {
            let path = format!("{}/accounts/of/customers/in/regions/keys/of/the/service/", "region".repeat(at + 1));
            assert_eq!(scrubbed(&format!("{path}{}", &key[..key.len() - at])).1, [form], "{path}");
        }
    }
}

#[test]
fn a_first_line_without_a_key_is_a_suspect() {
    let first = format!("-----BEGIN {}", "PRIVATE KEY-----");
    let narrow = format!("{first}\nMII4 kLm0 2nXp 47Rt vB6q Zq81 kLm0 2nXp 47Rt vB6q q8Zk q1sY t5mT 0wxq\n\nand more");
    let (text, fired) = scrubbed(&narrow);
    assert_eq!((&*text, fired), ("<SUSPECTED_PRIVATE_KEY>\n\nand more", vec!["suspected-private-key".to_owned()]));
    let keep = Suspects { private_key: Suspected::Keep, ..Suspects::default() };
    let secrets = Secrets::new([""; 0], [], keep).unwrap();
    assert_eq!(secrets.scrub().text(&narrow, &mut Fired::new()), narrow);
}

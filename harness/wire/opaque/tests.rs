use super::*;
use retake_core::key::Rules;

fn hash(path: &str, body: &[u8]) -> String {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(decode(path.into(), &request_body(body)).into_messages())).to_string()
}

#[test]
fn only_path_and_body_count() {
    let first = hash("/v1/embeddings", br#"{"model": "m", "input": "a"}"#);
    assert_eq!(first, hash("/v1/embeddings?api-version=1", br#"{"input":"a","model":"m"}"#));
    assert_ne!(first, hash("/v1/embeddings", br#"{"model": "m", "input": "b"}"#));
    assert_ne!(first, hash("/v1/rerank", br#"{"model": "m", "input": "a"}"#));
    assert_ne!(hash("/a", b""), hash("/b", b""));
    let of_day = |day: &str| hash("/v1/embeddings", format!(r#"{{"input": "on {day}"}}"#).as_bytes());
    assert_eq!(of_day("2025-01-01"), of_day("2026-02-03"));
}

#[test]
fn method_and_query_count_except_in_posts() {
    let hash = |method, path| {
        let rules = Rules::default();
        rules
            .conversation_hash(&rules.canonical(decode(Target { method, path }, &Json::Null).into_messages()))
            .to_string()
    };
    assert_ne!(hash("GET", "/v1/files"), hash("DELETE", "/v1/files"));
    assert_ne!(hash("GET", "/v1/files?after=a"), hash("GET", "/v1/files?after=b"));
    assert_eq!(hash("GET", "/v1/files?limit=1&after=a&key=k"), hash("GET", "/v1/files?after=a&limit=1"));
}

#[test]
fn a_body_that_is_not_json_is_text_or_base64() {
    assert_eq!(request_body(b""), Json::Null);
    assert_eq!(request_body(b"a=b"), "a=b".into());
    assert_eq!(request_body(&[0xff, 0]), Json::object([("base64", "/wA=".into())]));
    assert_eq!(from_base64("/wA="), Some(vec![0xff, 0]));
    assert_eq!(request_body(b"null"), "null".into());
    assert_ne!(hash("/a", b"null"), hash("/a", b""));
}

#[test]
fn each_field_of_an_upload_counts_by_itself() {
    let form = |line: &str, file: &str, bytes: &[u8]| {
        let head = format!("--{line}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{file}\"\r\n\r\n");
        [head.as_bytes(), bytes, format!("\r\n--{line}--\r\n").as_bytes()].concat()
    };
    let id = "/3f2504e0-4f89-41d3-9a0c-0305e82c3301.png";
    let of = |line: &str, file: &str, bytes: &[u8]| hash("/v1/files", &form(line, file, bytes));
    let first = of("a1b2c3d4", id, &[0xff, 0]);
    assert_eq!(first, of("0f9e8d7c", &id.replace('3', "4"), &[0xff, 0]), "boundary and id are random");
    assert_ne!(first, of("a1b2c3d4", "b.png", &[0xff, 0]));
    assert_ne!(first, of("a1b2c3d4", id, &[0xff, 1]));
    let text = "seen at 2025-01-01T10:00:00Z";
    assert_eq!(of("a", "a", text.as_bytes()), of("a", "a", text.replace("01", "02").as_bytes()));
    // As recordings before 0.3 have them.
    let before = |line| request_body_before(&form(line, "a", b"1"));
    let expected = String::from_utf8(form("boundary", "a", b"1")).unwrap();
    assert_eq!((before("a1b2c3d4"), request_body_before(b"a=b")), (Some(expected.into()), None));
    assert_eq!(request_body_before(b" null"), Some(Json::Null));
}

#[test]
fn a_request_to_count_tokens_has_a_conversation_and_checks() {
    let asked = |api: &str, prompt: &str, said: &str| {
        let (path, body) = match api {
            "anthropic" => (
                "/v1/messages/count_tokens",
                format!(
                    r#"{{"model": "m", "system": "{prompt}", "messages": [{{"role": "user", "content": "{said}"}}]}}"#
                ),
            ),
            "gemini" => (
                "/v1beta/models/m:countTokens",
                format!(
                    r#"{{"generateContentRequest": {{"systemInstruction": {{"parts": [{{"text": "{prompt}"}}]}},
                        "contents": [{{"role": "user", "parts": [{{"text": "{said}"}}]}}]}}}}"#
                ),
            ),
            _ => (
                "/v1/responses/input_tokens",
                format!(r#"{{"model": "m", "instructions": "{prompt}", "input": "{said}"}}"#),
            ),
        };
        let body = Json::parse(body.as_bytes()).unwrap();
        decode(Target { method: "POST", path }, &body)
    };
    for api in ["anthropic", "gemini", "openai"] {
        let (one, edited, other) =
            (asked(api, "Be kind.", "hi"), asked(api, "Be brief.", "hi"), asked(api, "Be kind.", "bye"));
        assert_eq!(one.messages, edited.messages, "{api}");
        assert_ne!(one.messages, other.messages, "{api}");
        assert_eq!((one.system.as_str(), edited.system.as_str()), ("Be kind.", "Be brief."), "{api}");
        assert_eq!(one.api, Api::Opaque);
    }
}

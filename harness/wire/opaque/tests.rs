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
    let form = |line: &str| format!("--{line}\r\nContent-Type: x\r\n\r\n1\r\n--{line}--\r\n");
    assert_eq!(request_body(form("a1b2c3d4").as_bytes()), request_body(form("0f9e8d7c").as_bytes()));
    assert_eq!(request_body(form("a1b2c3d4").as_bytes()), form("boundary").into());
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

use super::*;
use retake_wire::{Api, Known, Target};

fn session(by: &str, headers: &[(&'static str, &str)], body: &str) -> Option<String> {
    let json = Json::parse(body.as_bytes()).unwrap();
    let target = Target { method: "POST", path: "/v1/chat/completions" };
    let call = retake_wire::decode(Api::OpenAiChat, target, &json, &Known::default()).unwrap();
    let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
    by.parse::<SessionBy>().unwrap().of(&headers.collect(), &call, &json)
}

const HELLO: &str = r#"{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "Hello"}], "user": "u-1", "n": 1, "metadata": {"session": ""}}"#;

#[test]
fn a_header_or_a_value_of_the_body_names_the_session() {
    assert_eq!(session("header:X-Session-Id", &[("x-session-id", "a b")], HELLO), Some("a b".to_owned()));
    assert_eq!(session("header:x-session-id", &[], HELLO), None);
    assert_eq!(session("header:x-session-id", &[("x-session-id", "")], HELLO), None);
    assert_eq!(session("json:/user", &[], HELLO), Some("u-1".to_owned()));
    assert_eq!(session("json:/n", &[], HELLO), Some("1".to_owned()));
    assert_eq!(session("json:/metadata/session", &[], HELLO), None);
    assert_eq!(session("json:/metadata/none", &[], HELLO), None);
}

#[test]
fn the_first_message_names_the_session_whatever_follows_it() {
    let first = session("first-message", &[], HELLO).unwrap();
    let later = r#"{"messages": [{"role": "system", "content": "another"}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "More"}]}"#;
    assert_eq!(session("first-message", &[], later), Some(first.clone()));
    let other = HELLO.replace("Hello", "Hello, I am user 17");
    assert_ne!(session("first-message", &[], &other), Some(first));
    assert_eq!(session("first-message", &[], r#"{"messages": [{"role": "system", "content": "s"}]}"#), None);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (text, says) in [
        ("", "`` is unknown: write header:NAME"),
        ("x-session-id", "`x-session-id` is unknown: write header:NAME, json:/POINTER or first-message"),
        ("header:", "`` is not the name of a header"),
        ("header:a b", "`a b` is not the name of a header"),
        ("json:user", "`user` is not a JSON pointer, which begins with /"),
    ] {
        let said = text.parse::<SessionBy>().unwrap_err();
        assert!(said.contains(says), "{text}: {said}");
    }
}

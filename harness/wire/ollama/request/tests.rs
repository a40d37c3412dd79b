use super::*;

fn decode(body: &Json) -> Result<Call, WireError> {
    READER.decode("", body)
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_typical_agent_request_is_decoded() {
    let call = decode(&json(
        r#"{"model": "llama3.2", "options": {"seed": 1}, "keep_alive": 5, "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "a", "images": ["eA=="]},
                {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [
                    {"function": {"name": "f", "arguments": {"x": 1}}}, {"function": {"name": "g", "arguments": {}}}]},
                {"role": "tool", "content": "b"},
                {"role": "tool", "content": "c", "tool_name": "g"}]}"#,
    ))
    .unwrap();
    assert!(call.stream, "Ollama streams by default");
    assert_eq!((call.model.as_str(), call.system.as_str()), ("llama3.2", "Be brief."));
    assert_eq!(call.settings, json(r#"{"options": {"seed": 1}}"#));
    assert_eq!(call.messages[1].content, json(r#"[{"text": "a"}, {"images": ["eA=="]}]"#));
    let names: Vec<_> = call.messages[2].tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["f", "g"]);
    let result = |name: &str, text: &str| Message { name: Some(name.into()), ..Message::new("tool", text) };
    assert_eq!(call.messages[3..], [result("f", "b"), result("g", "c")].map(Shared::from));
}

#[test]
fn the_stream_can_be_declined() {
    let call = decode(&json(r#"{"messages": [{"role": "user"}], "stream": false}"#)).unwrap();
    assert!(!call.stream);
}

#[test]
fn an_invalid_request_is_an_error_that_names_the_field() {
    let cases = [
        (r#"{"messages": [{}]}"#, "messages[0].role: expected a string, found nothing"),
        (
            r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}"#,
            "messages[0].tool_calls[0].function.name: expected a string, found nothing",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(decode(&json(body)).unwrap_err().message, message, "{body}");
    }
}

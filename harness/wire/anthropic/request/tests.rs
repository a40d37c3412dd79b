use super::*;
use retake_core::conversation::ToolCall;

fn decode(body: &Json) -> Result<Call, WireError> {
    READER.decode("", body)
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn messages(text: &str) -> Vec<Message> {
    decode(&json(&format!(r#"{{"messages": {text}}}"#))).unwrap().into_messages()
}

#[test]
fn a_typical_agent_request_is_decoded() {
    let call = decode(&json(
        r#"{
                "model": "claude-sonnet-4-5", "max_tokens": 100, "stream": true,
                "metadata": {"user_id": "u1", "caller": "subagent:x"},
                "tools": [{"name": "get_capital", "input_schema": {}}],
                "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief.", "cache_control": {}}],
                "messages": [
                    {"role": "user", "content": "Capital of the UK?"},
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "Hm", "signature": "x"},
                        {"type": "text", "text": "Let me "}, {"type": "text", "text": "see."},
                        {"type": "tool_use", "id": "toolu_1", "name": "get_capital", "input": {"country": "UK"}}]},
                    {"role": "user", "content": [
                        {"type": "text", "text": "And "},
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                            {"type": "text", "text": "London"}]},
                        {"type": "text", "text": "now?", "cache_control": {"type": "ephemeral"}}]}
                ]
            }"#,
    ))
    .unwrap();
    assert_eq!((call.model.as_str(), call.system.as_str()), ("claude-sonnet-4-5", "Be brief."));
    assert_eq!(call.caller.as_deref(), Some("subagent:x"));
    assert!(call.stream);
    assert_eq!(call.settings, json(r#"{"max_tokens": 100}"#));
    let args = json(r#"{"country": "UK"}"#);
    let made = ToolCall { id: "toolu_1".into(), name: "get_capital".into(), args };
    let result = Message {
        name: Some("get_capital".into()),
        tool_call_id: Some("toolu_1".into()),
        extra: json(r#"{"content": {"2": {"cache_control": {"type": "ephemeral"}}}}"#),
        ..Message::new("tool", "London")
    };
    assert_eq!(
        call.messages[1..],
        [
            Message::new("human", "Capital of the UK?"),
            Message { tool_calls: vec![made], ..Message::new("ai", "Let me see.") },
            result,
            Message::new("human", "And now?"),
        ]
        .map(Shared::from)
    );
}

#[test]
fn other_blocks_stay_json() {
    let search = r#"{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}"#;
    let found = messages(&format!(
        r#"[{{"role": "assistant", "content": [{search}, {{"type": "redacted_thinking", "data": "x"}},
                {{"type": "text", "text": "a"}}, {{"type": "text", "text": ""}}]}}]"#
    ));
    let text = json(r#"{"type": "text", "text": "a"}"#);
    assert_eq!(found[0].content, Json::Array(vec![json(search), text]));
}

#[test]
fn a_result_may_be_empty_or_answer_an_unknown_call() {
    let found = messages(
        r#"[{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": true}]},
                {"role": "user"}, {"role": "system", "content": [{"type": "tool_addition"}]}]"#,
    );
    assert_eq!(found[0], Message { tool_call_id: Some("a".into()), failed: true, ..Message::new("tool", "") });
    assert_eq!(found[1], Message::new("human", ""));
    assert_eq!(found[2].kind, "system");
}

#[test]
fn an_invalid_request_is_an_error_that_names_the_field() {
    let cases = [
        ("{}", "messages: expected an array, found nothing"),
        (
            r#"{"messages": [{"role": "user", "content": 1}]}"#,
            "messages[0].content: expected a string or an array, found number",
        ),
        (r#"{"messages": [{"role": "user"}], "system": {}}"#, "system: expected a string or an array, found object"),
        (
            r#"{"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]}"#,
            "messages[0].content[0].name: expected a string, found nothing",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(decode(&json(body)).unwrap_err().message, message, "{body}");
    }
}

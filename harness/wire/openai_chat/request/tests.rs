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
                "model": "gpt-4o", "temperature": 0.5, "tool_choice": "auto", "user": "u1", "stream": true,
                "stream_options": {"include_usage": true}, "metadata": {"caller": "middleware:title", "run": "1"},
                "tools": [{"type": "function", "function": {"name": "get_capital", "parameters": {}}}],
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "developer", "content": [
                        {"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}]},
                    {"role": "user", "content": "Capital of the UK?", "name": "ann"},
                    {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
                        "function": {"name": "get_capital", "arguments": "{\"country\":\"UK\"}"}}]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "London"}
                ]
            }"#,
    ))
    .unwrap();
    assert_eq!(call.model, "gpt-4o");
    assert_eq!(call.system, "Be brief.\n\nBe kind.");
    assert_eq!(call.caller.as_deref(), Some("middleware:title"));
    assert_eq!(call.metadata, Some(json(r#"{"caller": "middleware:title", "run": "1"}"#)));
    assert!(call.stream && call.include_usage);
    assert_eq!(call.tools.pointer("/0/function/name"), Some(&"get_capital".into()));
    assert_eq!(call.settings, json(r#"{"temperature": 0.5, "tool_choice": "auto"}"#));
    let expected = ToolCall { id: "call_1".into(), name: "get_capital".into(), args: json(r#"{"country": "UK"}"#) };
    let kinds: Vec<_> = call.messages.iter().map(|m| m.kind.as_str()).collect();
    assert_eq!(kinds, ["system", "system", "human", "ai", "tool"]);
    assert_eq!(call.messages[2].name.as_deref(), Some("ann"));
    assert_eq!(*call.messages[3], Message { tool_calls: vec![expected], ..Message::new("ai", "") });
    let named = Message { name: Some("get_capital".into()), ..Message::new("tool", "London") };
    assert_eq!(*call.messages[4], Message { tool_call_id: Some("call_1".into()), ..named });
}

#[test]
fn a_message_that_says_nothing_is_told_beside_the_call() {
    let extra = |said: &str| {
        decode(&json(&format!(r#"{{"messages": [{{"role": "user", "content": "Hi"}}, {said}]}}"#))).unwrap().extra
    };
    let empty = json(r#"{"messages": {"1": {"empty": true}}}"#);
    for said in [
        r#"{"role": "assistant", "content": ""}"#,
        r#"{"role": "assistant", "content": null}"#,
        r#"{"role": "user", "content": " \n"}"#,
    ] {
        assert_eq!(extra(said), empty, "{said}");
    }
    for said in [
        r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}"#,
        r#"{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}"#,
        r#"{"role": "tool", "tool_call_id": "c", "content": ""}"#,
    ] {
        assert_eq!(extra(said), json("{}"), "{said}");
    }
}

#[test]
fn a_minimal_request_is_decoded() {
    let call = decode(&json(r#"{"messages": [{"role": "critic"}], "metadata": null, "stream": null}"#)).unwrap();
    assert_eq!(call.messages, [Message::new("critic", "").into()]);
    assert_eq!((call.tools, call.settings), (Json::Null, json("{}")));
    assert_eq!((call.model.as_str(), call.caller, call.metadata), ("", None, None));
    assert!(!call.stream && !call.include_usage);
}

#[test]
fn arguments_that_are_json_are_parsed() {
    let cases = [
        (r#""arguments": "{\"a\": 1}""#, r#"{"a": 1}"#),
        (r#""arguments": {"a": 1}"#, r#"{"a": 1}"#),
        (r#""arguments": """#, "{}"),
        (r#""arguments": null"#, "{}"),
        (r#""x": 0"#, "{}"),
        (r#""arguments": "{\"a\": ""#, r#""{\"a\": ""#),
    ];
    for (sent, args) in cases {
        let sent = format!(r#"[{{"role": "assistant", "tool_calls": [{{"function": {{"name": "f", {sent}}}}}]}}]"#);
        assert_eq!(messages(&sent)[0].tool_calls[0].args, json(args), "{sent}");
    }
}

#[test]
fn legacy_functions_are_tools() {
    let found = messages(
        r#"[{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}, "content": null},
                {"role": "function", "name": "f", "content": "1"}]"#,
    );
    assert_eq!(found[0].tool_calls, [ToolCall { id: String::new(), name: "f".into(), args: json("{}") }]);
    assert_eq!((found[1].kind.as_str(), found[1].name.as_deref()), ("tool", Some("f")));
    let body = json(r#"{"messages": [{"role": "user"}], "functions": [{"name": "f"}], "function_call": "auto"}"#);
    let call = decode(&body).unwrap();
    assert_eq!((call.tools, call.settings), (json(r#"[{"name": "f"}]"#), json(r#"{"function_call": "auto"}"#)));
}

#[test]
fn custom_tools_take_text() {
    let custom = r#"{"id": "c", "type": "custom", "custom": {"name": "shell", "input": "{}"}}"#;
    let found = messages(&format!(r#"[{{"role": "assistant", "tool_calls": [{custom}]}}]"#));
    assert_eq!(found[0].tool_calls, [ToolCall { id: "c".into(), name: "shell".into(), args: "{}".into() }]);
}

#[test]
fn a_tool_result_gets_the_name_of_the_last_call_with_its_id() {
    let call = |name: &str| {
        format!(r#"{{"role": "assistant", "tool_calls": [{{"id": "0", "function": {{"name": "{name}"}}}}]}}"#)
    };
    let found = messages(&format!(
        r#"[{}, {}, {{"role": "tool", "tool_call_id": "0"}}, {{"role": "tool", "tool_call_id": "0", "name": "own"}},
                {{"role": "tool", "tool_call_id": "1"}}, {{"role": "user", "tool_call_id": "0"}}]"#,
        call("first"),
        call("second")
    ));
    let names: Vec<_> = found[2..].iter().map(|m| m.name.as_deref()).collect();
    assert_eq!(names, [Some("second"), Some("own"), None, None]);
}

#[test]
fn reasoning_is_dropped_and_other_parts_are_kept() {
    let parts = r#"[{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"},
                        {"type": "image_url", "image_url": {"url": "data:"}}]"#;
    let found =
        messages(&format!(r#"[{{"role": "user", "content": {parts}}}, {{"role": "assistant", "content": {parts}}}]"#));
    assert_eq!(found[0].content, json(parts));
    assert_eq!(found[1].content.as_array(), json(parts).as_array().map(|parts| &parts[1..]));
}

#[test]
fn errors_name_the_field_and_what_was_expected_and_found() {
    let cases = [
        ("[]", "the request: expected an object, found array"),
        ("{}", "messages: expected an array, found nothing"),
        (r#"{"messages": "hi"}"#, "messages: expected an array, found string"),
        (r#"{"messages": []}"#, "messages: expected at least one message, found none"),
        (r#"{"messages": [1]}"#, "messages[0]: expected an object, found number"),
        (r#"{"messages": [{}]}"#, "messages[0].role: expected a string, found nothing"),
        (
            r#"{"messages": [{"role": "user", "content": 1}]}"#,
            "messages[0].content: expected a string or an array, found number",
        ),
        (
            r#"{"messages": [{"role": "user"}, {"role": "assistant", "tool_calls": [{"function": {"name": 1}}]}]}"#,
            "messages[1].tool_calls[0].function.name: expected a string, found number",
        ),
        (
            r#"{"messages": [{"role": "assistant", "tool_calls": [{"type": "function"}]}]}"#,
            "messages[0].tool_calls[0].function: expected an object, found nothing",
        ),
        (
            r#"{"messages": [{"role": "assistant", "tool_calls": {}}]}"#,
            "messages[0].tool_calls: expected an array, found object",
        ),
        (
            r#"{"messages": [{"role": "user"}], "stream_options": {"include_usage": "yes"}}"#,
            "stream_options.include_usage: expected a boolean, found string",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(decode(&json(body)).unwrap_err().message, message, "{body}");
    }
}

#[test]
fn a_caller_in_the_metadata_that_is_not_a_string_is_ignored() {
    for caller in ["7", "null", "[]", r#"{"name": "a"}"#] {
        let text = format!(r#"{{"messages": [{{"role": "user"}}], "metadata": {{"caller": {caller}, "run": "1"}}}}"#);
        let call = decode(&json(&text)).unwrap();
        assert_eq!(call.caller, None, "{caller}");
        assert!(call.metadata.is_some_and(|data| data.str_of("run") == Some("1")), "{caller}");
    }
}

use super::*;
use crate::{Response, Target};

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn call(text: &str) -> Call {
    decode(&json(text), &Known::default()).unwrap()
}

#[test]
fn adjacent_items_of_the_assistant_are_one_message() {
    let call = call(
        r#"{"model": "gpt-5", "instructions": "Be brief.", "stream": true, "store": false, "user": "u",
                "tools": [{"type": "function", "name": "f"}], "metadata": {"caller": "x"},
                "input": [
                    {"role": "developer", "content": "Be kind."},
                    {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {"type": "message", "role": "assistant", "id": "msg_1", "content": [
                        {"type": "output_text", "text": "c", "annotations": []}]},
                    {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"x\":1}"},
                    {"type": "function_call", "call_id": "call_2", "name": "g", "arguments": ""},
                    {"type": "function_call_output", "call_id": "call_1", "output": "d"},
                    {"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "e"}]},
                    {"type": "reasoning", "id": "rs_2", "summary": []},
                    {"role": "user", "content": "f"}
                ]}"#,
    );
    assert_eq!((call.system.as_str(), call.caller.as_deref()), ("Be brief.\n\nBe kind.", Some("x")));
    assert_eq!(call.settings, json(r#"{"store": false}"#));
    let made = |id: &str, name: &str, args: &str| ToolCall { id: id.into(), name: name.into(), args: json(args) };
    let result = |id: &str, name: &str, text: &str| Message {
        name: Some(name.into()),
        tool_call_id: Some(id.into()),
        ..Message::new("tool", text)
    };
    let tool_calls = vec![made("call_1", "f", r#"{"x": 1}"#), made("call_2", "g", "{}")];
    assert_eq!(
        call.messages[2..],
        [
            Message::new("human", "ab"),
            Message { tool_calls, ..Message::new("ai", "c") },
            result("call_1", "f", "d"),
            result("call_2", "g", "e"),
            Message::new("human", "f"),
        ]
        .map(Shared::from)
    );
}

#[test]
fn other_items_stay_json() {
    let search = r#"{"type": "web_search_call", "id": "ws_1", "status": "completed"}"#;
    let shell = r#"{"type": "local_shell_call_output", "id": "x", "output": "y"}"#;
    let found = call(&format!(
        r#"{{"input": [{search}, {{"role": "assistant", "content": "a"}}, {shell},
                {{"type": "additional_tools", "role": "developer", "tools": []}}]}}"#
    ));
    let text = text_block(&"a".into());
    assert_eq!(found.messages[0].content, Json::Array(vec![json(search), text]));
    let shell = Message { content: Json::Array(vec![json(shell)]), ..Message::new("tool", "") };
    assert_eq!(*found.messages[1], shell);
    assert_eq!(found.messages[2].kind, "system");
}

#[test]
fn requests_can_refer_to_what_was_served() {
    let mut known = Known::default();
    let first = json(r#"{"input": "hi"}"#);
    let output = r#"{"id": "resp_1", "output": [{"type": "message", "id": "msg_1", "role": "assistant", "content": [
            {"type": "output_text", "text": "hello"}]}, {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f"}]}"#;
    known.learn(Api::OpenAiResponses, "/v1/responses", &first, &Response::json(200, json(output)));
    let result = r#"{"type": "function_call_output", "call_id": "c", "output": "1"}"#;
    let second = json(&format!(r#"{{"previous_response_id": "resp_1", "input": [{result}]}}"#));
    let whole = json(&format!(
        r#"{{"input": [{{"role": "user", "content": "hi"}}, {{"type": "item_reference", "id": "msg_1"}},
                {{"type": "item_reference", "id": "fc_1"}}, {result}]}}"#
    ));
    let messages = decode(&second, &known).unwrap().messages;
    assert_eq!(messages, decode(&whole, &known).unwrap().messages);
    let kinds: Vec<_> = messages.iter().map(|m| m.kind.as_str()).collect();
    assert_eq!(kinds, ["human", "ai", "tool"]);
    assert_eq!((messages[1].content.as_str(), messages[2].name.as_deref()), (Some("hello"), Some("f")));

    known.learn(
        Api::OpenAiResponses,
        "/v1/responses",
        &second,
        &Response::json(200, json(r#"{"id": "resp_2", "output": []}"#)),
    );
    let third = json(r#"{"previous_response_id": "resp_2", "input": "and?"}"#);
    assert_eq!(decode(&third, &known).unwrap().messages[..3], messages[..]);
}

/// Lets `known` learn from a request and its answer.
fn learn(known: &mut Known, method: &str, path: &str, request: &str, answer: &str) {
    let target = Target { method, path };
    let request = if request.is_empty() { Json::Null } else { json(request) };
    let api = target.api().map_or(Api::Opaque, |api| api.of_body(&request));
    known.learn(api, target, &request, &Response::json(200, json(answer)));
}

const SAID: &str = r#"[{"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}]"#;

#[test]
fn a_stored_conversation_contains_what_was_added_to_it() {
    let mut known = Known::default();
    let item = |text: &str| format!(r#"{{"role": "user", "content": "{text}"}}"#);
    let made = format!(r#"{{"items": [{}]}}"#, item("my name is Ada"));
    learn(&mut known, "POST", "/v1/conversations", &made, r#"{"id": "conv_1", "object": "conversation"}"#);
    learn(
        &mut known,
        "POST",
        "/v1/conversations/conv_1/items",
        &format!(r#"{{"items": [{}]}}"#, item("be kind")),
        r#"{"object": "list"}"#,
    );
    let answer = format!(r#"{{"id": "resp_1", "output": {SAID}}}"#);
    learn(&mut known, "POST", "/v1/responses", r#"{"conversation": "conv_1", "input": "hi"}"#, &answer);
    let next = json(r#"{"conversation": {"id": "conv_1"}, "input": "who am I?"}"#);
    let texts: Vec<_> =
        decode(&next, &known).unwrap().messages.iter().map(|m| m.content.as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["my name is Ada", "be kind", "hi", "hello", "who am I?"]);
    // A conversation that was created elsewhere is unknown, so its id stays in the key.
    let elsewhere = call(r#"{"conversation": "conv_0", "input": "hi"}"#);
    assert_eq!(elsewhere.messages[0].content, json(r#"[{"conversation": "conv_0"}]"#));
}

#[test]
fn a_background_response_is_known_once_it_was_fetched() {
    let mut known = Known::default();
    let queued = r#"{"id": "resp_1", "status": "queued", "background": true, "output": []}"#;
    learn(&mut known, "POST", "/v1/responses", r#"{"background": true, "input": "hi"}"#, queued);
    let next = json(r#"{"previous_response_id": "resp_1", "input": "and?"}"#);
    assert_eq!(decode(&next, &known).unwrap().messages.len(), 2);
    let done = format!(r#"{{"id": "resp_1", "status": "completed", "background": true, "output": {SAID}}}"#);
    learn(&mut known, "GET", "/v1/responses/resp_1", "", &done);
    let kinds: Vec<_> = decode(&next, &known).unwrap().messages.iter().map(|m| m.kind.clone()).collect();
    assert_eq!(kinds, ["human", "ai", "human"]);
}

#[test]
fn an_unknown_reference_stays_json() {
    let found = call(
        r#"{"previous_response_id": "resp_0", "input": [{"type": "item_reference", "id": "msg_0"},
                {"role": "user", "content": "a"}]}"#,
    );
    assert_eq!(found.messages[0].content, json(r#"[{"previous_response_id": "resp_0"}]"#));
    assert_eq!(found.messages[1].content, json(r#"[{"type": "item_reference", "id": "msg_0"}]"#));
    assert_eq!((found.messages[0].kind.as_str(), found.messages[1].kind.as_str()), ("ai", "ai"));
}

#[test]
fn an_invalid_request_is_an_error_that_names_the_field() {
    let cases = [
        ("{}", "input: expected a string or an array, found nothing"),
        (r#"{"input": [1]}"#, "input[0]: expected an object, found number"),
        (r#"{"input": [{}]}"#, "input[0].role: expected a string, found nothing"),
        (
            r#"{"input": [{"type": "function_call", "call_id": "c"}]}"#,
            "input[0].name: expected a string, found nothing",
        ),
        (
            r#"{"input": [{"type": "function_call_output", "output": 1}]}"#,
            "input[0].output: expected a string or an array, found number",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(decode(&json(body), &Known::default()).unwrap_err().message, message, "{body}");
    }
}

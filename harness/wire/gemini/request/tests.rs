use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn call(text: &str) -> Call {
    decode("/v1beta/models/gemini-3-flash:generateContent", &json(text)).unwrap()
}

#[test]
fn a_typical_agent_request_is_decoded() {
    let text = r#"{
            "systemInstruction": {"parts": [{"text": "Be "}, {"text": "brief."}], "role": "user"},
            "generationConfig": {"temperature": 0}, "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
                {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "c", "thoughtSignature": "x"},
                    {"functionCall": {"id": "1", "name": "f", "args": {"x": 1}}, "thoughtSignature": "x"},
                    {"function_call": {"name": "g"}}, {"text": "", "thoughtSignature": "x"}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "1", "name": "f", "response": {"b": 1.0, "a": [true]}}},
                    {"function_response": {"name": "g", "response": {"output": "d"}}}, {"text": "e"}]}
            ]}"#;
    let call = call(text);
    assert_eq!((call.model.as_str(), call.system.as_str()), ("gemini-3-flash", "Be brief."));
    assert!(!call.stream && !call.array);
    assert_eq!(call.settings, json(r#"{"generationConfig": {"temperature": 0}}"#));
    let made = |id: &str, name: &str, args: &str| ToolCall { id: id.into(), name: name.into(), args: json(args) };
    let tool_calls = vec![made("1", "f", r#"{"x": 1}"#), made("", "g", "{}")];
    let result = |id: Option<&str>, name: &str, text: &str| Message {
        name: Some(name.into()),
        tool_call_id: id.map(str::to_owned),
        ..Message::new("tool", text)
    };
    assert_eq!(
        call.messages[1..],
        [
            Message::new("human", "ab"),
            Message { tool_calls, ..Message::new("ai", "c") },
            result(Some("1"), "f", r#"{"a": [true], "b": 1.0}"#),
            result(None, "g", "d"),
            Message::new("human", "e"),
        ]
        .map(Shared::from)
    );
}

#[test]
fn the_path_names_the_model_and_the_form_of_the_stream() {
    let of = |path: &str| {
        let call = decode(path, &json(r#"{"contents": [{}]}"#)).unwrap();
        (call.model, call.stream, call.array)
    };
    let sse = "/v1beta/models/gemini-pro:streamGenerateContent?key=k&alt=sse";
    assert_eq!(of(sse), ("gemini-pro".into(), true, false));
    let vertex = "/v1/projects/p/locations/l/publishers/google/models/gemini-pro:streamGenerateContent";
    assert_eq!(of(vertex), ("gemini-pro".into(), true, true));
    assert_eq!(of(""), (String::new(), false, false));
}

#[test]
fn a_result_with_another_name_answers_the_next_call() {
    let found = call(
        r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "call_1", "response": {"result": "a"}}},
                    {"functionResponse": {"name": "call_2", "parts": [{"fileData": {}}]}}]}]}"#,
    );
    let tools: Vec<_> = found.messages[1..].iter().map(|m| (m.name.as_deref().unwrap(), &m.content)).collect();
    assert_eq!(tools, [("f", &r#"{"result": "a"}"#.into()), ("g", &json(r#"[{"fileData": {}}]"#))]);
}

#[test]
fn every_clients_wrapping_of_a_text_gives_the_same_result() {
    let result = |response: &str| {
        let body = format!(
            r#"{{"contents": [{{"role": "model", "parts": [{{"functionCall": {{"name": "f"}}}}]}},
                    {{"parts": [{{"functionResponse": {{"name": "f", "response": {response}}}}}]}}]}}"#
        );
        call(&body).messages[1].content.as_str().map(str::to_owned).unwrap()
    };
    let wrapped =
        [r#"{"output": "a"}"#, r#"{"return_value": "a"}"#, r#"{"content": "a"}"#, r#"{"name": "f", "content": "a"}"#];
    for response in wrapped {
        assert_eq!(result(response), "a", "{response}");
    }
    // An object that the tool itself returned stays JSON.
    for response in [r#"{"result": "a"}"#, r#"{"content": 1}"#, r#"{"content": "a", "name": "g"}"#] {
        assert_eq!(result(response), response, "{response}");
    }
}

#[test]
fn other_parts_stay_json() {
    let found =
        call(r#"{"contents": [{"parts": [{"text": "a"}, {"inlineData": {"data": "x"}, "thoughtSignature": "y"}]}]}"#);
    assert_eq!(found.messages[0].content, json(r#"[{"text": "a"}, {"inlineData": {"data": "x"}}]"#));
}

#[test]
fn an_invalid_request_is_an_error_that_names_the_field() {
    let cases = [
        ("{}", "contents: expected an array, found nothing"),
        (r#"{"contents": [1]}"#, "contents[0]: expected an object, found number"),
        (
            r#"{"contents": [{"parts": [{"functionCall": {}}]}]}"#,
            "contents[0].parts[0].functionCall.name: expected a string, found nothing",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(decode("", &json(body)).unwrap_err().message, message, "{body}");
    }
}

#[test]
fn one_content_and_one_part_need_no_list() {
    let whole = r#"{"contents": [{"role": "user", "parts": [{"text": "a"}]}]}"#;
    let lean = r#"{"contents": {"role": "user", "parts": {"text": "a"}}}"#;
    assert_eq!(call(lean), call(whole));
}

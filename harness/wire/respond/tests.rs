use super::*;

#[test]
fn the_list_of_models_has_openais_form() {
    let listed = models_response(Api::OpenAiChat, &["gpt-4o".to_owned()]).print(retake_core::json::Layout::Compact);
    let expected = r#"{"data":[{"created":0,"id":"gpt-4o","object":"model","owned_by":"retake"}],"object":"list"}"#;
    assert_eq!(listed, expected);
}

#[test]
fn a_recorded_response_is_returned_unchanged_or_converted_to_the_other_form() {
    let body = r#"{"id": "msg_1", "type": "message", "stop_reason": "end_turn", "usage": {}, "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "only here"}]}"#;
    let recorded = Response::json(200, Json::parse(body.as_bytes()).unwrap());
    let answer = super::super::decode_response(Api::Anthropic, &recorded).unwrap();
    let call = |api, stream| RenderFor { api, stream, array: false, include_usage: true, model: "m", seed: "5eed" };
    let respond = |call| respond(&answer, Some((Api::Anthropic, &recorded)), &call).unwrap();
    assert_eq!(respond(call(Api::Anthropic, false)), recorded);
    let Body::Frames(frames) = respond(call(Api::Anthropic, true)).body else { panic!() };
    assert!(frames.iter().any(|frame| frame.contains("only here")));
    let over_gemini = String::from_utf8(respond(call(Api::Gemini, true)).bytes().into()).unwrap();
    assert!(over_gemini.contains("Hm") && !over_gemini.contains("only here"));
    let error = Response::json(429, Json::Null);
    let sent = super::respond(&answer, Some((Api::Gemini, &error)), &call(Api::Gemini, true));
    assert_eq!(sent, Ok(error));
}

#[test]
fn a_finish_reason_of_one_api_becomes_the_nearest_one_of_the_other() {
    let gemini = |word: &str, part: &str| {
        let body = format!(r#"{{"candidates": [{{"content": {{"parts": [{part}]}}, "finishReason": "{word}"}}]}}"#);
        Response::json(200, Json::parse(body.as_bytes()).unwrap())
    };
    let (text, tool) = (r#"{"text": "a"}"#, r#"{"functionCall": {"name": "f", "args": {}}}"#);
    for (word, part, chat, anthropic) in [
        ("UNEXPECTED_TOOL_CALL", text, "stop", "end_turn"),
        ("UNEXPECTED_TOOL_CALL", tool, "tool_calls", "tool_use"),
        ("MODEL_ARMOR", text, "content_filter", "refusal"),
        ("LANGUAGE", text, "content_filter", "refusal"),
    ] {
        let recorded = gemini(word, part);
        let answer = super::super::decode_response(Api::Gemini, &recorded).unwrap();
        let said = |api, field: &str| {
            let call = RenderFor { api, stream: false, array: false, include_usage: true, model: "m", seed: "5eed" };
            let Body::Json(body) = respond(&answer, Some((Api::Gemini, &recorded)), &call).unwrap().body else {
                panic!()
            };
            body.json().pointer(field).and_then(Json::as_str).map(str::to_owned)
        };
        assert_eq!(said(Api::OpenAiChat, "/choices/0/finish_reason").as_deref(), Some(chat), "{word}");
        assert_eq!(said(Api::Anthropic, "/stop_reason").as_deref(), Some(anthropic), "{word}");
        assert_eq!(
            said(Api::Gemini, "/candidates/0/finishReason").as_deref(),
            Some(word),
            "the same API gets its own word unchanged"
        );
    }
    // A stream of the same API keeps the provider's own word, too.
    let own = br#"{"choices": [{"index": 0, "finish_reason": "model_length", "message": {"role": "assistant", "content": "a"}}]}"#;
    let recorded = Response::json(200, Json::parse(own).unwrap());
    let answer = super::super::decode_response(Api::OpenAiChat, &recorded).unwrap();
    let call =
        RenderFor { api: Api::OpenAiChat, stream: true, array: false, include_usage: true, model: "m", seed: "5eed" };
    let sent = respond(&answer, Some((Api::OpenAiChat, &recorded)), &call).unwrap();
    assert!(String::from_utf8(sent.bytes().into()).unwrap().contains("model_length"));
}

#[test]
fn an_error_names_the_block_that_an_api_cannot_express() {
    use retake_core::conversation::{Block, Native, ToolCall};
    let error = |api, block| {
        let call = RenderFor { api, stream: false, array: false, include_usage: false, model: "m", seed: "5eed" };
        render(&Answer { blocks: vec![block], ..Answer::default() }, &call).map_err(|error| error.to_string())
    };
    let search = Json::object([("type", Json::from("web_search_call"))]);
    let native = Block::Native(Native { api: "openai-responses".to_owned(), block: search });
    let named = "the API anthropic cannot express the block `web_search_call` of openai-responses";
    assert_eq!(error(Api::Anthropic, native.clone()).unwrap_err(), named);
    assert!(error(Api::OpenAiResponses, native).is_ok());
    let call = ToolCall { id: String::new(), name: "sh".to_owned(), args: "ls".into() };
    let named = "the API gemini cannot express the arguments of the tool call `sh`: string, not an object";
    assert_eq!(error(Api::Gemini, Block::ToolCall(call)).unwrap_err(), named);
}

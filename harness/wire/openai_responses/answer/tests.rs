use super::*;
use retake_core::conversation::{ToolCall, Usage};

fn answer(text: &str) -> Result<Answer, String> {
    of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
}

#[test]
fn items_keep_their_order() {
    let found = answer(
        r#"{"id": "resp_1", "model": "gpt-5", "status": "completed", "error": null,
                "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}, "output": [
                {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []},
                {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "a"},
                    {"type": "summary_text", "text": "b"}], "content": [{"type": "reasoning_text", "text": "c"}]},
                {"type": "reasoning", "id": "rs_3", "summary": [], "content": [{"type": "reasoning_text", "text": "d"}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "e"},
                    {"type": "refusal", "refusal": "f"}, {"type": "output_text", "text": ""}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "g", "arguments": "{}"},
                {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "h", "input": "ls"},
                {"type": "web_search_call", "id": "ws_1"}]}"#,
    )
    .unwrap();
    let call = |id: &str, name: &str, args: Json| ToolCall { id: id.into(), name: name.into(), args };
    let search = Json::parse(br#"{"type": "web_search_call", "id": "ws_1"}"#).unwrap();
    let expected = [
        Block::Reasoning("a\n\nb".into()),
        Block::Reasoning("d".into()),
        Block::Text("e".into()),
        Block::Refusal("f".into()),
        Block::ToolCall(call("call_1", "g", Json::object::<String>([]))),
        Block::ToolCall(call("call_2", "h", "ls".into())),
        native(&search),
    ];
    assert_eq!(found.blocks, expected);
    assert_eq!(
        (found.finish, found.usage),
        (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 4, ..Usage::default() }))
    );
}

#[test]
fn the_status_gives_the_finish_reason() {
    let finish = |rest: &str| answer(&format!(r#"{{"output": [], {rest}}}"#)).map(|answer| answer.finish.unwrap());
    assert_eq!(finish(r#""status": "completed""#), Ok(Finish::Stop));
    let incomplete = |reason: &str| {
        finish(&format!(r#""status": "incomplete", "incomplete_details": {{"reason": "{reason}"}}"#)).unwrap()
    };
    assert_eq!(incomplete("max_output_tokens"), Finish::Length);
    assert_eq!(incomplete("content_filter"), Finish::ContentFilter);
    assert_eq!(incomplete("other"), Finish::Other("other".into()));
    let queued = r#"an incomplete answer: its status is "queued""#;
    assert_eq!(finish(r#""status": "queued""#), Err(queued.into()));
    // A background response is complete when it is queued, since the client fetches the result later.
    assert_eq!(finish(r#""status": "queued", "background": true"#), Ok(Finish::Stop));
    let failed = finish(r#""status": "failed", "error": {"code": "server_error", "message": "no"}"#);
    assert_eq!(failed, Err("the provider's error: no".into()));
    assert_eq!(answer("{}"), Err("output: expected an array, found nothing".into()));
}

#[test]
fn an_unknown_status_is_accepted() {
    let of = |status: &str| answer(&format!(r#"{{"status": "{status}", "output": []}}"#)).map(|answer| answer.finish);
    assert_eq!(of("complete"), Ok(Some(Finish::Stop)));
    assert_eq!(of("done"), Ok(Some(Finish::Other("done".into()))));
    assert!(of("failed").is_err() && of("in_progress").is_err());
}

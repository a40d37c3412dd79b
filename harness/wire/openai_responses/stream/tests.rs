use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn response() -> Json {
    json(
        r#"{"id": "resp_1", "object": "response", "created_at": 0, "model": "gpt-5", "status": "completed",
                "usage": {"input_tokens": 3, "output_tokens": 4}, "incomplete_details": null, "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                    {"type": "output_text", "text": "a b c d e", "annotations": [], "logprobs": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}",
                    "status": "completed"},
                {"type": "web_search_call", "id": "ws_1", "status": "completed"}]}"#,
    )
}

fn events() -> Vec<Json> {
    let mut events = Vec::new();
    for frame in frames(&response()) {
        sse::each_json(&frame, |event| {
            events.push(event);
            Ok(())
        })
        .unwrap();
    }
    events
}

#[test]
fn a_response_survives_conversion_to_a_stream_and_back() {
    assert_eq!(assemble(frames(&response())), Ok(response()));
}

#[test]
fn events_are_ordered_and_numbered() {
    let events = events();
    let names: Vec<_> = events.iter().map(|e| e.str_of("type").unwrap().trim_start_matches("response.")).collect();
    let expected = [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "output_item.done",
        "completed",
    ];
    assert_eq!(names, expected);
    for (i, event) in events.iter().enumerate() {
        assert_eq!(event.get("sequence_number"), Some(&i.into()));
    }
    assert_eq!(
        events[10],
        json(
            r#"{"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "content_index": 0,
                    "delta": "a b c d ", "logprobs": [], "sequence_number": 10}"#
        )
    );
    let begun = r#"{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "", "status": "in_progress"}"#;
    assert_eq!(events[15].get("item"), Some(&json(begun)));
    assert_eq!(events[0].pointer("/response/usage"), Some(&Json::Null));
}

#[test]
fn items_come_from_their_own_events_if_the_last_event_has_none() {
    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}"#;
    let end = r#"{"type":"response.completed","response":{"id":"resp_1","output":[]}}"#;
    let found = assemble(&[sse::frame(item), sse::frame(end)]);
    assert_eq!(found, Ok(json(r#"{"id": "resp_1", "output": [{"type": "message"}]}"#)));
}

#[test]
fn an_incomplete_answer_is_an_error_that_says_why() {
    let mut cut = frames(&response());
    cut.pop();
    let incomplete = "an incomplete answer: the stream ended before response.completed";
    assert_eq!(assemble(&cut).unwrap_err().message, incomplete);
    let error = sse::named_frame("error", r#"{"type":"error","code":"x","message":"no","sequence_number":1}"#);
    assert_eq!(assemble(&[error]).unwrap_err().message, "frames[0]: the provider's error: no");
}

use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn message() -> Json {
    json(
        r#"{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use",
                "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4},
                "content": [{"type": "thinking", "thinking": "Hm", "signature": "x"},
                    {"type": "redacted_thinking", "data": "y"},
                    {"type": "text", "text": "a b c d e", "citations": [{"type": "page_location"}]},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]}"#,
    )
}

#[test]
fn a_message_survives_conversion_to_a_stream_and_back() {
    assert_eq!(assemble(frames(&message())), Ok(message()));
}

#[test]
fn events_are_named_and_numbered() {
    let frames = frames(&message());
    let names: Vec<_> =
        frames.iter().map(|frame| frame.lines().next().unwrap().trim_start_matches("event: ")).collect();
    let block = |deltas: usize| {
        [vec!["content_block_start"], vec!["content_block_delta"; deltas], vec!["content_block_stop"]].concat()
    };
    let mut expected =
        [vec!["message_start"], block(2), block(0), block(3), block(2), vec!["message_delta", "message_stop"]].concat();
    expected.insert(2, "ping");
    assert_eq!(names, expected);
    assert_eq!(
        frames[0],
        concat!(
            "event: message_start\ndata: ",
            r#"{"message":{"content":[],"id":"msg_1","model":"claude","role":"assistant","stop_reason":null,"stop_sequence":null,"#,
            r#""type":"message","usage":{"input_tokens":3,"output_tokens":0}},"type":"message_start"}"#,
            "\n\n"
        )
    );
    let delta = r#"{"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"input_tokens":3,"output_tokens":4}}"#;
    assert_eq!(frames[frames.len() - 2], format!("event: message_delta\ndata: {delta}\n\n"));
}

#[test]
fn an_incomplete_answer_is_an_error_that_says_why() {
    let mut cut = frames(&message());
    cut.truncate(8);
    let incomplete = "an incomplete answer: the stream ended before a stop_reason";
    assert_eq!(assemble(&cut).unwrap_err().message, incomplete);
    cut.push(sse::named_frame(
        "error",
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    ));
    assert_eq!(assemble(&cut).unwrap_err().message, "frames[8]: the provider's error: Overloaded");
}

#[test]
fn unknown_deltas_are_added_to_their_block() {
    let event = |text: &str| sse::frame(text);
    let frames = [
        event(r#"{"type":"message_start","message":{"id":"m","role":"assistant","usage":{"input_tokens":1}}}"#),
        event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}"#),
        event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"so "}}"#),
        event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"far","n":1}}"#),
        event(r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}"#),
        event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#),
    ];
    let found = assemble(&frames).unwrap();
    let compaction = json(r#"{"type":"compaction","content":"so far","n":1}"#);
    assert_eq!(found.pointer("/content/0"), Some(&compaction));
    let answer = crate::anthropic::answer::of_json(&found).unwrap();
    let native = retake_core::conversation::Native { api: "anthropic".into(), block: compaction };
    assert_eq!(
        answer.blocks,
        [retake_core::conversation::Block::Native(native), retake_core::conversation::Block::Text("a".into())]
    );
}

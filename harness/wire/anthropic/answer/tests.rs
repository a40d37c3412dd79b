use super::*;
use retake_core::conversation::{ToolCall, Usage};

fn answer(text: &str) -> Result<Answer, String> {
    of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
}

#[test]
fn blocks_keep_their_order() {
    let found = answer(
        r#"{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use",
                "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 9},
                "content": [{"type": "thinking", "thinking": "Hm", "signature": "x"}, {"type": "text", "text": "a"},
                    {"type": "redacted_thinking", "data": "y"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, {"type": "text", "text": "b"}]}"#,
    )
    .unwrap();
    let call = ToolCall { id: "t".into(), name: "f".into(), args: Json::object::<String>([]) };
    let kinds: Vec<_> =
        found.blocks.iter().map(|block| if let Block::Native(native) = block { native.kind() } else { "" }).collect();
    assert_eq!(kinds, ["", "", "", "web_search_tool_result", ""]);
    assert_eq!(found.blocks[..3], [Block::Reasoning("Hm".into()), Block::Text("a".into()), Block::ToolCall(call)]);
    assert_eq!(
        (found.finish, found.usage),
        (Some(Finish::ToolCalls), Some(Usage { input: 12, output: 4, cached: 9, ..Usage::default() }))
    );
}

#[test]
fn a_response_without_an_answer_is_an_error_that_says_why() {
    let cases = [
        ("{}", "content: expected an array, found nothing"),
        (
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
            "the provider's error: Overloaded",
        ),
        (r#"{"content": [{"type": "text"}]}"#, "content[0].text: expected a string, found nothing"),
    ];
    for (body, message) in cases {
        assert_eq!(answer(body), Err(message.to_owned()), "{body}");
    }
}

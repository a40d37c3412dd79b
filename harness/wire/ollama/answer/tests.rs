use super::*;

fn answer(text: &str) -> Result<Answer, String> {
    of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
}

#[test]
fn an_answer_with_a_tool_call_is_decoded() {
    let found = answer(
        r#"{"model": "llama3.2", "created_at": "2025-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "prompt_eval_count": 3, "eval_count": 4, "message": {"role": "assistant", "content": "a",
                "thinking": "Hm", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}}"#,
    )
    .unwrap();
    assert_eq!(found.blocks[..2], [Block::Reasoning("Hm".into()), Block::Text("a".into())]);
    assert_eq!(found.tool_calls()[0].name, "f");
    assert_eq!(
        (found.finish, found.usage),
        (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 4, ..Usage::default() }))
    );
}

#[test]
fn a_response_without_an_answer_is_an_error_that_says_why() {
    assert_eq!(answer("{}"), Err("message: expected an object, found nothing".into()));
    assert_eq!(answer(r#"{"error": "model not found"}"#), Err("the provider's error: model not found".into()));
}

use super::*;
use retake_core::conversation::ToolCall;

fn answer(text: &str) -> Result<Answer, String> {
    of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
}

#[test]
fn parts_keep_their_order() {
    let found = answer(
        r#"{"responseId": "r", "modelVersion": "gemini-3-flash", "candidates": [{"finishReason": "STOP", "content": {
                "role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "a"}, {"text": "b"},
                {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "x"}, {"thoughtSignature": "y"},
                {"executableCode": {"code": "1"}, "thoughtSignature": "z"}, {"text": ""}]}}, {"content": {}}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5}}"#,
    )
    .unwrap();
    let call = ToolCall { id: String::new(), name: "f".into(), args: Json::object::<String>([]) };
    let texts = [Block::Reasoning("Hm".into()), Block::Text("ab".into()), Block::ToolCall(call)];
    assert_eq!(found.blocks[..3], texts);
    assert!(matches!(&found.blocks[3..], [Block::Native(native)] if native.kind() == "executableCode"));
    assert_eq!(
        (found.finish, found.usage),
        (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 9, reasoning: 5, ..Usage::default() }))
    );
}

#[test]
fn a_blocked_prompt_is_an_answer_but_an_error_is_not() {
    let blocked = answer(r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#).unwrap();
    assert_eq!((blocked.blocks, blocked.finish), (vec![], Some(Finish::ContentFilter)));
    assert_eq!(answer("{}"), Err("candidates: expected at least one, found none".into()));
    let error = r#"{"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}"#;
    assert_eq!(answer(error), Err("the provider's error: quota".into()));
    let wrong = answer(r#"{"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]}"#);
    let message = "candidates[0].content.parts[0].functionCall.name: expected a string, found nothing";
    assert_eq!(wrong, Err(message.into()));
}

//! A recorded response as an [`Answer`].

use super::request::tool_call;
use crate::conversation::{Answer, Block, Finish, Usage};
use crate::json::Json;
use crate::wire::fields::{self, WireError};

pub(in crate::wire) fn of_json(body: &Json) -> Result<Answer, WireError> {
    if let Some(error) = fields::given(body, "error") {
        return Err(WireError::of_provider(error));
    }
    let message = fields::optional_object(body, "message")?;
    let message = message.ok_or_else(|| WireError::expected("message", "an object", body.get("message")))?;
    let blocks = blocks(message).map_err(|error| error.within("message"))?;
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = fields::optional_string(body, "done_reason")?.filter(|word| !word.is_empty());
    let count = |key| body.get(key).and_then(Json::as_u64);
    let (input, output) = (count("prompt_eval_count"), count("eval_count"));
    Ok(Answer {
        id: None,
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: finish.map(|word| match Finish::from_word(word) {
            // Ollama says `stop` before tool results too.
            Finish::Stop if calls => Finish::ToolCalls,
            other => other,
        }),
        usage: input.or(output).map(|_| Usage { input: input.unwrap_or(0), output: output.unwrap_or(0) }),
    })
}

fn blocks(message: &Json) -> Result<Vec<Block>, WireError> {
    let text =
        |key| Ok::<_, WireError>(fields::optional_string(message, key)?.filter(|t| !t.is_empty()).map(str::to_owned));
    let texts = [text("thinking")?.map(Block::Reasoning), text("content")?.map(Block::Text)];
    let calls = fields::each(message, "tool_calls", tool_call)?;
    Ok(texts.into_iter().flatten().chain(calls.into_iter().map(Block::ToolCall)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Result<Answer, String> {
        of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn an_answer_with_a_call() {
        let found = answer(
            r#"{"model": "llama3.2", "created_at": "2025-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "prompt_eval_count": 3, "eval_count": 4, "message": {"role": "assistant", "content": "a",
                "thinking": "Hm", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}}"#,
        )
        .unwrap();
        assert_eq!(found.blocks[..2], [Block::Reasoning("Hm".into()), Block::Text("a".into())]);
        assert_eq!(found.tool_calls()[0].name, "f");
        assert_eq!((found.finish, found.usage), (Some(Finish::ToolCalls), Some(Usage { input: 3, output: 4 })));
    }

    #[test]
    fn what_is_no_answer_says_why() {
        assert_eq!(answer("{}"), Err("message: expected an object, found nothing".into()));
        assert_eq!(answer(r#"{"error": "model not found"}"#), Err("the provider's error: model not found".into()));
    }
}

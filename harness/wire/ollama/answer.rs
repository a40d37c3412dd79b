//! Decodes a recorded response into an [`Answer`].

use super::request::tool_call;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Json;

pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    fields::no_error(body)?;
    let blocks = blocks(fields::object(body, "message")?).map_err(|error| error.within("message"))?;
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = fields::optional_string(body, "done_reason")?.filter(|word| !word.is_empty());
    let count = |key| body.get(key).and_then(Json::as_u64);
    let (input, output) = (count("prompt_eval_count"), count("eval_count"));
    Ok(Answer {
        id: None,
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: finish.map(|word| match Finish::from_word(word) {
            // Ollama's word is `stop` also when the model calls tools.
            Finish::Stop if calls => Finish::ToolCalls,
            other => other,
        }),
        usage: input.or(output).map(|_| Usage {
            input: input.unwrap_or(0),
            output: output.unwrap_or(0),
            ..Usage::default()
        }),
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
mod tests;

//! Decodes a recorded message into an [`Answer`].

use crate::Api;
use crate::parts::fields::{self, WireError};
use crate::request::tool_call;
use retake_core::conversation::{Answer, Block, Finish, Native};
use retake_core::json::Json;

pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    fields::no_error(body)?;
    fields::required(body, "content", "an array", Json::as_array)?;
    let blocks = fields::each(body, "content", block)?.into_iter().flatten().collect();
    let places = ["/input_tokens", "/output_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"];
    let usage = fields::optional_object(body, "usage")?.map(|usage| fields::usage_beside_cache(usage, places));
    Ok(Answer {
        id: fields::optional_string(body, "id")?.map(str::to_owned),
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: fields::optional_string(body, "stop_reason")?.map(finish),
        usage,
    })
}

/// Decodes one block. Encrypted thinking and signatures are dropped: other APIs cannot use them, and this API replays the
/// recorded response.
fn block(block: &Json) -> Result<Option<Block>, WireError> {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Ok(match fields::string(block, "type")? {
        "text" => filled(fields::string(block, "text")?).map(Block::Text),
        "thinking" => filled(fields::string(block, "thinking")?).map(Block::Reasoning),
        "redacted_thinking" => None,
        "tool_use" => Some(Block::ToolCall(tool_call(block, "id", "input")?)),
        _ => Some(Block::Native(Native { api: Api::Anthropic.name().to_owned(), block: block.clone() })),
    })
}

pub(crate) fn finish(word: &str) -> Finish {
    match word {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        other => Finish::from_word(other),
    }
}

/// Returns the API's own word for a finish reason.
pub(crate) fn stop_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "refusal",
        Finish::Other(word) => word,
    }
}

#[cfg(test)]
mod tests;

//! Decodes a recorded response into an [`Answer`].

use super::items::tool_call;
use crate::Api;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::{Answer, Block, Finish, Native};
use retake_core::json::Json;

pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    fields::no_error(body)?;
    fields::required(body, "output", "an array", Json::as_array)?;
    let blocks: Vec<Block> = fields::each(body, "output", item)?.into_iter().flatten().collect();
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = match fields::optional_string(body, "status")? {
        // Some services write "complete".
        None | Some("completed" | "complete") if calls => Finish::ToolCalls,
        None | Some("completed" | "complete") => Finish::Stop,
        Some("incomplete") => match body.pointer("/incomplete_details/reason").and_then(Json::as_str) {
            Some("max_output_tokens") | None => Finish::Length,
            Some(word) => Finish::from_word(word),
        },
        // The client fetches the result of a background response later.
        Some("queued" | "in_progress") if body.get("background").is_some_and(Json::is_truthy) => Finish::Stop,
        Some(status @ ("failed" | "cancelled" | "queued" | "in_progress")) => {
            return Err(WireError::new(format!("an incomplete answer: its status is {status:?}")));
        }
        Some(word) => Finish::from_word(word),
    };
    let [cached, reasoning] = ["/input_tokens_details/cached_tokens", "/output_tokens_details/reasoning_tokens"];
    let places = ["/input_tokens", "/output_tokens", cached, "", reasoning];
    let usage = fields::optional_object(body, "usage")?.map(|usage| fields::usage(usage, places));
    Ok(Answer {
        id: fields::optional_string(body, "id")?.map(str::to_owned),
        model: fields::optional_string(body, "model")?.map(str::to_owned),
        blocks,
        finish: Some(finish),
        usage,
    })
}

/// Returns the blocks of an item. Encrypted reasoning is dropped: other APIs cannot use it, and this API replays the recorded
/// response.
fn item(item: &Json) -> Result<Vec<Block>, WireError> {
    match fields::string(item, "type")? {
        "message" => {
            let parts = fields::each(item, "content", |part| {
                Ok(match fields::string(part, "type")? {
                    "output_text" | "text" => Block::Text(fields::string(part, "text")?.to_owned()),
                    "refusal" => Block::Refusal(fields::string(part, "refusal")?.to_owned()),
                    _ => native(part),
                })
            })?;
            let empty = |block: &Block| matches!(block, Block::Text(text) | Block::Refusal(text) if text.is_empty());
            Ok(parts.into_iter().filter(|block| !empty(block)).collect())
        }
        "reasoning" => {
            let texts = |key| fields::each(item, key, |part| Ok(part.str_of("text").unwrap_or_default().to_owned()));
            let (summary, content) = (texts("summary")?.join("\n\n"), texts("content")?.concat());
            let text = if summary.is_empty() { content } else { summary };
            Ok(Some(text).filter(|text| !text.is_empty()).map(Block::Reasoning).into_iter().collect())
        }
        _ => Ok(vec![tool_call(item)?.map_or_else(|| native(item), Block::ToolCall)]),
    }
}

fn native(block: &Json) -> Block {
    Block::Native(Native { api: Api::OpenAiResponses.name().to_owned(), block: block.clone() })
}

#[cfg(test)]
mod tests;

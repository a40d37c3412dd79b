//! Decodes a recorded response of Converse into an [`Answer`].

use crate::parts::fields::{self, WireError};
use crate::request::tool_call;
use crate::{Api, anthropic};
use retake_core::conversation::{Answer, Block, Finish, Native};
use retake_core::json::Json;

pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    let Some(message) = body.pointer("/output/message") else {
        return Err(match body.str_of("message") {
            Some(_) => WireError::of_provider(body),
            None => WireError::expected("output.message", "an object", body.get("output")),
        });
    };
    let blocks = fields::each(message, "content", block).map_err(|error| error.within("output.message"))?;
    let places = ["/inputTokens", "/outputTokens", "/cacheReadInputTokens", "/cacheWriteInputTokens"];
    let usage = fields::optional_object(body, "usage")?.map(|usage| fields::usage_beside_cache(usage, places));
    let finish = fields::optional_string(body, "stopReason")?.map(finish);
    Ok(Answer { blocks: blocks.into_iter().flatten().collect(), finish, usage, ..Answer::default() })
}

/// Decodes one block. Signatures and encrypted reasoning are dropped: other APIs cannot use them, and this API replays the response.
fn block(block: &Json) -> Result<Option<Block>, WireError> {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    if let Some(text) = fields::optional_string(block, "text")? {
        return Ok(filled(text).map(Block::Text));
    }
    if let Some(reasoning) = block.get("reasoningContent") {
        let text = reasoning.pointer("/reasoningText/text").and_then(Json::as_str);
        return Ok(text.and_then(filled).map(Block::Reasoning));
    }
    // A tool that Bedrock runs itself is a block of its own.
    if let Some(call) = block.get("toolUse").filter(|call| call.get("type").is_none()) {
        let call = tool_call(call, "toolUseId", "input").map_err(|error| error.within("toolUse"));
        return call.map(|call| Some(Block::ToolCall(call)));
    }
    Ok(Some(Block::Native(Native { api: Api::Bedrock.name().to_owned(), block: block.clone() })))
}

fn finish(word: &str) -> Finish {
    match word {
        "content_filtered" | "guardrail_intervened" => Finish::ContentFilter,
        // The others are those of the API from which they were taken.
        word => anthropic::answer::finish(word),
    }
}

/// Returns the API's own word for a finish reason.
pub(super) fn stop_reason(finish: &Finish) -> &str {
    match finish {
        Finish::ContentFilter => "content_filtered",
        finish => anthropic::answer::stop_reason(finish),
    }
}

//! Decodes a recorded response into an [`Answer`].

use super::parts::{is_thought, tool_call};
use crate::Api;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::{Answer, Block, Finish, Native, Usage};
use retake_core::json::Json;

/// Decodes a whole response. If it has several candidates, the first one is the answer.
pub(crate) fn of_json(body: &Json) -> Result<Answer, WireError> {
    fields::no_error(body)?;
    let mut candidates = fields::each(body, "candidates", |candidate| Ok(candidate.clone()))?.into_iter();
    let (blocks, finish) = match candidates.next() {
        Some(candidate) => of_candidate(&candidate).map_err(|error| error.within("candidates[0]"))?,
        None if body.pointer("/promptFeedback/blockReason").is_some() => (Vec::new(), Some(Finish::ContentFilter)),
        None => return Err(WireError::new("candidates: expected at least one, found none")),
    };
    let usage = fields::optional_object(body, "usageMetadata")?.map(|usage| {
        let (input, output) = ("/promptTokenCount", "/candidatesTokenCount");
        let usage = fields::usage(usage, [input, output, "/cachedContentTokenCount", "", "/thoughtsTokenCount"]);
        Usage { output: usage.output.saturating_add(usage.reasoning), ..usage }
    });
    Ok(Answer {
        id: fields::optional_string(body, "responseId")?.map(str::to_owned),
        model: fields::optional_string(body, "modelVersion")?.map(str::to_owned),
        blocks,
        finish,
        usage,
    })
}

fn of_candidate(candidate: &Json) -> Result<(Vec<Block>, Option<Finish>), WireError> {
    let content = fields::optional_object(candidate, "content")?;
    let parts = content.map_or(Ok(Vec::new()), |content| fields::each(content, "parts", block));
    let mut blocks: Vec<Block> = Vec::new();
    for block in parts.map_err(|error| error.within("content"))?.into_iter().flatten() {
        match (blocks.last_mut(), block) {
            // The places where a text was cut into parts have no meaning.
            (Some(Block::Text(before)), Block::Text(text))
            | (Some(Block::Reasoning(before)), Block::Reasoning(text)) => before.push_str(&text),
            (_, block) => blocks.push(block),
        }
    }
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = fields::optional_string(candidate, "finishReason")?.map(|word| finish(word, calls));
    Ok((blocks, finish))
}

fn block(part: &Json) -> Result<Option<Block>, WireError> {
    if let Some(text) = fields::optional_string(part, "text")? {
        let filled = Some(text.to_owned()).filter(|text| !text.is_empty());
        return Ok(filled.map(if is_thought(part) { Block::Reasoning } else { Block::Text }));
    }
    if let Some(call) = tool_call(part)? {
        return Ok(Some(Block::ToolCall(call)));
    }
    let only_signed = |fields: &retake_core::json::Object| fields.keys().all(|key| key == "thoughtSignature");
    if part.as_object().is_some_and(only_signed) {
        return Ok(None);
    }
    Ok(Some(Block::Native(Native { api: Api::Gemini.name().to_owned(), block: part.clone() })))
}

/// Returns the finish reason for Gemini's word, which is `STOP` also when the model calls tools.
fn finish(word: &str, calls: bool) -> Finish {
    match word {
        "STOP" if calls => Finish::ToolCalls,
        "STOP" => Finish::Stop,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => Finish::ContentFilter,
        other => Finish::Other(other.to_ascii_lowercase()),
    }
}

/// Returns the API's own word for a finish reason.
pub(super) fn finish_reason(finish: &Finish) -> String {
    match finish {
        Finish::Stop | Finish::ToolCalls => "STOP".to_owned(),
        Finish::Length => "MAX_TOKENS".to_owned(),
        Finish::ContentFilter => "SAFETY".to_owned(),
        Finish::Other(word) => word.to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests;

//! The text of an answer in its stream: where it stands, and how much of it had come when the stream broke off.

use super::gemini::is_thought;
use super::parts::sse;
use super::{Api, Body, Frames, Response};
use retake_core::conversation::{Answer, Block};
use retake_core::json::Json;

/// Returns the index of the last piece of a stream that has text of the answer; `None` if fewer than two have.
pub fn last_text(api: Api, frames: &Frames) -> Option<usize> {
    let has_text = |frame: &str| !text_of(api, frame).is_empty();
    let mut with_text = frames.iter().enumerate().filter(|(_, frame)| has_text(frame)).map(|(at, _)| at);
    with_text.next()?;
    with_text.last()
}

/// Returns the answer for a response that is not a complete one, and why it is not: the text that had come, and
/// [nothing that can be told](Answer::untold) after it.
pub fn broken_off(api: Api, response: &Response, why: impl Into<String>) -> Answer {
    let frames =
        if let Body::Frames(frames) = &response.body { sse::whole_characters(frames.iter()) } else { Vec::new() };
    let text: String = frames.iter().map(|frame| text_of(api, frame)).collect();
    let mut answer = Answer::untold(why);
    if !text.is_empty() {
        answer.blocks.insert(0, Block::Text(text));
    }
    answer
}

/// The text of the answer in a frame.
fn text_of(api: Api, frame: &str) -> String {
    // Ollama's pieces are lines of JSON.
    if api == Api::Ollama {
        return Json::parse(frame.trim().as_bytes()).map_or_else(|_| String::new(), |piece| text_in(api, &piece));
    }
    let mut text = String::new();
    // What is damaged has none.
    let _ = sse::each_json(frame, |piece| {
        text.push_str(&text_in(api, &piece));
        Ok(())
    });
    text
}

fn text_in(api: Api, piece: &Json) -> String {
    let text = |text: Option<&Json>| text.and_then(Json::as_str).unwrap_or_default().to_owned();
    match api {
        Api::OpenAiChat => text(piece.pointer("/choices/0/delta/content")),
        Api::OpenAiResponses if piece.str_of("type") == Some("response.output_text.delta") => text(piece.get("delta")),
        Api::Anthropic | Api::Bedrock | Api::BedrockInvoke => text(piece.pointer("/delta/text")),
        Api::Gemini => {
            let parts = piece.pointer("/candidates/0/content/parts").and_then(Json::as_array).unwrap_or_default();
            parts.iter().filter(|part| !is_thought(part)).map(|part| text(part.get("text"))).collect()
        }
        Api::Ollama => text(piece.pointer("/message/content").or_else(|| piece.get("response"))),
        Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => String::new(),
    }
}

#[cfg(test)]
mod tests;

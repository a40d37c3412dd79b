//! Where the text of an answer stands in its stream.

use super::gemini::is_thought;
use super::parts::sse;
use super::{Api, Frames};
use retake_core::json::Json;

/// Returns the index of the last piece of a stream that has text of the answer; `None` if fewer than two have.
pub fn last_text(api: Api, frames: &Frames) -> Option<usize> {
    let has_text = |frame: &str| {
        let mut found = false;
        // Ollama's pieces are lines of JSON.
        match api {
            Api::Ollama => found = Json::parse(frame.trim().as_bytes()).is_ok_and(|piece| is_text(api, &piece)),
            _ => {
                let _ = sse::each_json(frame, |piece| {
                    found |= is_text(api, &piece);
                    Ok(())
                });
            }
        }
        found
    };
    let mut with_text = frames.iter().enumerate().filter(|(_, frame)| has_text(frame)).map(|(at, _)| at);
    with_text.next()?;
    with_text.last()
}

fn is_text(api: Api, piece: &Json) -> bool {
    let has = |text: Option<&Json>| text.and_then(Json::as_str).is_some_and(|text| !text.is_empty());
    match api {
        Api::OpenAiChat => has(piece.pointer("/choices/0/delta/content")),
        Api::OpenAiResponses => piece.str_of("type") == Some("response.output_text.delta") && has(piece.get("delta")),
        Api::Anthropic => has(piece.pointer("/delta/text")),
        Api::Gemini => {
            let parts = piece.pointer("/candidates/0/content/parts").and_then(Json::as_array).unwrap_or_default();
            parts.iter().any(|part| !is_thought(part) && has(part.get("text")))
        }
        Api::Ollama => has(piece.pointer("/message/content")) || has(piece.get("response")),
        Api::Declared(_) | Api::Opaque => false,
    }
}

#[cfg(test)]
mod tests;

//! A recorded response as the [`Answer`] that it brings.

use super::{Api, Body, Response, WireError, anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::conversation::Answer;
use crate::json::Json;

/// Reads a recorded response, JSON or stream, as the answer that it brings.
///
/// # Errors
/// The reason why the response is no complete answer: an error of the provider, a stream that was cut, a field that is
/// missing or of another type, text that is neither JSON nor a stream.
pub fn decode_response(api: Api, response: &Response) -> Result<Answer, WireError> {
    if !(200..300).contains(&response.status) {
        let reason = match &response.body {
            Body::Json(body) => {
                let body = body.json();
                body.get("error").cloned().unwrap_or(body)
            }
            Body::Frames(frames) => Json::Str(frames.iter().collect()),
            Body::Text(text) => Json::Str(text.clone()),
            Body::Binary(bytes) => Json::Str(format!("{} bytes", bytes.len())),
        };
        return Err(WireError::of_provider(&reason).of(format_args!("status {}", response.status)));
    }
    match api {
        Api::OpenAiChat => match &response.body {
            Body::Json(body) => openai_chat::answer::of_json(&body.json()),
            Body::Frames(frames) => openai_chat::stream::of_frames(frames.iter()),
            Body::Text(_) | Body::Binary(_) => Err(no_answer()),
        },
        Api::OpenAiResponses => openai_responses::answer::of_json(&whole(api, &response.body)?),
        Api::Anthropic => anthropic::answer::of_json(&whole(api, &response.body)?),
        Api::Gemini => gemini::answer::of_json(&whole(api, &response.body)?),
        Api::Ollama => ollama::answer::of_json(&whole(api, &response.body)?),
        // What it says is not known: the response itself is the answer.
        Api::Opaque => Ok(Answer::default()),
    }
}

/// The body as it would be had no stream been asked for. Chat Completions' streams are read piece by piece instead.
pub(super) fn whole(api: Api, body: &Body) -> Result<Json, WireError> {
    match (api, body) {
        (_, Body::Json(body)) => match body.json() {
            Json::Array(pieces) if api == Api::Gemini => gemini::stream::assemble_array(&pieces),
            body => Ok(body),
        },
        (Api::OpenAiResponses, Body::Frames(frames)) => openai_responses::stream::assemble(frames.iter()),
        (Api::Anthropic, Body::Frames(frames)) => anthropic::stream::assemble(frames.iter()),
        (Api::Gemini, Body::Frames(frames)) => gemini::stream::assemble(frames.iter()),
        (Api::Ollama, Body::Frames(lines)) => ollama::stream::assemble(lines.iter()),
        (Api::OpenAiChat | Api::Opaque, Body::Frames(_)) | (_, Body::Text(_) | Body::Binary(_)) => Err(no_answer()),
    }
}

fn no_answer() -> WireError {
    WireError::new("expected JSON or a stream, found text")
}

#[cfg(test)]
mod tests;

//! Decodes a recorded response into an [`Answer`].

use std::borrow::Cow;

use super::parts::events;
use super::parts::sse::whole_characters;
use super::{
    Api, Body, Response, WireError, anthropic, bedrock, declared, gemini, ollama, openai_chat, openai_responses,
};
use retake_core::conversation::Answer;
use retake_core::json::Json;

/// Decodes a recorded response, JSON or a stream, into an answer.
/// Fails if the response is not a complete answer: it is the provider's error, a stream without its end, or text that is neither JSON
/// nor a stream, or a field is missing or has the wrong type.
pub fn decode_response(api: Api, response: &Response) -> Result<Answer, WireError> {
    decode_read(api, response, None)
}

/// Does the same as [`decode_response`]. `json` is the value of the body, if the body is JSON and has already been parsed.
pub fn decode_read(api: Api, response: &Response, json: Option<&Json>) -> Result<Answer, WireError> {
    if !(200..300).contains(&response.status) {
        let reason = match &response.body {
            Body::Frames(frames) => Json::Str(frames.iter().collect()),
            Body::Binary(bytes) => Json::Str(format!("{} bytes", bytes.len())),
            body @ (Body::Json(_) | Body::Text(_)) => match (body.value(), body) {
                (Some(value), _) => value.get("error").cloned().unwrap_or(value),
                (None, Body::Text(text)) => Json::Str(text.clone()),
                (None, _) => Json::Null,
            },
        };
        return Err(WireError::of_provider(&reason).of(format_args!("status {}", response.status)));
    }
    if let (Api::OpenAiChat, Body::Frames(frames)) = (api, &response.body) {
        return openai_chat::stream::of_frames(whole_characters(frames.iter()));
    }
    if let Api::Declared(api) = api {
        return declared::answer::of_body(api, &response.body);
    }
    let body = match json {
        Some(json) => Cow::Borrowed(json),
        None if api == Api::Opaque && !is_of_events(response) => Cow::Owned(Json::Null),
        None => Cow::Owned(value(api, &response.body)?),
    };
    let body = match &*body {
        Json::Array(pieces) if api == Api::Gemini => &gemini::stream::assemble_array(pieces)?,
        body => body,
    };
    match api {
        Api::OpenAiChat => openai_chat::answer::of_json(body),
        Api::OpenAiResponses => openai_responses::answer::of_json(body),
        Api::Anthropic | Api::BedrockInvoke => anthropic::answer::of_json(body),
        Api::Bedrock => bedrock::answer::of_json(body),
        Api::Gemini => gemini::answer::of_json(body),
        Api::Ollama => ollama::answer::of_json(body),
        // The content of an opaque response is not interpreted; replay returns the response itself.
        Api::Declared(_) | Api::Opaque => Ok(Answer::default()),
    }
}

/// Returns the body as the API would have sent it without streaming. Streams of Chat Completions are not supported here; they are
/// read piece by piece instead.
pub(super) fn whole(api: Api, body: &Body) -> Result<Json, WireError> {
    match value(api, body)? {
        Json::Array(pieces) if api == Api::Gemini => gemini::stream::assemble_array(&pieces),
        body => Ok(body),
    }
}

fn value(api: Api, body: &Body) -> Result<Json, WireError> {
    let Body::Frames(frames) = body else { return body.value().ok_or_else(|| neither_json_nor_stream(body)) };
    let frames = whole_characters(frames.iter());
    match api {
        Api::OpenAiResponses => openai_responses::stream::assemble(frames),
        Api::Anthropic => anthropic::stream::assemble(frames),
        Api::BedrockInvoke => anthropic::stream::assemble(bedrock::stream::unfailed(frames)?),
        Api::Bedrock => bedrock::stream::assemble(frames),
        Api::Gemini => gemini::stream::assemble(frames),
        Api::Ollama => ollama::stream::assemble(frames),
        Api::OpenAiChat | Api::Declared(_) | Api::Opaque => Err(neither_json_nor_stream(body)),
    }
}

/// Whether bytes are said to be AWS's event stream, of which they could not be read.
fn is_of_events(response: &Response) -> bool {
    matches!(response.body, Body::Binary(_)) && response.content_type.starts_with(events::EVENTS)
}

fn neither_json_nor_stream(body: &Body) -> WireError {
    match body {
        Body::Binary(bytes) => match events::read(bytes) {
            Err(damaged) => WireError::new(damaged.what),
            Ok(_) => WireError::new("expected JSON or a stream, found bytes"),
        },
        _ => WireError::new("expected JSON or a stream, found text"),
    }
}

#[cfg(test)]
mod tests;

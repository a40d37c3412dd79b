//! A request as a call, by its API.

use super::parts::fields::WireError;
use super::{Api, Call, Known};
use super::{anthropic, gemini, ollama, opaque, openai_chat, openai_responses};
use crate::json::Json;

/// Reads a request that was posted to a path. `known` is what requests may refer to.
///
/// # Errors
/// The path of the first field that is not what the API demands, with what was expected and what was found.
pub fn decode(api: Api, path: &str, body: &Json, known: &Known) -> Result<Call, WireError> {
    match api {
        Api::OpenAiChat => openai_chat::request::decode(body),
        Api::OpenAiResponses => openai_responses::request::decode(body, known),
        Api::Anthropic => anthropic::request::decode(body),
        Api::Gemini => gemini::request::decode(path, body),
        Api::Ollama => ollama::request::decode(body),
        Api::Opaque => Ok(opaque::decode(path, body)),
    }
}

//! A request as a call, by its API.

use super::parts::fields::WireError;
use super::{Api, Call, Known, Target};
use super::{anthropic, gemini, ollama, opaque, openai_chat, openai_responses};
use crate::json::Json;

/// Reads a request that was sent to a target; a path alone is posted to. `known` is what requests may refer to.
///
/// # Errors
/// The path of the first field that is not what the API demands, with what was expected and what was found.
pub fn decode<'a>(api: Api, to: impl Into<Target<'a>>, body: &Json, known: &Known) -> Result<Call, WireError> {
    let target = to.into();
    match api {
        Api::OpenAiChat => openai_chat::request::decode(body),
        Api::OpenAiResponses => openai_responses::request::decode(body, known),
        Api::Anthropic => anthropic::request::decode(body),
        Api::Gemini => gemini::request::decode(target.path, body),
        Api::Ollama => ollama::request::decode(body),
        Api::Opaque => Ok(opaque::decode(target, body)),
    }
}

//! Decodes a request into a call.

use super::parts::fields::WireError;
use super::{
    Api, Call, Known, Target, anthropic, bedrock, declared, gemini, ollama, opaque, openai_chat, openai_responses,
};
use retake_core::json::Json;
use retake_core::key::{keep_order, keep_order_of_message};

/// Reads the body of a request to a chat model. Content keeps the order of its keys where it counts for the key.
/// An error says why the body is not JSON.
pub fn chat_body(bytes: &[u8]) -> Result<Json, String> {
    let mut body = Json::parse_request(bytes).map_err(|e| format!("not JSON: {e}"))?;
    keep_order(&mut body, bytes, &[]);
    Ok(body)
}

/// Reads the body of a request to a target. Returns the API that it is a request of, too.
/// An error says why the body is not JSON.
pub fn read_body(target: Target<'_>, bytes: &[u8]) -> Result<(Api, Json), String> {
    let api = target.api().unwrap_or(Api::Opaque);
    let body = opaque::request_body(bytes);
    let api = api.of_body(&body);
    Ok((api, if api.is_spoken() { chat_body(bytes)? } else { body }))
}

/// Decodes the body of a request that was sent to a target; a target that is only a path means `POST`. `known` is what earlier
/// requests and responses contained, since the request may refer to it.
/// An error names the first field that is not what the API requires, what was expected and what was found.
pub fn decode<'a>(api: Api, to: impl Into<Target<'a>>, body: &Json, known: &Known) -> Result<Call, WireError> {
    let target = to.into();
    let call = match api {
        Api::OpenAiChat => openai_chat::request::READER.decode(target.path, body),
        Api::OpenAiResponses => openai_responses::request::decode(body, known),
        Api::Anthropic => anthropic::request::READER.decode(target.path, body),
        Api::Gemini => gemini::request::decode(target.path, body),
        Api::Ollama => ollama::request::READER.decode(target.path, body),
        Api::Bedrock => bedrock::request::READER.decode(target.path, body),
        Api::BedrockInvoke => bedrock::request::invoke(target.path, body),
        Api::Declared(api) => Ok(declared::request::decode(api, target, body)),
        Api::Opaque => return Ok(opaque::decode(target, body)),
    }?;
    Ok(with_version(call, target))
}

/// Adds what the target says of the form of the answer: the version segments of the path, `v1`, or none as for Ollama.
pub(super) fn with_version(mut call: Call, target: Target<'_>) -> Call {
    let version = target.version();
    if let (Some(form), false) = (call.form.as_object_mut(), version.is_empty()) {
        form.insert("version".into(), version.into());
    }
    call
}

/// Does for one element of a call's messages what [`chat_body`] does for the whole body: content keeps the order of its keys where
/// it counts for the key.
pub(super) fn keeping_order(api: Api, message: &mut Json, text: &str) {
    if matches!(api, Api::OpenAiChat | Api::Anthropic | Api::BedrockInvoke | Api::Ollama) {
        keep_order_of_message(message, text);
    }
}

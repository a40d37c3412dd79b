//! Reads the parts of a content. Clients spell the fields in camel case or in snake case, and the API accepts both.

use crate::parts::fields::{self, WireError};
use crate::request;
use retake_core::conversation::ToolCall;
use retake_core::json::Json;

/// Returns the value of a field with either spelling.
pub(super) fn either<'a>(object: &'a Json, camel: &str, snake: &str) -> Option<&'a Json> {
    fields::given(object, camel).or_else(|| fields::given(object, snake))
}

/// Whether a part is a thought, which is Gemini's word for reasoning.
pub(crate) fn is_thought(part: &Json) -> bool {
    part.get("thought").is_some_and(Json::is_truthy)
}

/// Returns the tool call that a part contains; `None` if it contains none.
pub(super) fn tool_call(part: &Json) -> Result<Option<ToolCall>, WireError> {
    let Some(call) = either(part, "functionCall", "function_call") else { return Ok(None) };
    request::tool_call(call, "id", "args").map(Some).map_err(|error| error.within("functionCall"))
}

/// Returns a part without the signature of its thoughts, which only Gemini can read.
pub(super) fn unsigned(part: &Json) -> Json {
    let Json::Object(mut fields) = part.clone() else { return part.clone() };
    fields.remove("thoughtSignature");
    fields.remove("thought_signature");
    Json::Object(fields)
}

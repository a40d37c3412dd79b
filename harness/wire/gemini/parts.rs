//! The parts of a content. Clients spell their fields in camel case or in snake case, and the API reads both.

use crate::conversation::ToolCall;
use crate::json::Json;
use crate::wire::parts::fields::{self, WireError};

/// A field's value under either spelling.
pub(super) fn either<'a>(object: &'a Json, camel: &str, snake: &str) -> Option<&'a Json> {
    fields::given(object, camel).or_else(|| fields::given(object, snake))
}

/// The text of a part that is text and no thought.
pub(super) fn is_thought(part: &Json) -> bool {
    part.get("thought").is_some_and(Json::is_truthy)
}

/// The call of a part, where it is one of a tool that the caller runs.
pub(super) fn tool_call(part: &Json) -> Result<Option<ToolCall>, WireError> {
    let Some(call) = either(part, "functionCall", "function_call") else { return Ok(None) };
    let read = || {
        Ok::<_, WireError>(ToolCall {
            id: fields::optional_string(call, "id")?.unwrap_or_default().to_owned(),
            name: fields::string(call, "name")?.to_owned(),
            args: fields::given(call, "args").cloned().unwrap_or_else(|| Json::object::<String>([])),
        })
    };
    read().map(Some).map_err(|error| error.within("functionCall"))
}

/// A part without what only its own API can read: the signature of the thoughts that led to it.
pub(super) fn unsigned(part: &Json) -> Json {
    let Json::Object(mut fields) = part.clone() else { return part.clone() };
    fields.remove("thoughtSignature");
    fields.remove("thought_signature");
    Json::Object(fields)
}

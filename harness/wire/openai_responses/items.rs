//! Reads the items of a request's input, and the tool calls among them. Answers and requests share this code, since requests
//! repeat earlier answers in the same form.

use crate::parts::args;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::ToolCall;
use retake_core::json::Json;

/// Returns the items of a request's input. Input that is plain text becomes a user message.
pub(crate) fn items_of(body: &Json) -> Result<Vec<Json>, WireError> {
    match fields::given(body, "input") {
        Some(text @ Json::Str(_)) => Ok(vec![Json::object([("role", Json::from("user")), ("content", text.clone())])]),
        Some(Json::Array(items)) => Ok(items.clone()),
        // A stored prompt needs no input, and neither does a request that continues a conversation.
        None if ["prompt", "previous_response_id", "conversation"]
            .iter()
            .any(|key| fields::given(body, key).is_some()) =>
        {
            Ok(Vec::new())
        }
        found => Err(WireError::expected("input", "a string or an array", found)),
    }
}

/// Returns the id of the conversation that a request continues, if it names one.
pub(crate) fn conversation_of(body: &Json) -> Option<&str> {
    let conversation = body.get("conversation")?;
    conversation.as_str().or_else(|| conversation.str_of("id"))
}

/// Returns the tool call that an item contains; `None` if the item is not a call of a tool that the system runs itself.
pub(super) fn tool_call(item: &Json) -> Result<Option<ToolCall>, WireError> {
    let text = |key| Ok::<_, WireError>(fields::optional_string(item, key)?.unwrap_or_default());
    let args = match item.str_of("type") {
        Some("function_call") => match fields::given(item, "arguments") {
            Some(object @ Json::Object(_)) => object.clone(),
            _ => args::parsed(text("arguments")?),
        },
        Some("custom_tool_call") => text("input")?.into(),
        _ => return Ok(None),
    };
    Ok(Some(ToolCall { id: text("call_id")?.to_owned(), name: fields::string(item, "name")?.to_owned(), args }))
}

//! Decodes the tool calls of a message. Answers and requests share this code, since requests repeat earlier answers in the same
//! form.

use crate::parts::args::parsed;
use crate::parts::fields::{self, WireError};
use retake_core::conversation::ToolCall;
use retake_core::json::Json;

/// Returns the tool calls of an assistant message. This includes the legacy `function_call`, which has no id.
pub(super) fn of_message(message: &Json) -> Result<Vec<ToolCall>, WireError> {
    let mut calls = fields::each(message, "tool_calls", tool_call)?;
    if let Some(legacy) = fields::optional_object(message, "function_call")? {
        calls.push(function(legacy, "").map_err(|error| error.within("function_call"))?);
    }
    Ok(calls)
}

fn tool_call(call: &Json) -> Result<ToolCall, WireError> {
    let id = fields::optional_string(call, "id")?.unwrap_or_default();
    if call.str_of("type") == Some("custom") {
        return of_part(call, "custom", |custom| {
            let input = fields::optional_string(custom, "input")?.unwrap_or_default();
            let name = fields::string(custom, "name")?.to_owned();
            Ok(ToolCall { id: id.to_owned(), name, args: input.into() })
        });
    }
    of_part(call, "function", |part| function(part, id))
}

fn of_part(
    call: &Json,
    key: &str,
    read: impl FnOnce(&Json) -> Result<ToolCall, WireError>,
) -> Result<ToolCall, WireError> {
    read(fields::object(call, key)?).map_err(|error| error.within(key))
}

fn function(function: &Json, id: &str) -> Result<ToolCall, WireError> {
    let name = fields::string(function, "name")?.to_owned();
    let args = match fields::given(function, "arguments") {
        None => parsed(""),
        Some(Json::Str(text)) => parsed(text),
        Some(object @ Json::Object(_)) => object.clone(),
        found => return Err(WireError::expected("arguments", "a string or an object", found)),
    };
    Ok(ToolCall { id: id.to_owned(), name, args })
}

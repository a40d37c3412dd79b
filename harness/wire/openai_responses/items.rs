//! The tool calls among the items of a conversation: requests repeat those of earlier answers in the same form.

use crate::conversation::ToolCall;
use crate::json::Json;
use crate::wire::parts::args;
use crate::wire::parts::fields::{self, WireError};

/// The call that an item makes, where it is one of a tool that the caller runs.
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

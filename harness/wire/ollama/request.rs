//! Decodes a request into a [`Call`].

use crate::parts::args;
use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Reader};
use crate::{Api, Call, Shared, form};
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::Json;

/// The fields that are not settings: those that have their own field in [`Call`], and `keep_alive`, which says how long the
/// server keeps the model loaded.
const NO_SETTINGS: [&str; 6] = ["messages", "tools", "model", "stream", "metadata", "keep_alive"];

pub(crate) const READER: Reader = Reader { list: "messages", element, around };

fn around(_: &str, body: &Json, messages: Vec<Shared>) -> Result<Call, WireError> {
    let call = request::call(Api::Ollama, body, messages, form::ollama(body), &NO_SETTINGS)?;
    Ok(Call { stream: call.stream || fields::given(body, "stream").is_none(), ..call })
}

/// Decodes one element of `messages`. Most tool calls have no id; their results then come in the order of the calls.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    let kind = request::kind_of(fields::string(sent, "role")?);
    let tool_calls = fields::each(sent, "tool_calls", tool_call)?;
    if kind != "tool" {
        before.pending.next = tool_calls.iter().map(|call| call.name.clone()).collect();
    }
    before.names.learn(&tool_calls);
    let tool_call_id = fields::optional_string(sent, "tool_call_id")?.filter(|id| !id.is_empty());
    let named = fields::optional_string(sent, "tool_name")?.or(fields::optional_string(sent, "name")?);
    let named = named.filter(|name| !name.is_empty()).map(str::to_owned);
    let name = if kind == "tool" {
        let next = before.pending.next.pop_front();
        named.or_else(|| before.names.of(tool_call_id?)).or(next)
    } else {
        named
    };
    let text = fields::optional_string(sent, "content")?.unwrap_or_default();
    let content = match fields::given(sent, "images").filter(|images| images.is_truthy()) {
        Some(images) => {
            let blocks = vec![Json::object([("text", text.into())]), Json::object([("images", images.clone())])];
            request::content_of(blocks)
        }
        None => text.into(),
    };
    let tool_call_id = tool_call_id.map(str::to_owned);
    let extra = request::extra_of(sent);
    Ok(vec![Message { content, name, tool_calls, tool_call_id, extra, ..Message::new(kind, "") }])
}

pub(super) fn tool_call(call: &Json) -> Result<ToolCall, WireError> {
    let function = fields::object(call, "function")?;
    let read = || {
        Ok::<_, WireError>(ToolCall {
            id: fields::optional_string(call, "id")?.unwrap_or_default().to_owned(),
            name: fields::string(function, "name")?.to_owned(),
            args: match fields::given(function, "arguments") {
                None => Json::object::<String>([]),
                Some(Json::Str(text)) => args::parsed(text),
                Some(args) => args.clone(),
            },
        })
    };
    read().map_err(|error| error.within("function"))
}

#[cfg(test)]
mod tests;

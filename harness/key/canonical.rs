//! The canonical conversation (KEY.md, section 2): what of a call's messages counts, and in which form.

use std::borrow::Cow;

use super::normalize::{Normalizer, is_blank};
use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout};

/// The canonical messages: `{"type", "content", "tool_calls"?, "name"?}`, each text normalized once. Takes the messages,
/// since most of their text stays as it is.
#[must_use]
pub fn canonical_conversation(messages: Vec<Message>, normalizer: &Normalizer) -> Vec<Json> {
    messages.into_iter().filter_map(|message| canonical_message(message, normalizer)).collect()
}

fn canonical_message(message: Message, normalizer: &Normalizer) -> Option<Json> {
    if message.kind == "system" || message.hidden {
        return None;
    }
    let content = normalizer.apply_to(content_text(message.content));
    if is_blank(&content) && message.tool_calls.is_empty() {
        return None;
    }
    let mut entries = vec![("content", Json::Str(content))];
    if let Some(name) = message.name.filter(|name| !name.is_empty()) {
        entries.push(("name", Json::Str(name)));
    }
    if !message.tool_calls.is_empty() {
        let call = |c: ToolCall| Json::object([("args", c.args), ("name", Json::Str(c.name))]);
        entries.push(("tool_calls", message.tool_calls.into_iter().map(call).collect::<Vec<_>>().into()));
    }
    entries.push(("type", Json::Str(message.kind)));
    Some(Json::object(entries))
}

/// The text of message content: of a list, its blocks' texts in a row, and any other block as its JSON.
fn content_text(content: Json) -> String {
    let blocks = match content {
        Json::Str(text) => return text,
        Json::Array(blocks) => blocks,
        other => return other.python_str(),
    };
    let texts = blocks.iter().map(|block| match block {
        Json::Object(_) => match block.str_of("text") {
            Some(text) if !text.is_empty() => Cow::Borrowed(text),
            _ => block.print(Layout::Python).into(),
        },
        Json::Str(text) => Cow::Borrowed(text.as_str()),
        other => other.python_str().into(),
    });
    texts.collect()
}

/// A message in LangChain's `messages_to_dict` form: `{"type", "data": {"content", "tool_calls", "name", …}}`.
///
/// # Errors
/// What was found and what was expected, as a lower-case fragment.
pub fn message_from_langchain(message: Json) -> Result<Message, String> {
    let Some(mut message) = message.into_object() else { return Err("a message needs a string `type`".to_owned()) };
    let Some(Json::Str(kind)) = message.remove("type") else {
        return Err("a message needs a string `type`".to_owned());
    };
    let data = message.remove("data").and_then(Json::into_object);
    let mut data = data.ok_or("a message needs an object `data`")?;
    let content = data.remove("content").ok_or("a message's `data` needs `content`")?;
    let mut optional = |field: &str| match data.remove(field) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Str(s)) => Ok(Some(s)),
        Some(other) => Err(format!("expected a string `{field}`, found {}", other.kind())),
    };
    let (name, tool_call_id) = (optional("name")?, optional("tool_call_id")?);
    let tool_calls = match data.remove("tool_calls") {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(calls)) => calls.into_iter().map(tool_call).collect::<Result<_, _>>()?,
        Some(other) => return Err(format!("expected a list `tool_calls`, found {}", other.kind())),
    };
    let hidden = data.get("additional_kwargs").and_then(|more| more.get("hide_from_ui")).is_some_and(Json::is_truthy);
    Ok(Message { kind, content, name, tool_calls, tool_call_id, hidden })
}

fn tool_call(call: Json) -> Result<ToolCall, String> {
    let mut call = call.into_object().unwrap_or_default();
    let Some(Json::Str(name)) = call.remove("name") else { return Err("a tool call needs a string `name`".to_owned()) };
    let id = call.remove("id").and_then(Json::into_string).unwrap_or_default();
    Ok(ToolCall { id, name, args: call.remove("args").unwrap_or(Json::Null) })
}

#[cfg(test)]
mod tests;

//! The canonical conversation (KEY.md, section 2): which parts of a call's messages belong to the key, and in which form.

use std::borrow::Cow;

use super::normalize::{Normalizer, is_blank};
use crate::conversation::{Message, OPAQUE, ToolCall};
use crate::json::{Json, Layout};

/// Returns the canonical form of a message, `{"type", "content", "tool_calls"?, "name"?}`, with each text normalized once; `None` if it
/// is not part of the conversation.
pub(super) fn canonical_message(message: &Message, normalizer: &Normalizer) -> Option<Json> {
    let content = canonical_content(message, normalizer)?.into_owned();
    let mut entries = vec![("content", Json::Str(content)), ("type", Json::Str(message.kind.clone()))];
    if let Some(name) = message.name.as_ref().filter(|name| !name.is_empty()) {
        entries.push(("name", Json::Str(name.clone())));
    }
    if !message.tool_calls.is_empty() {
        let call = |call: &ToolCall| {
            let args = normalizer.own_of(&call.args, false).into_owned();
            Json::object([("args", args), ("name", Json::Str(call.name.clone()))])
        };
        entries.push(("tool_calls", message.tool_calls.iter().map(call).collect::<Vec<_>>().into()));
    }
    Some(Json::object(entries))
}

/// Returns the normalized text of a message, borrowed if nothing was replaced in its only text; `None` if the message is not part
/// of the conversation.
fn canonical_content<'a>(message: &'a Message, normalizer: &Normalizer) -> Option<Cow<'a, str>> {
    if message.kind == "system" || message.hidden {
        return None;
    }
    let content = match &message.content {
        body if message.kind == OPAQUE => Cow::Owned(opaque_text(body, normalizer)),
        Json::Str(text) => normalizer.apply(text),
        other => Cow::Owned(normalizer.apply(&content_text(other)).into_owned()),
    };
    (!is_blank(&content) || !message.tool_calls.is_empty()).then_some(content)
}

/// Returns the text of a body that is not a chat model's: its JSON, after the suite's rules changed its strings and numbers.
fn opaque_text(body: &Json, normalizer: &Normalizer) -> String {
    if *body == Json::Null {
        return NO_BODY.to_owned();
    }
    normalizer.version_1(&normalizer.own_of(body, true).print(Layout::Python)).into_owned()
}

const NO_BODY: &str = "(no body)";

/// Returns the canonical message of one that is stored: `{"type", "content", "tool_calls"?, "name"?}`, with its texts as they were
/// sent. It is borrowed if the rules change nothing in it, and `None` if it is then empty. With a normalizer that has no rules but
/// the suite's, it is a canonical message as it would be with these rules added.
pub fn with_rules<'a>(message: &'a Json, rules: &Normalizer) -> Option<Cow<'a, Json>> {
    let content = message.str_of("content").unwrap_or_default();
    let replaced = match message.str_of("type") {
        Some(OPAQUE) if content == NO_BODY => Cow::Borrowed(content),
        Some(OPAQUE) if rules.has_own() => match Json::parse(content.as_bytes()) {
            Ok(body) => Cow::Owned(opaque_text(&body, rules)),
            Err(_) => rules.apply(content),
        },
        Some(OPAQUE) => rules.version_1(content),
        _ => rules.apply(content),
    };
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    if is_blank(&replaced) && calls.is_empty() {
        return None;
    }
    let mut changed = Cow::Borrowed(message);
    let mut set = |field: &str, value: Json| {
        changed.to_mut().as_object_mut().map(|fields| fields.insert(field.into(), value));
    };
    if let Cow::Owned(text) = replaced
        && text != content
    {
        set("content", Json::Str(text));
    }
    if rules.has_own() && !calls.is_empty() {
        let mut replaced = calls.to_vec();
        let args = replaced.iter_mut().filter_map(|call| call.as_object_mut()?.get_mut("args"));
        args.for_each(|args| rules.own_in(args, false));
        if replaced != calls {
            set("tool_calls", Json::Array(replaced));
        }
    }
    Some(changed)
}

/// Returns the text of message content. A list becomes the concatenated texts of its blocks, where a block without text
/// becomes its JSON.
fn content_text(content: &Json) -> String {
    let Json::Array(blocks) = content else { return content.python_str() };
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

/// Reads a message in the form of LangChain's `messages_to_dict`: `{"type", "data": {"content", "tool_calls", "name", …}}`.
///
/// # Errors
/// A lower-case fragment that says what was expected or found.
pub fn message_from_langchain(message: Json) -> Result<Message, String> {
    let mut message = message.into_object().unwrap_or_default();
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
    let failed = data.get("status").and_then(Json::as_str) == Some("error");
    Ok(Message { content, name, tool_calls, tool_call_id, failed, hidden, ..Message::new(&kind, "") })
}

fn tool_call(call: Json) -> Result<ToolCall, String> {
    let mut call = call.into_object().unwrap_or_default();
    let Some(Json::Str(name)) = call.remove("name") else { return Err("a tool call needs a string `name`".to_owned()) };
    let id = call.remove("id").and_then(Json::into_string).unwrap_or_default();
    Ok(ToolCall { id, name, args: call.remove("args").unwrap_or(Json::Null) })
}

#[cfg(test)]
mod tests;

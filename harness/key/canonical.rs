//! The canonical conversation (KEY.md, section 2): what of a call's messages counts, and in which form.

use std::borrow::Cow;

use super::normalize::{Normalizer, is_blank};
use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout};

/// The canonical messages: `{"type", "content", "tool_calls"?, "name"?}`, each text normalized once.
#[must_use]
pub fn canonical_conversation(messages: &[Message], normalizer: &Normalizer) -> Vec<Json> {
    messages.iter().filter_map(|message| canonical_message(message, normalizer)).collect()
}

fn canonical_message(message: &Message, normalizer: &Normalizer) -> Option<Json> {
    if message.kind == "system" || message.hidden {
        return None;
    }
    let text = content_text(&message.content);
    let content = normalizer.apply(&text).into_owned();
    if is_blank(&content) && message.tool_calls.is_empty() {
        return None;
    }
    let mut entries = vec![("type", Json::from(message.kind.as_str())), ("content", Json::Str(content))];
    if !message.tool_calls.is_empty() {
        let call = |c: &ToolCall| Json::object([("name", Json::from(c.name.as_str())), ("args", c.args.clone())]);
        entries.push(("tool_calls", message.tool_calls.iter().map(call).collect::<Vec<_>>().into()));
    }
    if let Some(name) = message.name.as_deref().filter(|name| !name.is_empty()) {
        entries.push(("name", name.into()));
    }
    Some(Json::object(entries))
}

/// The text of message content: of a list, its blocks' texts in a row, and any other block as its JSON.
fn content_text(content: &Json) -> Cow<'_, str> {
    let blocks = match content {
        Json::Str(text) => return Cow::Borrowed(text),
        Json::Array(blocks) => blocks,
        other => return Cow::Owned(other.python_str()),
    };
    let texts = blocks.iter().map(|block| match block {
        Json::Object(_) => match block.str_of("text") {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => block.print(Layout::Python),
        },
        other => other.python_str(),
    });
    Cow::Owned(texts.collect())
}

/// A message in LangChain's `messages_to_dict` form: `{"type", "data": {"content", "tool_calls", "name", …}}`.
///
/// # Errors
/// What was found and what was expected, as a lower-case fragment.
pub fn message_from_langchain(message: &Json) -> Result<Message, String> {
    let kind = message.str_of("type").ok_or("a message needs a string `type`")?;
    let data = message.get("data").filter(|d| d.as_object().is_some()).ok_or("a message needs an object `data`")?;
    let content = data.get("content").ok_or("a message's `data` needs `content`")?;
    let optional = |field: &str| match data.get(field) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Str(s)) => Ok(Some(s.clone())),
        Some(other) => Err(format!("expected a string `{field}`, found {}", other.kind())),
    };
    let tool_calls = match data.get("tool_calls") {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(calls)) => calls.iter().map(tool_call).collect::<Result<_, _>>()?,
        Some(other) => return Err(format!("expected a list `tool_calls`, found {}", other.kind())),
    };
    Ok(Message {
        kind: kind.to_owned(),
        content: content.clone(),
        name: optional("name")?,
        tool_calls,
        tool_call_id: optional("tool_call_id")?,
        hidden: data.pointer("/additional_kwargs/hide_from_ui").is_some_and(Json::is_truthy),
    })
}

fn tool_call(call: &Json) -> Result<ToolCall, String> {
    let name = call.str_of("name").ok_or("a tool call needs a string `name`")?;
    Ok(ToolCall {
        id: call.str_of("id").unwrap_or_default().to_owned(),
        name: name.to_owned(),
        args: call.get("args").cloned().unwrap_or(Json::Null),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(content: &str) -> String {
        content_text(&Json::parse(content.as_bytes()).unwrap()).into_owned()
    }

    #[test]
    fn content_becomes_text_as_python_makes_it() {
        assert_eq!(
            content(r#"["a", {"type": "text", "text": "b"}, {"text": "", "n": 1.0}, 3, null]"#),
            concat!("ab", r#"{"n": 1.0, "text": ""}"#, "3None")
        );
        assert_eq!(content("null"), "None");
        assert_eq!(content(r#"{"a": "b"}"#), "{'a': 'b'}");
    }

    #[test]
    fn what_does_not_count_is_left_out() {
        let message = |text: &str| Message::new("human", text);
        let hidden = Message { hidden: true, ..message("hidden") };
        let call = ToolCall { id: "x".into(), name: "ls".into(), args: Json::Null };
        let calling = Message { tool_calls: vec![call], ..Message::new("ai", "") };
        let all = [
            Message::new("system", "s"),
            hidden,
            message(" \u{1f}\n"),
            message("<system-reminder>x</system-reminder>"),
            calling,
        ];
        let canonical = Json::Array(canonical_conversation(&all, &Normalizer::default())).print(Layout::Python);
        assert_eq!(canonical, r#"[{"content": "", "tool_calls": [{"args": null, "name": "ls"}], "type": "ai"}]"#);
    }
}

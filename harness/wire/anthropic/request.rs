//! Decodes a request into a [`Call`].

use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Reader, ToolNames};
use crate::{Api, Call, Shared, form};
use retake_core::conversation::Message;
use retake_core::json::Json;

/// The fields that are not settings, since they have their own field in [`Call`].
const NO_SETTINGS: [&str; 6] = ["messages", "system", "tools", "model", "stream", "metadata"];

pub(crate) const READER: Reader = Reader { list: "messages", element, around };

fn around(_: &str, body: &Json, sent_messages: Vec<Shared>) -> Result<Call, WireError> {
    fields::request(body)?;
    let mut messages: Vec<Shared> = Vec::new();
    match fields::given(body, "system") {
        None => {}
        Some(system @ (Json::Str(_) | Json::Array(_))) => {
            let extra = request::extra_of_parts(None, None, Some(system));
            messages.push(Message { content: system.clone(), extra, ..Message::new("system", "") }.into());
        }
        found => return Err(WireError::expected("system", "a string or an array", found)),
    }
    messages.extend(sent_messages);
    request::call(Api::Anthropic, body, messages, form::anthropic(body), &NO_SETTINGS)
}

/// Decodes one element of `messages`. Each tool result in a user message becomes a message of its own.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    let names = &mut before.names;
    let kind = request::kind_of(fields::string(sent, "role")?);
    match fields::given(sent, "content") {
        None => return Ok(vec![Message::new(kind, "")]),
        Some(Json::Str(text)) => {
            return Ok(vec![Message { extra: request::extra_of(sent), ..Message::new(kind, text) }]);
        }
        Some(Json::Array(_)) => {}
        found => return Err(WireError::expected("content", "a string or an array", found)),
    }
    let (mut results, mut calls, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    fields::each(sent, "content", |block| {
        match block.str_of("type") {
            Some("tool_result") => results.push(tool_result(block, names)?),
            Some("tool_use") => calls.push(request::tool_call(block, "id", "input")?),
            Some("thinking" | "redacted_thinking") => {}
            _ => rest.push(block.clone()),
        }
        Ok(())
    })?;
    names.learn(&calls);
    if !rest.is_empty() || !calls.is_empty() || results.is_empty() {
        results.push(Message { content: request::content_of(rest), tool_calls: calls, ..Message::new(kind, "") });
    }
    results.first_mut().into_iter().for_each(|first| first.extra = request::extra_of(sent));
    Ok(results)
}

fn tool_result(block: &Json, names: &ToolNames<'_>) -> Result<Message, WireError> {
    let id = fields::optional_string(block, "tool_use_id")?.unwrap_or_default();
    let content = match fields::given(block, "content") {
        None => "".into(),
        Some(text @ Json::Str(_)) => text.clone(),
        Some(Json::Array(blocks)) => request::content_of(blocks.clone()),
        found => return Err(WireError::expected("content", "a string or an array", found)),
    };
    let failed = fields::flag(block, "is_error")?;
    Ok(Message { content, name: names.of(id), tool_call_id: Some(id.to_owned()), failed, ..Message::new("tool", "") })
}

#[cfg(test)]
mod tests;

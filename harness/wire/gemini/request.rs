//! Decodes a request into a [`Call`].

use std::borrow::Cow;

use super::parts::{either, is_thought, tool_call, unsigned};
use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Reader};
use crate::{Api, Call, Shared, form};
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::{Json, Layout};

/// The fields that are not settings, since they have their own field in [`Call`].
const NO_SETTINGS: [&str; 5] = ["contents", "systemInstruction", "system_instruction", "tools", "model"];

/// The names of the field that contains a tool's text in a `response`, which has to be an object: Gemini's own name, and those
/// that widely used clients choose.
const TEXT_RESULTS: [&str; 3] = ["output", "return_value", "content"];

pub(crate) const READER: Reader = Reader { list: "contents", element, around };

pub(crate) fn decode(path: &str, body: &Json) -> Result<Call, WireError> {
    READER.decode(path, &listed(body, "contents"))
}

/// Decodes one element of `contents`.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    content(&listed(sent, "parts"), &mut before.pending.calls)
}

fn around(path: &str, body: &Json, contents: Vec<Shared>) -> Result<Call, WireError> {
    let sent = fields::request(body)?;
    let mut messages: Vec<Shared> = Vec::new();
    if let Some(system) = either(body, "systemInstruction", "system_instruction") {
        let content = if let Json::Str(_) = system { Some(system) } else { system.get("parts") };
        let content = content.cloned().unwrap_or(Json::Null);
        messages.push(Message { content, ..Message::new("system", "") }.into());
    }
    messages.extend(contents);
    let (model, method) = super::of_path(path).unwrap_or_default();
    let stream = method.starts_with("stream");
    Ok(Call {
        extra: request::extra(body, &messages, &NO_SETTINGS),
        stream,
        array: stream && !super::asks_for_sse(path),
        tools: fields::given(body, "tools").cloned().into(),
        model: model.to_owned(),
        form: form::gemini(body),
        settings: Json::Object(request::settings(sent, &NO_SETTINGS)),
        ..Call::of(Api::Gemini, messages)
    })
}

/// Returns an object in which the field `key`, `contents` or `parts`, is a list. The API parses requests as protobuf's JSON, where a list of one element may
/// be written as that element.
fn listed<'a>(object: &'a Json, key: &str) -> Cow<'a, Json> {
    let mut object = Cow::Borrowed(object);
    if matches!(object.get(key), Some(Json::Object(_)))
        && let Some(value) = object.to_mut().as_object_mut().and_then(|object| object.get_mut(key))
    {
        *value = Json::Array(vec![std::mem::take(value)]);
    }
    object
}

/// Decodes one content. Each function response in it becomes a message of its own. `open` contains the calls that no response
/// has answered yet.
fn content(sent: &Json, open: &mut Vec<ToolCall>) -> Result<Vec<Message>, WireError> {
    let kind = match fields::optional_string(sent, "role")? {
        None | Some("user" | "") => "human",
        Some("model") => "ai",
        Some("function") => "tool",
        Some(other) => other,
    };
    let (mut results, mut calls, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    fields::each(sent, "parts", |part| {
        if let Some(call) = tool_call(part)? {
            calls.push(call);
        } else if let Some(response) = either(part, "functionResponse", "function_response") {
            results.push(tool_result(response, open).map_err(|error| error.within("functionResponse"))?);
        } else if !is_thought(part) {
            rest.push(unsigned(part));
        }
        Ok(())
    })?;
    rest.retain(|part| part.as_object().is_none_or(|part| !part.is_empty()));
    open.extend(calls.iter().cloned());
    if !rest.is_empty() || !calls.is_empty() || results.is_empty() {
        results.push(Message { content: request::content_of(rest), tool_calls: calls, ..Message::new(kind, "") });
    }
    Ok(results)
}

fn tool_result(response: &Json, open: &mut Vec<ToolCall>) -> Result<Message, WireError> {
    let id = fields::optional_string(response, "id")?.filter(|id| !id.is_empty());
    let named = fields::optional_string(response, "name")?.unwrap_or_default();
    // Some clients put an id of their own in the place of the tool's name. Responses then answer the calls in order.
    let by_id = open.iter().position(|call| id == Some(call.id.as_str()));
    let by_name = || open.iter().position(|call| call.name == named);
    let answered = by_id.or_else(by_name).or_else(|| (!open.is_empty()).then_some(0));
    let name = answered.map_or_else(|| named.to_owned(), |at| open.remove(at).name);
    let text = match response.get("response") {
        None | Some(Json::Null) => String::new(),
        Some(Json::Str(text)) => text.clone(),
        Some(value) => text_result(value, named).map_or_else(|| value.print(Layout::Python), str::to_owned),
    };
    let content = match fields::given(response, "parts") {
        Some(Json::Array(parts)) if !parts.is_empty() => {
            let text = Json::object([("text", Json::Str(text))]);
            request::content_of([text].into_iter().chain(parts.iter().cloned()).collect())
        }
        _ => Json::Str(text),
    };
    // Google's convention for a tool that failed is a response with only the field `error`.
    let failed = response.get("response").and_then(Json::as_object).is_some_and(|of| of.keys().eq(["error"]));
    let tool_call_id = id.map(str::to_owned);
    Ok(Message { content, name: Some(name), tool_call_id, failed, ..Message::new("tool", "") })
}

/// Returns the text of a response that contains nothing else; `None` if there is more. The tool's name may be next to the text,
/// since Vercel's AI SDK repeats it there.
fn text_result<'a>(response: &'a Json, named: &str) -> Option<&'a str> {
    let fields: Vec<_> = response.as_object()?.iter().map(|(key, value)| (&**key, value)).collect();
    match fields[..] {
        [(key, Json::Str(text))] if TEXT_RESULTS.contains(&key) => Some(text),
        [("content", Json::Str(text)), ("name", Json::Str(name))] if name == named => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

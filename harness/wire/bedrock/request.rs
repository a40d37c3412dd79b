//! Decodes a request into a [`Call`].

use std::borrow::Cow;

use super::of_path;
use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Reader, ToolNames};
use crate::{Api, Call, Shared, anthropic, form};
use retake_core::conversation::Message;
use retake_core::json::{Json, Layout};

/// Reads requests of Converse.
pub(crate) const READER: Reader = Reader { list: "messages", element, around };

fn around(path: &str, body: &Json, sent: Vec<Shared>) -> Result<Call, WireError> {
    let (model, operation) = of_path(path).unwrap_or_default();
    let mut messages: Vec<Shared> = Vec::new();
    if let Some(system) = fields::given(body, "system") {
        let blocks = system.as_array().ok_or_else(|| WireError::expected("system", "an array", Some(system)))?;
        let (marks, blocks): (Vec<Json>, Vec<Json>) = blocks.iter().cloned().partition(is_mark);
        if !blocks.is_empty() || !marks.is_empty() {
            let extra = extra_of(&marks);
            messages.push(Message { content: blocks.into(), extra, ..Message::new("system", "") }.into());
        }
    }
    messages.extend(sent);
    let mut settings = request::settings(fields::request(body)?, &["messages", "system", "requestMetadata"]);
    let mut tools = Json::Null;
    if let Some(config) = settings.get_mut("toolConfig").and_then(Json::as_object_mut) {
        tools = config.remove("tools").unwrap_or(Json::Null);
        if config.is_empty() {
            settings.remove("toolConfig");
        }
    }
    let metadata = fields::optional_object(body, "requestMetadata")?.cloned();
    let caller = metadata.as_ref().and_then(|data| data.str_of("caller")).map(str::to_owned);
    let named = Json::object(metadata.iter().map(|data| ("metadata", data.clone())));
    Ok(Call {
        extra: request::extra(&named, &messages, &["metadata"]),
        caller,
        metadata,
        stream: operation == "converse-stream",
        tools,
        model: model.into_owned(),
        form: form::bedrock(body),
        settings: Json::Object(settings),
        ..Call::of(Api::Bedrock, messages)
    })
}

/// Decodes one element of `messages`. Each tool result in it becomes a message of its own.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    let names = &mut before.names;
    let kind = request::kind_of(fields::string(sent, "role")?);
    let (mut results, mut calls, mut rest, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    fields::each(sent, "content", |block| {
        if let Some(result) = block.get("toolResult") {
            results.push(tool_result(result, names).map_err(|error| error.within("toolResult"))?);
        } else if let Some(call) = block.get("toolUse") {
            calls.push(request::tool_call(call, "toolUseId", "input").map_err(|error| error.within("toolUse"))?);
        } else if is_mark(block) {
            marks.push(block.clone());
        } else if block.get("reasoningContent").is_none() {
            rest.push(block.clone());
        }
        Ok(())
    })?;
    names.learn(&calls);
    if !rest.is_empty() || !calls.is_empty() || results.is_empty() {
        results.push(Message { content: request::content_of(rest), tool_calls: calls, ..Message::new(kind, "") });
    }
    results.first_mut().into_iter().for_each(|first| first.extra = extra_of(&marks));
    Ok(results)
}

/// Whether a block only marks what may be cached.
fn is_mark(block: &Json) -> bool {
    block.get("cachePoint").is_some()
}

fn extra_of(marks: &[Json]) -> Json {
    if marks.is_empty() { Json::Null } else { Json::object([("cachePoint", Json::from(marks.to_vec()))]) }
}

fn tool_result(result: &Json, names: &ToolNames<'_>) -> Result<Message, WireError> {
    let id = fields::optional_string(result, "toolUseId")?.unwrap_or_default();
    let blocks = fields::each(result, "content", |block| {
        let value = block.get("json").map(|value| Json::object([("text", value.print(Layout::Python).into())]));
        Ok(value.unwrap_or_else(|| block.clone()))
    })?;
    Ok(Message {
        content: request::content_of(blocks),
        name: names.of(id),
        tool_call_id: Some(id.to_owned()),
        failed: result.str_of("status") == Some("error"),
        ..Message::new("tool", "")
    })
}

/// Decodes a request of `InvokeModel` with Anthropic's body.
pub(crate) fn invoke(path: &str, body: &Json) -> Result<Call, WireError> {
    let mut call = anthropic::request::READER.decode(path, body)?;
    let (model, operation) = of_path(path).unwrap_or((Cow::Borrowed(""), ""));
    // Elsewhere, these are headers.
    for name in ["anthropic_version", "anthropic_beta"] {
        let sent = call.settings.as_object_mut().and_then(|settings| settings.remove(name));
        call.extra.as_object_mut().zip(sent).map(|(extra, sent)| extra.insert(name.into(), sent));
    }
    let stream = operation == "invoke-with-response-stream";
    Ok(Call { api: Api::BedrockInvoke, model: model.into_owned(), stream, ..call })
}

//! Decodes a request into a [`Call`]: what is declared moves to the messages and the checks, what is not declared stays in the key.

use super::{Declaration, all, tokens};
use crate::request::{content_of, extra_of, metadata};
use crate::{Api, Call, Shared, Target};
use retake_core::conversation::Message;
use retake_core::json::{Json, Object};

/// The kind of the message that has the fields that are not declared.
const FIELDS: &str = "fields";

pub(crate) fn decode(declared: &'static Declaration, target: Target<'_>, body: &Json) -> Call {
    let mut rest = body.clone();
    let mut take = |pointers: &[String]| -> Vec<Json> {
        pointers.iter().filter_map(|at| take(&mut rest, &tokens(at).collect::<Vec<_>>())).collect()
    };
    let prompts = take(&declared.prompt).into_iter().map(|content| {
        let content = if let Json::Object(_) = &content { Json::Array(vec![content]) } else { content };
        Message { content, ..Message::new("system", "") }
    });
    let mut messages: Vec<Shared> = prompts.map(Shared::from).collect();
    let conversation = take(&declared.messages).into_iter().flat_map(|sent| match sent {
        Json::Array(elements) => elements,
        one => vec![one],
    });
    let conversation: Vec<Shared> = conversation.map(|sent| message(sent).into()).collect();
    let tools = take(&declared.tools).into_iter().next().unwrap_or(Json::Null);
    let model = take(&declared.model).into_iter().find_map(Json::into_string);
    let in_path = declared.model_of(target.path).unwrap_or_default();
    let setting = |at: &String| Some((at.trim_start_matches('/').into(), take(std::slice::from_ref(at)).pop()?));
    let settings: Object = declared.settings.iter().filter_map(setting).collect();
    if rest.is_truthy() {
        let content = Json::Array(vec![rest]);
        messages.push(Message { content, ..Message::new(FIELDS, "") }.into());
    }
    messages.extend(conversation);
    let (metadata, caller) = metadata(body).unwrap_or_default();
    let stream = [settings.get("stream"), body.get("stream")].contains(&Some(&Json::Bool(true)));
    Call {
        caller,
        metadata,
        stream: stream || target.path.contains(":stream"),
        tools,
        model: model.unwrap_or_else(|| in_path.to_owned()),
        settings: Json::Object(settings),
        form: Json::object::<String>([]),
        extra: Json::object::<String>([]),
        ..Call::of(Api::Declared(declared), messages)
    }
}

/// Removes a value, and the objects that are empty without it.
fn take(json: &mut Json, tokens: &[impl AsRef<str>]) -> Option<Json> {
    let object = json.as_object_mut()?;
    let (first, below) = tokens.split_first()?;
    if below.is_empty() {
        return object.remove(first.as_ref());
    }
    let inner = object.get_mut(first.as_ref())?;
    let found = take(inner, below)?;
    if inner.as_object().is_some_and(|inner| inner.iter().next().is_none()) {
        object.remove(first.as_ref());
    }
    Some(found)
}

/// Reads an element of the conversation. What is not its role or its content is a block of its own.
fn message(sent: Json) -> Message {
    let extra = extra_of(&sent);
    let Json::Object(mut fields) = sent else { return Message { content: sent, ..Message::new("human", "") } };
    let role = fields.remove("role").and_then(Json::into_string);
    let kind = match role.as_deref() {
        None | Some("user") => "human",
        Some("assistant" | "model") => "ai",
        Some("system" | "developer") => "system",
        Some(other) => other,
    };
    let mut blocks = match fields.remove("content") {
        Some(Json::Array(blocks)) => blocks,
        Some(Json::Str(text)) => vec![Json::object([("text", text.into())])],
        Some(other) if other != Json::Null => vec![other],
        _ => Vec::new(),
    };
    if fields.iter().next().is_some() {
        blocks.push(Json::Object(fields));
    }
    Message { content: content_of(blocks), extra, ..Message::new(kind, "") }
}

/// Whether anything is at one of the places.
pub(super) fn first<'j>(json: &'j Json, pointers: &[String]) -> Option<&'j Json> {
    pointers.iter().flat_map(|pointer| all(json, pointer)).find(|value| **value != Json::Null)
}

//! What the requests of several APIs have in common.

use std::collections::HashMap;

use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout, Object};
use crate::wire::parts::fields::{self, WireError};

/// The names of the tool calls made so far, by call id: a result is keyed with the name of the tool that it is of.
#[derive(Default)]
pub(super) struct ToolNames(HashMap<String, String>);

impl ToolNames {
    pub(super) fn learn<'a>(&mut self, calls: impl IntoIterator<Item = &'a ToolCall>) {
        let named = calls.into_iter().filter(|call| !call.id.is_empty());
        self.0.extend(named.map(|call| (call.id.clone(), call.name.clone())));
    }

    pub(super) fn of(&self, id: &str) -> Option<String> {
        self.0.get(id).cloned()
    }
}

/// The metadata of a request, and the caller that they name. Metadata are the user's own: a `caller` that is not a string names
/// none.
pub(super) fn metadata(body: &Json) -> Result<(Option<Json>, Option<String>), WireError> {
    let metadata = fields::optional_object(body, "metadata")?;
    let caller = metadata.and_then(|data| data.str_of("caller")).map(str::to_owned);
    Ok((metadata.cloned(), caller))
}

/// The fields of a request but those of the given names.
pub(super) fn settings(sent: &Object, but: &[&str]) -> Object {
    sent.iter().filter(|(key, _)| !but.contains(key)).map(|(key, value)| (key, value.clone())).collect()
}

/// The text of all system messages, joined by an empty line.
pub(super) fn system_of(messages: &[Message]) -> String {
    let system = messages.iter().filter(|m| m.kind == "system").map(|m| text_of(&m.content));
    system.collect::<Vec<_>>().join("\n\n")
}

/// The text of a prompt: of parts the concatenation, where a part without text is its JSON.
fn text_of(content: &Json) -> String {
    let text_of_part = |part: &Json| match part.as_str().or(part.str_of("text")) {
        Some(text) => text.to_owned(),
        None => part.print(Layout::Python),
    };
    match content {
        Json::Array(parts) => parts.iter().map(text_of_part).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// Content blocks as a message has them: a string where all are text. Empty ones say nothing.
pub(super) fn content_of(blocks: Vec<Json>) -> Json {
    let empty = |block: &Json| block.str_of("text") == Some("");
    let blocks: Vec<Json> = blocks.into_iter().filter(|block| !empty(block)).collect();
    let texts: Option<String> = blocks.iter().map(|block| block.str_of("text")).collect();
    texts.map_or(Json::Array(blocks), Json::Str)
}

//! The texts that collapsed events deliver in pieces, joined for each message: a service may cut a text anywhere, but the text
//! itself is part of its contract.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::notation::{self, Normalize};
use crate::json::{Json, Object};
use retake_base::text::clipped;

/// The largest number of characters of a text that are shown.
const SHOWN: usize = 60;
/// The keys under which the id of a message can be.
const IDS: [&str; 9] =
    ["message_id", "messageId", "item_id", "itemId", "tool_call_id", "toolCallId", "call_id", "callId", "id"];
/// The keys of objects in which an event wraps its piece.
const WRAPPERS: [&str; 3] = ["data", "chunk", "message"];
/// The keys under which a `delta` object can have its piece.
const PIECES: [&str; 5] = ["content", "text", "partial_json", "arguments", "thinking"];

/// The messages of one label.
#[derive(Default)]
pub(super) struct Messages {
    /// The pieces of each message, with the line of its first piece, in the order of these lines.
    all: Vec<(usize, Vec<String>)>,
    by_id: HashMap<String, usize>,
    /// Whether a piece came without an id of its message. Parallel messages could then not be distinguished.
    lost: bool,
}

impl Messages {
    /// Adds the piece of an event; `line` is the line of the event.
    pub(super) fn take(&mut self, payload: &Json, line: usize) {
        let Some((id, text)) = piece(payload).filter(|(_, text)| !text.is_empty()) else { return };
        let Some(id) = id else {
            self.lost = true;
            return;
        };
        let next = self.all.len();
        let at = *self.by_id.entry(id).or_insert(next);
        if at == next {
            self.all.push((line, Vec::new()));
        }
        self.all[at].1.push(text);
    }

    /// Returns each text as it is shown, with its line: in the order of lines, and sorted if several begin on the same line.
    pub(super) fn finish(self, normalize: &Normalize) -> Vec<(usize, String)> {
        if self.lost {
            return Vec::new();
        }
        let messages = self.all.into_iter();
        let mut shown: Vec<_> = messages.map(|(line, pieces)| (line, shown(&pieces, normalize))).collect();
        shown.sort();
        shown
    }
}

/// Returns the text as it is shown: `"The first characters of it…" (213, 4f1c)`, with the number of all characters and the
/// beginning of the hash. `growing` marks a text of which each piece repeated everything so far: the same text in pieces to be
/// joined is a different contract for clients.
fn shown(pieces: &[String], normalize: &Normalize) -> String {
    let is_growing =
        pieces.len() > 1 && pieces.windows(2).all(|two| two[1].len() > two[0].len() && two[1].starts_with(&two[0]));
    let whole = if is_growing { pieces.last().cloned().unwrap_or_default() } else { pieces.concat() };
    let text = normalize(&whole);
    let hash = Sha256::digest(text.as_bytes());
    let start = notation::json_quoted(&clipped(&text, SHOWN));
    let growing = if is_growing { ", growing" } else { "" };
    format!("{start} ({}, {:02x}{:02x}{growing})", text.chars().count(), hash[0], hash[1])
}

/// Returns the piece of a text in a payload, and the id of its message.
fn piece(payload: &Json) -> Option<(Option<String>, String)> {
    let object = match payload {
        // LangGraph sends the chunk and what is known of it.
        Json::Array(items) => items.first()?.as_object()?,
        other => other.as_object()?,
    };
    if let Some(text) = text_of(object) {
        return Some((id_of(object), text));
    }
    WRAPPERS.iter().find_map(|key| {
        let inner = object.get(key)?.as_object()?;
        Some((id_of(inner).or_else(|| id_of(object)), text_of(inner)?))
    })
}

fn id_of(object: &Object) -> Option<String> {
    let id = IDS.iter().find_map(|key| object.get(key)?.as_str())?;
    // A word without digits is a placeholder for a missing id.
    id.contains(|c: char| c.is_ascii_digit()).then(|| id.to_owned())
}

fn text_of(object: &Object) -> Option<String> {
    let delta =
        object.iter().find(|(key, value)| is_delta(key) && !matches!(value, Json::Null)).map(|(_, value)| value);
    match delta {
        Some(Json::Str(text)) => return Some(text.clone()),
        Some(Json::Object(delta)) => return PIECES.iter().find_map(|key| Some(delta.get(key)?.as_str()?.to_owned())),
        _ => {}
    }
    if let Some(choice) = object.get("choices").and_then(Json::as_array).and_then(<[Json]>::first) {
        return text_of(choice.as_object()?);
    }
    match object.get("content").or_else(|| object.get("text"))? {
        Json::Str(text) => Some(text.clone()),
        Json::Array(blocks) => Some(blocks.iter().filter_map(|block| block.str_of("text")).collect()),
        _ => None,
    }
}

fn is_delta(key: &str) -> bool {
    key == "delta" || key.ends_with("Delta") || key.ends_with("_delta")
}

#[cfg(test)]
mod tests;

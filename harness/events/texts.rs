//! The texts that collapsed events bring in pieces, put together message by message: how a text was cut is not a contract,
//! and what it says is.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::notation::{self, Normalize};
use crate::json::{Json, Object};
use crate::text::clipped;

/// How many characters of a text are shown.
const SHOWN: usize = 60;
/// The keys of a message's id.
const IDS: [&str; 9] =
    ["message_id", "messageId", "item_id", "itemId", "tool_call_id", "toolCallId", "call_id", "callId", "id"];
/// The keys of what an event wraps its piece in.
const WRAPPERS: [&str; 3] = ["data", "chunk", "message"];
/// The keys of a piece within a `delta` object.
const PIECES: [&str; 5] = ["content", "text", "partial_json", "arguments", "thinking"];

/// The messages of one label.
#[derive(Default)]
pub(super) struct Messages {
    /// In order of their first pieces, each with the line where that stands.
    all: Vec<(usize, Vec<String>)>,
    by_id: HashMap<String, usize>,
    /// A piece came whose message nothing tells: parallel ones could not be told apart.
    lost: bool,
}

impl Messages {
    /// Takes what an event brings; `line` is where it stands.
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

    /// Each text as it is shown, with its line: in order, and where two begin on one line, sorted.
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

/// `"The first characters of it…" (213, 4f1c)`: how many there are, and the beginning of the hash of all; `growing` where each
/// piece was all that there was so far. A client that puts pieces together shows nonsense where one becomes the other.
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

/// The piece of a text that a payload brings, and the id of the message to which it belongs.
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
    // A word is no id but stands where one is missing.
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

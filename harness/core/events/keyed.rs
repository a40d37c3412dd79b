//! The keys under which texts usually are, for texts that were not recorded: a service may send other texts than its model.

use std::collections::BTreeSet;

use super::held::{Held, Lane};
use super::path::{Path, Step};

/// The keys under which the id of a message can be, the most specific ones first.
const IDS: [&str; 9] =
    ["message_id", "messageId", "item_id", "itemId", "tool_call_id", "toolCallId", "call_id", "callId", "id"];
/// The keys of objects in which an event wraps its piece.
const WRAPPERS: [&str; 3] = ["data", "chunk", "message"];
/// The keys under which a `delta` object can have its piece.
const PIECES: [&str; 5] = ["content", "text", "partial_json", "arguments", "thinking"];

/// Whether a path usually leads to a text.
pub(super) fn is_text(path: &Path) -> bool {
    let keys: Vec<&str> =
        path.0.iter().map(|step| if let Step::Key(key) = step { key.as_str() } else { "*" }).collect();
    // LangGraph sends the chunk and what is known of it as a list.
    let keys = keys.strip_prefix(&["*"]).unwrap_or(&keys);
    let inner = keys.split_first().filter(|(key, inner)| WRAPPERS.contains(key) && !inner.is_empty());
    inner.is_some_and(|(_, inner)| is_piece(inner)) || is_piece(keys)
}

fn is_piece(keys: &[&str]) -> bool {
    let keys = keys.strip_prefix(&["choices", "*"]).unwrap_or(keys);
    match keys {
        [] | ["content", "*", "text"] => true,
        [key] => is_delta(key) || ["content", "text"].contains(key),
        [delta, piece] => is_delta(delta) && PIECES.contains(piece),
        _ => false,
    }
}

fn is_delta(key: &str) -> bool {
    key == "delta" || key.ends_with("Delta") || key.ends_with("_delta")
}

/// How well a path fits as the id of the message whose text is at another path: the lower, the better. `None` if it is not
/// called like an id, or is in another object.
pub(super) fn rank_as_id(lane: &Path, text: &Path) -> Option<usize> {
    let (last, object) = lane.0.split_last()?;
    let Step::Key(key) = last else { return None };
    let rank = IDS.iter().position(|id| id == key)?;
    text.0.starts_with(object).then_some(rank * 100 + text.0.len() - object.len())
}

/// The texts under the usual keys, each with the id of its message. `beside` returns the paths of strings that are beside
/// each piece at a path. Without an id, parallel messages could not be told apart.
pub(super) fn held<'a>(texts: &[&Path], beside: &dyn Fn(&Path) -> BTreeSet<&'a Path>) -> Vec<Held> {
    let of = |path: &&Path| {
        let lane = beside(path).into_iter().filter_map(|lane| Some((rank_as_id(lane, path)?, lane))).min()?;
        Some(Held { path: (*path).clone(), lanes: vec![Lane::Value(lane.1.clone())] })
    };
    texts.iter().filter(|path| is_text(path)).filter_map(of).collect()
}

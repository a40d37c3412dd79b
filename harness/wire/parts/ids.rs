//! Ids for what a recording has none for: the same in every replay, so that they may leak into event streams.

use std::fmt::{Display, Write as _};

use sha2::{Digest as _, Sha256};

use crate::conversation::ToolCall;

/// 24 hex digits that follow from a call and a position in its answer.
pub(in crate::wire) fn derived(prefix: &str, seed: &str, position: impl Display) -> String {
    let hash = Sha256::digest(format!("{seed}:{position}"));
    hash.iter().take(12).fold(prefix.to_owned(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

/// The recorded id of a call, or one derived from its position.
pub(in crate::wire) fn of_call(call: &ToolCall, prefix: &str, seed: &str, position: impl Display) -> String {
    if call.id.is_empty() { derived(prefix, seed, position) } else { call.id.clone() }
}

#[cfg(test)]
mod tests;

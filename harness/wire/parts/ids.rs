//! Ids for what has none in the recording. They are the same in every replay, since they may end up in event streams.

use std::fmt::{Display, Write as _};

use sha2::{Digest as _, Sha256};

use retake_core::conversation::ToolCall;

/// Returns an id: the prefix and 24 hexadecimal digits that depend only on the call and the position in its answer.
pub(crate) fn derived(prefix: &str, seed: &str, position: impl Display) -> String {
    let hash = Sha256::digest(format!("{seed}:{position}"));
    hash.iter().take(12).fold(prefix.to_owned(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

/// Returns the recorded id of a tool call, or one derived from its position if it has none.
pub(crate) fn of_call(call: &ToolCall, prefix: &str, seed: &str, position: impl Display) -> String {
    if call.id.is_empty() { derived(prefix, seed, position) } else { call.id.clone() }
}

#[cfg(test)]
mod tests;

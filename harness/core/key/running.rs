//! The hash of a conversation, message by message. An agent resends its whole history with each call, so the hash of a call goes
//! on from the state after the history.
//!
//! Version 1 normalizes the JSON of the whole conversation (KEY.md, section 2). Between two messages stands `"}, {"`. Of the eight
//! rules only the first can match a text with these characters: the others match no quote and no brace, apart from the
//! one for paths, which ends before a quote, and a path is always within a string. So normalizing each message alone is the same,
//! unless a reminder is opened in one message and closed in a later one. Then the whole conversation has to be hashed.

use memchr::memmem;
use sha2::{Digest, Sha256};

use super::canonical::canonical_message;
use super::hash::Hash;
use super::normalize::{CLOSE, Normalizer, OPEN, all, reminder};
use crate::conversation::Message;
use crate::json::{Json, Layout};

/// The state of the hash of a conversation after some of its canonical messages. A clone can go on by itself.
#[derive(Clone, Debug)]
pub struct RunningHash {
    sha: Sha256,
    /// How many messages there are.
    /// The number of canonical messages up to here.
    pub length: usize,
    reminders: Reminders,
}

/// What is known about the reminders so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reminders {
    /// Each one is closed in the message in which it is opened.
    Closed,
    /// One was opened, and not closed by any message after it.
    Open,
    /// One reaches from a message into a later one, so the messages cannot be hashed one by one.
    Across,
}

impl Default for RunningHash {
    fn default() -> RunningHash {
        let mut sha = Sha256::new();
        sha.update(b"[");
        RunningHash { sha, length: 0, reminders: Reminders::Closed }
    }
}

impl RunningHash {
    /// Adds the next message of a call. The normalizer has to be the same for all of them.
    pub fn add(&mut self, message: &Message, normalizer: &Normalizer) {
        let Some(canonical) = canonical_message(message, normalizer) else { return };
        self.add_canonical(&canonical, normalizer);
    }

    /// Adds the next canonical message of the conversation.
    pub fn add_canonical(&mut self, message: &Json, normalizer: &Normalizer) {
        self.add_with(&mut String::new(), message, normalizer);
    }

    /// The same with a buffer for the text of the message.
    pub(super) fn add_with(&mut self, text: &mut String, message: &Json, normalizer: &Normalizer) {
        text.clear();
        message.print_to(text, Layout::Python);
        self.length += 1;
        let is_whole = matches!(message, Json::Object(_)) && self.reminders != Reminders::Across;
        if !is_whole || self.closes(text) {
            self.reminders = Reminders::Across;
            return;
        }
        if self.length > 1 {
            self.sha.update(b", ");
        }
        self.sha.update(normalizer.version_1(text).as_bytes());
    }

    /// Takes note of the reminders in a message. Returns whether it closes one of an earlier message.
    fn closes(&mut self, text: &str) -> bool {
        if self.reminders == Reminders::Open {
            return memmem::find(text.as_bytes(), CLOSE.as_bytes()).is_some();
        }
        let from = all(text, reminder).last().map_or(0, |found| found.end);
        if memmem::find(&text.as_bytes()[from..], OPEN.as_bytes()).is_some() {
            self.reminders = Reminders::Open;
        }
        false
    }

    /// Returns the hash of the conversation up to here, or `None` if only the whole conversation shows it.
    pub fn hash(&self) -> Option<Hash> {
        if self.reminders == Reminders::Across {
            return None;
        }
        Some(Hash(self.sha.clone().chain_update(b"]").finalize().into()))
    }
}

#[cfg(test)]
mod tests;

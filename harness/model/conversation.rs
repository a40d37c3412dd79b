//! The canonical conversation of a call. Most calls need only its hash, so the messages are made canonical when somebody looks at
//! them.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use retake_core::json::Json;
use retake_core::key::{Hash, Key, Rules, RunningHash};
use retake_wire::Shared;

/// A canonical conversation: a list of messages, and its hash.
#[derive(Clone)]
pub struct Conversation {
    messages: Vec<Shared>,
    pub(super) length: usize,
    canonical: OnceLock<Vec<Json>>,
    pub(super) hash: OnceLock<Hash>,
    rules: Arc<Rules>,
}

impl Conversation {
    /// The conversation of these messages. `hash` is its hash, if it is known already.
    pub(super) fn of(messages: Vec<Shared>, hash: Option<RunningHash>, rules: &Arc<Rules>) -> Conversation {
        let running = hash.unwrap_or_else(|| {
            let mut running = RunningHash::default();
            for message in &messages {
                running.add(message, &rules.normalizer);
            }
            running
        });
        let hash = running.hash().map(OnceLock::from).unwrap_or_default();
        Conversation { messages, length: running.length, canonical: OnceLock::new(), hash, rules: rules.clone() }
    }

    /// The hash of the conversation.
    pub fn hash(&self) -> Hash {
        *self.hash.get_or_init(|| self.rules.conversation_hash(self))
    }

    /// The messages as the call has them.
    pub(super) fn messages(&self) -> &[Shared] {
        &self.messages
    }

    /// Returns the canonical messages after the last one of the model, or all if there is none of the model.
    pub(super) fn added(&self) -> Vec<Json> {
        if let Some(canonical) = self.canonical.get() {
            let answered = canonical.iter().rposition(|message| message.str_of("type") == Some("ai"));
            return canonical[answered.map_or(0, |last| last + 1)..].to_vec();
        }
        let mut added = Vec::new();
        for message in self.messages.iter().rev() {
            let Some(canonical) = self.rules.canonical([&**message]).pop() else { continue };
            if message.kind == "ai" {
                break;
            }
            added.push(canonical);
        }
        added.reverse();
        added
    }

    /// The key by the rules of deer-flow's first fixtures.
    pub(super) fn first_key(&self, caller: Option<&str>) -> Key {
        Rules::first_key(self.messages.iter().map(|message| (**message).clone()).collect(), caller)
    }
}

impl Deref for Conversation {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        self.canonical.get_or_init(|| self.rules.canonical(self.messages.iter().map(|message| &**message)))
    }
}

/// A conversation that is canonical already.
impl From<Vec<Json>> for Conversation {
    fn from(canonical: Vec<Json>) -> Conversation {
        let rules = Arc::new(Rules::default());
        let (length, hash) = (canonical.len(), OnceLock::new());
        Conversation { messages: Vec::new(), length, canonical: OnceLock::from(canonical), hash, rules }
    }
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Conversation) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

//! Computes the key of a call from version 1's rules and those that a suite adds.

use std::borrow::Borrow;

use super::caller::Aliases;
use super::canonical::canonical_message;
use super::hash::Hash;
use super::normalize::Normalizer;
use super::running::RunningHash;
use crate::conversation::Message;
use crate::json::{Json, Layout};

/// The key of one model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The SHA-256 of the canonical conversation.
    pub conversation_hash: Hash,
    /// The SHA-256 of the caller and the conversation hash.
    pub input_hash: Hash,
}

/// Everything that determines a key apart from the call itself: the suite's normalizers and its aliases of callers. The
/// default is version 1.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The rules for texts: those of version 1, then the suite's own.
    pub normalizer: Normalizer,
    /// Other names of callers.
    pub aliases: Aliases,
}

impl Rules {
    /// Returns the key that the first deer-flow fixtures have (KEY.md, section 6). They are older than rules 2 to 4 and
    /// `hide_from_ui`.
    pub fn first_key(messages: Vec<Message>, caller: Option<&str>) -> Key {
        let rules = Rules { normalizer: Normalizer::of_first_fixtures(), aliases: Aliases::default() };
        rules.key(&rules.canonical(messages.into_iter().map(|message| Message { hidden: false, ..message })), caller)
    }

    /// No rules: the messages and texts of a call stay as they were sent, which is how a fixture stores them.
    pub fn none() -> Rules {
        Rules { normalizer: Normalizer::none(), aliases: Aliases::default() }
    }

    /// Returns the canonical messages of a conversation. Each is an object of `type`, `content`, `tool_calls?` and `name?`.
    pub fn canonical(&self, messages: impl IntoIterator<Item = impl Borrow<Message>>) -> Vec<Json> {
        messages.into_iter().filter_map(|message| canonical_message(message.borrow(), &self.normalizer)).collect()
    }

    /// Returns the hash of canonical messages.
    pub fn conversation_hash(&self, canonical: &[Json]) -> Hash {
        let (mut running, mut text) = (RunningHash::default(), String::new());
        for message in canonical {
            running.add_with(&mut text, message, &self.normalizer);
        }
        running.hash().unwrap_or_else(|| self.hash_of_whole(canonical))
    }

    /// Returns the same hash as KEY.md says it: the JSON of all messages is normalized at once.
    pub fn hash_of_whole(&self, canonical: &[Json]) -> Hash {
        let messages: Vec<String> = canonical.iter().map(|message| message.print(Layout::Python)).collect();
        Hash::of(self.normalizer.version_1(&format!("[{}]", messages.join(", "))).as_bytes())
    }

    /// Returns the hash of a caller, which this function normalizes, and the hash of a conversation.
    pub fn input_hash(&self, conversation: Hash, caller: Option<&str>) -> Hash {
        let caller = Json::Str(self.caller(caller)).print(Layout::Python);
        Hash::of(format!(r#"{{"caller": {caller}, "conversation_hash": "{conversation}"}}"#).as_bytes())
    }

    /// Returns the key of canonical messages from a caller.
    pub fn key(&self, canonical: &[Json], caller: Option<&str>) -> Key {
        let conversation_hash = self.conversation_hash(canonical);
        Key { conversation_hash, input_hash: self.input_hash(conversation_hash, caller) }
    }

    /// Returns the hash of a whole request body, normalized. It ranks the turns of one conversation (KEY.md, section 4), and is
    /// never verified.
    pub fn request_hash(&self, body: &Json) -> Hash {
        let body = self.normalizer.own_of(body, true);
        Hash::of(self.normalizer.version_1(&body.print(Layout::Python)).as_bytes())
    }

    /// Returns the canonical name of a caller: stripped, normalized, `lead_agent` if it is then empty, with aliases resolved.
    pub fn caller(&self, caller: Option<&str>) -> String {
        self.aliases.canonical(caller, &self.normalizer)
    }
}

/// Returns the hash of a call's conversation (KEY.md, sections 1 and 2), which fixtures store as `conversation_hash`.
///
/// # Example
/// ```
/// use retake_core::{conversation::Message, key};
/// let hash = key::conversation_hash(vec![Message::new("system", "Be brief."), Message::new("human", "hello")]);
/// assert_eq!(hash, key::conversation_hash(vec![Message::new("human", "hello")]));
/// ```
pub fn conversation_hash(messages: Vec<Message>) -> Hash {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(messages))
}

/// Returns the hash of a caller and its conversation (KEY.md, section 3), which fixtures store as `input_hash`. Without a
/// caller, it is the hash for `lead_agent`. For a call in the process, [`caller_of_tags`](super::caller_of_tags) returns the
/// caller.
pub fn input_hash(messages: Vec<Message>, caller: Option<&str>) -> Hash {
    let rules = Rules::default();
    rules.key(&rules.canonical(messages), caller).input_hash
}

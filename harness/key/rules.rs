//! The key of a call: by version 1's rules, and by those that a suite adds.

use std::borrow::Cow;

use super::caller::Aliases;
use super::canonical::canonical_conversation;
use super::hash::Hash;
use super::normalize::Normalizer;
use crate::conversation::Message;
use crate::json::{Json, Layout};

/// The key of one model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// SHA-256 of the canonical conversation.
    pub conversation_hash: Hash,
    /// SHA-256 of caller and conversation hash.
    pub input_hash: Hash,
}

/// All that decides a key beside the call itself: the suite's normalizers and caller aliases. The default is version 1.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Text rules: version 1's own, then the suite's.
    pub normalizer: Normalizer,
    /// Other names of callers.
    pub aliases: Aliases,
}

impl Rules {
    /// The key as the first fixtures of deer-flow have it (KEY.md, section 6): rules 2 to 4 and `hide_from_ui` came later.
    #[must_use]
    pub fn first_key(messages: Vec<Message>, caller: Option<&str>) -> Key {
        let rules = Rules { normalizer: Normalizer::of_first_fixtures(), aliases: Aliases::default() };
        let shown = messages.into_iter().map(|message| Message { hidden: false, ..message });
        rules.key(&rules.canonical(shown.collect()), caller)
    }

    /// The canonical messages of a conversation, each an object of `type`, `content`, `tool_calls?`, `name?`.
    #[must_use]
    pub fn canonical(&self, messages: Vec<Message>) -> Vec<Json> {
        canonical_conversation(messages, &self.normalizer)
    }

    /// The hash of canonical messages.
    #[must_use]
    pub fn conversation_hash(&self, canonical: &[Json]) -> Hash {
        let content = canonical.iter().filter_map(|message| message.str_of("content")).map(str::len).sum::<usize>();
        // Room for all but many escapes and long arguments.
        let mut text = String::with_capacity(content + content / 8 + 128 * canonical.len());
        text.push('[');
        for (i, message) in canonical.iter().enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            message.print_to(&mut text, Layout::Python);
        }
        text.push(']');
        Hash::of(self.normalizer.version_1(&text).as_bytes())
    }

    /// The hash of a caller, which is normalized here, and a conversation.
    #[must_use]
    pub fn input_hash(&self, conversation: Hash, caller: Option<&str>) -> Hash {
        let caller = Json::Str(self.caller(caller)).print(Layout::Python);
        Hash::of(format!(r#"{{"caller": {caller}, "conversation_hash": "{conversation}"}}"#).as_bytes())
    }

    /// The key of canonical messages from a caller.
    #[must_use]
    pub fn key(&self, canonical: &[Json], caller: Option<&str>) -> Key {
        let conversation_hash = self.conversation_hash(canonical);
        Key { conversation_hash, input_hash: self.input_hash(conversation_hash, caller) }
    }

    /// The hash of a whole request body, normalized: it ranks turns of one conversation (KEY.md, section 4), and is never
    /// verified.
    #[must_use]
    pub fn request_hash(&self, body: &Json) -> Hash {
        let mut body = Cow::Borrowed(body);
        if self.normalizer.has_own() {
            self.normalizer.own_in(body.to_mut(), true);
        }
        Hash::of(self.normalizer.version_1(&body.print(Layout::Python)).as_bytes())
    }

    /// A caller's canonical name: stripped, normalized, `lead_agent` where nothing is left, aliases resolved.
    #[must_use]
    pub fn caller(&self, caller: Option<&str>) -> String {
        self.aliases.canonical(caller, &self.normalizer)
    }
}

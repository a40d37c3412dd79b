//! Under which keys words are a part of a shape: those that say what a thing is, or how it went.

use std::borrow::Cow;

use crate::json::Object;

/// The keys, as [`plain`] has them.
const KEYS: [&str; 8] = ["type", "role", "status", "kind", "object", "event", "finishreason", "stopreason"];
/// Keys of a tool's name, beside the id of its call or its arguments.
const TOOL_NAMES: [&str; 3] = ["name", "toolname", "toolcallname"];
/// The ids of calls.
const CALL_IDS: [&str; 3] = ["toolcallid", "callid", "tooluseid"];
/// What a call has beside its name.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "input"];
/// The longest word.
const LONGEST: usize = 48;

/// Under which keys words are shown.
pub(super) struct WordKeys {
    more: Vec<String>,
}

/// Whether words are shown under a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Words,
    /// The name of a tool, where its object is a call or a result: see [`is_of_tool`].
    ToolName,
    Nothing,
}

impl WordKeys {
    /// The usual ones, and more.
    pub(super) fn new(more: &[String]) -> WordKeys {
        WordKeys { more: more.iter().map(|key| plain(key).into_owned()).collect() }
    }

    /// Whether words are shown under a key.
    pub(super) fn under(&self, key: &str) -> Holds {
        let key = plain(key);
        if KEYS.contains(&&*key) || self.more.iter().any(|more| *more == key) {
            Holds::Words
        } else if TOOL_NAMES.contains(&&*key) {
            Holds::ToolName
        } else {
            Holds::Nothing
        }
    }
}

/// Whether an object is the call of a tool or its result, so that its name is that of the tool.
pub(super) fn is_of_tool(object: &Object) -> bool {
    object.keys().map(plain).any(|key| CALL_IDS.contains(&&*key) || ARGUMENTS.contains(&&*key))
}

/// Whether a text is a word, and no prose: it names something, and holds nothing that counts up.
pub(super) fn is_word(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.:/".contains(&c))
}

/// A key in small letters, without `_` and `-`: `finishReason` is `finish_reason`.
fn plain(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|c| c.is_ascii_lowercase()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect())
}

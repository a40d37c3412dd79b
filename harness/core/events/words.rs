//! The keys whose words are part of a shape: those that say what kind of thing an object is, or its outcome.

use std::borrow::Cow;

use time::Date;

use super::notation::hash;
use crate::days::tells;
use crate::json::Object;
use retake_base::text::clipped;

/// The keys, in the form that [`plain`] returns.
const KEYS: [&str; 8] = ["type", "role", "status", "kind", "object", "event", "finishreason", "stopreason"];
/// The keys of a tool's name, if the object also has the id or the arguments of a call.
const TOOL_NAMES: [&str; 3] = ["name", "toolname", "toolcallname"];
const CALL_IDS: [&str; 3] = ["toolcallid", "callid", "tooluseid"];
/// The keys of the arguments of a call.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "input"];
/// The largest number of characters of what a text says that is shown.
pub(super) const SHOWN: usize = 120;
/// The same of what is true of one recording, so that a change behind the beginning can be quoted.
pub(super) const WHOLE: usize = 10_000;
/// How the hash of a long text begins that has words with digits, if it is of these, too.
const EXACTLY: &str = "exactly ";
/// The largest length of a word.
const LONGEST: usize = 48;

/// The keys whose words are shown.
pub(super) struct WordKeys(Vec<String>);

/// Whether words are shown under a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Words,
    /// The name of a tool, if its object is a call or a result: see [`is_of_tool`].
    ToolName,
    Nothing,
}

impl WordKeys {
    /// Creates the set of the usual keys and some more.
    pub(super) fn new(more: &[String]) -> WordKeys {
        WordKeys(more.iter().map(|key| plain(key).into_owned()).collect())
    }

    /// Returns whether words are shown under a key.
    pub(super) fn under(&self, key: &str) -> Holds {
        let key = plain(key);
        if KEYS.contains(&&*key) || self.0.iter().any(|more| *more == key) {
            Holds::Words
        } else if TOOL_NAMES.contains(&&*key) {
            Holds::ToolName
        } else {
            Holds::Nothing
        }
    }
}

/// Whether an object is the call of a tool or its result. If so, its name is the name of the tool.
pub(super) fn is_of_tool(object: &Object) -> bool {
    object.keys().map(|key| plain(key)).any(|key| CALL_IDS.contains(&&*key) || ARGUMENTS.contains(&&*key))
}

/// Whether a text is a word, and not prose: it begins with a letter, is short, and has no white space.
pub(super) fn is_word(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.:/".contains(&c))
}

/// Whether a text is a word without digits. Versions, hashes, and the names of models and of most hosts have digits.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.len() > 1 && is_word(text) && !text.contains(|c: char| c.is_ascii_digit())
}

/// Whether texts are told with their words that have digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exactly {
    #[default]
    No,
    Always,
    /// The same with names in place of days that only the service tells, as older goldens are.
    AlwaysButDays,
    /// Unless its own words tell a day, a clock, or how long something took: no clock was moved today, so each may be another one tomorrow.
    Unless(Date),
}

impl Exactly {
    /// Whether a text tells a day that is about today's, where no clock was moved.
    pub(super) fn is_near(self, text: &str) -> bool {
        matches!(self, Exactly::Unless(today) if tells(text, today, 0))
    }

    /// Whether a text is told so; `None` if it cannot be, by what is its own in it.
    pub(super) fn told(self, own: &str) -> Option<bool> {
        let Exactly::Unless(today) = self else { return Some(self != Exactly::No) };
        let is_clock = |of: &[u8]| of[1] == b':' && of[0].is_ascii_digit() && of[2].is_ascii_digit();
        let varies = || own.as_bytes().windows(3).any(is_clock) || is_measure(own, &UNITS) || tells(own, today, 26);
        (!own.contains(char::is_numeric) || !varies()).then_some(true)
    }
}

/// What a text says. `None` if it says nothing. A long text is told by its first characters, as many as are `shown`, its length and its hash.
///
/// If it is not said `exactly`, then without each word that has a digit, since that may be what it counts, measures, or names by a
/// version or a hash. A text without letters is a number, or somebody else's, and says what it is, unless it is a clock.
pub(super) fn said(text: &str, exactly: bool, shown: usize) -> Option<String> {
    let bare = is_bare(text);
    let said = if exactly || bare { text.to_owned() } else { without_numbers(text) };
    let (start, length) = (clipped(&said, shown), said.chars().count());
    if length > SHOWN {
        let exactly = if exactly && without_numbers(&said) != said { EXACTLY } else { "" };
        return Some(format!("{start} ({length}, {exactly}{})", hash(&said)));
    }
    Some(said).filter(|said| exactly || if bare { !said.contains(':') } else { !is_bare(said) })
}

/// A long text that is told with its length and its hash, if all of it is.
pub(super) fn told_whole(said: &str) -> Option<&str> {
    let (text, told) = said.rsplit_once(" (")?;
    let length: usize = told.split_once(", ")?.0.parse().ok()?;
    (text.chars().count() == length).then_some(text)
}

/// Whether what a text says was said exactly: it has digits.
pub(super) fn is_exact(said: &str) -> bool {
    let start = said.char_indices().nth(SHOWN).map_or(said, |(end, _)| &said[..end]);
    let has_digits = start.contains(char::is_numeric);
    if is_bare(start) { has_digits && start.contains(':') } else { has_digits || said.contains(EXACTLY) }
}

/// Whether what a text says may be without its words that have digits.
pub(super) fn leaves_numbers_out(said: &str) -> bool {
    said.contains('#') || said.chars().count() > SHOWN && !said.contains(EXACTLY)
}

/// Whether a text has no letters.
pub(super) fn is_bare(text: &str) -> bool {
    !text.contains(char::is_alphabetic)
}

/// A text with `#` in place of each word that has a digit.
pub(super) fn without_numbers(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (word, behind) = rest.split_at(rest.find(|c| is_part(c) != is_part(first)).unwrap_or(rest.len()));
        said.push_str(if word.contains(char::is_numeric) { "#" } else { word });
        rest = behind;
    }
    said
}

/// Words of the names of what is measured. Two replays may measure the same by chance.
const MEASURES: [&str; 9] = ["age", "duration", "elapsed", "latency", "reset", "runtime", "time", "timing", "uptime"];

/// Whether a name says that what it names is measured, by these words or by `more`.
pub(super) fn is_measure(name: &str, more: &[&str]) -> bool {
    let apart = |c: char| c.is_ascii_uppercase().then_some(' ').into_iter().chain([c.to_ascii_lowercase()]);
    let words: String = name.chars().flat_map(apart).collect();
    words.split(|c: char| !c.is_ascii_alphabetic()).any(|word| MEASURES.contains(&word) || more.contains(&word))
}

/// More of them, of keys.
pub(super) const UNITS: [&str; 4] = ["ms", "seconds", "secs", "took"];

/// Returns a key in lower case without `_` and `-`, so `finishReason` and `finish_reason` are the same.
pub(super) fn plain(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|c| c.is_ascii_lowercase()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect())
}

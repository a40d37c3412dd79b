//! The options of a golden: how much it shows, and what it leaves open.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::captured::{Event, UNNAMED};
use crate::json::Json;
use retake_base::error::Error;

/// What a golden shows, and what it leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, as in the file")]
pub struct ShapeOptions {
    /// How much of each payload is shown.
    pub detail: Detail,
    /// JSON pointers of values to show below the line of their event.
    pub show: Vec<String>,
    /// Labels of events whose runs become one line, whatever their payloads are. Their payloads are shown as types at most,
    /// since values depend on where a text was cut. The texts that they deliver in pieces are joined and shown.
    pub collapse: Vec<String>,
    /// Labels of events that are sorted among their neighbours.
    pub unordered: Vec<String>,
    /// Whether events of tool calls that were made at once stay in the order in which they came.
    pub ordered: bool,
    /// Labels of events that may come at any time, and are left out. `*` in a label matches any text.
    pub ignore: Vec<String>,
    /// What is shown of a payload or a body that is not JSON.
    pub text: TextAs,
    /// Whether comments are shown. Usually they are heartbeats, whose number and times mean nothing.
    pub comments: bool,
    /// Whether the lengths of lists and the number of ids at a place are left out.
    pub without_lengths: bool,
    /// Keys, in addition to the usual ones, whose words are shown and not only their type.
    pub words: Vec<String>,
    /// Whether everything after the last event for which a step waits is left out.
    pub until_last: bool,
    /// Whether it is left out which turns of the model a text repeats.
    pub without_turns: bool,
    /// Places of which only types are shown.
    pub loose: Vec<Loose>,
    /// The names of headers, in lower case, whose attributes and shapes of values are shown.
    pub headers: Vec<String>,
    /// The JSON pointer of the name of events that are all called the same.
    pub event_name: Option<String>,
}

impl ShapeOptions {
    /// Returns the name of an event in the golden. `json` is its payload.
    pub(super) fn label_of<'a>(&self, event: &'a Event, json: Option<&'a Json>) -> Cow<'a, str> {
        let own = event.label_with(json);
        let pointer = self.event_name.as_deref().filter(|_| event.is_real());
        match pointer.and_then(|pointer| json?.pointer(pointer)?.as_str()) {
            Some(kind) if own == UNNAMED => Cow::Borrowed(kind),
            // The name that all share is a part of the contract too.
            Some(kind) => Cow::Owned(format!("{own}/{kind}")),
            None => Cow::Borrowed(own),
        }
    }

    /// Whether `ignore` matches a label.
    pub fn ignores(&self, label: &str) -> bool {
        self.ignore.iter().any(|pattern| fits(pattern, label))
    }

    /// Whether `loose` names a place. The place of the texts of collapsed events has no pointer.
    pub(super) fn loosens(&self, label: &str, pointer: Option<&str>) -> bool {
        self.loose.iter().any(|loose| loose.label == label && loose.pointer.as_deref() == pointer)
    }
}

/// A place of which a golden shows only types. `EVENT:/pointer` is a value in the payload of an event, where `*` is any element
/// of a list. `EVENT` is the joined texts of collapsed events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loose {
    pub label: String,
    /// The JSON pointer of the place in their payload; `None` for the texts of collapsed events.
    pub pointer: Option<String>,
}

impl Loose {
    /// Parses `EVENT` or `EVENT:/pointer`. `EVENT:` is the whole payload.
    pub fn of(text: &str) -> Loose {
        let (label, pointer) = match (text.find(":/"), text.strip_suffix(':')) {
            (Some(at), _) => (&text[..at], Some(&text[at + 1..])),
            (None, Some(label)) if !label.is_empty() => (label, Some("")),
            (None, _) => (text, None),
        };
        Loose { label: label.to_owned(), pointer: pointer.map(str::to_owned) }
    }
}

impl fmt::Display for Loose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointer {
            Some(pointer) => write!(f, "{}:{pointer}", self.label),
            None => f.write_str(&self.label),
        }
    }
}

/// Whether a text matches a pattern in which `*` matches any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).any(|at| fits(rest, &text[at..]))
}

/// What a golden shows of a text that is not JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextAs {
    #[default]
    Kind,
    Lines,
}

/// How much of a payload a golden shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// The top-level keys.
    Keys,
    /// The keys and types at any depth.
    #[default]
    Types,
    /// The keys and values at any depth.
    Values,
}

impl Detail {
    /// The names of the levels of detail.
    pub const WORDS: [&str; 3] = ["keys", "types", "values"];
}

impl FromStr for Detail {
    type Err = Error;

    /// Parses `keys`, `types` or `values`.
    fn from_str(word: &str) -> Result<Detail, Error> {
        let all = [Detail::Keys, Detail::Types, Detail::Values];
        all.into_iter().find(|detail| detail.to_string() == word).ok_or_else(|| {
            let error = Error::new(format!("unknown detail `{word}`, expected `keys`, `types` or `values`"));
            error.suggest(word, Detail::WORDS)
        })
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Detail::WORDS[*self as usize])
    }
}

#[cfg(test)]
mod tests;

//! What a scenario may say of its golden: how much it holds, and what it leaves open.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::text::nearest;

/// What a golden shows, and what it leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeOptions {
    /// How much of a payload it holds.
    pub detail: Detail,
    /// JSON pointers of values that stand below the line of their event.
    pub show: Vec<String>,
    /// Labels of which a run of events is one line, whatever they carry. Of what they carry types are shown at most, since
    /// values depend on where a text was cut; and the texts that they bring, each put together.
    pub collapse: Vec<String>,
    /// Labels of events that are sorted where they are neighbours.
    pub unordered: Vec<String>,
    /// Labels of events that may come at any time, and are left out. `*` in them is any text.
    pub ignore: Vec<String>,
    /// What is shown of what an event brings that is no JSON, or a whole body of it.
    pub text: TextAs,
    /// Whether comments are shown: when heartbeats come, and how many, is mostly nobody's intent.
    pub comments: bool,
    /// Whether lengths of lists are shown, and how many ids there are at a place.
    pub lengths: bool,
    /// Keys, beside the usual ones, under which words are shown and not their type alone.
    pub words: Vec<String>,
    /// Whether it is shown what comes after the last event for which a step waits.
    pub after_last: bool,
    /// Places of which nothing is shown but types.
    pub loose: Vec<Loose>,
}

impl Default for ShapeOptions {
    fn default() -> ShapeOptions {
        ShapeOptions {
            detail: Detail::default(),
            show: Vec::new(),
            collapse: Vec::new(),
            unordered: Vec::new(),
            ignore: Vec::new(),
            text: TextAs::default(),
            comments: false,
            lengths: true,
            words: Vec::new(),
            after_last: true,
            loose: Vec::new(),
        }
    }
}

impl ShapeOptions {
    /// Whether `ignore` names a label.
    pub(crate) fn ignores(&self, label: &str) -> bool {
        self.ignore.iter().any(|pattern| fits(pattern, label))
    }

    /// Whether `loose` names a place. The place of the texts that collapsed events bring has no pointer.
    pub(super) fn loosens(&self, label: &str, pointer: Option<&str>) -> bool {
        self.loose.iter().any(|loose| loose.label == label && loose.pointer.as_deref() == pointer)
    }
}

/// A place of which a golden shows nothing but types: `EVENT:/pointer`, in which `*` is any element of a list, a value in
/// the payload of an event; `EVENT` the texts that such events bring, where they are collapsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loose {
    /// The label of the events.
    pub label: String,
    /// Where in their payload.
    pub pointer: Option<String>,
}

impl Loose {
    /// Reads `EVENT` or `EVENT:/pointer`; `EVENT:` is the payload itself.
    #[must_use]
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

/// Whether a text fits a pattern in which `*` is any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).any(|at| fits(rest, &text[at..]))
}

/// What a golden shows of a text that is no JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextAs {
    /// That it is one.
    #[default]
    Kind,
    /// Its lines, normalized.
    Lines,
}

/// How much of a payload a golden holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// The words for the levels of detail.
    pub const WORDS: [&str; 3] = ["keys", "types", "values"];
}

impl FromStr for Detail {
    type Err = Error;

    /// Reads `keys`, `types` or `values`.
    fn from_str(word: &str) -> Result<Detail, Error> {
        match word {
            "keys" => Ok(Detail::Keys),
            "types" => Ok(Detail::Types),
            "values" => Ok(Detail::Values),
            _ => {
                let error = Error::new(format!("unknown detail `{word}`, expected `keys`, `types` or `values`"));
                Err(match nearest(word, Detail::WORDS) {
                    Some(word) => error.help(format!("did you mean `{word}`?")),
                    None => error,
                })
            }
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Detail::Keys => "keys",
            Detail::Types => "types",
            Detail::Values => "values",
        })
    }
}

#[cfg(test)]
mod tests;

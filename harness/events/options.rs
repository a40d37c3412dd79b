//! What a scenario may say of its golden: how much it holds, and what it leaves open.

use std::fmt;
use std::str::FromStr;

use super::event::{Event, Payload};
use crate::error::Error;
use crate::text::nearest;

/// What a golden shows, and what it leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeOptions {
    /// How much of a payload it holds.
    pub detail: Detail,
    /// JSON pointers of values that stand on the line of their event.
    pub show: Vec<String>,
    /// Labels of which a run of events is one line, whatever they carry. Of what they carry types are shown at most, since
    /// values depend on where a text was cut.
    pub collapse: Vec<String>,
    /// Labels of events that are sorted where they are neighbours.
    pub unordered: Vec<String>,
    /// Whether comments are shown: when heartbeats come, and how many, is mostly nobody's intent.
    pub comments: bool,
}

impl ShapeOptions {
    /// Whether an event has a line at all.
    pub(super) fn shows(&self, event: &Event) -> bool {
        self.comments || !matches!(event.payload, Payload::Comment(_))
    }
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

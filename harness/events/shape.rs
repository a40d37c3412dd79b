//! The text of a golden: for each captured response its request, its status, the sequence of its events, and one tree
//! for each event label.
//!
//! Written out event by event, types make lines that nobody reads. So the sequence holds names and top-level keys
//! only, and what is inside is merged into trees, where a change at any depth is a change of its own line.

use std::fmt;
use std::str::FromStr;

use super::event::Event;
use super::merge::Keep;
use super::sequence::Sequence;
use super::{notation, outline};
use crate::error::Error;
use crate::json::Json;
use crate::text::nearest;

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

/// What a golden shows, and what it leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeOptions {
    /// How much of a payload it holds.
    pub detail: Detail,
    /// JSON pointers of values that stand on the line of their event.
    pub show: Vec<String>,
    /// Labels of which a run of events is one line, whatever they carry.
    pub collapse: Vec<String>,
    /// Labels of events that are sorted where they are neighbours.
    pub unordered: Vec<String>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With an HTTP status.
    Http(u16),
    /// With the exit code of a command.
    Exit(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Http(status) => write!(f, "{status}"),
            Status::Exit(code) => write!(f, "exit {code}"),
        }
    }
}

/// One response that a step captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// Method and path, as they were sent: `POST /api/threads/4f1c/runs/stream`.
    pub request: String,
    /// How the answer ended.
    pub status: Status,
    /// The content type as it was sent; empty where there is none.
    pub content_type: String,
    /// Its events; of a response that is no stream, its [`Event::body`].
    pub events: Vec<Event>,
}

/// The golden text of what a scenario captured, in step order. Ends with exactly one newline.
///
/// `normalize` replaces what differs from run to run by names. It is given each request, label, key, comment and shown value,
/// each as a text of its own.
#[must_use]
pub fn golden(captures: &[Captured], options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> String {
    let texts: Vec<String> = captures.iter().map(|capture| capture.text(options, normalize)).collect();
    // `---` would be taken for the header of the snapshot file.
    texts.join("\n\n") + if texts.is_empty() { "\n" } else { "" }
}

/// The label and the sorted top-level keys of each event, no keys where its payload is no object. Comments and
/// unterminated tails are left out.
#[must_use]
pub fn event_keys(events: &[Event]) -> Vec<(String, Option<Vec<String>>)> {
    let keys = |event: &Event| {
        let json = event.json();
        let keys = json.as_ref().and_then(Json::as_object).map(|object| object.keys().map(str::to_owned).collect());
        (event.label_with(json.as_ref()).to_owned(), keys)
    };
    events.iter().filter(|event| event.is_real()).map(keys).collect()
}

impl Captured {
    fn text(&self, options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> String {
        let media_type = self.content_type.split(';').next().unwrap_or_default();
        let status = format!("{} {}", self.status, notation::unseen_escaped(media_type.trim()));
        let mut out =
            format!("{}\n{}\n", notation::unseen_escaped(normalize(self.request.trim()).trim()), status.trim_end());
        let sequence = Sequence::of(&self.events, options, normalize);
        if !self.events.is_empty() {
            out.push('\n');
            sequence.print(&mut out);
        }
        if !sequence.shapes.is_empty() {
            out.push('\n');
        }
        let keep = Keep::of(options.detail);
        for (label, shape) in &sequence.shapes {
            outline::print(label, shape, keep, &mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests;

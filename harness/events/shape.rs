//! The text of a golden: for each captured response its request, its status, the sequence of its events, and one tree
//! for each event label.
//!
//! Written out event by event, types make lines that nobody reads. So the sequence holds names and top-level keys
//! only, and what is inside is merged into trees, where a change at any depth is a change of its own line.

use std::fmt;

use super::event::Event;
use super::options::ShapeOptions;
use super::sequence::Sequence;
use super::{notation, outline};
use crate::json::Json;

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

/// One response that a step captured, or what a page showed.
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
    /// In place of a response: the accessible tree of a region, a node a line.
    pub tree: Option<String>,
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
        let request = normalize(self.request.trim());
        let request = notation::unseen_escaped(request.trim());
        if let Some(tree) = &self.tree {
            let lines = tree.lines().map(|line| format!("{}\n", notation::unseen_escaped(&normalize(line))));
            return format!("{request}\n\n{}", lines.collect::<String>());
        }
        let media_type = self.content_type.split(';').next().unwrap_or_default();
        let status = format!("{} {}", self.status, notation::unseen_escaped(media_type.trim()));
        let mut out = format!("{request}\n{}\n", status.trim_end());
        let sequence = Sequence::of(&self.events, options, normalize);
        if !sequence.is_empty() {
            out.push('\n');
            sequence.print(&mut out);
        }
        if !sequence.shapes.is_empty() {
            out.push('\n');
        }
        for (label, (keep, shape)) in &sequence.shapes {
            outline::print(label, shape, *keep, &mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests;

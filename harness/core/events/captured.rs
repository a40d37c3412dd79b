//! What a step captured, from which a golden is made.

use std::fmt;

use super::event::Event;
use super::options::ShapeOptions;

/// The status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Http(u16),
    /// The exit code of a command.
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

/// One response that a step captured, or the content of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The method and the path, as they were sent: `POST /api/threads/4f1c/runs/stream`.
    pub request: String,
    pub status: Status,
    /// The content type, as it was sent; empty if there is none.
    pub content_type: String,
    /// The events. A response that is not a stream has one event, its [`Event::body`].
    pub events: Vec<Event>,
    /// What came after the last event for which the step waited.
    pub after: AfterLast,
    /// Instead of a response: the accessibility tree of a region of a page, one node on each line.
    pub tree: Option<String>,
    /// How it was sent.
    pub delivery: Delivery,
}

/// How a response was sent, apart from its contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    pub headers: Vec<(String, String)>,
    /// Whether its step does not go into the golden, so that only its headers do.
    pub only_headers: bool,
    /// Whether the events came in pieces, between which calls of the model began or ended.
    pub in_pieces: bool,
    /// Whether the golden says so.
    pub held_in_pieces: bool,
}

/// The rest of a stream, after the last event for which its step waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AfterLast {
    pub events: Vec<Event>,
    pub ending: Ending,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The system ended the stream, or its end was not observed.
    #[default]
    Ended,
    /// The stream was still open when its stage ended.
    Open,
    BrokeOff,
}

impl Captured {
    /// Returns all events that a golden covers.
    pub(super) fn all_events(&self, options: &ShapeOptions) -> impl Iterator<Item = &Event> {
        let after = if options.after_last { &*self.after.events } else { &[] };
        self.events.iter().chain(after)
    }
}

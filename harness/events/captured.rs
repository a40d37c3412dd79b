//! What a step captured: what goldens are made of.

use std::fmt;

use super::event::Event;
use super::options::ShapeOptions;

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
    /// Its events; of a response that is not a stream, its [`Event::body`].
    pub events: Vec<Event>,
    /// What came when the step was done with it.
    pub after: AfterLast,
    /// In place of a response: the accessibility tree of a region, a node a line.
    pub tree: Option<String>,
}

/// What came of a stream behind the last event for which its step waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AfterLast {
    /// Its further events.
    pub events: Vec<Event>,
    /// How it ended.
    pub ending: Ending,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The system ended it, or nobody looked.
    #[default]
    Ended,
    /// It was open when its stage went.
    Open,
    /// Its connection broke.
    BrokeOff,
}

impl Captured {
    /// All its events, as far as a golden is about them.
    pub(super) fn all_events(&self, options: &ShapeOptions) -> impl Iterator<Item = &Event> {
        let after = if options.after_last { &*self.after.events } else { &[] };
        self.events.iter().chain(after)
    }
}

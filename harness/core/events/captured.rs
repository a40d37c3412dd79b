//! What a step captured, from which a golden is made.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::options::ShapeOptions;
use crate::json::{Json, JsonError};

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
    /// Whether its step is not captured, so that it goes into the golden only as far as it is the same in each run.
    pub is_beside: bool,
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
    /// The system closed a socket for another reason than that all is done.
    Closed(u16),
}

impl Captured {
    /// A whole stream of events that was answered with status 200.
    pub fn stream(request: &str, events: Vec<Event>) -> Captured {
        let (request, content_type) = (request.to_owned(), "text/event-stream".to_owned());
        let (after, tree, delivery) = Default::default();
        Captured { request, status: Status::Http(200), content_type, events, after, tree, delivery }
    }

    /// Returns it as the answer to a step that is not captured. If another answer is right there, too, only its headers count.
    pub fn beside(mut self, is_the_one: bool) -> Captured {
        self.delivery.is_beside = true;
        self.events.retain(|event| is_the_one && event.name.as_deref() == Some(BODY));
        self.events.iter_mut().for_each(|event| event.name = Some(BESIDE.into()));
        self
    }

    /// Returns it as the answer of a stream that was still open when its scenario broke off: of its events nothing is known.
    pub fn left_open(self) -> Captured {
        Captured { events: Vec::new(), after: AfterLast { ending: Ending::Open, ..AfterLast::default() }, ..self }
    }

    /// Whether it was left so.
    pub fn is_left_open(&self) -> bool {
        self.events.is_empty() && self.after.ending == Ending::Open
    }

    /// Returns all events that a golden covers.
    pub(super) fn all_events(&self, options: &ShapeOptions) -> impl Iterator<Item = &Event> {
        self.events.iter().chain(if options.until_last { &[] } else { &*self.after.events })
    }
}

/// The label of a body.
pub(super) const BODY: &str = "body";
/// The label of the body of an answer whose step is not captured.
pub(super) const BESIDE: &str = "(beside)";
/// Whether a label is that of a body.
pub(super) fn is_body(label: &str) -> bool {
    [BODY, BESIDE].contains(&label)
}

/// The label of an event that has no name.
pub(super) const UNNAMED: &str = "message";

/// One event, or something else in a stream that a client could see.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The `event:` line; `None` if it is missing or empty. The events of a stream share their names.
    pub name: Option<Arc<str>>,
    /// The event's own `id:` line. Without one, the last id before it still counts for `Last-Event-ID`.
    pub id: Option<Box<str>>,
    pub payload: Payload,
}

/// The payload of an event. It is stored as text, since few payloads are parsed, and a tree takes nine times the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The data: usually JSON, sometimes `[DONE]` or prose.
    Data(Box<str>),
    /// No `data:` line. (A `data:` line without a value is an empty text.)
    Empty,
    /// Not an event, but a comment, such as a heartbeat.
    Comment(Box<str>),
    /// The raw text of a last event that the end of the stream cut off. Browsers drop it.
    Tail(Box<str>),
}

/// Returns the content of an event's payload. A payload that is not JSON is a text, and so is a number between texts.
pub(super) fn content<'a>(payload: &Payload, json: Option<&'a Json>) -> Option<Cow<'a, Json>> {
    match (payload, json) {
        (_, Some(json @ (Json::Object(_) | Json::Array(_) | Json::Str(_)))) => Some(Cow::Borrowed(json)),
        (Payload::Data(text), _) => Some(Cow::Owned(Json::from(&**text))),
        _ => None,
    }
}

impl Event {
    /// Creates the event for a response that is not a stream. It has the name `body`, and no payload if the body is empty.
    pub fn body(bytes: &[u8]) -> Event {
        let text = String::from_utf8_lossy(bytes);
        let payload = if bytes.is_empty() { Payload::Empty } else { Payload::Data(text.into()) };
        Event { name: Some(BODY.into()), id: None, payload }
    }

    /// Whether it is the body of an answer that is not a stream.
    pub fn is_body(&self) -> bool {
        self.name.as_deref().is_some_and(is_body)
    }

    /// Returns the name of the event in goldens and scenarios: its `event:` line; otherwise the string `type` of its payload,
    /// which AG-UI and the AI SDK use; otherwise `message`. The label of a comment is `:`, that of a tail `(unterminated)`.
    ///
    /// If there is no `event:` line, this parses the payload.
    pub fn label(&self) -> Cow<'_, str> {
        match (&self.name, &self.payload) {
            (None, Payload::Data(_)) => Cow::Owned(self.label_with(self.json().as_ref()).to_owned()),
            _ => Cow::Borrowed(self.label_with(None)),
        }
    }

    /// Like [`label`](Event::label), for a payload that was already parsed.
    pub(super) fn label_with<'a>(&'a self, json: Option<&'a Json>) -> &'a str {
        match &self.payload {
            Payload::Comment(_) => ":",
            Payload::Tail(_) => "(unterminated)",
            _ => self.name.as_deref().or_else(|| json?.str_of("type")).unwrap_or(UNNAMED),
        }
    }

    /// Whether it is an event, and neither a comment nor a tail.
    pub fn is_real(&self) -> bool {
        !matches!(self.payload, Payload::Comment(_) | Payload::Tail(_))
    }

    /// Returns the payload if it is JSON. Each call parses it again.
    pub fn json(&self) -> Option<Json> {
        self.parsed(Json::parse)?.ok()
    }

    /// Returns why the data are not JSON, if there are any.
    pub fn json_error(&self) -> Option<JsonError> {
        self.parsed(Json::parse)?.err()
    }

    pub(super) fn parsed<T>(&self, parse: impl Fn(&[u8]) -> T) -> Option<T> {
        if let Payload::Data(text) = &self.payload { Some(parse(text.as_bytes())) } else { None }
    }
}

#[cfg(test)]
mod tests;

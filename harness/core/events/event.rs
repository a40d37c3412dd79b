//! One event of a stream.

use std::borrow::Cow;
use std::sync::Arc;

use crate::json::Json;

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

impl Event {
    /// Creates the event for a response that is not a stream. It has the name `body`, and no payload if the body is empty.
    pub fn body(bytes: &[u8]) -> Event {
        let payload =
            if bytes.is_empty() { Payload::Empty } else { Payload::Data(String::from_utf8_lossy(bytes).into()) };
        Event { name: Some("body".into()), id: None, payload }
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
        if let Payload::Data(text) = &self.payload { Json::parse(text.as_bytes()).ok() } else { None }
    }
}

#[cfg(test)]
mod tests;

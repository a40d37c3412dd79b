//! One event of a stream.

use std::borrow::Cow;
use std::sync::Arc;

use crate::json::Json;

/// One event, or something between events that a client could see.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The `event:` line, `None` where it is absent or empty. The events of a stream share their names.
    pub name: Option<Arc<str>>,
    /// The event's own `id:` line. Where there is none, the last id before it still counts for `Last-Event-ID`.
    pub id: Option<Box<str>>,
    /// What it carries.
    pub payload: Payload,
}

/// What an event carries. Kept as text: as a tree it would take nine times the memory, and few are asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Its data: mostly JSON; else `[DONE]`, or prose.
    Data(Box<str>),
    /// None: there was no `data:` line. (`data:` with nothing behind it is an empty text.)
    Empty,
    /// No event at all but a comment, such as a heartbeat.
    Comment(Box<str>),
    /// The raw text of a last event that the end of the stream cut off. Browsers drop it.
    Tail(Box<str>),
}

impl Event {
    /// A response that is not a stream: one event named `body`, without a payload where the body is empty.
    #[must_use]
    pub fn body(bytes: &[u8]) -> Event {
        let payload =
            if bytes.is_empty() { Payload::Empty } else { Payload::Data(String::from_utf8_lossy(bytes).into()) };
        Event { name: Some("body".into()), id: None, payload }
    }

    /// The name by which goldens and scenarios call the event: its `event:` line; else the string `type` of its
    /// payload, as AG-UI and the AI SDK have it; else `message`. A comment is `:`, a tail `(unterminated)`.
    ///
    /// Where there is no `event:` line the payload is read for it.
    #[must_use]
    pub fn label(&self) -> Cow<'_, str> {
        match (&self.name, &self.payload) {
            (None, Payload::Data(_)) => Cow::Owned(self.label_with(self.json().as_ref()).to_owned()),
            _ => Cow::Borrowed(self.label_with(None)),
        }
    }

    /// The same, of a payload that was read already.
    pub(super) fn label_with<'a>(&'a self, json: Option<&'a Json>) -> &'a str {
        match &self.payload {
            Payload::Comment(_) => ":",
            Payload::Tail(_) => "(unterminated)",
            _ => self.name.as_deref().or_else(|| json?.str_of("type")).unwrap_or("message"),
        }
    }

    /// Whether it is an event, and no comment and no tail.
    #[must_use]
    pub fn is_real(&self) -> bool {
        !matches!(self.payload, Payload::Comment(_) | Payload::Tail(_))
    }

    /// The payload, where it is JSON. It is read anew each time.
    #[must_use]
    pub fn json(&self) -> Option<Json> {
        if let Payload::Data(text) = &self.payload { Json::parse(text.as_bytes()).ok() } else { None }
    }
}

#[cfg(test)]
mod tests;

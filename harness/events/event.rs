//! One event of a stream.

use crate::json::Json;

/// One event, or something between events that a client could see.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The `event:` line, `None` where it is absent or empty.
    pub name: Option<String>,
    /// The event's own `id:` line. Where there is none, the last id before it still counts for `Last-Event-ID`.
    pub id: Option<String>,
    /// What it carries.
    pub payload: Payload,
}

/// What an event carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Data that is JSON.
    Json(Json),
    /// Data that is not: `[DONE]`, or prose.
    Text(String),
    /// None: there was no `data:` line. (`data:` with nothing behind it is an empty text.)
    Empty,
    /// No event at all but a comment, such as a heartbeat.
    Comment(String),
    /// The raw text of a last event that the end of the stream cut off. Browsers drop it.
    Tail(String),
}

impl Event {
    /// A response that is no stream: one event named `body`, without a payload where the body is empty.
    #[must_use]
    pub fn body(bytes: &[u8]) -> Event {
        let payload = if bytes.is_empty() { Payload::Empty } else { Payload::of(&String::from_utf8_lossy(bytes)) };
        Event { name: Some("body".to_owned()), id: None, payload }
    }

    /// The name by which goldens and scenarios call the event: its `event:` line; else the string `type` of its
    /// payload, as AG-UI and the AI SDK have it; else `message`. A comment is `:`, a tail `(unterminated)`.
    #[must_use]
    pub fn label(&self) -> &str {
        match &self.payload {
            Payload::Comment(_) => ":",
            Payload::Tail(_) => "(unterminated)",
            _ => self.name.as_deref().or_else(|| self.json()?.str_of("type")).unwrap_or("message"),
        }
    }

    /// The payload, where it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<&Json> {
        if let Payload::Json(json) = &self.payload { Some(json) } else { None }
    }
}

impl Payload {
    /// The payload of some data: JSON where it reads as JSON.
    pub(super) fn of(data: &str) -> Payload {
        Json::parse(data.as_bytes()).map_or_else(|_| Payload::Text(data.to_owned()), Payload::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: Option<&str>, payload: Payload) -> String {
        Event { name: name.map(str::to_owned), id: None, payload }.label().to_owned()
    }

    #[test]
    fn an_event_is_named_by_its_line_then_by_its_type() {
        let typed = Payload::of(r#"{"type": "RUN_STARTED"}"#);
        assert_eq!(label(Some("values"), typed.clone()), "values");
        assert_eq!(label(None, typed), "RUN_STARTED");
        assert_eq!(label(None, Payload::of(r#"{"type": 1}"#)), "message");
        assert_eq!(label(None, Payload::of("[DONE]")), "message");
        assert_eq!(label(None, Payload::Comment("ping".into())), ":");
        assert_eq!(label(None, Payload::Tail("data: {".into())), "(unterminated)");
    }

    #[test]
    fn a_body_is_one_event() {
        assert_eq!(Event::body(b"").payload, Payload::Empty);
        assert_eq!(Event::body(b"{\n}").payload, Payload::of("{}"));
        assert_eq!(
            Event::body(b"ok\xff"),
            Event { name: Some("body".into()), id: None, payload: Payload::Text("ok\u{fffd}".into()) }
        );
    }
}

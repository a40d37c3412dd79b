//! The answer to a step, and the values that later steps capture from it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use axum::http::HeaderMap;

use retake_base::error::{Error, Result};
use retake_base::text::clipped;
use retake_core::events::{AfterLast, Captured, Delivery, Event, Payload, Status};
use retake_core::json::{Json, Layout};
use retake_scenario::{CaptureFrom, Step};

/// An answer. A body that is not a stream is one event, named `body`.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    /// The request, as the golden shows it.
    pub(super) request: String,
    pub(super) status: Status,
    pub(super) content_type: String,
    pub(super) headers: HeaderMap,
    /// The cookies that this answer set, and those that were set before it.
    pub(super) cookies: BTreeMap<String, String>,
    pub(super) earlier_cookies: BTreeMap<String, String>,
    pub(super) events: Vec<Event>,
    /// What came after the last event for which the step waits, as far as it is known.
    pub(super) after: AfterLast,
}

impl Answered {
    /// Returns the values that a step captures, by name.
    /// Fails if a value is not there. The error says what is there instead.
    pub(super) fn captures(&self, step: &Step) -> Result<Vec<(String, Json)>> {
        let capture = |(name, from): (&String, &CaptureFrom)| {
            let value = self.find(from).ok_or_else(|| {
                let why = match (from, self.events.first().and_then(Event::json_error)) {
                    (CaptureFrom::Json(_), Some(error)) => format!("is not JSON: {error}"),
                    _ => format!("lacks {}", source_of(from)),
                };
                let what = format!("`{name}` cannot be captured: the answer {why}");
                Error::new(what).help(self.what_there_is(from))
            })?;
            Ok((name.clone(), value))
        };
        step.capture.iter().map(capture).collect()
    }

    fn find(&self, from: &CaptureFrom) -> Option<Json> {
        match from {
            CaptureFrom::Cookie(cookie) => {
                let value = self.cookies.get(cookie).or_else(|| self.earlier_cookies.get(cookie))?;
                Some(Json::from(value.as_str()))
            }
            CaptureFrom::Header(header) => self.headers.get(header)?.to_str().ok().map(Json::from),
            CaptureFrom::Json(pointer) => pointer.find(&self.events.first()?.json()?).cloned(),
            CaptureFrom::Sse { event, pointer } => {
                let events = self.events.iter().filter(|e| e.label() == event.as_str());
                events.filter_map(Event::json).find_map(|data| pointer.find(&data).cloned())
            }
        }
    }

    /// Says what a capture could have found instead.
    fn what_there_is(&self, from: &CaptureFrom) -> String {
        let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        match from {
            CaptureFrom::Cookie(_) => {
                format!("cookies set by this step: {}", list(self.cookies.keys().map(String::as_str).collect()))
            }
            CaptureFrom::Header(_) => {
                format!("headers: {}", list(self.headers.keys().map(axum::http::HeaderName::as_str).collect()))
            }
            CaptureFrom::Json(_) => format!("the answer was: {}", self.excerpt()),
            CaptureFrom::Sse { .. } => {
                let labels: BTreeSet<Cow<'_, str>> = self.events.iter().map(Event::label).collect();
                format!("events that came: {}", list(labels.iter().map(AsRef::as_ref).collect()))
            }
        }
    }

    /// Returns the beginning of the answer, for errors.
    pub(super) fn excerpt(&self) -> String {
        let Some(Event { payload: Payload::Data(text), .. }) = self.events.first() else {
            return "an empty body".to_owned();
        };
        let text = Json::parse(text.as_bytes()).map_or_else(|_| text.to_string(), |json| json.print(Layout::Compact));
        clipped(&text, 300).into_owned()
    }

    /// Returns the answer as a part of the golden.
    pub(super) fn into_captured(self) -> Captured {
        let Answered { request, status, content_type, headers, events, after, .. } = self;
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
        let delivery = Delivery { headers: headers.collect(), ..Delivery::default() };
        Captured { request, status, content_type, events, after, tree: None, delivery }
    }
}

/// Returns the event id with which a client would reconnect to a stream.
pub(super) fn last_id(events: &[Event]) -> Option<Box<str>> {
    events.iter().rev().find_map(|event| event.id.clone())
}

/// Returns a capture's source as it is written in `scenario.toml`.
fn source_of(from: &CaptureFrom) -> String {
    match from {
        CaptureFrom::Cookie(name) => format!("cookie:{name}"),
        CaptureFrom::Header(name) => format!("header:{name}"),
        CaptureFrom::Json(pointer) => format!("json:{}", pointer.as_str()),
        CaptureFrom::Sse { event, pointer } => format!("sse:{event}:{}", pointer.as_str()),
    }
}

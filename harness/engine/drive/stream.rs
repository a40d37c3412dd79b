//! Reads a stream up to the event at which its step is done.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderValue};

use retake_base::error::{Error, Result};
use retake_base::text::{counted, nearest};
use retake_core::events::{AfterLast, Capture, Ending, Event, Format, Payload};
use retake_core::json::unreadable_number;
use retake_scenario::{EventSpec, StreamSpec};

/// The largest event, and the largest body that is not a stream, in bytes. One that never ends must not fill the memory.
pub(super) const EVENT_LIMIT: usize = 64 << 20;

/// The limits of a stream.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The largest event, in bytes.
    event: usize,
    /// The largest stream, in bytes.
    stream: usize,
    /// The most events, including comments. Small ones take more memory than their text.
    events: usize,
}

const LIMITS: Limits = Limits { event: EVENT_LIMIT, stream: 128 << 20, events: 1_000_000 };
/// The number of bytes to quote from the beginning of a stream, for errors.
const QUOTED: usize = 200;

/// The events of one stream, as they come.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) wanted: StreamSpec,
    /// How many of the events have come that `last` fits.
    fitting: usize,
    limits: Limits,
    capture: Capture,
    pub(super) events: Vec<Event>,
    /// Whether its last event has come. Events after that are not added to `events`.
    pub(super) done: bool,
    /// The events after the last one.
    pub(super) after: Vec<Event>,
    /// The number of bytes so far, and the first of them.
    came: usize,
    head: Vec<u8>,
    /// Why the stream is too large to read further.
    pub(super) refused: Option<Error>,
}

impl Stream {
    /// Makes a stream. If no format is given, the first line decides.
    pub(super) fn new(wanted: &StreamSpec, format: Option<Format>) -> Stream {
        Stream::within(LIMITS, wanted, format)
    }

    fn within(limits: Limits, wanted: &StreamSpec, format: Option<Format>) -> Stream {
        let capture = format.map_or_else(Capture::new, Capture::with_format);
        Stream {
            wanted: wanted.clone(),
            fitting: 0,
            limits,
            capture,
            events: Vec::new(),
            done: false,
            after: Vec::new(),
            came: 0,
            head: Vec::new(),
            refused: None,
        }
    }

    /// Adds the next bytes. Returns whether the step needs no more, because the stream is done or too large.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        if !self.takes_more() {
            return true;
        }
        let room = QUOTED.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        let events = self.capture.push(bytes);
        self.add(events, bytes.len())
    }

    /// Adds an event that came whole, as a message of this many bytes. Returns whether no more are needed.
    pub(super) fn push_event(&mut self, event: Event, size: usize) -> bool {
        !self.takes_more() || self.add(vec![event], size)
    }

    fn add(&mut self, events: Vec<Event>, size: usize) -> bool {
        self.came += size;
        self.take(events);
        if !self.done {
            self.refused = self.refusal();
        }
        self.done || self.refused.is_some()
    }

    /// Whether more can be added. A stream that never ends must not fill the memory, after its last event either.
    pub(super) fn takes_more(&self) -> bool {
        let Limits { event, stream, events } = self.limits;
        let is_full = self.capture.held() > event || self.came > stream || self.after.len() > events;
        self.refused.is_none() && !(self.done && is_full)
    }

    /// Returns an error if the stream is too large, and drops its incomplete event.
    fn refusal(&mut self) -> Option<Error> {
        let Limits { event, stream, events } = self.limits;
        let what = if self.capture.held() > event {
            format!("an event is longer than {} and had not ended", megabytes(event))
        } else if self.came > stream {
            format!("the stream is longer than {} and had not ended", megabytes(stream))
        } else if self.events.len() > events {
            format!("the stream has more than {events} events and comments")
        } else {
            return None;
        };
        self.capture = Capture::new();
        let (had, begins) = (counted(self.events.len(), "event"), self.beginning());
        Some(Error::new(what).help(format!("{had} had come; it begins: {begins}")))
    }

    /// Returns the beginning of the stream, for errors.
    fn beginning(&self) -> String {
        let text = String::from_utf8_lossy(&self.head);
        format!("{text:?}{}", if self.came > self.head.len() { "…" } else { "" })
    }

    /// Marks the end of the body.
    pub(super) fn end(&mut self) {
        if self.refused.is_none() {
            let events = self.capture.finish();
            self.take(events);
        }
    }

    fn take(&mut self, events: Vec<Event>) {
        for event in events {
            if self.done {
                self.after.push(event);
                continue;
            }
            if let Some(last) = self.wanted.last.as_ref().filter(|last| last.fits(&event)) {
                self.fitting += 1;
                self.done = self.fitting == last.times;
            }
            self.events.push(event);
        }
    }

    /// Takes the events after the last one. How the stream ended is not known.
    pub(super) fn take_after(&mut self) -> AfterLast {
        AfterLast { events: std::mem::take(&mut self.after), ending: Ending::default() }
    }

    /// Adds what the stream tells clients about coming back to the headers of its answer: clients take it as one.
    pub(super) fn add_retry(&self, headers: &mut HeaderMap) {
        if let Ok(retry) = HeaderValue::try_from(self.capture.retry()).map_err(drop)
            && !retry.is_empty()
        {
            headers.append("retry", retry);
        }
    }

    /// Checks that the stream is as the step expects it.
    /// Fails if no event came, another event than `first` came first, or `last` did not come.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        let Some(first) = self.events.iter().find(|event| event.is_real()) else {
            return Err(if self.came == 0 {
                Error::new(EMPTY_STREAM)
            } else {
                let error = Error::new("no event came: what came is not a stream of events");
                error.help(format!("it begins: {}", self.beginning()))
            });
        };
        if let Some((line, byte)) = self.capture.not_utf8 {
            return Err(Error::new(format!("line {line} of the stream is not UTF-8: it has the byte 0x{byte:02x}")));
        }
        if let Some(name) = self.wanted.first.as_deref().filter(|name| *name != first.label()) {
            return Err(Error::new(format!("expected `{name}` as the first event, found `{}`", first.label())));
        }
        if let Some(error) = self.events.iter().chain(&self.after).find_map(unreadable) {
            return Err(error);
        }
        let Some(last) = self.wanted.last.as_ref().filter(|_| !self.done) else { return Ok(()) };
        let is_tail = self.events.last().is_some_and(|event| matches!(event.payload, Payload::Tail(_)));
        if is_tail && self.capture.format == Some(Format::Sse) {
            let what = "the last event is not ended by a blank line, so that clients drop it";
            let came = counted(self.events.len() - 1, "event");
            return Err(Error::new(what).help(format!("{came} came before it; the step waits for `{last}`")));
        }
        let what = if self.wanted.cancel {
            format!("the stream ended before the event `{last}`, at which this step leaves it")
        } else {
            format!("the stream ended before its last event `{last}`")
        };
        let final_one = self.events.last().map_or("(none)".into(), Event::label);
        let came = format!("{} came, the last was `{final_one}`", counted(self.events.len(), "event"));
        let error = Error::new(what).help(came);
        let labels: BTreeSet<_> = self.events.iter().filter(|event| event.is_real()).map(Event::label).collect();
        Err(match nearest(&last.event, labels.iter().map(AsRef::as_ref)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        })
    }
}

/// The error if an event has a number that its clients cannot read.
pub(super) fn unreadable(event: &Event) -> Option<Error> {
    let Payload::Data(text) = &event.payload else { return None };
    let (place, what) = unreadable_number(text)?;
    let of = match event.label() {
        body if body == "body" => "answer".to_owned(),
        label => format!("event `{label}`"),
    };
    Some(Error::new(format!("the {of} has {what} at {place}, which is not JSON")).help(
        "Python writes NaN and Infinity, and reads them; JSON.parse and most other clients fail on them, \
         or read infinity for a number beyond 1.8e308",
    ))
}

/// What has not come for which a step waits: the event that it names, or the end.
pub(super) fn lacks(last: Option<&EventSpec>, what: &str) -> String {
    last.map_or_else(|| format!("the {what} did not end"), |last| format!("the event `{last}` did not come"))
}

/// Why a step fails whose stream ended well, with nothing in it.
pub const EMPTY_STREAM: &str = "no event came: the stream is empty";

/// Returns a limit in megabytes, for errors.
pub(super) fn megabytes(limit: usize) -> String {
    format!("{} MB", limit >> 20)
}

#[cfg(test)]
mod tests;

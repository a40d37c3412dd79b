//! Reading a stream up to the event at which a step is done with it.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::events::{Capture, Event, Format};
use crate::scenario::StreamSpec;
use crate::text::{counted, nearest};

/// The largest event, and the largest body that is not a stream, in bytes. What never ends must not fill the memory.
pub(super) const EVENT_LIMIT: usize = 64 << 20;

/// How much of a stream is taken.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The largest event, in bytes.
    event: usize,
    /// The largest stream, in bytes.
    stream: usize,
    /// The most events, comments included: small ones take more memory than their text.
    events: usize,
}

const LIMITS: Limits = Limits { event: EVENT_LIMIT, stream: 128 << 20, events: 1_000_000 };
/// How much of what came is quoted where no event came, in bytes.
const QUOTED: usize = 200;

/// The events of one stream, as they come.
#[derive(Debug)]
pub(super) struct Stream {
    wanted: StreamSpec,
    limits: Limits,
    capture: Capture,
    pub(super) events: Vec<Event>,
    /// Its last event came: what comes then is not taken, but as what came after it.
    pub(super) done: bool,
    /// What came after its last event, as far as it came with that.
    pub(super) after: Vec<Event>,
    /// How many bytes came, and the first of them.
    came: usize,
    head: Vec<u8>,
    /// Why no more of it is taken.
    refused: Option<Error>,
}

impl Stream {
    /// A stream whose format its first line tells, or which is known.
    pub(super) fn new(wanted: &StreamSpec, format: Option<Format>) -> Stream {
        Stream::within(LIMITS, wanted, format)
    }

    fn within(limits: Limits, wanted: &StreamSpec, format: Option<Format>) -> Stream {
        let capture = format.map_or_else(Capture::new, Capture::with_format);
        let (wanted, events, head) = (wanted.clone(), Vec::new(), Vec::new());
        Stream { wanted, limits, capture, events, done: false, after: Vec::new(), came: 0, head, refused: None }
    }

    /// Takes the next bytes. Tells whether no more are needed: the stream is done, or refused.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        if !self.is_over() {
            self.came += bytes.len();
            let room = QUOTED.saturating_sub(self.head.len()).min(bytes.len());
            self.head.extend_from_slice(&bytes[..room]);
            let events = self.capture.push(bytes);
            self.take(events);
            if !self.done {
                self.refused = self.refusal();
            }
        }
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.done || self.refused.is_some()
    }

    /// Why no more of this stream is taken, where it is too large. What it is not done with is dropped.
    fn refusal(&mut self) -> Option<Error> {
        let Limits { event, stream, events } = self.limits;
        let what = if self.capture.held() > event {
            format!("more than {} came of one event", megabytes(event))
        } else if self.came > stream {
            format!("more than {} came of one stream", megabytes(stream))
        } else if self.events.len() > events {
            format!("more than {events} events and comments came of one stream")
        } else {
            return None;
        };
        let what = format!("{what}, and its end did not");
        self.capture = Capture::new();
        Some(Error::new(what).help(format!(
            "{} had come; it begins: {}",
            counted(self.events.len(), "event"),
            self.beginning()
        )))
    }

    /// What came first, for errors.
    fn beginning(&self) -> String {
        let text = String::from_utf8_lossy(&self.head);
        format!("{text:?}{}", if self.came > self.head.len() { "…" } else { "" })
    }

    /// Takes the end of the body.
    pub(super) fn end(&mut self) {
        if !self.is_over() {
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
            self.done = self.wanted.last.as_deref().is_some_and(|last| event.label() == last);
            self.events.push(event);
        }
    }

    /// The events that the next bytes complete, behind the last event.
    pub(super) fn push_after(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.came += bytes.len();
        self.capture.push(bytes)
    }

    /// What is left at the end of the body, behind the last event.
    pub(super) fn end_after(&mut self) -> Vec<Event> {
        self.capture.finish()
    }

    /// Whether too much came, with so many events behind the last one.
    pub(super) fn is_full(&self, after: usize) -> bool {
        let Limits { event, stream, events } = self.limits;
        self.capture.held() > event || self.came > stream || after > events
    }

    /// Why no more of it was taken, where it was too large.
    pub(super) fn refused(&self) -> Option<Error> {
        self.refused.clone()
    }

    /// Whether a last event is awaited.
    pub(super) fn has_last(&self) -> bool {
        self.wanted.last.is_some()
    }

    /// Whether what came is what the step wants.
    ///
    /// # Errors
    /// Where nothing came, something else came first, or the last event did not come.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        let Some(first) = self.events.iter().find(|event| event.is_real()) else {
            let error = |what: &str| Error::new(format!("no event came: {what}"));
            return Err(if self.came == 0 {
                error("the stream is empty")
            } else {
                error("what came is not a stream of events").help(format!("it begins: {}", self.beginning()))
            });
        };
        if let Some((line, byte)) = self.capture.not_utf8() {
            return Err(Error::new(format!("line {line} of the stream is not UTF-8: it has the byte 0x{byte:02x}")));
        }
        if let Some(name) = self.wanted.first.as_deref().filter(|name| *name != first.label()) {
            return Err(Error::new(format!("expected `{name}` as the first event, found `{}`", first.label())));
        }
        let Some(last) = self.wanted.last.as_ref().filter(|_| !self.done) else { return Ok(()) };
        let what = if self.wanted.cancel {
            format!("the stream ended before the event `{last}`, at which the client was to leave")
        } else {
            format!("the stream ended before its last event `{last}`")
        };
        let final_one = self.events.last().map_or("(none)".into(), Event::label);
        let came = format!("{} came, the last was `{final_one}`", counted(self.events.len(), "event"));
        let error = Error::new(what).help(came);
        let labels: BTreeSet<_> = self.events.iter().filter(|event| event.is_real()).map(Event::label).collect();
        Err(match nearest(last, labels.iter().map(AsRef::as_ref)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        })
    }
}

/// A limit in megabytes, as errors show it.
pub(super) fn megabytes(limit: usize) -> String {
    format!("{} MB", limit >> 20)
}

#[cfg(test)]
mod tests;

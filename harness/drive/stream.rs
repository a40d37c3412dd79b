//! Reading a stream up to the event at which a step is done with it.

use crate::error::{Error, Result};
use crate::events::{Capture, Event, Format, Payload};
use crate::scenario::StreamSpec;

/// The events of one stream, as they come.
#[derive(Debug)]
pub(super) struct Stream {
    wanted: StreamSpec,
    capture: Capture,
    pub(super) events: Vec<Event>,
    /// Its last event came: what comes then is not taken.
    pub(super) done: bool,
}

impl Stream {
    /// A stream whose format its first line tells, or which is known.
    pub(super) fn new(wanted: &StreamSpec, format: Option<Format>) -> Stream {
        let capture = format.map_or_else(Capture::new, Capture::with_format);
        Stream { wanted: wanted.clone(), capture, events: Vec::new(), done: false }
    }

    /// Takes the next bytes. Tells whether the stream is done.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        if !self.done {
            let events = self.capture.push(bytes);
            self.take(events);
        }
        self.done
    }

    /// Takes the end of the body.
    pub(super) fn end(&mut self) {
        if !self.done {
            let events = self.capture.finish();
            self.take(events);
        }
    }

    fn take(&mut self, events: Vec<Event>) {
        for event in events {
            self.done = self.wanted.last.as_deref().is_some_and(|last| event.label() == last);
            self.events.push(event);
            if self.done {
                return;
            }
        }
    }

    /// Whether it is waited for a last event.
    pub(super) fn has_last(&self) -> bool {
        self.wanted.last.is_some()
    }

    /// Whether what came is what the step wants.
    ///
    /// # Errors
    /// Where nothing came, something else came first, or the last event did not come.
    pub(super) fn check(&self) -> Result<()> {
        let real = |event: &&Event| !matches!(event.payload, Payload::Comment(_) | Payload::Tail(_));
        let Some(first) = self.events.iter().find(real) else {
            return Err(Error::new("no event came: the stream is empty"));
        };
        if let Some(name) = self.wanted.first.as_deref().filter(|name| *name != first.label()) {
            return Err(Error::new(format!("expected `{name}` as the first event, found `{}`", first.label())));
        }
        let Some(last) = self.wanted.last.as_ref().filter(|_| !self.done) else { return Ok(()) };
        let what = if self.wanted.cancel {
            format!("the stream ended before the event `{last}`, at which the client was to leave")
        } else {
            format!("the stream ended before its last event `{last}`")
        };
        let final_one = self.events.last().map_or("(none)", Event::label);
        Err(Error::new(what).help(format!("{} events came, the last was `{final_one}`", self.events.len())))
    }
}

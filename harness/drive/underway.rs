//! How far a scenario got, and what its steps gave until then: it outlives a driver that ran out of time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::error::Error;
use crate::events::{Event, Payload, Status};
use crate::text::clipped;

/// How many events of a run are kept with their payloads' beginnings; of a longer stream nobody reads more.
const EVENTS: usize = 2_000;
/// How much of an event's payload is kept, in characters.
const PAYLOAD: usize = 240;

/// How far a scenario got. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Underway(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    so_far: SoFar,
    steps: Vec<StepTaken>,
    /// How many events are kept.
    kept: usize,
}

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoFar {
    /// The step.
    pub(crate) step: String,
    /// What has to come: `the event `end``.
    pub(crate) awaited: Option<String>,
    /// How many events of it have come, and the name of the last.
    pub(crate) events: usize,
    pub(crate) last: Option<String>,
    /// What it waits for, where it says so.
    pub(crate) note: Option<String>,
}

/// A step that was begun, for the data of the run.
#[derive(Clone, Debug)]
pub(crate) struct StepTaken {
    /// What reports call it: `step 2 (POST /runs)`.
    pub(crate) title: String,
    pub(crate) began: Instant,
    /// When it was done; `None` where it was not.
    pub(crate) ended: Option<Instant>,
    /// How its answer ended, where there was one.
    pub(crate) status: Option<Status>,
    /// Why it failed.
    pub(crate) failure: Option<String>,
    /// The first events of its streams.
    pub(crate) events: Vec<EventSeen>,
    /// How many more came.
    pub(crate) more_events: usize,
}

/// An event as it came.
#[derive(Clone, Debug)]
pub(crate) struct EventSeen {
    pub(crate) came: Instant,
    pub(crate) name: String,
    /// The beginning of its payload, at most 240 characters.
    pub(crate) payload: String,
}

impl Underway {
    /// What is under way.
    pub(crate) fn so_far(&self) -> SoFar {
        self.state().so_far.clone()
    }

    /// The steps that were begun.
    pub(crate) fn steps(&self) -> Vec<StepTaken> {
        self.state().steps.clone()
    }

    /// Begins a step. Gives its number, from 0.
    pub(super) fn begin(&self, title: String) -> usize {
        self.step(title.clone());
        let mut state = self.state();
        let (began, events) = (Instant::now(), Vec::new());
        let step = StepTaken { title, began, ended: None, status: None, failure: None, events, more_events: 0 };
        state.steps.push(step);
        state.steps.len() - 1
    }

    /// Ends a step, well or by an error.
    pub(super) fn end(&self, step: usize, failure: Option<&Error>) {
        if let Some(step) = self.state().steps.get_mut(step) {
            step.ended = Some(Instant::now());
            step.failure = failure.map(|error| error.what().to_owned());
        }
    }

    /// Notes how the answer to the step that was begun last ended.
    pub(super) fn status(&self, status: Status) {
        if let Some(step) = self.state().steps.last_mut() {
            step.status = Some(status);
        }
    }

    /// The step that was begun last, for streams that go on while later ones are taken.
    pub(super) fn current(&self) -> usize {
        self.state().steps.len().saturating_sub(1)
    }

    /// Says what is under way, where that is not a step of its own.
    pub(super) fn step(&self, step: String) {
        self.state().so_far = SoFar { step, ..SoFar::default() };
    }

    /// Notes what came of a stream of the step that is under way: all `events` so far, of which `known` came before.
    pub(super) fn events(&self, events: &[Event], known: usize) {
        {
            let so_far = &mut self.state().so_far;
            so_far.events = events.len();
            so_far.last = events.last().map(|event| event.label().into_owned());
        }
        self.events_of(self.current(), events, known);
    }

    /// The same of any step.
    pub(super) fn events_of(&self, step: usize, events: &[Event], known: usize) {
        let came = Instant::now();
        let mut guard = self.state();
        let State { steps, kept, .. } = &mut *guard;
        let Some(step) = steps.get_mut(step) else { return };
        for event in events.iter().skip(known).filter(|event| event.is_real()) {
            if *kept == EVENTS {
                step.more_events += 1;
                continue;
            }
            *kept += 1;
            let payload = match &event.payload {
                Payload::Data(text) => clipped(text, PAYLOAD).into_owned(),
                _ => String::new(),
            };
            step.events.push(EventSeen { came, name: event.label().into_owned(), payload });
        }
    }

    /// Says what has to come for the step to go on.
    pub(super) fn awaits(&self, what: String) {
        self.state().so_far.awaited = Some(what);
    }

    pub(super) fn note(&self, note: String) {
        self.state().so_far.note = Some(note);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

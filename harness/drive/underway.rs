//! How far a scenario has come, and the results of its steps so far. This outlives a driver that runs out of time.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::time::Instant;

use retake_base::error::Error;
use retake_base::lock::Mutex;
use retake_base::text::clipped;
use retake_core::events::{Event, Payload, Status};
use retake_model::Activity;

/// The number of events of a run that are kept, each with the beginning of its payload. Nobody reads more.
const EVENTS: usize = 2_000;
/// The number of characters of an event's payload that are kept.
const PAYLOAD: usize = 240;

/// How far a scenario has come. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Underway(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    so_far: SoFar,
    steps: Vec<StepTaken>,
    /// The number of events that are kept.
    kept: usize,
    /// The model calls of the stage.
    calls: Option<Activity>,
}

/// The state of the step that is running.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoFar {
    pub step: String,
    /// What it is waiting for, such as "the event `end`".
    pub awaited: Option<String>,
    /// The number of events of its stream so far, and the name of the last one.
    pub events: usize,
    pub last: Option<String>,
    /// More about what it is waiting for.
    pub note: Option<String>,
}

/// A step that has begun, for the data of the run.
#[derive(Clone, Debug)]
pub(crate) struct StepTaken {
    /// Its title in reports: `step 2 (POST /runs)`.
    pub title: String,
    pub began: Instant,
    /// When it ended; `None` if it has not.
    pub ended: Option<Instant>,
    /// The status of its answer, if there was one.
    pub status: Option<Status>,
    /// Why it failed.
    pub failure: Option<String>,
    /// The first events of its streams.
    pub events: Vec<EventSeen>,
    /// The number of events that are not in `events`.
    pub more_events: usize,
    pub acts: Vec<ActTaken>,
}

/// An act on a page.
#[derive(Clone, Debug)]
pub(crate) struct ActTaken {
    pub what: String,
    pub began: Instant,
    pub ended: Option<Instant>,
    pub failure: Option<String>,
    /// What the page showed after it, relative to the project's folder.
    pub picture: Option<PathBuf>,
}

/// An event, and when it came.
#[derive(Clone, Debug)]
pub(crate) struct EventSeen {
    pub came: Instant,
    pub name: String,
    /// The beginning of its payload, at most 240 characters.
    pub payload: String,
}

impl Underway {
    /// Begins to watch the model calls of a stage.
    pub(super) fn watch(&self, calls: Activity) {
        self.0.lock().calls = Some(calls);
    }

    /// Returns a value that is another one after a model call began or ended.
    pub(super) fn mark(&self) -> (usize, usize) {
        self.0.lock().calls.as_ref().map(Activity::mark).unwrap_or_default()
    }

    /// Returns the state of the step that is running.
    pub(crate) fn so_far(&self) -> SoFar {
        self.0.lock().so_far.clone()
    }

    pub(crate) fn steps(&self) -> Vec<StepTaken> {
        self.0.lock().steps.clone()
    }

    /// Begins a step. Returns its number, counted from 0.
    pub(super) fn begin(&self, title: String) -> usize {
        self.step(title.clone());
        let mut state = self.0.lock();
        let (began, events) = (Instant::now(), Vec::new());
        let step = StepTaken {
            title,
            began,
            ended: None,
            status: None,
            failure: None,
            events,
            more_events: 0,
            acts: Vec::new(),
        };
        state.steps.push(step);
        state.steps.len() - 1
    }

    pub(super) fn end(&self, step: usize, failure: Option<&Error>) {
        if let Some(step) = self.0.lock().steps.get_mut(step) {
            step.ended = Some(Instant::now());
            step.failure = failure.map(|error| error.what().to_owned());
        }
    }

    /// Begins an act of the latest step. Returns its number.
    #[cfg(feature = "browser")]
    pub(super) fn begin_act(&self, what: String) -> usize {
        self.awaits(what.clone());
        let mut state = self.0.lock();
        let Some(step) = state.steps.last_mut() else { return 0 };
        step.acts.push(ActTaken { what, began: Instant::now(), ended: None, failure: None, picture: None });
        step.acts.len() - 1
    }

    /// Ends an act of the latest step, with a picture of the page.
    #[cfg(feature = "browser")]
    pub(super) fn end_act(&self, act: usize, failure: Option<&Error>, picture: Option<PathBuf>) {
        if let Some(act) = self.0.lock().steps.last_mut().and_then(|step| step.acts.get_mut(act)) {
            act.ended = Some(Instant::now());
            act.failure = failure.map(|error| error.what().to_owned());
            act.picture = picture;
        }
    }

    /// Sets the status of the answer to the latest step.
    pub(super) fn status(&self, status: Status) {
        if let Some(step) = self.0.lock().steps.last_mut() {
            step.status = Some(status);
        }
    }

    /// Returns the number of the latest step, for streams that go on while later steps run.
    pub(super) fn current(&self) -> usize {
        self.0.lock().steps.len().saturating_sub(1)
    }

    /// Says what is running, without beginning a new step.
    pub(super) fn step(&self, step: String) {
        self.0.lock().so_far = SoFar { step, ..SoFar::default() };
    }

    /// Notes the events of a stream of the latest step: all `events` so far, of which the first `known` are already noted.
    pub(super) fn events(&self, events: &[Event], known: usize) {
        {
            let so_far = &mut self.0.lock().so_far;
            so_far.events = events.len();
            so_far.last = events.last().map(|event| event.label().into_owned());
        }
        self.events_of(self.current(), events, known);
    }

    /// Like [`Underway::events`], but for the step with this number.
    pub(super) fn events_of(&self, step: usize, events: &[Event], known: usize) {
        let came = Instant::now();
        let mut guard = self.0.lock();
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

    /// Says what the step is waiting for.
    pub(super) fn awaits(&self, what: String) {
        self.0.lock().so_far.awaited = Some(what);
    }

    pub(super) fn note(&self, note: String) {
        self.0.lock().so_far.note = Some(note);
    }
}

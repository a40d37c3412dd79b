//! How far a scenario has come, and the results of its steps so far. This outlives a driver that runs out of time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, sleep_until};

use super::away::Away;
use retake_base::error::Error;
use retake_base::lock::Mutex;
use retake_base::text::clipped;
use retake_core::events::{Captured, Event, Golden, Payload, ShapeOptions, Status};
use retake_core::json::Json;
use retake_core::mark::Mark;
use retake_model::{Activity, FaultKind, Hold, Reading, Replay};

/// The number of events of a run that are kept, each with the beginning of its payload. Nobody reads more.
const EVENTS: usize = 2_000;
/// The number of characters of an event's payload that are kept.
const PAYLOAD: usize = 240;

/// The streams of steps, by the index of the step.
pub(crate) type Streams = BTreeMap<usize, Vec<Event>>;

/// How far a scenario has come. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Underway {
    /// When the run began.
    began: Instant,
    state: Arc<Mutex<State>>,
    /// The part of a `together` that this speaks for.
    part: usize,
    /// What holds answers back until their parts come.
    hold: Option<Hold>,
    /// The mark that the model's words have in this replay.
    mark: Option<Mark>,
    gives_up: Option<GivingUp>,
    /// What the client does in a world.
    away: Option<Away>,
    /// The streams of steps, by the index of the step, if they are kept.
    streams: Option<Arc<Mutex<Streams>>>,
}

/// When steps stop to wait for what does not come. Only where a fault was staged, so that something else may come instead.
#[derive(Clone)]
pub struct GivingUp {
    /// Whether an answer says that something failed.
    pub says_failed: Arc<dyn Fn(&Captured) -> bool + Send + Sync>,
    /// Whether the fault has happened.
    pub met: Arc<dyn Fn() -> bool + Send + Sync>,
    /// How long nothing happens after that until nothing is expected to come.
    pub quiet: Duration,
}

impl fmt::Debug for GivingUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivingUp").field("quiet", &self.quiet).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    /// What a step waited for in vain.
    stuck: Option<String>,
    step: String,
    /// The parts of the step. One that is no `together` has one.
    parts: BTreeMap<usize, SoFar>,
    steps: Vec<StepData>,
    /// The number of events that are kept.
    kept: usize,
    /// The model calls of the stage, and the events that may come at any time.
    watched: Option<(Activity, ShapeOptions)>,
    /// When the system last sent something new.
    heard: Instant,
    /// Why a part of a `together` failed, while others go on.
    failed: Option<Error>,
}

/// How far a part of the step is that is running.
#[derive(Clone, Debug, Default)]
pub struct SoFar {
    /// What has not happened, such as "the event `end` did not come".
    pub lacks: Option<String>,
    /// The number of events of its stream so far.
    pub events: usize,
    /// The name of the last event.
    pub last: Option<String>,
}

/// A step of the client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepData {
    /// `step 2 (POST /runs)`.
    pub title: String,
    /// When it began, in milliseconds since the start of the run.
    pub at_ms: f64,
    /// Absent if the run ended before the step did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// The status `200`, or `exit 0` of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The first events of its stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventData>,
    /// How many more events came.
    #[serde(default)]
    pub more_events: usize,
    /// The acts on its page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ActData>,
}

/// An act on a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActData {
    /// What was done or looked for: ``click `role:button Send` ``.
    pub what: String,
    /// When it began, in milliseconds since the start of the run.
    pub at_ms: f64,
    /// Absent if the run ended before the act did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// A picture of the page after it, relative to the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PathBuf>,
}

/// An event of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventData {
    /// When it began, in milliseconds since the start of the run.
    pub at_ms: f64,
    /// Its name.
    pub name: String,
    /// The beginning of its payload.
    pub payload: String,
}

/// A time in milliseconds, rounded to hundredths.
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

impl Underway {
    /// A run that began at this time.
    pub fn since(began: Instant) -> Underway {
        let (step, parts, steps) = (String::new(), BTreeMap::new(), Vec::new());
        let state = State { stuck: None, step, parts, steps, kept: 0, watched: None, heard: began, failed: None };
        let state = Arc::new(Mutex::new(state));
        Underway { began, state, part: 0, hold: None, mark: None, gives_up: None, away: None, streams: None }
    }

    /// Tells what a replay holds answers back for which events came, and reads answers without its mark.
    pub fn telling(self, replay: &Replay) -> Underway {
        Underway { hold: replay.hold.clone(), mark: replay.fixture().mark.clone(), ..self }
    }

    /// The JSON of an event, as it would be without the mark.
    pub(super) fn json_of(&self, event: &Event) -> Option<Json> {
        let Payload::Data(text) = &event.payload else { return None };
        let bare = self.mark.as_ref().and_then(|mark| mark.taken_off(text.as_bytes()));
        bare.map_or_else(|| event.json(), |bare| Json::parse(&bare).ok())
    }

    /// Lets steps stop to wait, and the client leave or come a second time. The streams of steps are kept.
    pub fn in_world(self, gives_up: Option<GivingUp>, away: Option<Away>) -> Underway {
        Underway { gives_up, away, streams: Some(Arc::default()), ..self }
    }

    /// What the client does in the step that is running.
    pub(super) fn away(&self) -> Option<Away> {
        self.away.clone().filter(|away| away.does == FaultKind::Kill || away.step == self.current())
    }

    /// Keeps the stream of the step that is running, if streams are kept.
    pub(super) fn keep(&self, events: &[Event]) {
        if let Some(streams) = &self.streams {
            streams.lock().insert(self.current(), events.to_vec());
        }
    }

    /// The streams that were kept.
    pub fn streams(&self) -> Streams {
        self.streams.as_ref().map(|streams| streams.lock().clone()).unwrap_or_default()
    }

    /// Whether a step stops to wait, since its answer says that something failed, or is the same since a time at which nothing happens
    /// any more.
    pub(super) fn gives_up(&self, answer: impl FnOnce() -> Captured, same_since: Instant) -> bool {
        let Some(of) = &self.gives_up else { return false };
        if (of.says_failed)(&answer()) {
            return true;
        }
        let is_stuck = self.is_quiet(of) && same_since.elapsed() > of.quiet;
        if is_stuck {
            let mut state = self.state.lock();
            state.stuck = state.parts.get(&self.part).and_then(|part| part.lacks.clone());
        }
        is_stuck
    }

    /// Waits until nothing can be expected to come any more, if steps stop to wait.
    pub(super) async fn given_up(&self) {
        let Some(of) = &self.gives_up else { return std::future::pending().await };
        while !self.is_quiet(of) {
            tokio::time::sleep(of.quiet / 8).await;
        }
    }

    /// Whether the fault has happened, and no call was under way for a time.
    fn is_quiet(&self, of: &GivingUp) -> bool {
        let calls = self.state.lock().watched.as_ref().map(|(calls, _)| calls.clone());
        let since = calls.and_then(|calls| calls.quiet_since());
        (of.met)() && since.is_some_and(|since| since.elapsed() > of.quiet)
    }

    /// What a step waited for in vain.
    pub fn stuck(&self) -> Option<String> {
        self.state.lock().stuck.clone()
    }

    /// The same run, for one part of a `together`.
    pub(super) fn part(&self, part: usize) -> Underway {
        Underway { part, ..self.clone() }
    }

    /// How long the run has taken so far.
    fn now(&self) -> f64 {
        milliseconds(self.began.elapsed())
    }

    /// How long it has taken since a time.
    fn took(&self, at_ms: f64) -> f64 {
        ((self.now() - at_ms) * 100.0).round() / 100.0
    }

    /// Begins to watch the model calls of a stage.
    pub(super) fn watch(&self, calls: Activity, golden: &ShapeOptions) {
        self.state.lock().watched = Some((calls, golden.clone()));
    }

    /// Notes that a client begins to read a stream.
    pub(super) fn reads(&self) -> Reading {
        Hold::reading(self.hold.as_ref())
    }

    /// Returns the title of the step that is running, and its first part that waits for something.
    pub fn so_far(&self) -> (String, SoFar) {
        let state = self.state.lock();
        let waits = state.parts.values().find(|part| part.lacks.is_some());
        (state.step.clone(), waits.or(state.parts.values().next()).cloned().unwrap_or_default())
    }

    /// The number of events of the step that is running.
    pub fn event_count(&self) -> usize {
        self.state.lock().parts.values().map(|part| part.events).sum()
    }

    /// Whether an event came that this golden does not have, so that the run differs from it whatever else comes. A label with digits may be
    /// another one by a rule.
    pub fn differs_from(&self, golden: &Golden) -> bool {
        let state = self.state.lock();
        let Some((_, options)) = state.watched.as_ref().filter(|(_, options)| options.event_name.is_none()) else {
            return false;
        };
        let is_new = |event: &EventData| {
            let is_word = event.name.chars().all(|c| c.is_ascii_alphabetic() || "_.-/".contains(c));
            is_word && !options.ignores(&event.name) && !golden.has_event(&event.name)
        };
        state.steps.iter().flat_map(|step| &step.events).any(is_new)
    }

    /// Waits until nothing can be expected to come for which the step waits: the run is lost, because `has_missed` returns true
    /// or another part of the step failed, no model call is under way, and the system has sent nothing new for the time `quiet`.
    pub async fn waits_in_vain(&self, quiet: Duration, has_missed: impl Fn() -> bool) {
        loop {
            let (heard, failed, calls) = {
                let state = self.state.lock();
                let calls = state.watched.as_ref().filter(|_| state.parts.values().any(|part| part.lacks.is_some()));
                (state.heard, state.failed.is_some(), calls.map(|(calls, _)| calls.clone()))
            };
            let due = calls.and_then(|calls| calls.quiet_since()).map(|since| since.max(heard) + quiet);
            match due {
                Some(due) if due > Instant::now() => sleep_until(due).await,
                Some(_) if failed || has_missed() => return,
                _ => sleep(quiet).await,
            }
        }
    }

    /// Notes that a part of the step failed.
    pub(super) fn failed(&self, error: Error) {
        self.state.lock().failed.get_or_insert(error);
    }

    /// Why a part of the step failed that is still running.
    pub fn failure(&self) -> Option<Error> {
        self.state.lock().failed.clone()
    }

    /// Each step that has begun, as the data of runs has it.
    pub fn steps(&self) -> Vec<StepData> {
        self.state.lock().steps.clone()
    }

    /// Begins a step. Returns its number, counted from 0.
    pub(super) fn begin(&self, title: String) -> usize {
        self.step(title.clone());
        self.away.iter().for_each(|away| away.gate.came(1));
        let mut state = self.state.lock();
        state.steps.push(StepData { title, at_ms: self.now(), ..StepData::default() });
        state.steps.len() - 1
    }

    pub(super) fn end(&self, step: usize, failure: Option<&Error>) {
        let mut state = self.state.lock();
        state.parts.values_mut().for_each(|part| part.lacks = None);
        if let Some(step) = state.steps.get_mut(step) {
            step.took_ms = Some(self.took(step.at_ms));
            step.failure = failure.map(|error| error.what().to_owned());
        }
    }

    /// Begins an act of the latest step. Returns its number.
    #[cfg(feature = "browser")]
    pub(super) fn begin_act(&self, what: String) -> usize {
        let mut state = self.state.lock();
        let Some(step) = state.steps.last_mut() else { return 0 };
        step.acts.push(ActData { what, at_ms: self.now(), ..ActData::default() });
        step.acts.len() - 1
    }

    /// Ends an act of the latest step, with a picture of the page.
    #[cfg(feature = "browser")]
    pub(super) fn end_act(&self, act: usize, failure: Option<&Error>, picture: Option<PathBuf>) {
        if let Some(act) = self.state.lock().steps.last_mut().and_then(|step| step.acts.get_mut(act)) {
            act.took_ms = Some(self.took(act.at_ms));
            act.failure = failure.map(|error| error.what().to_owned());
            act.picture = picture;
        }
    }

    /// Sets the status of the answer to the latest step.
    pub(super) fn status(&self, status: Status) {
        if let Some(step) = self.state.lock().steps.last_mut() {
            step.status = Some(status.to_string());
        }
    }

    /// Returns the number of the latest step, for streams that go on while later steps run.
    pub(super) fn current(&self) -> usize {
        self.state.lock().steps.len().saturating_sub(1)
    }

    /// Says what is running, without beginning a new step.
    pub(super) fn step(&self, step: String) {
        let mut state = self.state.lock();
        (state.step, state.heard, state.failed) = (step, Instant::now(), None);
        state.parts.clear();
    }

    /// Notes the events of a stream of the latest step: all `events` so far, of which the first `known` are already noted.
    pub(super) fn events(&self, events: &[Event], known: usize) {
        {
            let mut state = self.state.lock();
            let part = state.parts.entry(self.part).or_default();
            part.events = events.len();
            part.last = events.last().map(|event| event.label().into_owned());
        }
        self.events_of(self.current(), events, known);
    }

    /// Like [`Underway::events`], but for the step with this number.
    pub(super) fn events_of(&self, step: usize, events: &[Event], known: usize) {
        let at_ms = self.now();
        if let Some(away) = self.away.as_ref().filter(|_| events.len() > known) {
            away.gate.came(events[known..].iter().filter(|event| event.is_real()).count());
        }
        let mut guard = self.state.lock();
        let State { steps, kept, watched, heard, .. } = &mut *guard;
        let Some(step) = steps.get_mut(step) else { return };
        let may_come = |event: &Event| watched.as_ref().is_some_and(|(_, golden)| golden.ignores(&event.label()));
        for (at, event) in events.iter().enumerate().skip(known).filter(|(_, event)| event.is_real()) {
            // A service that only shows that it is alive sends nothing new.
            let is_new = at.checked_sub(1).is_none_or(|before| events[before] != *event) && !may_come(event);
            if is_new {
                *heard = Instant::now();
            }
            self.hold.iter().for_each(|hold| hold.came(event, is_new));
            if *kept == EVENTS {
                step.more_events += 1;
                continue;
            }
            *kept += 1;
            let payload = match &event.payload {
                Payload::Data(text) => clipped(text, PAYLOAD).into_owned(),
                _ => String::new(),
            };
            step.events.push(EventData { at_ms, name: event.label().into_owned(), payload });
        }
    }

    /// Says what has not happened yet for which the step waits: "the event `end` did not come".
    pub(super) fn awaits(&self, lacks: String) {
        let mut state = self.state.lock();
        let part = state.parts.entry(self.part).or_default();
        if part.lacks.as_ref() != Some(&lacks) {
            part.lacks = Some(lacks);
            state.heard = Instant::now();
        }
    }

    /// Notes that the part waits for nothing any more.
    pub(super) fn done(&self) {
        if let Some(part) = self.state.lock().parts.get_mut(&self.part) {
            part.lacks = None;
        }
    }
}

#[cfg(test)]
mod tests;

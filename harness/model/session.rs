//! What the server answers from, and what it notes of the calls: one scenario's, until the next one's is laid in.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::checked::{Checked, RecentChecks};
use super::drift::DriftOf;
use super::lint::{CallFlaw, FlawKind};
#[cfg(feature = "record")]
use super::record::Recorder;
use super::replay::Replay;
use crate::fixture::Turn;
use crate::json::Json;
use crate::key::Normalizer;
use crate::wire::{self, Api, Call, Known, Response, Target};

/// What the server does with a call.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Answers with recorded turns.
    Replay(Arc<Replay>),
    /// Passes calls on to a provider and writes down what comes back.
    #[cfg(feature = "record")]
    Record(Arc<Recorder>),
}

/// How long answers are held back.
#[derive(Clone, Copy, Debug, Default)]
pub enum Pacing {
    /// Not at all.
    #[default]
    None,
    /// Each by another few milliseconds: the second run of a proof shakes the order of things.
    Shaken,
}

/// One scenario's calls.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) mode: Mode,
    pacing: Pacing,
    drift: Mutex<Vec<(usize, DriftOf)>>,
    flaws: Mutex<Vec<CallFlaw>>,
    /// What was served, for requests that refer to it.
    known: RwLock<Known>,
    checks: RecentChecks,
    calls: AtomicU64,
}

impl Session {
    /// A session in which no call came yet.
    pub(super) fn new(mode: Mode, pacing: Pacing) -> Arc<Session> {
        let (drift, flaws, known, checks) =
            (Mutex::default(), Mutex::default(), RwLock::default(), RecentChecks::default());
        Arc::new(Session { mode, pacing, drift, flaws, known, checks, calls: AtomicU64::new(0) })
    }

    /// A request's body as a call and as JSON, without what recording took out of its calls; otherwise what is wrong with it.
    pub(super) fn read_call(&self, target: Target<'_>, body: &[u8]) -> Result<(Call, Json), String> {
        let api = target.api().unwrap_or(Api::Opaque);
        let mut json = match api {
            Api::Opaque => wire::request_body(body),
            _ => Json::parse_request(body).map_err(|e| format!("not JSON: {e}"))?,
        };
        let path = match &self.mode {
            Mode::Replay(replay) => replay.scrub(&mut json, target.path),
            #[cfg(feature = "record")]
            Mode::Record(_) => target.path.into(),
        };
        let known = match &self.mode {
            Mode::Replay(_) => &self.known,
            // The recorder sees the answers.
            #[cfg(feature = "record")]
            Mode::Record(recorder) => recorder.known(),
        };
        let known = known.read().unwrap_or_else(PoisonError::into_inner);
        let call = wire::decode(api, Target { path: &path, ..target }, &json, &known).map_err(|e| e.to_string())?;
        drop(known);
        Ok((call, json))
    }

    /// The checks of a call. `results` is what is exceptional about its results.
    pub(super) fn checks_of(&self, call: &Call, results: &str, normalizer: &Normalizer) -> Arc<Checked> {
        self.checks.of(call, results, normalizer)
    }

    /// Notes what was served, where later requests of the API may refer to it.
    pub(super) fn learn(&self, api: Api, target: Target<'_>, request: &Json, response: &Response) {
        if Known::learns_of(api) {
            self.known.write().unwrap_or_else(PoisonError::into_inner).learn(api, target, request, response);
        }
    }

    /// Notes what of a served call's checks differs from the recorded ones.
    pub(super) fn note_drift(&self, turn: usize, drift: &[DriftOf]) {
        if !drift.is_empty() {
            let drift = drift.iter().map(|drift| (turn, drift.clone()));
            self.drift.lock().unwrap_or_else(PoisonError::into_inner).extend(drift);
        }
    }

    /// Notes what is wrong with a call by itself.
    pub(super) fn note_flaws(
        &self,
        flaws: impl IntoIterator<Item = (FlawKind, String)>,
        caller: Option<&str>,
        turn: Option<usize>,
    ) {
        let mut flaws = flaws.into_iter().peekable();
        if flaws.peek().is_some() {
            let flaw = |(kind, what)| CallFlaw { caller: caller.map(str::to_owned), turn, what, kind };
            self.flaws.lock().unwrap_or_else(PoisonError::into_inner).extend(flaws.map(flaw));
        }
    }

    /// What of served calls' checks differed from the recorded ones, with the turn that was served.
    pub(super) fn drift(&self) -> Vec<(usize, DriftOf)> {
        self.drift.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was wrong with calls by themselves.
    pub(super) fn flaws(&self) -> Vec<CallFlaw> {
        self.flaws.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether calls go on to a provider.
    pub(super) fn records(&self) -> bool {
        !matches!(self.mode, Mode::Replay(_))
    }

    /// The models that were asked, or that answered where that is all that the fixture tells.
    pub(super) fn models(&self) -> Vec<String> {
        match &self.mode {
            Mode::Replay(replay) => {
                let fixture = replay.fixture();
                let asked = |turn: &Turn| {
                    let asked = turn.checks.and_then(|checks| fixture.texts.get(&checks.model));
                    let asked = asked.map(ToString::to_string).filter(|model| !model.is_empty());
                    asked.or_else(|| turn.output.model.clone())
                };
                let models: BTreeSet<String> = fixture.table.turns().iter().filter_map(asked).collect();
                models.into_iter().collect()
            }
            #[cfg(feature = "record")]
            Mode::Record(_) => Vec::new(),
        }
    }

    /// The number of a call that is looked up, in the order in which they come.
    pub(super) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Holds back the answer to a call as long as the pacing says.
    pub(super) async fn hold_back(&self, call: u64, turn: usize) {
        self.pacing.hold_back(call, turn).await;
    }
}

impl Pacing {
    /// Holds back the answer to a request of this number, as long as it says.
    pub(crate) async fn hold_back(self, call: u64, turn: usize) {
        match self {
            Pacing::None => {}
            Pacing::Shaken => tokio::time::sleep(shaken(call, turn)).await,
        }
    }
}

/// Some milliseconds that differ from call to call and are the same in each run.
fn shaken(call: u64, turn: usize) -> Duration {
    Duration::from_millis((call * 7 + turn as u64 * 13) % 20)
}

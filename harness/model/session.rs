//! A session: what the server answers calls from, and what it notes about them. Each scenario has its own session.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use axum::body::Bytes;

use super::account::{Account, KEPT};
use super::activity::Activity;
use super::checked::RecentChecks;
use super::drift::DriftOf;
use super::lint::{CallFlaw, FlawKind};
use super::record::Recorder;
use super::replay::Replay;
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::RunningHash;
use retake_core::places::Places;
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{self as wire, Api, Call, Histories, Known, Response, Target};

/// What the server does with a call.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Answers calls with recorded turns.
    Replay(Arc<Replay>),
    /// Passes calls on to a provider and writes down the answers.
    Record(Arc<Recorder>),
}

impl Mode {
    /// Says what the places of the stage are, before its system can call.
    pub fn on_stage(&self, places: &Places) {
        match self {
            Mode::Replay(replay) => replay.on_stage(places),
            Mode::Record(recorder) => recorder.on_stage(places),
        }
    }

    /// The fixture from which calls are answered: that of a replay, or of the recording from which another one branches off.
    pub fn fixture(&self) -> Option<&Fixture> {
        let replay = match self {
            Mode::Replay(replay) => replay,
            Mode::Record(recorder) => &recorder.branch.as_ref().filter(|branch| !branch.only_tools)?.prefix,
        };
        Some(replay.fixture())
    }

    /// Says that what calls is about to be ended: an answer that it leaves from here on was not left by itself.
    pub fn ends(&self) {
        if let Mode::Record(recorder) = self {
            recorder.ends();
        }
    }
}

/// How long answers are held back.
#[derive(Clone, Copy, Debug, Default)]
pub enum Pacing {
    /// Not at all.
    #[default]
    None,
    /// Each answer by a different number of milliseconds. The second run of a proof uses this to change the order of events.
    Shaken,
}

/// The session of one scenario.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) mode: Mode,
    pub(super) pacing: Pacing,
    pub(super) drift: Mutex<Account<(usize, DriftOf)>>,
    pub(super) flaws: Mutex<Account<CallFlaw>>,
    /// The responses that were served, for requests that refer to them by id.
    known: RwLock<Known>,
    pub(super) checks: RecentChecks,
    histories: Histories,
    pub(super) calls: AtomicU64,
    pub(super) activity: Activity,
}

/// A call that was read.
pub(super) struct Read {
    pub(super) call: Call,
    /// The hash of its conversation, if reading shows it.
    pub(super) hash: Option<RunningHash>,
    body: Bytes,
    /// The whole body as JSON, computed at its first use.
    json: OnceLock<Json>,
}

impl Read {
    /// The whole body as JSON.
    pub(super) fn json(&self) -> &Json {
        self.json.get_or_init(|| wire::chat_body(&self.body).unwrap_or(Json::Null))
    }
}

impl Session {
    /// Starts a session.
    pub(super) fn new(mode: Mode, pacing: Pacing) -> Arc<Session> {
        let (drift, flaws) = (Mutex::new(Account::new()), Mutex::new(Account::new()));
        let (known, checks, histories, calls) = Default::default();
        let activity = Activity::new(matches!(pacing, Pacing::Shaken));
        Arc::new(Session { mode, pacing, drift, flaws, known, checks, histories, calls, activity })
    }

    /// Reads a request's body. In replay, what recording removed from its calls is removed here too.
    /// An error says what is wrong with the body.
    pub(super) fn read_call(&self, target: Target<'_>, body: &Bytes) -> Result<Read, String> {
        let api = target.api().unwrap_or(Api::Opaque);
        // A secret may stand anywhere in a body, and while recording the whole body is written down.
        if let Mode::Replay(replay) = &self.mode
            && replay.fixture().scrub.is_empty()
            && let Some((call, hash)) = self.histories.read(api, target, body, &replay.rules().normalizer)
        {
            return Ok(Read { call, hash: Some(hash), json: OnceLock::new(), body: body.clone() });
        }
        let (api, json) = wire::read_body(target, body)?;
        self.read_json(api, target, body, json)
    }

    /// Reads a request in the other ways in which it may have been recorded: as a whole, before its API was declared or spoken, and
    /// as releases before 0.3 read what is no chat.
    pub(super) fn read_as_before(&self, target: Target<'_>, body: &Bytes) -> Vec<Read> {
        let as_whole = target.api().map(|_| wire::request_body(body));
        let before = wire::request_body_before(body).filter(|_| target.api().is_none());
        let read = |json| self.read_json(Api::Opaque, target, body, json).ok();
        as_whole.into_iter().chain(before).filter_map(read).collect()
    }

    fn read_json(&self, api: Api, target: Target<'_>, body: &Bytes, mut json: Json) -> Result<Read, String> {
        let (path, known) = match &self.mode {
            Mode::Replay(replay) => (replay.scrub(&mut json, target.path), &self.known),
            // While recording, the recorder knows the answers.
            Mode::Record(recorder) => (target.path.into(), recorder.known()),
        };
        let known = known.read().unwrap_or_else(PoisonError::into_inner);
        let call = wire::decode(api, Target { path: &path, ..target }, &json, &known).map_err(|e| e.to_string())?;
        drop(known);
        Ok(Read { call, hash: None, json: OnceLock::from(json), body: body.clone() })
    }

    /// Notes a response that was served, if later requests over the API may refer to it.
    pub(super) fn learn<'r>(
        &self,
        api: Api,
        target: Target<'_>,
        request: impl FnOnce() -> &'r Json,
        response: &Response,
    ) {
        if Known::learns_of(api) {
            self.known.write().unwrap_or_else(PoisonError::into_inner).learn(api, target, request(), response);
        }
    }

    /// Notes the checks of a served call that differ from the recorded ones.
    pub(super) fn note_drift(&self, turn: usize, drift: &[DriftOf]) {
        let mut all = self.drift.lock();
        for drift in drift {
            // Each check for itself: one that fails may not be forgotten for one that is only noted.
            all.push((turn, drift.clone()), KEPT, 0, |(_, a), (_, b)| a.check == b.check);
        }
    }

    /// Notes the flaws of a call.
    pub(super) fn note_flaws(
        &self,
        flaws: impl IntoIterator<Item = (FlawKind, String)>,
        caller: Option<&str>,
        turn: Option<usize>,
    ) {
        let mut all = self.flaws.lock();
        for (kind, what) in flaws {
            let flaw = CallFlaw { caller: caller.map(str::to_owned), turn, what, kind };
            all.push(flaw, KEPT, 0, |_, _| true);
        }
    }

    /// The models that recorded calls asked. If the fixture does not know that, the models that answered.
    pub(super) fn models(&self) -> Vec<String> {
        let Mode::Replay(replay) = &self.mode else { return Vec::new() };
        let fixture = replay.fixture();
        let asked = |turn: &Turn| {
            let asked = turn.checks.and_then(|checks| fixture.texts.get(&checks.model));
            let asked = asked.map(ToString::to_string).filter(|model| !model.is_empty());
            asked.or_else(|| turn.output.model.clone())
        };
        let models: BTreeSet<String> = fixture.table.turns().iter().filter_map(asked).collect();
        models.into_iter().collect()
    }
}

impl Pacing {
    /// Holds back the answer to the request with this number.
    pub async fn hold_back(self, call: u64, turn: usize) {
        if matches!(self, Pacing::Shaken) {
            // The delay differs from call to call and is the same in each run: of up to 19 ms, and for the first so much more that what
            // a system measures shows it in tenths of a second.
            let first = if call == 0 { 150 } else { 0 };
            tokio::time::sleep(Duration::from_millis(first + (call * 7 + turn as u64 * 13) % 20)).await;
        }
    }
}

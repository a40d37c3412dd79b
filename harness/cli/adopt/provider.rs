//! A provider that answers from a trace's turns: each call gets the turn that it resembles most, as a miss would name it.

use retake_base::text::nth_turn;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::scripted::{self, refused};
use retake_base::error::Result;
use retake_base::lock::Mutex;
use retake_core::key::{Hash, Rules};
use retake_model::{CallerRules, Checked, GoingOn, Lookup, MissedCall, Replay, Scope};
use retake_wire::fixture::Fixture;
use retake_wire::{self as wire, Call, Known, Target};

/// A call of the service, and the turn that answered it.
#[derive(Clone, Debug)]
pub(super) struct Paired {
    pub(super) conversation: Hash,
    pub(super) turn: usize,
}

/// A call that has no turn, or several.
#[derive(Clone, Debug)]
pub(super) struct Unpaired {
    /// Its number, counted from 1.
    pub(super) number: usize,
    pub(super) via: String,
    /// Its last message.
    pub(super) asks: String,
    /// The turns that fit equally well; empty if none fits.
    pub(super) between: Vec<usize>,
}

/// What came of the calls so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) paired: Vec<Paired>,
    pub(super) unpaired: Vec<Unpaired>,
}

/// The provider.
#[derive(Debug)]
pub(super) struct Provider {
    replay: Replay,
    callers: CallerRules,
    /// Which turn a call gets, by its number, where a person said so.
    said: HashMap<usize, usize>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: Known,
    calls: usize,
    outcome: Outcome,
}

impl Provider {
    pub(super) fn new(
        fixture: Arc<Fixture>,
        rules: Arc<Rules>,
        callers: CallerRules,
        said: HashMap<usize, usize>,
    ) -> Provider {
        let replay = Replay::new(fixture, rules, Scope::new("adopt")).going_on(GoingOn::Meant);
        Provider { replay, callers, said, state: Mutex::default() }
    }

    /// Listens at a free port until the runtime ends.
    /// Fails if no port is free.
    pub(super) async fn start(self: &Arc<Provider>) -> Result<SocketAddr> {
        let provider = self.clone();
        scripted::listen(scripted::FREE, move |parts, body| provider.answer(parts, body)).await
    }

    /// What came of the calls, and how each that is paired differs from its turn.
    pub(super) fn outcome(&self) -> (Outcome, Vec<MissedCall>) {
        let outcome = self.state.lock().outcome.clone();
        (outcome, self.replay.log().missed)
    }

    fn answer(&self, parts: &Parts, body: &Bytes) -> wire::Response {
        let (method, path) = (&parts.method, scripted::path(parts));
        let target = Target { method: method.as_str(), path };
        let (api, body) = match scripted::chat(target, body) {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        // Choosing and taking are one step, also for calls that come at once.
        let mut state = self.state.lock();
        let call = match wire::decode(api, target, &body, &state.known) {
            Ok(call) => call,
            Err(error) => return refused(api, &error.to_string()),
        };
        state.calls += 1;
        let number = state.calls;
        let lookup = self.lookup(&call, format!("{method} {path}"), &parts.headers);
        let conversation = self.replay.rules().conversation_hash(&lookup.conversation);
        let asks =
            lookup.conversation.last().and_then(|message| message.str_of("content")).unwrap_or_default().to_owned();
        let taken: Vec<usize> = state.outcome.paired.iter().map(|paired| paired.turn).collect();
        let (via, seed) = (lookup.via.clone(), conversation.to_string());
        let mut unpaired = |between: Vec<usize>, what: &str| {
            state.outcome.unpaired.push(Unpaired { number, via: via.clone(), asks: asks.clone(), between });
            refused(api, what)
        };
        let served = if let Some(turn) = self.said.get(&number) {
            match self.of_turn(*turn, &lookup) {
                Ok(served) => served,
                Err(what) => return unpaired(Vec::new(), &what),
            }
        } else {
            let between = self.replay.equally_near(&lookup);
            if between.len() > 1 {
                return unpaired(between, "several turns of the trace fit this call equally well");
            }
            match self.replay.take(lookup, None) {
                // A turn that was served is given once more where that ends a loop; it is nobody's counterpart.
                Ok(served) if !taken.contains(&served.index) => served.index,
                _ => return unpaired(Vec::new(), "no turn of the trace fits this call"),
            }
        };
        let turn = &self.replay.fixture().table.turns()[served];
        let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
        match wire::respond(&turn.output, recorded, &call.render_for(&seed)) {
            Ok(response) => {
                state.known.learn(api, target, &body, &response);
                state.outcome.paired.push(Paired { conversation, turn: served });
                response
            }
            Err(error) => refused(api, &error.to_string()),
        }
    }

    fn lookup(&self, call: &Call, via: String, headers: &HeaderMap) -> Lookup {
        let rules = self.replay.rules();
        let caller = self.callers.caller_of(headers, call).map(|caller| rules.caller(Some(&caller)));
        // A caller of the service's own that the trace does not know tells nothing.
        let turns = self.replay.fixture().table.turns();
        let caller = caller.filter(|caller| turns.iter().any(|turn| turn.caller.as_ref() == Some(caller)));
        Lookup {
            via,
            api: Some(call.api),
            caller,
            conversation: rules.canonical(call.messages.iter().cloned().map(Into::into).collect()).into(),
            checks: Some(Arc::new(Checked::from(call.checks(&rules.normalizer)))),
            first_caller: None,
            flaws: Vec::new(),
        }
    }

    /// Takes the turn that a person named for a call.
    fn of_turn(&self, turn: usize, lookup: &Lookup) -> Result<usize, String> {
        let rules = self.replay.rules();
        let fixture = self.replay.fixture();
        let conversation =
            fixture.conversation(turn, rules).ok_or_else(|| format!("{} does not exist", nth_turn(turn)))?;
        let caller = fixture.table.turns()[turn].caller.clone();
        let own = Lookup { conversation: conversation.into(), caller, api: None, checks: None, ..lookup.clone() };
        match self.replay.take(own, None) {
            Ok(served) if served.index == turn => Ok(turn),
            _ => Err(format!("{} was served before", nth_turn(turn))),
        }
    }
}

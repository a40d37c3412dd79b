//! A provider that answers from a trace's turns: each call gets the turn that it resembles most, as a miss would name it.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::request::Parts;

use crate::scripted::{self, refused};
use retake_base::lock::Mutex;
use retake_core::key::{Hash, Rules};
use retake_model::{CallerRules, Checked, GoingOn, Lookup, MissedCall, Replay, Scope};
use retake_wire::fixture::Fixture;
use retake_wire::{self as wire, Known, Target};

/// A call of the service.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) via: String,
    /// Its last message.
    pub(super) asks: String,
    pub(super) conversation: Hash,
    /// The turn that it got; or those that fit equally well, none if none fits.
    pub(super) turn: Result<usize, Vec<usize>>,
}

/// The provider.
#[derive(Debug)]
pub(super) struct Provider {
    replay: Replay,
    callers: CallerRules,
    /// The numbers of calls, each with the turn that it gets because a person said so.
    said: Vec<(usize, usize)>,
    calls: Mutex<(Known, Vec<Asked>)>,
}

impl Provider {
    pub(super) fn new(
        fixture: Arc<Fixture>,
        rules: Arc<Rules>,
        callers: CallerRules,
        said: Vec<(usize, usize)>,
    ) -> Provider {
        let replay = Replay::new(fixture, rules, Scope::new("adopt")).going_on(GoingOn::Meant);
        Provider { replay, callers, said, calls: Mutex::default() }
    }

    /// Listens at a free port until the runtime ends.
    /// Fails if no port is free.
    pub(super) async fn start(self: &Arc<Provider>) -> retake_base::error::Result<SocketAddr> {
        let provider = self.clone();
        let answer = move |parts: &Parts, body: &Bytes| provider.answer(parts, body).unwrap_or_else(|refused| refused);
        scripted::listen(scripted::FREE, answer).await
    }

    /// The calls so far, and how each differs from its turn.
    pub(super) fn calls(&self) -> (Vec<Asked>, Vec<MissedCall>) {
        (self.calls.lock().1.clone(), self.replay.log().missed)
    }

    /// The error is an answer, too.
    fn answer(&self, parts: &Parts, body: &Bytes) -> Result<wire::Response, wire::Response> {
        let (method, path) = (&parts.method, scripted::path(parts));
        let target = Target { method: method.as_str(), path };
        let (api, body) = scripted::chat(target, body)?;
        let refusal = |error: &dyn Display| refused(api, &error.to_string());
        // Choosing and taking are one step, also for calls that come at once.
        let (known, calls) = &mut *self.calls.lock();
        let call = wire::decode(api, target, &body, known).map_err(|error| refusal(&error))?;
        let rules = self.replay.rules();
        // A caller of the service's own that the trace does not know tells nothing.
        let caller = self.callers.caller_of(&parts.headers, &call).map(|caller| rules.caller(Some(&caller)));
        let turns = self.replay.fixture().table.turns();
        let lookup = Lookup {
            via: format!("{method} {path}"),
            api: Some(call.api),
            caller: caller.filter(|caller| turns.iter().any(|turn| turn.caller.as_ref() == Some(caller))),
            conversation: rules.canonical(call.messages.iter().cloned().map(Into::into).collect()).into(),
            checks: Some(Arc::new(Checked::from(call.checks(&rules.normalizer)))),
            first_caller: None,
            flaws: Vec::new(),
        };
        let conversation = rules.conversation_hash(&lookup.conversation);
        let asks = lookup.conversation.last().and_then(|message| message.str_of("content")).unwrap_or_default();
        let turn = self.turn(&lookup, calls);
        calls.push(Asked { via: lookup.via.clone(), asks: asks.to_owned(), conversation, turn: turn.clone() });
        let none = "no turn of the trace fits this call, or several fit it equally well";
        let turn = &turns[turn.map_err(|_| refusal(&none))?];
        let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
        let response = wire::respond(&turn.output, recorded, &call.render_for(&conversation.to_string()));
        let response = response.map_err(|error| refusal(&error))?;
        known.learn(api, target, &body, &response);
        Ok(response)
    }

    /// Takes the turn that a call resembles most, or that a person named for it. The error is as in [`Asked`].
    fn turn(&self, lookup: &Lookup, calls: &[Asked]) -> Result<usize, Vec<usize>> {
        let take = |lookup| self.replay.take(lookup, None).ok().map(|served| served.index);
        if let Some((_, turn)) = self.said.iter().find(|(call, _)| *call == calls.len() + 1) {
            let (fixture, rules) = (self.replay.fixture(), self.replay.rules());
            let conversation = fixture.conversation(*turn, rules).ok_or_else(Vec::new)?.into();
            let caller = fixture.table.turns()[*turn].caller.clone();
            let own = Lookup { conversation, caller, api: None, checks: None, ..lookup.clone() };
            return take(own).filter(|taken| taken == turn).ok_or_else(Vec::new);
        }
        let between = self.replay.equally_near(lookup);
        if between.len() > 1 {
            return Err(between);
        }
        // A turn that was served is given once more where that ends a loop; it is nobody's counterpart.
        let is_new = |turn: &usize| calls.iter().all(|call| call.turn != Ok(*turn));
        take(lookup.clone()).filter(is_new).ok_or_else(Vec::new)
    }
}

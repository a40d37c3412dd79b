//! Handles each request, from its route to its answer.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::http::{Request, Response as HttpResponse};

use super::activity::{Activity, InFlight};
use super::call_seen::{Asked, CallOutcome, CallUnderWay};
use super::callers::CallerRules;
use super::companion::{self, Companion};
use super::http::{self, Incoming};
use super::lint::FlawKind;
use super::load::{Load, Pass};
use super::lookup::Lookup;
use super::miss::{Miss, MissReason};
use super::record::{PendingCall, Recorder};
use super::replay::Replay;
use super::route::{Aside, Route};
use super::session::{Mode, Session};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::{self as wire, Api, Call, Response};

/// What all requests to one server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) key: String,
    pub(super) activity: Activity,
    pub(super) companion: OnceLock<Arc<dyn Companion>>,
    callers: CallerRules,
    session: Mutex<Arc<Session>>,
    load: Option<Arc<Load>>,
}

impl ServerState {
    /// Makes the state of a server before its first request.
    pub(super) fn new(
        callers: CallerRules,
        key: String,
        session: Arc<Session>,
        load: Option<Arc<Load>>,
    ) -> ServerState {
        let (activity, companion) = (Activity::default(), OnceLock::new());
        ServerState { key, activity, companion, callers, session: Mutex::new(session), load }
    }

    /// The session from which new requests are answered.
    pub(super) fn session(&self) -> Arc<Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the session for requests that come from now on.
    pub(super) fn lay_in(&self, session: Arc<Session>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }
}

/// Answers one request.
pub(super) async fn handle(
    State(state): State<Arc<ServerState>>,
    request: Request<HttpBody>,
) -> HttpResponse<HttpBody> {
    let in_flight = state.activity.begin();
    let session = state.session();
    let incoming = Incoming::read(request).await;
    if let Some(response) = state.companion.get().and_then(|it| companion::answer(&**it, &incoming)) {
        return http::answer(&response, in_flight);
    }
    let exchange = Exchange { state: &state, session: &session, incoming: &incoming };
    let route = Route::of(&incoming.method, incoming.uri.path(), &incoming.headers);
    if !incoming.brings_key(&state.key, session.records()) {
        return match route {
            // LiteLLM does not send the key with these requests, and Ollama's clients have none.
            Route::Aside(aside) if aside.is_open() => http::answer(&aside.answer(Vec::new), in_flight),
            _ => exchange.refused(401, MissReason::WrongKey, in_flight),
        };
    }
    if let Some(what) = incoming.unreadable.clone() {
        return exchange.refused(400, MissReason::Unreadable { what }, in_flight);
    }
    match route {
        Route::Call => exchange.called(None, in_flight).await,
        Route::Aside(aside) => exchange.called(Some(aside), in_flight).await,
        Route::Unknown => exchange.refused(404, MissReason::UnknownRoute { request: incoming.via() }, in_flight),
    }
}

/// A request, and the server and session that answer it.
#[derive(Clone, Copy)]
struct Exchange<'a> {
    state: &'a ServerState,
    session: &'a Session,
    incoming: &'a Incoming,
}

impl Exchange<'_> {
    async fn called(self, aside: Option<Aside>, in_flight: InFlight) -> HttpResponse<HttpBody> {
        match self.session.read_call(self.incoming.target(), &self.incoming.body) {
            Err(what) => self.refused(400, MissReason::Unreadable { what }, in_flight),
            Ok((call, request)) => match &self.session.mode {
                Mode::Replay(replay) => self.replayed(replay, aside, &call, &request, in_flight).await,
                Mode::Record(recorder) => match aside {
                    // The client checks whether Ollama is running. If no Ollama is configured, there is nothing to record.
                    Some(aside) if !recorder.reaches(self.incoming.provider()) => {
                        http::answer(&aside.answer(Vec::new), in_flight)
                    }
                    _ => self.recorded(recorder, call, request, in_flight).await,
                },
            },
        }
    }

    /// Answers a call with its turn, or with a miss.
    async fn replayed(
        self,
        replay: &Replay,
        aside: Option<Aside>,
        call: &Call,
        request: &Json,
        in_flight: InFlight,
    ) -> HttpResponse<HttpBody> {
        let Exchange { session, incoming, .. } = self;
        let rules = replay.rules();
        let caller = self.state.callers.caller_of(&incoming.headers, call);
        let wire::Results { flaws, check } = wire::Results::of(call);
        let checks = session.checks_of(call, &check, &rules.normalizer);
        let mut lookup = Lookup::of(call, incoming.via(), caller.as_deref(), rules, checks, flaws);
        if replay.keeps_hashes_only() {
            lookup.first_key = Some(Rules::first_key(call.messages.clone(), caller.as_deref()));
        }
        if let Some(aside) = aside.filter(|_| !replay.has_turn_for(&lookup)) {
            // The request does not ask a model, so it is not a miss.
            return http::answer(&aside.answer(|| session.models()), in_flight);
        }
        let load = self.state.load.as_ref();
        let pass = match load.map(|load| load.admit(call)).transpose() {
            Ok(pass) => pass,
            Err(refusal) => return *refusal,
        };
        let of_session = load.and_then(|load| load.session_of(&incoming.headers, call, request));
        let number = session.next_call();
        let caller = lookup.caller.clone();
        let flaws = lookup.flaws.clone();
        let seen = CallUnderWay::begin(replay.seen(), || (incoming.via(), Asked::of(&lookup)));
        let taken = replay.take_for(of_session.as_deref(), lookup, Some(request));
        let found = match &taken {
            Ok(served) if served.by_first_key => Some((FlawKind::Key, BY_FIRST_KEY)),
            Ok(served) if served.over_another_api => Some((FlawKind::Key, OVER_ANOTHER_API)),
            Ok(served) if caller.is_none() && served.turn().names_caller_over_http() => {
                Some((FlawKind::Caller, UNDECLARED))
            }
            _ => None,
        };
        session.note_flaws(
            flaws.into_iter().chain(found.map(|(kind, said)| (kind, said.to_owned()))),
            caller.as_deref(),
            taken.as_ref().ok().map(|served| served.index),
        );
        let served = match taken {
            Ok(served) => served,
            Err(miss) => {
                let response = miss_response(incoming.provider(), 404, &miss);
                seen.end(CallOutcome::Missed(miss));
                pass.into_iter().for_each(Pass::missed);
                return http::final_error(&response, in_flight);
            }
        };
        pass.iter().for_each(Pass::served);
        replay.hear(&served, caller.as_deref(), &call.messages);
        session.hold_back(number, served.index).await;
        session.note_drift(served.index, &served.drift);
        self.state.activity.answered(caller.as_deref().or(served.turn().caller.as_deref()));
        match served.response_to(call) {
            Ok(response) => {
                seen.end(CallOutcome::Turn(served.index, served.drift.clone()));
                session.learn(call.api, incoming.target(), request, &response);
                if let (Some(load), Some(pass)) = (load, pass) {
                    return load.answer(&response, &served, incoming.arrived, in_flight, pass).await;
                }
                let recorded = served.turn().wire.as_ref().filter(|_| replay.delays()).map(|wire| &wire.response);
                let delays =
                    recorded.map_or_else(|| session.pauses(&response), |recorded| recorded.delays_of(&response));
                http::answer_in_time(&response, delays, in_flight).await
            }
            Err(unrenderable) => {
                let turn = replay.fixture().place_of(served.index);
                let reason = MissReason::Unrenderable { turn, what: unrenderable.to_string() };
                let miss = replay.refuse(incoming.via(), reason);
                let kind = "replay_unrenderable";
                let response = wire::error_response(incoming.provider(), 404, kind, &miss.to_string());
                pass.into_iter().for_each(Pass::missed);
                seen.end(CallOutcome::Missed(miss));
                http::final_error(&response, in_flight)
            }
        }
    }

    /// Passes a call on to its provider.
    async fn recorded(
        self,
        recorder: &Recorder,
        call: Call,
        request: Json,
        in_flight: InFlight,
    ) -> HttpResponse<HttpBody> {
        let Exchange { session, incoming, .. } = self;
        let caller = self.state.callers.caller_of(&incoming.headers, &call);
        session.note_flaws(
            wire::Results::of(&call).flaws.into_iter().map(|flaw| (FlawKind::Protocol, flaw)),
            caller.as_deref(),
            None,
        );
        let asked_by = caller.clone();
        let pending = PendingCall {
            api: call.api,
            provider: incoming.provider(),
            method: incoming.method.clone(),
            path: incoming.path_and_query().to_owned(),
            headers: incoming.headers.clone(),
            body: incoming.body.clone(),
            caller,
            model: call.model,
            request,
        };
        let answer = recorder.pass_on(pending, in_flight).await;
        self.state.activity.answered(asked_by.as_deref());
        answer
    }

    /// Refuses a request that cannot be looked up: a miss in replay, noted as trouble while recording.
    fn refused(self, status: u16, reason: MissReason, in_flight: InFlight) -> HttpResponse<HttpBody> {
        let api = self.incoming.provider();
        let response = match &self.session.mode {
            Mode::Replay(replay) => {
                let seen = CallUnderWay::begin(replay.seen(), || (self.incoming.via(), Asked::default()));
                let miss = replay.refuse(self.incoming.via(), reason);
                self.state.load.iter().for_each(|load| load.refused(api));
                let response = miss_response(api, status, &miss);
                seen.end(CallOutcome::Missed(miss));
                response
            }
            Mode::Record(recorder) => {
                recorder.refuse(&self.incoming.via(), &reason);
                wire::error_response(api, status, "record_error", &reason.to_string())
            }
        };
        http::final_error(&response, in_flight)
    }
}

/// Returns a miss in the provider's own error envelope.
fn miss_response(api: Api, status: u16, miss: &Miss) -> Response {
    wire::error_response(api, status, "replay_miss", &miss.to_string())
}

/// The note on a turn that today's key rules do not find.
const BY_FIRST_KEY: &str = "the turn was found only by the key rules of deer-flow's first fixtures, which know neither marks of \
     user input nor hidden messages; record again to use today's rules";

/// The note on a call that no longer says who makes it.
const UNDECLARED: &str = "it is no longer declared";

/// The note on a turn that was found by the parts of a conversation that every API carries.
const OVER_ANOTHER_API: &str = "the turn was recorded over another API, and the conversations differ only in what not every API \
     carries: names, the spelling of results, how messages are split";

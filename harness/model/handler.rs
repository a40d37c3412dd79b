//! Handles each request, from its route to its answer.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use axum::extract::{Request, State};
use axum::response::Response as HttpResponse;

use super::activity::InFlight;
use super::call_under_way::CallUnderWay;
use super::callers::CallerRules;
use super::companion::{self, Companion};
use super::http::{self, Incoming, Room};
use super::lint::FlawKind;
use super::load::{self, Load, Pass};
use super::lookup::Lookup;
use super::miss::{Miss, MissReason};
use super::record::{Branch, PendingCall, Recorder};
use super::replay::Replay;
use super::route::{Aside, Route};
use super::run_log::{Asked, CallOutcome, HeardCall};
use super::seats::{Begun, Seats};
use super::served::{Found, Served};
use super::session::{Mode, Read, Session};
use super::today::KeptCall;
use super::worlds;
use retake_core::json::Json;
use retake_core::key::RunningHash;
use retake_wire::{self as wire, Api, Call, Response};

/// What all requests to one server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) key: String,
    pub(super) companion: OnceLock<Arc<dyn Companion>>,
    pub(super) seats: Seats,
    pub(super) room: Room,
    pub(super) callers: CallerRules,
    pub(super) load: Option<Arc<Load>>,
}

/// Answers one request. What its head says decides whether its body is read.
pub(super) async fn handle(State(state): State<Arc<ServerState>>, request: Request) -> HttpResponse {
    let begun = state.seats.begin();
    let (mut incoming, body) = Incoming::new(request);
    let path = incoming.uri.path().to_owned();
    if let (Some(companion), Some(path)) = (state.companion.get(), path.strip_prefix("/__retake/")) {
        let response = companion::answer(&**companion, path, &mut incoming, body, &state).await;
        return http::answer(&response, begun.of_none().1);
    }
    let route = Route::of(&incoming.method, &path, &incoming.headers);
    let has_key = incoming.brings_key(&state.key);
    let foreign = incoming.foreign(has_key).filter(|_| has_key);
    if !has_key || foreign.is_some() {
        let response = turned_away(&state, begun, route, &incoming, foreign);
        http::drain(body).await;
        return response;
    }
    incoming.read(body, &state.room).await;
    let (session, in_flight) = begun.of(route, &incoming);
    if let Mode::Replay(replay) = &session.mode {
        incoming.values = replay.unmark(&mut incoming.body);
    }
    let exchange = Exchange { state: &state, session: &session, incoming: &incoming };
    if let Some(what) = incoming.unreadable.clone() {
        return exchange.refused(400, MissReason::Unreadable { what }, in_flight);
    }
    match route {
        Route::Call => exchange.called(None, in_flight).await,
        Route::Aside(aside) => exchange.called(Some(aside), in_flight).await,
        Route::Unknown => exchange.refused(404, MissReason::UnknownRoute { request: incoming.via() }, in_flight),
    }
}

/// Answers a request that does not bring the key, or comes from a page of another server (`foreign`).
fn turned_away(
    state: &ServerState,
    begun: Begun,
    route: Route,
    incoming: &Incoming,
    foreign: Option<&'static str>,
) -> HttpResponse {
    match route {
        // LiteLLM does not send the key with these requests, and Ollama's clients have none.
        Route::Aside(aside) if aside.is_open() => http::answer(&aside.answer(Vec::new), begun.of_none().1),
        // Whoever sends that is most likely not the system, so it is no miss.
        _ if foreign.is_some() || incoming.keys().next().is_none() => {
            let (session, in_flight) = begun.of_none();
            let (status, kind, why, what) = match foreign {
                Some(why) => (401, "another_page", why, "from a page of another server"),
                None => (401, "no_key", "the request brought no key; the system is given one", "with no key"),
            };
            session.note_flaws([(FlawKind::Refused, format!("`{}`, {what}", incoming.via()))], None, None);
            http::final_error(&wire::error_response(incoming.provider(), status, kind, why), in_flight)
        }
        _ => {
            let (session, in_flight) = begun.of(route, incoming);
            Exchange { state, session: &session, incoming }.refused(401, MissReason::WrongKey, in_flight)
        }
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
    async fn called(self, aside: Option<Aside>, in_flight: InFlight) -> HttpResponse {
        match self.session.read_call(self.incoming.target(), &self.incoming.body) {
            Err(what) => self.refused(400, MissReason::Unreadable { what }, in_flight),
            Ok(read) => match &self.session.mode {
                Mode::Replay(replay) => self.replayed(replay, aside, read, in_flight).await,
                Mode::Record(recorder) => match aside {
                    // The client checks whether Ollama is running. If no Ollama is configured, there is nothing to record.
                    Some(aside) if !recorder.reaches(self.incoming.provider()) => {
                        http::answer(&aside.answer(Vec::new), in_flight)
                    }
                    _ => self.recorded(recorder, read, in_flight).await,
                },
            },
        }
    }

    /// The call in the form in which a replay looks it up.
    fn lookup(self, replay: &Replay, call: &Call, hash: Option<RunningHash>) -> Lookup {
        let Exchange { session, incoming, .. } = self;
        let rules = replay.rules();
        let caller = self.state.callers.caller_of(&incoming.headers, call);
        let wire::Results { flaws, check } = wire::Results::of(call);
        let extra = call.extra_with(&http::checked_headers(&incoming.headers));
        let checks = session.checks.of(call, &check, &rules.normalizer);
        let checks = Arc::new(checks.with_extra_and_dates(&rules.normalizer, extra, call.dates()));
        let lookup = Lookup::of(call, incoming.via(), hash, caller.as_deref(), rules, checks, flaws);
        let first_caller = replay.keeps_hashes_only().then_some(caller);
        Lookup { first_caller, values: incoming.values.clone(), ..lookup }
    }

    /// Answers a call with its turn, or with a miss.
    async fn replayed(
        self,
        replay: &Replay,
        aside: Option<Aside>,
        mut read: Read,
        in_flight: InFlight,
    ) -> HttpResponse {
        let Exchange { session, incoming, .. } = self;
        let mut lookup = self.lookup(replay, &read.call, read.hash.take());
        let may_be_opaque = matches!(read.call.api, Api::Declared(_) | Api::Opaque);
        let mut is_recorded = !may_be_opaque || replay.has_turn_for(&lookup);
        if !is_recorded {
            for before in session.read_as_before(incoming.target(), &incoming.body) {
                let of_before = self.lookup(replay, &before.call, None);
                if replay.has_turn_for(&of_before) {
                    (read, lookup, is_recorded) = (before, of_before, true);
                    break;
                }
            }
        }
        let call = &read.call;
        if let Some(aside) = aside.filter(|_| !is_recorded) {
            // The request does not ask a model, so it is not a miss.
            return http::answer(&aside.answer(|| session.models()), in_flight);
        }
        let load = self.state.load.as_ref();
        let pass = match load.map(|load| load.admit(call)).transpose() {
            Ok(pass) => pass,
            Err(refusal) => return *refusal,
        };
        let of_session = load.and_then(|load| load.session_of(&incoming.headers, call, read.json()));
        if replay.staged.is_some() {
            // Boxed, so that other calls do not carry the room for it.
            let meets = worlds::meet(replay, &session.activity, incoming, call, read.json(), &lookup);
            if let Some(sent) = Box::pin(meets).await {
                return sent.answer(in_flight).await;
            }
        }
        let number = session.calls.fetch_add(1, Ordering::Relaxed);
        let caller = lookup.caller.clone();
        let flaws = lookup.flaws.clone();
        let seen = CallUnderWay::begin(replay, || (incoming.via(), Asked::of(&lookup)));
        let taken = replay.take(of_session.as_deref(), &lookup, Some(&|| read.json()));
        let found = match &taken {
            Ok(Served { found: Found::ByFirstKey, .. }) => Some((FlawKind::Key, BY_FIRST_KEY)),
            Ok(Served { found: Found::OverAnotherApi, .. }) => Some((FlawKind::Key, OVER_ANOTHER_API)),
            Ok(Served { found: Found::ByPlace, .. }) => Some((FlawKind::Key, BY_PLACE)),
            Ok(Served { found: Found::ByDay, .. }) => Some((FlawKind::Key, BY_DAY)),
            Ok(of) if caller.is_none() && of.turn().names_caller_over_http() => Some((FlawKind::Caller, UNDECLARED)),
            _ => None,
        };
        let flaws = flaws.into_iter().chain(found.map(|(kind, said)| (kind, said.to_owned())));
        session.note_flaws(flaws, caller.as_deref(), taken.as_ref().ok().map(|served| served.index));
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
        if replay.keeps.messages {
            let messages = call.messages.iter().map(|message| (**message).clone()).collect();
            replay.note(|log| log.heard.push(HeardCall { turn: served.index, caller: caller.clone(), messages }));
        }
        if replay.keeps.bodies {
            let call = self.pending(call, read.json().clone(), caller.clone());
            replay.note(|log| log.kept.push(KeptCall { served: served.clone(), call }));
        }
        if let Some(hold) = &replay.hold {
            hold.asked();
            served.own.iter().for_each(|own| hold.says(served.index + 1, &own.output.text()));
        }
        session.pacing.hold_back(number, served.index).await;
        session.note_drift(served.index, &served.drift);
        session.activity.answered(caller.as_deref().or(served.turn().caller.as_deref()));
        match served.response_to(call) {
            Ok(response) => {
                seen.end(CallOutcome::Turn(served.index, served.drift.clone()));
                session.learn(call.api, incoming.target(), || read.json(), &response);
                let response = replay.marked(call.api, &served, response);
                if let Some(pass) = pass {
                    return load::answer(&response, &served, incoming.arrived, in_flight, pass).await;
                }
                let recorded = served.turn().wire.as_ref().filter(|_| replay.delays);
                let delays = recorded.map_or_else(Vec::new, |recorded| recorded.response.delays_of(&response));
                let held = match &replay.staged {
                    Some(staged) => staged.piece(served.index, call.api, &response).await,
                    None => replay.hold.as_ref().and_then(|hold| hold.piece(served.index + 1, call.api, &response)),
                };
                http::counted(http::answer_in_time(&response, delays, held, in_flight).await, call.api, &response)
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

    /// The call as it can be sent to its provider.
    fn pending(self, call: &Call, request: Json, caller: Option<String>) -> PendingCall {
        let incoming = self.incoming;
        PendingCall {
            api: call.api,
            provider: incoming.provider(),
            method: incoming.method.clone(),
            path: incoming.target().path.to_owned(),
            headers: incoming.headers.clone(),
            body: incoming.body.clone(),
            caller,
            model: call.model.clone(),
            request,
        }
    }

    /// Passes a call on to its provider.
    async fn recorded(self, recorder: &Recorder, read: Read, in_flight: InFlight) -> HttpResponse {
        let Exchange { session, incoming, .. } = self;
        let (request, call) = (read.json().clone(), read.call);
        let caller = self.state.callers.caller_of(&incoming.headers, &call);
        let flaws = wire::Results::of(&call).flaws.into_iter().map(|flaw| (FlawKind::Protocol, flaw));
        session.note_flaws(flaws, caller.as_deref(), None);
        let asked_by = caller.clone();
        let pending = self.pending(&call, request, caller);
        let answer = match &recorder.branch {
            None => recorder.pass_on(pending, in_flight).await,
            Some(branch) => self.branched(recorder, branch, &call, pending, in_flight).await,
        };
        session.activity.answered(asked_by.as_deref());
        answer
    }

    /// Answers a call from the recording before the branch, or passes it on as the branch wants it.
    async fn branched(
        self,
        recorder: &Recorder,
        branch: &Branch,
        call: &Call,
        pending: PendingCall,
        in_flight: InFlight,
    ) -> HttpResponse {
        let prefix = &branch.prefix;
        let served = branch.recall(&self.lookup(prefix, call, None), &pending.request);
        if let Some(Ok(response)) = served.as_ref().map(|served| served.response_to(call)) {
            return recorder.answer_recorded(&pending, &response, in_flight);
        }
        if let Some(why) = branch.ended() {
            let error = wire::error_response(self.incoming.provider(), 400, "fork_ended", &why);
            return http::final_error(&error, in_flight);
        }
        recorder.pass_on(branch.rewritten(pending, prefix.rules()), in_flight).await
    }

    /// Refuses a request that cannot be looked up: a miss in replay, noted as trouble while recording.
    fn refused(self, status: u16, reason: MissReason, in_flight: InFlight) -> HttpResponse {
        let api = self.incoming.provider();
        let response = match &self.session.mode {
            Mode::Replay(replay) => {
                let seen = CallUnderWay::begin(replay, || (self.incoming.via(), Asked::default()));
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

/// The note on a call that was made on another day.
const BY_DAY: &str = "the turn was found by its day: where the recording says its own day, the call says today";

/// The note on a call that says other folders.
const BY_PLACE: &str =
    "the turn was found by its places: where the recording says its own folder, the call says that of this run";

/// The note on a call that no longer says who makes it.
const UNDECLARED: &str = "it is no longer declared";

/// The note on a turn that was found by the parts of a conversation that every API carries.
const OVER_ANOTHER_API: &str = "the turn was recorded over another API, and the conversations differ only in what not every API \
     carries: names, the spelling of results, how messages are split";

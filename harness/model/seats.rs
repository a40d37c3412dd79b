//! The sessions of a model server that several scenarios use one after another. While one of them runs, earlier ones may linger: a
//! late call is found out by the beginning of its conversation.
//!
//! A call whose beginning none of them knows can be a late one of any that lingers, or a new one of the scenario that runs. So it is
//! put down to none: each of them runs again alone, and that run decides. The same goes for a call that misses although its beginning
//! is known, if another one's conversations begin so too: a late call may have taken its turn.

use std::sync::Arc;

use super::activity::{Activity, InFlight};
use super::drift::DriftOf;
use super::http::Incoming;
use super::lint::CallFlaw;
use super::registry::Scope;
use super::replay::Replay;
use super::route::Route;
use super::session::{Mode, Pacing, Session};
use retake_base::lock::Mutex;
use retake_core::key::Hash;
use retake_wire::Shared;

/// The place of a scenario in a model server.
#[derive(Clone, Debug)]
pub struct Seat(pub(super) Arc<Session>);

impl Seat {
    /// The calls of this scenario that are under way.
    pub fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// The checks of served calls that differed from the recorded ones, each with the turn that was served.
    pub fn drift(&self) -> Vec<(usize, DriftOf)> {
        self.0.drift.lock().entries.clone()
    }

    /// How many of these were forgotten, since only the last ones of each check are kept.
    pub fn forgotten_drift(&self) -> usize {
        self.0.drift.lock().forgotten
    }

    /// The flaws of calls, whatever the calls were answered.
    pub fn flaws(&self) -> Vec<CallFlaw> {
        self.0.flaws.lock().entries.clone()
    }
}

/// The sessions of a server.
#[derive(Debug)]
pub(super) struct Seats(Mutex<Taken>);

#[derive(Clone, Debug)]
struct Taken {
    active: Arc<Session>,
    /// Whether no scenario runs.
    idle: bool,
    lingering: Arc<Vec<Arc<Session>>>,
}

impl Seats {
    pub(super) fn of(active: Arc<Session>) -> Seats {
        Seats(Mutex::new(Taken { active, idle: false, lingering: Arc::default() }))
    }

    /// The session of the scenario that runs.
    pub(super) fn active(&self) -> Arc<Session> {
        self.0.lock().active.clone()
    }

    /// Begins the next session. Earlier ones may linger.
    pub(super) fn lay_in(&self, session: Arc<Session>) {
        let mut taken = self.0.lock();
        (taken.active, taken.idle) = (session, false);
    }

    /// Lets a session linger. Until the next one begins, `idle` answers.
    pub(super) fn linger(&self, session: &Arc<Session>, idle: Arc<Session>) {
        let mut taken = self.0.lock();
        if Arc::ptr_eq(&taken.active, session) {
            (taken.active, taken.idle) = (idle, true);
            Arc::make_mut(&mut taken.lingering).push(session.clone());
        }
    }

    /// Ends a session, whether it runs or lingers.
    pub(super) fn leave(&self, session: &Arc<Session>, idle: Arc<Session>) {
        let mut taken = self.0.lock();
        if Arc::ptr_eq(&taken.active, session) {
            (taken.active, taken.idle) = (idle, true);
        }
        Arc::make_mut(&mut taken.lingering).retain(|other| !Arc::ptr_eq(other, session));
    }

    /// Begins a request, which counts as a call of every session until its owner is known.
    pub(super) fn begin(&self) -> Begun {
        let taken = self.0.lock().clone();
        let in_flight = taken.active.activity.begin();
        let others = taken.lingering.iter().map(|session| session.activity.begin()).collect();
        Begun { taken, in_flight, others }
    }
}

/// A request whose owner may not be known yet.
pub(super) struct Begun {
    taken: Taken,
    in_flight: InFlight,
    others: Vec<InFlight>,
}

impl Begun {
    /// The session that answers a request.
    pub(super) fn of(self, route: Route, incoming: &Incoming) -> (Arc<Session>, InFlight) {
        match route {
            // This is no call of a model, so it fails no scenario.
            Route::Aside(_) => self.of_none(),
            Route::Call | Route::Unknown => self.owner(incoming),
        }
    }

    /// The session that answers a request that belongs to no scenario.
    pub(super) fn of_none(self) -> (Arc<Session>, InFlight) {
        (self.taken.active, self.in_flight)
    }

    /// Finds out who a call belongs to. If it may be any of several, none of them answers it.
    fn owner(self, incoming: &Incoming) -> (Arc<Session>, InFlight) {
        let Begun { taken: Taken { active, idle, lingering }, in_flight, others } = self;
        if lingering.is_empty() {
            return (active, in_flight);
        }
        let begins = Begins::of(&active, incoming);
        if begins.is_of(&active) {
            active.is_beside(lingering.iter().filter(|session| begins.is_of(session)));
            return (active, in_flight);
        }
        let mut earlier: Vec<_> = lingering.iter().cloned().zip(others).collect();
        let of_call = earlier.iter().position(|(session, _)| begins.is_of(session));
        let only = (idle && earlier.len() == 1).then_some(0);
        if let Some(at) = of_call.or(only) {
            return earlier.swap_remove(at);
        }
        let running = if idle { None } else { Some(active) };
        let all: Vec<Arc<Session>> = running.into_iter().chain(lingering.iter().cloned()).collect();
        (unclear(&all), in_flight)
    }
}

/// How a call begins, if it can be read.
struct Begins(Option<(Hash, Vec<Shared>)>);

impl Begins {
    fn of(session: &Session, incoming: &Incoming) -> Begins {
        let read = session.read_call(incoming.target(), &incoming.body).ok();
        let rules = session.replay().map(|replay| replay.rules());
        Begins(read.zip(rules).map(|(read, rules)| (read.call.root(rules), read.call.messages)))
    }

    /// Whether a recorded conversation of a session begins so.
    fn is_of(&self, session: &Session) -> bool {
        let Some(replay) = session.replay() else { return true };
        let Some((root, messages)) = &self.0 else { return false };
        replay.roots().is_some_and(|roots| roots.contains(root)) || replay.begins(messages)
    }
}

/// Returns a session for a call that may belong to any of these. The miss stays without a verdict unless one of them misses when it
/// runs alone.
fn unclear(all: &[Arc<Session>]) -> Arc<Session> {
    let replays: Vec<_> = all.iter().filter_map(|session| session.replay()).collect();
    let names: Vec<&str> = replays.iter().map(|replay| &*replay.scope().name).collect();
    let scope = Scope::new(&names.join("` or `"));
    for replay in &replays {
        replay.suspect(scope.clone());
    }
    let Some(last) = replays.last() else { return all[0].clone() };
    let replay = Replay::new(last.fixture().clone(), last.rules().clone(), scope);
    Session::new(Mode::Replay(Arc::new(replay)), Pacing::None)
}

impl Session {
    /// Says which sessions linger whose conversations begin as its own call does.
    fn is_beside<'a>(&self, others: impl Iterator<Item = &'a Arc<Session>>) {
        let others: Vec<_> = others.filter_map(|session| session.replay().cloned()).collect();
        if let (Some(replay), false) = (self.replay(), others.is_empty()) {
            replay.is_beside(others);
        }
    }

    fn replay(&self) -> Option<&Arc<Replay>> {
        if let Mode::Replay(replay) = &self.mode { Some(replay) } else { None }
    }
}

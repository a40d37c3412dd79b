//! What the calls of a replay meet: a fault, another order, or an answer that is held.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{Fault, FaultKind};
use crate::gate::Gate;
use crate::hold::{HeldPiece, Until, Went};
use retake_wire::{Api, Body, Response, last_text};

/// How long the first answers of an order wait for the other calls. If one of them never comes, the order is the usual one.
const GATHERING: Duration = Duration::from_secs(2);
/// How long an answer has been sent when the next one of an order follows.
const APART: Duration = Duration::from_millis(30);

/// What happens to the calls of a replay that are not simply answered.
#[derive(Debug)]
pub struct Staged {
    pub(super) kind: Stages,
    /// What knows what a client has done, and when the system is silent.
    pub gate: Gate,
    /// How often the call of a turn may come, or one that was never recorded.
    limit: u32,
    happened: watch::Sender<Happened>,
    /// When the last text of each turn's answer went that was held for a moment.
    went: Went,
}

/// What happens to them.
#[derive(Debug)]
pub enum Stages {
    /// Nothing. What could happen to each turn's answer is noted. If so, answers are held back until nothing happens without them, to see
    /// which calls are under way together.
    Watched(bool),
    /// So many calls, the first ones, meet a fault: those of one turn, or of each; or the fault that they ask for in the header
    /// `x-retake-world`.
    Faulty(Option<(Option<usize>, Fault)>, u32),
    /// The calls of these turns are answered in this order.
    Ordered(Vec<usize>),
    /// The answers of these turns are held back until a client has done what it does: all of each, or its last text.
    Gated(BTreeMap<usize, bool>),
}

/// What has happened so far.
#[derive(Debug, Default)]
struct Happened {
    /// How often calls of each turn came for each fault.
    arrivals: HashMap<(usize, Fault), usize>,
    /// When the first call met its fault, when the first call after that left the recording, and how many did.
    met: Option<Instant>,
    left: Option<Instant>,
    lefts: usize,
    /// Whether a call has come more often than it may.
    is_storm: bool,
    /// What could happen to the answer of each turn.
    possible: BTreeMap<usize, Vec<Fault>>,
    /// The turns whose calls are under way, and the groups of those that were together.
    open: BTreeSet<usize>,
    together: Vec<BTreeSet<usize>>,
    /// Of an order, the turns whose calls have come, and how many were answered.
    came: BTreeSet<usize>,
    answered: usize,
}

impl Staged {
    /// A replay's calls, and what happens to them. More than `limit` calls of the same turn are a storm; and more calls that were never
    /// recorded, unless the recording has as many.
    pub fn of(kind: Stages, limit: u32) -> Staged {
        let (gate, happened, went) = (Gate::default(), watch::Sender::default(), Went::default());
        Staged { kind, gate, limit, happened, went }
    }

    /// The piece of a turn's answer that is held back. One that is held whole is held here.
    pub(crate) async fn piece(&self, turn: usize, api: Api, response: &Response) -> Option<HeldPiece> {
        match &self.kind {
            Stages::Gated(turns) => self.gate.piece(api, response, *turns.get(&turn)?).await,
            Stages::Watched(true) => {
                let Body::Frames(frames) = &response.body else { return None };
                let until = Until::Seen(self.gate.clone(), self.went.clone(), turn);
                Some(HeldPiece { nth: last_text(api, frames)?, until })
            }
            _ => None,
        }
    }

    /// When the last text of a turn's answer went, if it was held to see that.
    pub fn went(&self, turn: usize) -> Option<Instant> {
        self.went.lock().get(&turn).copied()
    }

    /// What could happen to each turn's answer, and which turns were under way together, if that was watched.
    pub fn watched(&self) -> (BTreeMap<usize, Vec<Fault>>, Vec<BTreeSet<usize>>) {
        let happened = self.happened.borrow();
        (happened.possible.clone(), happened.together.clone())
    }

    /// How often the call of a turn came that could meet the fault.
    pub fn arrivals(&self, turn: usize) -> usize {
        let happened = self.happened.borrow();
        happened.arrivals.iter().filter(|((of, _), _)| *of == turn).map(|(_, came)| came).sum()
    }

    /// Whether a call has met a fault, or a client has done what it does. What is asked after that is no miss: nobody recorded it.
    pub fn is_after_fault(&self) -> bool {
        self.gate.acted().is_some() || self.times().0.is_some()
    }

    /// When the first call met its fault, and when the first call that was never recorded came after that.
    pub fn times(&self) -> (Option<Instant>, Option<Instant>) {
        let happened = self.happened.borrow();
        (happened.met, happened.left)
    }

    /// Notes that a call came that was never recorded, of which there are so many, and that got no answer.
    pub(crate) fn note_left(&self, recorded: usize) {
        self.happened.send_modify(|it| {
            it.left.get_or_insert_with(Instant::now);
            it.lefts += 1;
            it.is_storm |= it.lefts > recorded.max(self.limit as usize);
        });
    }

    /// The only turn whose calls meet a fault.
    pub fn target(&self) -> Option<usize> {
        if let Stages::Faulty(Some((turn, _)), _) = self.kind { turn } else { None }
    }

    /// Waits until a call has come more often than it may.
    pub async fn storm(&self) {
        let _ = self.happened.subscribe().wait_for(|it| it.is_storm).await;
    }

    /// Notes that a call has met its fault, of the model or elsewhere.
    pub fn meets(&self) {
        self.happened.send_modify(|it| it.met = it.met.or_else(|| Some(Instant::now())));
    }

    /// Waits until a call has met its fault.
    pub async fn met(&self) {
        let _ = self.happened.subscribe().wait_for(|it| it.met.is_some()).await;
    }

    /// Counts a call of a turn. Returns whether it meets its fault, which it does the first `times` times while the turn is open.
    pub(super) fn count(&self, turn: usize, fault: Fault, times: u32, is_open: bool) -> bool {
        let mut meets = false;
        self.happened.send_modify(|it| {
            let came = it.arrivals.entry((turn, fault)).or_default();
            meets = is_open && (*came < times as usize || fault.kind == FaultKind::Exhausted);
            *came += 1;
            it.is_storm |= *came > self.limit as usize;
        });
        if meets {
            self.meets();
        }
        meets
    }

    /// Notes what could happen to the answer of a turn.
    pub(super) fn note_possible(&self, turn: usize, possible: impl FnOnce() -> Vec<Fault>) {
        self.happened.send_modify(|it| {
            it.possible.entry(turn).or_insert_with(possible);
        });
    }

    /// Notes that the call of a turn is under way, for a moment.
    pub(super) async fn hold(&self, turn: usize) {
        self.happened.send_modify(|it| {
            if !it.open.is_empty() {
                let mut group: BTreeSet<usize> = it.open.iter().copied().chain([turn]).collect();
                for other in it.together.extract_if(.., |other| !other.is_disjoint(&group)).collect::<Vec<_>>() {
                    group.extend(other);
                }
                it.together.push(group);
            }
            it.open.insert(turn);
        });
        self.gate.moment().await;
        self.happened.send_modify(|it| it.open.retain(|open| *open != turn));
    }

    /// Waits until the call of a turn may be answered in an order.
    pub(super) async fn turn_of(&self, turn: usize, order: &[usize]) {
        let Some(place) = order.iter().position(|of| *of == turn) else { return };
        self.happened.send_modify(|it| it.came.extend([turn]));
        let mut happened = self.happened.subscribe();
        let wait = happened.wait_for(|it| it.came.len() == order.len() && it.answered >= place);
        let _ = timeout(GATHERING, wait).await;
        let happened = self.happened.clone();
        tokio::spawn(async move {
            sleep(APART).await;
            happened.send_modify(|it| it.answered = it.answered.max(place + 1));
        });
    }
}

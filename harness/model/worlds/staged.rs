//! The faults that the calls of a replay meet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::order::Order;
use super::{Fault, FaultKind};
use crate::gate::Gate;
use crate::hold::{HeldPiece, Went};
use retake_base::lock::Mutex;
use retake_wire::{Api, Body, Response, last_text};

/// How often the call of a turn came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// How often it came.
    pub came: u32,
    /// How often it met the fault.
    pub faults: u32,
}

/// What happens to the calls of a replay that are not simply answered.
#[derive(Debug)]
pub struct Staged {
    pub(super) kind: StagedKind,
    met: Mutex<HashMap<(usize, Fault), Arrivals>>,
    /// Told when a call has come more often than it may.
    stormy: Notify,
    /// Told when a call meets its fault.
    meets: Notify,
    /// How often the call of a turn may come, or one that was never recorded.
    limit: u32,
    /// When the first call met its fault, when the first call after that left the recording, and how many did.
    times: Mutex<(Option<Instant>, Option<Instant>, usize)>,
    /// When the last text of each turn's answer went that was held for a moment.
    went: Went,
}

#[derive(Debug)]
pub(super) enum StagedKind {
    /// Nothing. What could happen to each turn's answer is noted.
    Watched {
        possible: Mutex<BTreeMap<usize, Vec<Fault>>>,
        together: Mutex<Together>,
        /// Whether answers are held back, to see which calls are under way together.
        holds: bool,
    },
    /// Calls meet a fault: those of one turn, or of any.
    Faulty { turn: Option<usize>, fault: Fault, times: u32 },
    /// Calls meet the fault that they ask for in a header.
    Asked { times: u32 },
    /// The calls of some turns are answered in an order.
    Ordered(Order),
    /// The answers of these turns are held back until a client has done what it does: all of each, or its last text.
    Gated(Gate, BTreeMap<usize, bool>),
}

/// Which calls are under way together.
#[derive(Debug, Default)]
pub(super) struct Together {
    open: BTreeSet<usize>,
    groups: Vec<BTreeSet<usize>>,
}

impl Together {
    /// Notes that the call of a turn has come.
    pub(super) fn begin(&mut self, turn: usize) {
        if !self.open.is_empty() {
            let mut group: BTreeSet<usize> = self.open.iter().copied().chain([turn]).collect();
            self.groups.retain(|other| {
                let apart = other.is_disjoint(&group);
                if !apart {
                    group.extend(other);
                }
                apart
            });
            self.groups.push(group);
        }
        self.open.insert(turn);
    }

    /// Notes that the call of a turn is answered.
    pub(super) fn end(&mut self, turn: usize) {
        self.open.remove(&turn);
    }
}

impl Staged {
    fn of(kind: StagedKind) -> Staged {
        Staged {
            kind,
            met: Mutex::default(),
            stormy: Notify::new(),
            meets: Notify::new(),
            limit: u32::MAX,
            times: Mutex::default(),
            went: Went::default(),
        }
    }

    /// More calls of the same turn than `limit` are a storm; and more calls that were never recorded, unless the recording has as many.
    #[must_use]
    pub fn with_limit(self, limit: u32) -> Staged {
        Staged { limit, ..self }
    }

    /// No fault: what could happen to each turn's answer is noted. With `holds`, answers are held back for a moment, to see which
    /// calls are under way together.
    pub fn watched(holds: bool) -> Staged {
        Staged::of(StagedKind::Watched { possible: Mutex::default(), together: Mutex::default(), holds })
    }

    /// The first `times` calls of a turn, or of each turn, meet a fault.
    pub fn faulty(turn: Option<usize>, fault: Fault, times: u32) -> Staged {
        let times = if fault.kind == FaultKind::Exhausted { u32::MAX } else { times };
        Staged::of(StagedKind::Faulty { turn, fault, times })
    }

    /// Calls meet the fault that they ask for in the header `x-retake-world`, each the first `times` times.
    pub fn asked(times: u32) -> Staged {
        Staged::of(StagedKind::Asked { times })
    }

    /// The calls of these turns are answered in this order.
    pub fn ordered(turns: Vec<usize>) -> Staged {
        Staged::of(StagedKind::Ordered(Order::of(turns)))
    }

    /// The answers of these turns are held back until a client has done what it does: all of each, or its last text.
    pub fn gated(gate: Gate, turns: BTreeMap<usize, bool>) -> Staged {
        Staged::of(StagedKind::Gated(gate, turns))
    }

    /// What holds answers back until a client has done what it does.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        if let StagedKind::Gated(gate, _) = &self.kind { Some(gate) } else { None }
    }

    /// The piece of a turn's answer that is held back. One that is held whole is held here.
    pub(crate) async fn piece(&self, turn: usize, api: Api, response: &Response) -> Option<HeldPiece> {
        match &self.kind {
            StagedKind::Gated(gate, turns) => gate.piece(api, response, *turns.get(&turn)?).await,
            StagedKind::Watched { holds: true, .. } => {
                let Body::Frames(frames) = &response.body else { return None };
                Some(HeldPiece::seen(last_text(api, frames)?, self.went.clone(), turn))
            }
            _ => None,
        }
    }

    /// When the last text of a turn's answer went, if it was held to see that.
    pub fn went(&self, turn: usize) -> Option<Instant> {
        self.went.lock().get(&turn).copied()
    }

    /// What could happen to the answer of each turn that was served, if this was watched.
    pub fn possible(&self) -> BTreeMap<usize, Vec<Fault>> {
        match &self.kind {
            StagedKind::Watched { possible, .. } => possible.lock().clone(),
            _ => BTreeMap::new(),
        }
    }

    /// The groups of turns whose calls were under way together, if this was watched and held answers back.
    pub fn together(&self) -> Vec<BTreeSet<usize>> {
        match &self.kind {
            StagedKind::Watched { together, .. } => together.lock().groups.clone(),
            _ => Vec::new(),
        }
    }

    /// How often the call of a turn came, and met the fault.
    pub fn arrivals(&self, turn: usize) -> Arrivals {
        let met = self.met.lock();
        let of_turn = met.iter().filter(|((of, _), _)| *of == turn).map(|(_, met)| *met);
        of_turn
            .fold(Arrivals::default(), |all, it| Arrivals { came: all.came + it.came, faults: all.faults + it.faults })
    }

    /// Whether a call has met a fault, or a client has done what it does. What is asked after that is no miss: nobody recorded it.
    pub fn is_after_fault(&self) -> bool {
        self.gate().is_some_and(|gate| gate.acted().is_some()) || self.times().0.is_some()
    }

    /// When the first call met its fault, and when the first call that was never recorded came after that.
    pub fn times(&self) -> (Option<Instant>, Option<Instant>) {
        let (met, left, _) = *self.times.lock();
        (met, left)
    }

    /// Notes that a call came that was never recorded, of which there are so many, and that got no answer.
    pub(crate) fn note_left(&self, recorded: usize) {
        let mut times = self.times.lock();
        times.1.get_or_insert_with(Instant::now);
        times.2 += 1;
        if times.2 > recorded.max(self.limit as usize) {
            self.stormy.notify_one();
        }
    }

    /// The only turn whose calls meet a fault.
    pub(crate) fn target(&self) -> Option<usize> {
        if let StagedKind::Faulty { turn, .. } = self.kind { turn } else { None }
    }

    /// Waits until a call has come more often than it may.
    pub async fn storm(&self) {
        self.stormy.notified().await;
    }

    /// Notes that a call has met its fault, of the model or elsewhere.
    pub fn meets(&self) {
        self.times.lock().0.get_or_insert_with(Instant::now);
        self.meets.notify_one();
    }

    /// Waits until a call has met its fault.
    pub async fn met(&self) {
        while self.times().0.is_none() {
            self.meets.notified().await;
        }
    }

    /// Counts a call of a turn. Returns whether it meets its fault, which it does the first `times` times.
    pub(super) fn count(&self, turn: usize, fault: Fault, times: u32) -> bool {
        let mut met = self.met.lock();
        let met = met.entry((turn, fault)).or_default();
        met.came += 1;
        if met.came > self.limit {
            self.stormy.notify_one();
        }
        let meets = met.faults < times;
        if meets {
            self.meets();
        }
        met.faults += u32::from(meets);
        meets
    }
}

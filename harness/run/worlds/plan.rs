//! Which worlds a scenario has: each turn with each fault that its answer can have, as the recorded run showed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use retake_engine::tools::CallOfTool;
use retake_model::{Family, Fault, FaultKind};
use retake_scenario::Worlds;

/// The most calls whose answers are given in each order. Of more, some orders are chosen.
const ALL_ORDERS: usize = 4;
/// The sides of a service, in the order of tables.
const SIDES: [&str; 4] = ["model", "client", "process", "tools"];
/// How many orders are chosen then.
const CHOSEN: usize = 24;

/// One world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct World {
    /// The turn, or the first of the turns that are answered in another order.
    pub(super) turn: usize,
    pub(super) fault: Fault,
    /// The order in which these turns are answered; empty if that is not the fault.
    pub(super) order: Vec<usize>,
    /// Where the fault is, if it is none of the model's answer.
    pub(super) spot: Option<Spot>,
}

/// A place in the recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// An event to the client: the index of the step whose stream it is in, and its number there, counted from 1.
    Event { step: usize, event: usize },
    /// The call of the world's turn: before it is answered, or in the middle of its answer, after so many of its frames.
    Call { within: Option<usize> },
    /// A call of a tool: before it acts, or after it acted. `name` is the tool's.
    Tool { call: CallOfTool, acted: bool, name: String },
}

impl Spot {
    /// Says it, of a call of the model with its turn.
    pub(super) fn said(&self, turn: usize) -> String {
        match self {
            Spot::Event { event, .. } => format!("at event {event}"),
            Spot::Call { within: None } => format!("before the answer of turn {}", turn + 1),
            Spot::Call { within: Some(_) } => format!("in the answer of turn {}", turn + 1),
            Spot::Tool { acted: false, name, .. } => format!("before `{name}` acts"),
            Spot::Tool { name, .. } => format!("after `{name}` acted"),
        }
    }
}

impl World {
    /// The world of a fault of a turn's answer.
    pub(super) fn of(turn: usize, fault: Fault) -> World {
        World { turn, fault, order: Vec::new(), spot: None }
    }

    /// The world of a fault that is none of the model's answer.
    pub(super) fn at(turn: usize, fault: Fault, spot: Spot) -> World {
        World { spot: Some(spot), ..World::of(turn, fault) }
    }

    /// The name in commands: `turn1/cut-clean/3`, `client/leave/7`, `process/kill/3`.
    pub(super) fn id(&self) -> String {
        let after = self.fault.after.map(|after| format!("/{after}")).unwrap_or_default();
        let place = if self.spot.is_some() { self.side().to_owned() } else { format!("turn{}", self.turn + 1) };
        format!("{place}/{}{after}", self.fault.kind.name())
    }

    /// The side that fails.
    pub(super) fn side(&self) -> &'static str {
        self.fault.kind.side()
    }

    /// The fault in words: `cut-clean 3/7`, `order 2 1`, `kill 3/8 in the answer of turn 2`.
    pub(super) fn said(&self) -> String {
        if let Some(spot) = self.spot.as_ref().filter(|_| self.side() != "client") {
            return format!("{} {}", self.fault, spot.said(self.turn));
        }
        let order = self.order.iter().map(|turn| (turn + 1).to_string());
        std::iter::once(self.fault.to_string()).chain(order).collect::<Vec<_>>().join(" ")
    }

    /// Whether a service should not notice it.
    pub(super) fn is_invisible(&self) -> bool {
        self.fault.kind.family().is_invisible()
    }
}

/// The worlds of a scenario in the order of its table, and how many there are if they are more than wanted. Each side has as many as are
/// wanted.
pub(super) fn plan(
    worlds: &Worlds,
    possible: &BTreeMap<usize, Vec<Fault>>,
    together: &[BTreeSet<usize>],
    of_others: &[World],
    only: impl Fn(&World) -> bool,
) -> (Vec<World>, Option<usize>) {
    let mut all = Vec::new();
    for kind in FaultKind::ALL.into_iter().filter(|kind| worlds.kinds.contains(kind)) {
        if kind.family() == Family::Order {
            all.extend(together.iter().flat_map(|group| orders(kind, group)));
            continue;
        }
        all.extend(of_others.iter().filter(|world| world.fault.kind == kind).cloned());
        let places = possible.values().map(|faults| faults.iter().filter(|fault| fault.kind == kind).count()).max();
        for place in 0..places.unwrap_or_default() {
            all.extend(possible.iter().filter_map(|(turn, faults)| {
                let fault = *faults.iter().filter(|fault| fault.kind == kind).nth(place)?;
                Some(World::of(*turn, fault))
            }));
        }
    }
    all.retain(only);
    let found = all.len();
    let evenly = |side: &&str| {
        let all: Vec<&World> = all.iter().filter(|world| world.side() == *side).collect();
        let (found, max) = (all.len(), all.len().min(worlds.max));
        (0..max).map(|at| all[at * found / max].clone()).collect::<Vec<_>>()
    };
    let chosen: Vec<World> = SIDES.iter().flat_map(evenly).collect();
    let found = Some(found).filter(|found| *found > chosen.len());
    (chosen, found)
}

/// Each order of a group's answers but the recorded one.
fn orders(kind: FaultKind, group: &BTreeSet<usize>) -> Vec<World> {
    let turns: Vec<usize> = group.iter().copied().collect();
    let orders = if turns.len() <= ALL_ORDERS { permutations(&turns) } else { chosen(&turns) };
    let fault = Fault { kind, after: None, of: 0 };
    let world = |order: Vec<usize>| World { order, ..World::of(turns[0], fault) };
    orders.into_iter().filter(|order| *order != turns).map(world).collect()
}

fn permutations(turns: &[usize]) -> Vec<Vec<usize>> {
    if turns.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let rest: Vec<usize> = turns.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, t)| *t).collect();
        permutations(&rest).into_iter().map(move |rest| [vec![turns[at]], rest].concat())
    };
    (0..turns.len()).flat_map(first).collect()
}

/// Some orders of many turns, the same in each run: rotations, forwards and backwards.
fn chosen(turns: &[usize]) -> Vec<Vec<usize>> {
    let mut all = BTreeSet::new();
    for by in 0..turns.len() {
        let mut order = turns.to_vec();
        order.rotate_left(by);
        all.insert(order.clone());
        order.reverse();
        all.insert(order);
    }
    all.into_iter().take(CHOSEN).collect()
}

#[cfg(test)]
mod tests;

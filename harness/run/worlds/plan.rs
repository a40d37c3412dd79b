//! Which worlds a scenario has: each turn with each fault that its answer can have, as the recorded run showed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use retake_model::{Family, Fault, FaultKind};
use retake_scenario::Worlds;

/// The most calls whose answers are given in each order. Of more, some orders are chosen.
const ALL_ORDERS: usize = 4;
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
}

impl World {
    /// The name in commands: `turn1/cut-clean/3`.
    pub(super) fn id(&self) -> String {
        let after = self.fault.after.map(|after| format!("/{after}")).unwrap_or_default();
        format!("turn{}/{}{after}", self.turn + 1, self.fault.kind.name())
    }

    /// The fault in tables: `cut-clean 3/7`, `order 2 1`.
    pub(super) fn said(&self) -> String {
        let order = self.order.iter().map(|turn| (turn + 1).to_string());
        std::iter::once(self.fault.to_string()).chain(order).collect::<Vec<_>>().join(" ")
    }

    /// Whether a service should not notice it.
    pub(super) fn is_invisible(&self) -> bool {
        self.fault.kind.family().is_invisible()
    }
}

/// The worlds of a scenario in the order of its table, and how many there are if they are more than wanted.
pub(super) fn plan(
    worlds: &Worlds,
    possible: &BTreeMap<usize, Vec<Fault>>,
    together: &[BTreeSet<usize>],
    only: impl Fn(&World) -> bool,
) -> (Vec<World>, Option<usize>) {
    let mut all = Vec::new();
    for kind in FaultKind::ALL.into_iter().filter(|kind| worlds.kinds.contains(kind)) {
        if kind.family() == Family::Order {
            all.extend(together.iter().flat_map(|group| orders(kind, group)));
            continue;
        }
        let places = possible.values().map(|faults| faults.iter().filter(|fault| fault.kind == kind).count()).max();
        for place in 0..places.unwrap_or_default() {
            all.extend(possible.iter().filter_map(|(turn, faults)| {
                let fault = *faults.iter().filter(|fault| fault.kind == kind).nth(place)?;
                Some(World { turn: *turn, fault, order: Vec::new() })
            }));
        }
    }
    all.retain(only);
    let found = all.len();
    if found <= worlds.max {
        return (all, None);
    }
    let chosen = (0..worlds.max).map(|at| all[at * found / worlds.max].clone()).collect();
    (chosen, Some(found))
}

/// Each order of a group's answers but the recorded one.
fn orders(kind: FaultKind, group: &BTreeSet<usize>) -> Vec<World> {
    let turns: Vec<usize> = group.iter().copied().collect();
    let orders = if turns.len() <= ALL_ORDERS { permutations(&turns) } else { chosen(&turns) };
    let world = |order: Vec<usize>| World { turn: turns[0], fault: Fault { kind, after: None, of: 0 }, order };
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

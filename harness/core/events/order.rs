//! The order of a list's elements: a hash of which elements stand beside each other. A list that grows from event to event has the same
//! neighbours in each run, whichever of its states are sent. Of an element counts what its texts say, and no time; its ids,
//! as a golden shows them, where no other element says the same, or many do; and its numbers, if they are the same in each run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::notation;
use super::words::{UNITS, is_measure};

/// The fewest ways in which a list could be in another order: where there are fewer, a few runs have the same order by chance. Of two
/// elements, more runs are asked: see [`Golden::holds_order_of_two`](super::Golden::holds_order_of_two).
const WAYS: usize = 6;

/// What stands before the hash of an order.
const IN_ORDER: &str = ", in order ";
/// How a list is marked whose order differs from run to run.
const IN_ANY_ORDER: &str = ", in any order";

/// The order of the elements of a list; or, of what has none, what each says.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// A hash of it; in a run, those with more and with less of what the elements say, and that of their ids. The first one is written.
    Is(Vec<String>),
    /// It differs from run to run.
    Any,
}

/// An element of a list, by hashes: of what its texts say, of its ids, of its numbers, and of what its texts say if one that is cut counts as
/// the turn that it begins.
pub(super) type Print = [u64; 4];

/// That of a list.
pub(super) fn print_of_list(elements: &[Print]) -> Print {
    let [_, ids, numbers, _] = elements.iter().fold([0; 4], |all, of| both(all, *of));
    let says = |at: usize| elements.iter().fold(1, |print, of| mixed(print, of[at]));
    [says(0), ids, numbers, says(3)]
}

/// That of two, which have no order.
pub(super) fn both(one: Print, other: Print) -> Print {
    std::array::from_fn(|at| one[at].wrapping_add(other[at]))
}

/// That of a value under a key.
pub(super) fn under(key: &str, [says, ids, numbers, turns]: Print) -> Print {
    let numbers = if numbers != 0 && is_measure(key, &UNITS) { 0 } else { numbers };
    [says, ids, numbers, turns].map(|of| if of == 0 { 0 } else { mixed(print_of(key), of) })
}

/// Which elements stand beside each other in all lists at one place.
#[derive(Default)]
pub(super) struct Neighbours {
    pairs: BTreeSet<[Print; 2]>,
    is_telling: bool,
}

impl Neighbours {
    pub(super) fn add(&mut self, elements: &[Print]) {
        self.pairs.extend(elements.windows(2).map(|two| [two[0], two[1]]));
        let distinct: BTreeSet<u64> = elements.iter().map(|[says, ..]| *says).collect();
        let of_first = elements.iter().filter(|of| of[0] == elements[0][0]).count();
        let fewer = of_first.min(elements.len() - of_first);
        self.is_telling |= distinct.len() > 2 || fewer > 1 || fewer == 1 && matches!(elements.len(), 2 | WAYS..);
    }

    /// Adds what has no neighbours.
    pub(super) fn add_alone(&mut self, element: Print) {
        self.pairs.insert([element; 2]);
        self.is_telling = self.pairs.len() > 1;
    }

    /// Adds those of another place.
    pub(super) fn add_all(&mut self, other: Neighbours) {
        self.pairs.extend(other.pairs);
        self.is_telling |= other.is_telling;
    }

    /// The order; `None` if it may be the same by chance.
    pub(super) fn order(&self) -> Option<Order> {
        let elements: BTreeSet<&Print> = self.pairs.iter().flatten().collect();
        let of = |print: &dyn Fn(&Print) -> u64| {
            let pairs: BTreeSet<[u64; 2]> = self.pairs.iter().map(|two| two.each_ref().map(print)).collect();
            notation::hash(pairs.iter().flatten().flat_map(|of| of.to_le_bytes()).collect::<Vec<u8>>())
        };
        let mut all = Vec::new();
        for at in if elements.iter().any(|of| of[0] != of[3]) { &[3, 0][..] } else { &[0] } {
            let mut ids = BTreeMap::<u64, BTreeSet<u64>>::new();
            for of in &elements {
                ids.entry(of[*at]).or_default().insert(of[1]);
            }
            let tells = [(true, ids.values().any(|of| of.len() > 2)), (false, self.is_telling)];
            for (by_ids, _) in tells.into_iter().filter(|(_, is_telling)| *is_telling) {
                // Two that say the same may be in either order by chance, each with its id.
                let counts = |ids: usize| ids == 1 || by_ids && ids > 2;
                let print = |of: &Print| of[*at].wrapping_add(if counts(ids[&of[*at]].len()) { of[1] } else { 0 });
                all.extend([of(&|one| print(one).wrapping_add(one[2])), of(&print)]);
            }
        }
        let named: BTreeSet<u64> = elements.iter().map(|of| of[1]).filter(|ids| *ids != 0).collect();
        // What elements of a list say besides may differ, if each has ids of its own.
        let is_list = !all.is_empty() && self.pairs.iter().any(|[one, next]| one != next);
        all.extend((is_list && named.len() == elements.len()).then(|| of(&|of| of[1])));
        (!all.is_empty()).then_some(Order::Is(all))
    }
}

impl Order {
    /// Reads what follows a list's elements: the order, and what comes behind it.
    pub(super) fn parse(text: &str) -> Option<(Order, &str)> {
        if let Some(rest) = text.strip_prefix(IN_ANY_ORDER) {
            return Some((Order::Any, rest));
        }
        let rest = text.strip_prefix(IN_ORDER)?;
        let (hash, rest) = rest.split_at(rest.find([',', ']'])?);
        Some((Order::of_hash(hash), rest))
    }

    pub(super) fn of_hash(hash: impl Into<String>) -> Order {
        Order::Is(vec![hash.into()])
    }

    /// The hash of it that is written.
    pub(super) fn hash(&self) -> &str {
        if let Order::Is(all) = self { &all[0] } else { "" }
    }

    /// Leaves out what an equal one has otherwise.
    pub(super) fn agree(&mut self, other: &Order) {
        let (Order::Is(all), Order::Is(others)) = (self, other) else { return };
        all.retain(|one| others.contains(one));
    }
}

/// Two are equal if a hash of the one is a hash of the other: a golden has one of the two that a run has. So three need not be equal of
/// which two pairs are.
impl PartialEq for Order {
    fn eq(&self, other: &Order) -> bool {
        match (self, other) {
            (Order::Is(all), Order::Is(others)) => all.iter().any(|one| others.contains(one)),
            (one, other) => matches!((one, other), (Order::Any, Order::Any)),
        }
    }
}

impl Eq for Order {}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Is(_) => write!(f, "{IN_ORDER}{}", self.hash()),
            Order::Any => f.write_str(IN_ANY_ORDER),
        }
    }
}

/// A hash of a text that is the same on each machine.
pub(super) fn print_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| mixed(hash, byte.into()))
}

/// The hash of two things, one after the other.
pub(super) fn mixed(one: u64, next: u64) -> u64 {
    (one ^ next).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
}

#[cfg(test)]
mod tests;

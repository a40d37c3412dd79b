//! The lists at one place: their lengths, and whether elements that appear in several lists keep their order.

use std::collections::HashSet;
use std::fmt;

use super::golden::List;
use super::ids::{is_id, place};
use super::order::Neighbours;
use crate::json::Json;

/// All lists at one place.
#[derive(Default)]
pub(super) struct Lists {
    /// The numbers of elements of the shortest and the longest list.
    range: Option<(usize, usize)>,
    total: usize,
    /// The pairs of neighbouring elements, if they have ids. A list that only grows keeps the order of its elements, whoever adds
    /// to it first. So whether they are reordered is the same in each run in which the lengths are the same.
    pairs: HashSet<(u64, u64)>,
    reordered: bool,
    pub(super) neighbours: Neighbours,
}

impl Lists {
    pub(super) fn add(&mut self, list: &[Json]) {
        self.add_range((list.len(), list.len()));
        self.total += list.len();
        let ids: Vec<u64> = list.iter().filter_map(identity).collect();
        // If an element appears twice in a list, its order is not defined.
        if ids.iter().collect::<HashSet<_>>().len() == ids.len() {
            ids.windows(2).for_each(|two| self.pair((two[0], two[1])));
        }
    }

    /// Adds all lists from another place.
    pub(super) fn add_all(&mut self, other: Lists) {
        if let Some(range) = other.range {
            self.add_range(range);
        }
        self.total += other.total;
        self.reordered |= other.reordered;
        other.pairs.into_iter().for_each(|pair| self.pair(pair));
        self.neighbours.add_all(other.neighbours);
    }

    /// The list that a shape shows: the range of lengths, the number of elements of all lists together, and their order.
    pub(super) fn finish(&self) -> List {
        let (range, reordered, order) = (self.range, self.reordered, self.neighbours.order());
        List { range, total: Some(self.total), reordered, order, elements: Vec::new() }
    }

    fn add_range(&mut self, (shortest, longest): (usize, usize)) {
        let (least, most) = self.range.unwrap_or((shortest, longest));
        self.range = Some((least.min(shortest), most.max(longest)));
    }

    fn pair(&mut self, (one, other): (u64, u64)) {
        self.pairs.insert((one, other));
        self.reordered |= self.pairs.contains(&(other, one));
    }
}

/// Returns a hash of the id that identifies an element.
fn identity(element: &Json) -> Option<u64> {
    let id = match element {
        Json::Str(text) => Some(text.as_str()).filter(|text| is_id(text)),
        Json::Object(object) => {
            let own = object.get("id").and_then(Json::as_str).filter(|text| is_id(text));
            own.or_else(|| object.iter().filter_map(|(_, value)| value.as_str()).find(|text| is_id(text)))
        }
        _ => None,
    };
    id.map(|id| place(0, id))
}

/// The largest number of pieces to show.
const PIECES: usize = 4;

/// Lengths in the order of the events: `3`, or `1..40` if each is one more than the last, or `1..3, 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Pieces, as first and last length. Within a piece, each length is one more than the previous, or all are the same.
    pieces: Vec<(usize, usize)>,
    /// The smallest and the largest length of all.
    range: (usize, usize),
}

impl Lengths {
    pub(super) fn of(length: usize) -> Lengths {
        Lengths { pieces: vec![(length, length)], range: (length, length) }
    }

    pub(super) fn add(&mut self, others: &Lengths) {
        self.range = (self.range.0.min(others.range.0), self.range.1.max(others.range.1));
        for &(first, end) in &others.pieces {
            let count = self.pieces.len();
            match self.pieces.last_mut() {
                Some(last) if *last == (first, end) && first == end => {}
                Some((_, last)) if *last + 1 == first => *last = end,
                _ if count <= PIECES => self.pieces.push((first, end)),
                _ => {}
            }
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, (first, last): (usize, usize), dots| {
            if first == last { write!(f, "{first}") } else { write!(f, "{first}{dots}{last}") }
        };
        if self.pieces.len() > PIECES {
            return range(f, self.range, "…");
        }
        for (nth, piece) in self.pieces.iter().enumerate() {
            f.write_str(if nth == 0 { "" } else { ", " })?;
            range(f, *piece, "..")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

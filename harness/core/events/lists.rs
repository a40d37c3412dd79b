//! The lists at one place: their lengths, and whether elements that appear in several lists keep their order.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::ids::is_id;
use crate::json::{Json, Object};

/// All lists at one place.
#[derive(Default)]
pub(super) struct Lists {
    /// The numbers of elements of the shortest and the longest list.
    range: Option<(usize, usize)>,
    total: usize,
    order: Order,
}

/// The properties of all lists at one place that a shape shows.
#[derive(Clone, Copy, Default)]
pub(super) struct ListShape {
    /// The numbers of elements of the shortest and the longest list.
    pub(super) range: (usize, usize),
    /// The number of elements of all lists together.
    pub(super) total: usize,
    /// Whether two elements have different orders in different lists.
    pub(super) reordered: bool,
}

/// The order of neighbouring elements, if they have ids. A list that only grows keeps the order of its elements, whoever adds
/// to it first. So the result is the same in each run in which the lengths are the same.
#[derive(Default)]
struct Order {
    neighbours: HashSet<(u64, u64)>,
    reordered: bool,
}

impl Lists {
    pub(super) fn add(&mut self, list: &[Json]) {
        self.add_range((list.len(), list.len()));
        self.total += list.len();
        self.order.add(list);
    }

    /// Adds all lists from another place.
    pub(super) fn add_all(&mut self, other: Lists) {
        if let Some(range) = other.range {
            self.add_range(range);
        }
        self.total += other.total;
        self.order.reordered |= other.order.reordered;
        other.order.neighbours.into_iter().for_each(|pair| self.order.pair(pair));
    }

    pub(super) fn finish(&self) -> ListShape {
        ListShape { range: self.range.unwrap_or_default(), total: self.total, reordered: self.order.reordered }
    }

    fn add_range(&mut self, (shortest, longest): (usize, usize)) {
        let (least, most) = self.range.unwrap_or((shortest, longest));
        self.range = Some((least.min(shortest), most.max(longest)));
    }
}

impl Order {
    fn add(&mut self, list: &[Json]) {
        let ids: Vec<u64> = list.iter().filter_map(identity).collect();
        // If an element appears twice in a list, its order is not defined.
        if ids.len() < 2 || ids.iter().collect::<HashSet<_>>().len() < ids.len() {
            return;
        }
        ids.windows(2).for_each(|two| self.pair((two[0], two[1])));
    }

    fn pair(&mut self, (one, other): (u64, u64)) {
        self.neighbours.insert((one, other));
        self.reordered |= self.neighbours.contains(&(other, one));
    }
}

/// Returns a hash of the id that identifies an element.
fn identity(element: &Json) -> Option<u64> {
    let id = match element {
        Json::Str(text) => Some(text.as_str()).filter(|text| is_id(text)),
        Json::Object(object) => id_in(object),
        _ => None,
    };
    let mut hasher = DefaultHasher::new();
    id?.hash(&mut hasher);
    Some(hasher.finish())
}

fn id_in(object: &Object) -> Option<&str> {
    let own = object.get("id").and_then(Json::as_str).filter(|text| is_id(text));
    own.or_else(|| object.iter().filter_map(|(_, value)| value.as_str()).find(|text| is_id(text)))
}

#[cfg(test)]
mod tests;

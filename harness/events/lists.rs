//! The lists of one place: how long they are, and whether what comes again in them comes in the same order.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::ids::is_id;
use crate::json::{Json, Object};

/// All lists of a place.
#[derive(Default)]
pub(super) struct Lists {
    /// How many elements the shortest has, and the longest.
    range: Option<(usize, usize)>,
    total: usize,
    order: Order,
}

/// What a shape has of them.
#[derive(Clone, Copy, Default)]
pub(super) struct ListShape {
    /// How many elements the shortest has, and the longest.
    pub(super) range: (usize, usize),
    /// How many all have together.
    pub(super) total: usize,
    /// Two elements stand in one order here, and in the other there.
    pub(super) reordered: bool,
}

/// Which elements stand behind which, as far as they have ids. A list that grows keeps its order, whoever was first to add
/// to it, so that this is the same in each run where lengths are.
#[derive(Default)]
struct Order {
    neighbours: HashSet<(u64, u64)>,
    reordered: bool,
}

impl Lists {
    /// Adds a list.
    pub(super) fn add(&mut self, list: &[Json]) {
        self.add_range((list.len(), list.len()));
        self.total += list.len();
        self.order.add(list);
    }

    /// Adds all lists of another place.
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
        // What is there twice stands on both sides of what is between.
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

/// What an element is known again by: its id.
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

//! Numbers that count: from 0 or from 1, each one more than the one before it, or from the start again. What they are differs with the
//! number of events and elements; that they count, and from where, does not.

use crate::json::Json;

/// The fewest numbers that show that a place counts: two may follow one another by chance.
const TELLING: usize = 3;

/// The numbers at one place, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Series {
    first: Option<i64>,
    last: i64,
    count: usize,
    /// How many follow one another, up to the last one and at most.
    run: usize,
    longest: usize,
    is_broken: bool,
}

impl Series {
    pub(super) fn add(&mut self, number: &Json) {
        let Json::Int(number) = *number else {
            self.is_broken = true;
            return;
        };
        let goes_on = self.first.is_some() && self.last.checked_add(1) == Some(number);
        let first = *self.first.get_or_insert(number);
        self.is_broken |= !(0..=1).contains(&first) || !goes_on && number != first;
        self.run = if goes_on { self.run + 1 } else { 1 };
        (self.last, self.longest, self.count) = (number, self.longest.max(self.run), self.count + 1);
    }

    /// Adds the numbers of another place. In which order they came is not known.
    pub(super) fn add_all(&mut self, other: Series) {
        let is_broken = self.is_broken || other.is_broken || self.count > 0 && other.count > 0;
        *self = Series { is_broken, ..if self.count > 0 { *self } else { other } };
    }

    /// Whether a golden that is written says that they count.
    pub(super) fn is_telling(&self) -> bool {
        !self.is_broken && self.longest >= TELLING
    }

    /// From where they count, if they do: several equal ones do not.
    pub(super) fn from(&self) -> Option<i64> {
        self.first.filter(|_| !self.is_broken && self.longest >= self.count.min(2))
    }
}

#[cfg(test)]
mod tests;

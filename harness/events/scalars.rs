//! The scalars that were seen at one place: their types, or their values.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use super::notation::{self, Normalize};
use crate::json::{Json, Layout};

/// How many distinct values of a place are shown.
const SHOWN: usize = 20;

/// The scalars of one place, without those that are there twice.
#[derive(Default)]
pub(super) struct Scalars {
    /// The types, or the first of the values, each with its turn among all values.
    shown: Vec<(usize, String)>,
    /// All values, as they came and as they are shown.
    raw: HashSet<u128>,
    distinct: HashSet<u128>,
}

impl Scalars {
    /// Adds the type of a scalar.
    pub(super) fn add_type(&mut self, scalar: &Json) {
        let kind = scalar.kind();
        if !self.shown.iter().any(|(_, shown)| shown == kind) {
            self.shown.push((0, kind.to_owned()));
        }
    }

    /// Adds a scalar itself.
    pub(super) fn add_value(&mut self, turn: usize, scalar: &Json, normalize: &Normalize) {
        if self.raw.insert(print_of(&scalar.print(Layout::Python))) {
            let value = notation::value(scalar, normalize);
            if self.distinct.insert(print_of(&value)) && self.shown.len() < SHOWN {
                self.shown.push((turn, value));
            }
        }
    }

    /// Adds the scalars of another place.
    pub(super) fn add_all(&mut self, other: Scalars) {
        self.raw.extend(other.raw);
        self.distinct.extend(other.distinct);
        self.shown.extend(other.shown);
        self.shown.sort_unstable();
        let mut seen = HashSet::new();
        self.shown.retain(|(_, shown)| seen.insert(shown.clone()));
        self.shown.truncate(SHOWN);
    }

    /// The types, sorted; or the values, in order of their first appearance.
    pub(super) fn finish(self) -> Vec<String> {
        let mut shown: Vec<String> = self.shown.into_iter().map(|(_, shown)| shown).collect();
        if self.distinct.is_empty() {
            shown.sort_unstable();
        }
        if let more @ 1.. = self.distinct.len().saturating_sub(SHOWN) {
            shown.push(format!("… {more} more"));
        }
        shown
    }
}

/// What tells a text from all others, in less memory than a long one takes.
fn print_of(text: &str) -> u128 {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, text).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

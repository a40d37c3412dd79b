//! The pins: everything in a golden other than names, keys and types. They are recorded by place, so each place can be left
//! loose, and the places that vary between two runs can be named.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::options::{Loose, ShapeOptions};

/// The pins at each place of all captures, in the order in which they were written.
pub(super) type Pinned = BTreeMap<Loose, Vec<String>>;

/// The pins of one label.
pub(super) struct Pins<'a> {
    label: &'a str,
    options: &'a ShapeOptions,
    pinned: &'a RefCell<Pinned>,
}

impl<'a> Pins<'a> {
    pub(super) fn new(label: &'a str, options: &'a ShapeOptions, pinned: &'a RefCell<Pinned>) -> Pins<'a> {
        Pins { label, options, pinned }
    }

    /// Records a pin at a place. Returns whether to write it.
    pub(super) fn pinned(&self, pointer: &str, what: &str) -> bool {
        self.note(Some(pointer), what)
    }

    /// Records a length. Returns whether to write it.
    pub(super) fn counted(&self, pointer: &str, length: &str) -> bool {
        self.counts() && self.pinned(pointer, length)
    }

    /// Whether lengths and numbers are shown at all.
    pub(super) fn counts(&self) -> bool {
        !self.options.without_lengths
    }

    pub(super) fn is_loose(&self, pointer: &str) -> bool {
        self.options.loosens(self.label, Some(pointer))
    }

    /// Records a pin at a place, or a text of collapsed events, which has none. Returns whether to write it.
    pub(super) fn note(&self, pointer: Option<&str>, what: &str) -> bool {
        let loose = self.options.loosens(self.label, pointer);
        if !loose {
            let place = Loose { label: self.label.to_owned(), pointer: pointer.map(str::to_owned) };
            self.pinned.borrow_mut().entry(place).or_default().push(what.to_owned());
        }
        !loose
    }
}

#[cfg(test)]
mod tests;

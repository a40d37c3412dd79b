//! What a golden holds beside names, keys and types, place by place, so that one of them can be left loose, and so that it
//! can be told which of them vary.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::options::{Loose, ShapeOptions};

/// What was pinned at each place of all captures, in the order in which it was written.
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

    /// Notes what is pinned at a place. Tells whether it is to be written.
    pub(super) fn pinned(&self, pointer: &str, what: &str) -> bool {
        self.note(Some(pointer), what)
    }

    /// A text of collapsed events.
    pub(super) fn text(&self, text: &str) -> bool {
        self.note(None, text)
    }

    /// A length as it is to be written; nothing where lengths are not promised.
    pub(super) fn counted<'t>(&self, pointer: &str, length: &'t str) -> Option<&'t str> {
        (self.counts() && self.pinned(pointer, length)).then_some(length)
    }

    /// Whether anything is counted.
    pub(super) fn counts(&self) -> bool {
        self.options.lengths
    }

    fn note(&self, pointer: Option<&str>, what: &str) -> bool {
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

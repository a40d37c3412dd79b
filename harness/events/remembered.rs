//! Texts that are made of others, again and again the same.

use std::collections::HashMap;
use std::rc::Rc;

/// How many are remembered: a stream has few, but for one whose keys are ids.
const MOST: usize = 10_000;

/// Remembers what was made of a text.
#[derive(Default)]
pub(super) struct Remembered(HashMap<String, Rc<str>>);

impl Remembered {
    /// What is made of a text, which is made once.
    pub(super) fn of(&mut self, from: &str, make: impl FnOnce() -> String) -> Rc<str> {
        if let Some(made) = self.0.get(from) {
            return made.clone();
        }
        if self.0.len() == MOST {
            self.0.clear();
        }
        let new: Rc<str> = make().into();
        self.0.insert(from.to_owned(), new.clone());
        new
    }
}

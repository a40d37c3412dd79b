//! Texts that are made of others, again and again the same.

use std::collections::HashMap;
use std::rc::Rc;

/// How many are remembered: a stream has few, but for one whose keys are ids.
const MOST: usize = 10_000;

/// Remembers what was made of a text.
pub(super) struct Remembered<T: ?Sized = str>(HashMap<String, Rc<T>>);

impl<T: ?Sized> Default for Remembered<T> {
    fn default() -> Remembered<T> {
        Remembered(HashMap::new())
    }
}

impl<T: ?Sized> Remembered<T> {
    /// What is made of a text, which is made once.
    pub(super) fn of<M: Into<Rc<T>>>(&mut self, from: &str, make: impl FnOnce() -> M) -> Rc<T> {
        if let Some(made) = self.0.get(from) {
            return made.clone();
        }
        if self.0.len() == MOST {
            self.0.clear();
        }
        let new: Rc<T> = make().into();
        self.0.insert(from.to_owned(), new.clone());
        new
    }
}

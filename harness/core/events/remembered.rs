//! A cache of values that are computed from texts, for texts that repeat.

use std::collections::HashMap;
use std::rc::Rc;

/// The largest number of cached values. Most streams need few, but a stream can have ids as keys.
const MOST: usize = 10_000;

/// Caches the value that was computed from each text.
pub(super) struct Remembered<T: ?Sized = str>(HashMap<String, Rc<T>>);

impl<T: ?Sized> Default for Remembered<T> {
    fn default() -> Remembered<T> {
        Remembered(HashMap::new())
    }
}

impl<T: ?Sized> Remembered<T> {
    /// Returns the value for a text, which is computed only once.
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

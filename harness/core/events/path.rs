//! The places of values in payloads: paths of keys in which all elements of a list are one place.

use std::fmt;

use super::ids::is_id;
use super::notation;
use crate::json::Json;

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step {
    Key(String),
    /// Each element of a list, or each value of an object whose keys are ids.
    Each,
}

/// A place in payloads, shown as a JSON pointer in which `*` is any element: `/choices/*/delta/content`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Path(pub(super) Vec<Step>);

/// The elements that were chosen at the steps [`Step::Each`] on the way to a value.
pub(super) type At = Vec<usize>;

impl Path {
    /// Parses a pointer as it is shown, without quotes.
    pub(super) fn of(pointer: &str) -> Option<Path> {
        if pointer.is_empty() {
            return Some(Path::default());
        }
        let step = |token: &str| match token {
            "*" => Step::Each,
            key => Step::Key(key.replace("~1", "/").replace("~0", "~")),
        };
        Some(Path(pointer.strip_prefix('/')?.split('/').map(step).collect()))
    }

    /// Calls `found` with each value at this place, and the elements on the way to it.
    pub(super) fn each<'a>(&self, json: &'a Json, found: &mut dyn FnMut(&[usize], &'a Json)) {
        fn walk<'a>(json: &'a Json, steps: &[Step], at: &mut At, found: &mut dyn FnMut(&[usize], &'a Json)) {
            match steps.split_first() {
                None => found(at, json),
                Some((Step::Key(key), rest)) => {
                    json.get(key).into_iter().for_each(|value| walk(value, rest, at, found));
                }
                Some((Step::Each, rest)) => {
                    for (index, element) in elements(json).into_iter().enumerate() {
                        at.push(index);
                        walk(element, rest, at, found);
                        at.pop();
                    }
                }
            }
        }
        walk(json, &self.0, &mut At::new(), found);
    }

    /// Returns the value at this place that belongs to the value at another place: in the same elements of the same lists.
    /// `None` if it is in a list of its own.
    pub(super) fn beside<'a>(&self, json: &'a Json, other: &Path, at: &[usize]) -> Option<&'a Json> {
        let mut at = at.iter();
        let mut same = true;
        self.0.iter().enumerate().try_fold(json, |value, (depth, step)| {
            same &= other.0.get(depth) == Some(step);
            match step {
                Step::Key(key) => value.get(key),
                Step::Each if same => elements(value).into_iter().nth(*at.next()?),
                Step::Each => None,
            }
        })
    }

    /// Whether a value at this place can belong to a value at another place: see [`beside`](Path::beside).
    pub(super) fn can_be_beside(&self, other: &Path) -> bool {
        let same = self.0.iter().zip(&other.0).take_while(|(a, b)| a == b).count();
        self.0[same..].iter().all(|step| *step != Step::Each)
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None })
    }

    /// The place as a JSON pointer in which `*` is any element.
    pub(super) fn pointer(&self) -> String {
        self.0.iter().fold(String::new(), |pointer, step| match step {
            Step::Key(key) => pointer + "/" + &notation::pointer_token(key),
            Step::Each => pointer + "/*",
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::name(&self.pointer()))
    }
}

/// Calls `found` with each scalar of a payload, and its place.
pub(super) fn leaves<'a>(json: &'a Json, found: &mut dyn FnMut(&Path, &[usize], &'a Json)) {
    fn walk<'a>(json: &'a Json, path: &mut Path, at: &mut At, found: &mut dyn FnMut(&Path, &[usize], &'a Json)) {
        match json {
            Json::Object(object) if !has_ids(json) => {
                // A key `*` would look like any element.
                for (key, value) in object.iter().filter(|(key, _)| *key != "*") {
                    path.0.push(Step::Key(key.to_string()));
                    walk(value, path, at, found);
                    path.0.pop();
                }
            }
            Json::Object(_) | Json::Array(_) => {
                path.0.push(Step::Each);
                for (index, element) in elements(json).into_iter().enumerate() {
                    at.push(index);
                    walk(element, path, at, found);
                    at.pop();
                }
                path.0.pop();
            }
            scalar => found(path, at, scalar),
        }
    }
    walk(json, &mut Path::default(), &mut At::new(), found);
}

/// Whether a value is an object whose keys are ids, so that they differ in each run.
fn has_ids(json: &Json) -> bool {
    json.as_object().is_some_and(|object| !object.is_empty() && object.keys().all(|key| is_id(key)))
}

fn elements(json: &Json) -> Vec<&Json> {
    match json {
        Json::Array(elements) => elements.iter().collect(),
        Json::Object(object) if has_ids(json) => object.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;

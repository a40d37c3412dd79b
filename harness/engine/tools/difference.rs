//! The places at which two JSON values differ, as JSON pointers. Pure.

use retake_base::text::clipped;
use retake_core::json::{Json, Layout};

/// One place at which two values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// A JSON pointer (RFC 6901).
    pub pointer: String,
    /// The recorded value; `None` if there is no value at this place.
    pub expected: Option<Json>,
    /// The value that was observed now; `None` if there is no value at this place.
    pub actual: Option<Json>,
}

impl Difference {
    /// Returns the difference as the log shows it. A missing value is left out, because `null` would be a value.
    pub fn to_json(&self) -> Json {
        let sides = [("expected", &self.expected), ("actual", &self.actual)];
        let sides = sides.into_iter().filter_map(|(name, side)| Some((name, side.clone()?)));
        Json::object(sides.chain([("pointer", self.pointer.as_str().into())]))
    }

    /// Returns both values as a person reads them, each in at most this many characters.
    pub(super) fn shown(&self, most: usize) -> [String; 2] {
        let shown = |value: &Option<Json>| {
            let text = value.as_ref().map_or_else(|| "nothing".to_owned(), |value| value.print(Layout::Python));
            clipped(&text, most).into_owned()
        };
        [shown(&self.expected), shown(&self.actual)]
    }
}

/// Adds all places at which two values differ to `found`, in order. `at` is the pointer to both values.
pub(super) fn differences(at: &str, expected: &Json, actual: &Json, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Json::Object(a), Json::Object(b)) => {
            let mut keys: Vec<&str> = a.keys().chain(b.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                either(at, a.get(key), b.get(key), found);
            }
        }
        (Json::Array(a), Json::Array(b)) => {
            for index in 0..a.len().max(b.len()) {
                either(format!("{at}/{index}"), a.get(index), b.get(index), found);
            }
        }
        _ if expected == actual => {}
        _ => found.push(Difference {
            pointer: at.to_owned(),
            expected: Some(expected.clone()),
            actual: Some(actual.clone()),
        }),
    }
}

fn either(at: String, expected: Option<&Json>, actual: Option<&Json>, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Some(expected), Some(actual)) => differences(&at, expected, actual, found),
        _ => found.push(Difference { pointer: at, expected: expected.cloned(), actual: actual.cloned() }),
    }
}

#[cfg(test)]
mod tests;

//! The places at which two JSON values differ, as JSON pointers. Pure.

use std::collections::BTreeSet;

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

/// Returns all places at which two values differ, in order. `at` is the pointer to both values, each `None` where there is none.
pub(super) fn differences(at: &str, expected: Option<&Json>, actual: Option<&Json>) -> Vec<Difference> {
    match (expected, actual) {
        (Some(Json::Object(a)), Some(Json::Object(b))) => {
            let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
            let place = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            keys.into_iter().flat_map(|key| differences(&place(key), a.get(key), b.get(key))).collect()
        }
        (Some(Json::Array(a)), Some(Json::Array(b))) => {
            let places = 0..a.len().max(b.len());
            places.flat_map(|index| differences(&format!("{at}/{index}"), a.get(index), b.get(index))).collect()
        }
        _ if expected == actual => Vec::new(),
        _ => vec![Difference { pointer: at.to_owned(), expected: expected.cloned(), actual: actual.cloned() }],
    }
}

#[cfg(test)]
mod tests;

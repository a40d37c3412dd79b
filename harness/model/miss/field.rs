//! The first field in which two values differ.

use super::words::change_within;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout};

/// Returns the first field in which two values differ: its path, and its value on each side. Of a list whose elements come in another
/// order, that is the list, and of one that only lost or got some elements, the first of these.
pub fn first_difference<'a>(a: &'a Json, b: &'a Json, path: String) -> (String, Option<&'a Json>, Option<&'a Json>) {
    let deeper = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: messages of different kinds will have different texts anyway.
            let mut keys: Vec<&str> = left.keys().chain(right.keys()).map(|key| &**key).collect();
            keys.sort_by_key(|key| (!matches!(*key, "type" | "name"), *key));
            for key in keys {
                match (left.get(key), right.get(key)) {
                    (Some(l), Some(r)) if l == r => {}
                    (Some(l), Some(r)) => return first_difference(l, r, deeper(key)),
                    (l, r) => return (deeper(key), l, r),
                }
            }
            (path, Some(a), Some(b))
        }
        (Json::Array(left), Json::Array(right)) => {
            let at = left.iter().zip(right).take_while(|(l, r)| l == r).count();
            if is_other_order(left, right) {
                return (path, Some(a), Some(b));
            }
            let path = format!("{path}[{at}]");
            match (left.get(at), right.get(at)) {
                (Some(l), Some(_)) if left.len() > right.len() && left.ends_with(&right[at..]) => (path, Some(l), None),
                (Some(_), Some(r)) if left.len() < right.len() && right.ends_with(&left[at..]) => (path, None, Some(r)),
                (Some(l), Some(r)) => first_difference(l, r, path),
                (l, r) => (path, l, r),
            }
        }
        _ => (path, Some(a), Some(b)),
    }
}

/// Whether two lists have the same elements, each as often, in another order.
fn is_other_order(one: &[Json], other: &[Json]) -> bool {
    let sorted = |all: &[Json]| {
        let mut all: Vec<String> = all.iter().map(|element| element.print(Layout::Compact)).collect();
        all.sort_unstable();
        all
    };
    one.len() == other.len() && one != other && sorted(one) == sorted(other)
}

/// The other field of the same object that has what a field, at this pointer, had, and had what it has.
fn exchanged<'a>(recorded: &'a Json, called: &'a Json, pointer: &str) -> Option<&'a str> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let (was, is) = (recorded.pointer(parent)?.as_object()?, called.pointer(parent)?.as_object()?);
    let has_other = |other: &&str| was.get(*other) == is.get(key) && is.get(*other) == was.get(key);
    was.get(key).and_then(|_| was.keys().map(|other| &**other).find(has_other))
}

/// Returns the change of a field, at this pointer of two values, in words.
pub(super) fn change_of(values: [&Json; 2], pointer: &str, field: [Option<&Json>; 2], width: usize) -> String {
    match (field, exchanged(values[0], values[1], pointer)) {
        ([Some(Json::Array(was)), Some(Json::Array(is))], _) if is_other_order(was, is) => {
            format!("its {} elements come in another order", is.len())
        }
        ([was, is], Some(other)) => format!("{}, exchanged with `{other}`", value_change(was, is, width)),
        ([was, is], None) => value_change(was, is, width),
    }
}

/// The first field in which two JSON texts differ.
pub(crate) struct FieldDifference {
    /// Where it is: `/error/message`.
    pub(crate) pointer: String,
    /// What changed: `"08:14" → "09:14"`.
    pub(crate) words: String,
}

/// Returns the first field in which two JSON texts differ. `None` if one of the texts is not a JSON object or array.
pub(crate) fn field_difference(recorded: &str, called: &str) -> Option<FieldDifference> {
    let (a, b) = (structured(recorded)?, structured(called)?);
    let (path, was, is) = first_difference(&a, &b, String::new());
    let pointer = pointer_of(&path);
    let words = change_of([&a, &b], &pointer, [was, is], 36);
    (!path.is_empty()).then_some(FieldDifference { pointer, words })
}

/// Reads a text that is a JSON object or array.
pub(super) fn structured(text: &str) -> Option<Json> {
    Json::parse(text.as_bytes()).ok().filter(|json| matches!(json, Json::Object(_) | Json::Array(_)))
}

/// Returns a value as text; empty if there is none.
pub(crate) fn text_of(value: Option<&Json>) -> String {
    match value {
        None => String::new(),
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
    }
}

/// Returns the change from one value to another. A value that is not there is not quoted, and its counterpart is shown whole.
pub(super) fn value_change(recorded: Option<&Json>, called: Option<&Json>, width: usize) -> String {
    let shown = |value: &Json| format!("{:?}", clipped(&text_of(Some(value)), width));
    match (recorded, called) {
        // The same characters are of another type.
        (Some(a), Some(b)) if text_of(recorded) == text_of(called) => {
            format!("{} → {}", a.print(Layout::Python), b.print(Layout::Python))
        }
        (Some(a), Some(b)) => change_within(&text_of(Some(a)), &text_of(Some(b)), width),
        (a, b) => {
            let side = |value: Option<&Json>| value.map_or_else(|| "absent".to_owned(), shown);
            format!("{} → {}", side(a), side(b))
        }
    }
}

/// Converts a path such as `p.q[0]` to a pointer such as `/p/q/0`.
pub(super) fn pointer_of(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!("/{}", path.replace("].", "/").replace(['.', '['], "/").replace(']', "")).replace("//", "/")
}

#[cfg(test)]
mod tests;

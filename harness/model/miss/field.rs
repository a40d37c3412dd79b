//! The first field in which two values differ.

use super::words::change_within;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout};

/// Returns the first field in which two values differ: its path, and its value on each side.
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
            let path = format!("{path}[{at}]");
            match (left.get(at), right.get(at)) {
                (Some(l), Some(r)) => first_difference(l, r, path),
                (l, r) => (path, l, r),
            }
        }
        _ => (path, Some(a), Some(b)),
    }
}

/// The first field in which two JSON texts differ.
pub(crate) struct FieldDifference {
    /// Where it is: `/error/message`.
    pub(crate) pointer: String,
    /// What changed: `"08:14" → "09:14"`.
    pub(crate) words: String,
    /// Whether only the second text has the field.
    pub(crate) is_new: bool,
}

/// Returns the first field in which two JSON texts differ. `None` if one of the texts is not a JSON object or array.
pub(crate) fn field_difference(recorded: &str, called: &str) -> Option<FieldDifference> {
    let read =
        |text: &str| Json::parse(text.as_bytes()).ok().filter(|json| matches!(json, Json::Object(_) | Json::Array(_)));
    let (a, b) = (read(recorded)?, read(called)?);
    let (path, a, b) = first_difference(&a, &b, String::new());
    let is_new = a.is_none_or(|a| !a.is_truthy()) && b.is_some();
    (!path.is_empty()).then(|| FieldDifference { pointer: pointer_of(&path), words: value_change(a, b, 36), is_new })
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

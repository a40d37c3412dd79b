//! The first field in which two values differ.

use super::words::change_within;
use retake_core::json::{Json, Layout};

/// Returns the first field in which two values differ: its path, and its value on each side.
pub fn first_difference<'a>(a: &'a Json, b: &'a Json, path: String) -> (String, Option<&'a Json>, Option<&'a Json>) {
    let deeper = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: messages of different kinds will have different texts anyway.
            let mut keys: Vec<&str> = left.keys().chain(right.keys()).collect();
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

/// Returns the first field in which two JSON texts differ, as a pointer, and a description of the change. `None` if one of the
/// texts is not a JSON object or array.
pub(crate) fn pointer_difference(recorded: &str, called: &str) -> Option<(String, String)> {
    let read =
        |text: &str| Json::parse(text.as_bytes()).ok().filter(|json| matches!(json, Json::Object(_) | Json::Array(_)));
    let (a, b) = (read(recorded)?, read(called)?);
    let (path, a, b) = first_difference(&a, &b, String::new());
    (!path.is_empty()).then(|| (pointer_of(&path), change_within(&text_of(a), &text_of(b), 36)))
}

/// Returns a value as text, or `(absent)` if there is none.
pub(super) fn text_of(value: Option<&Json>) -> String {
    match value {
        None => "(absent)".to_owned(),
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
    }
}

/// Converts a path such as `p.q[0]` to a pointer such as `/p/q/0`.
pub(super) fn pointer_of(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!("/{}", path.replace("].", "/").replace(['.', '['], "/").replace(']', "")).replace("//", "/")
}

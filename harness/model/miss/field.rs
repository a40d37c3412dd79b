//! The first field in which two values differ.

use super::words::change_within;
use crate::json::{Json, Layout};

/// The first field in which two messages differ: its path, and both values.
pub(crate) fn first_difference<'a>(
    a: &'a Json,
    b: &'a Json,
    path: String,
) -> (String, Option<&'a Json>, Option<&'a Json>) {
    let deeper = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: other text in another kind of message is not news.
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

/// The field in which two texts of JSON first differ, as a pointer, and its change in words; none where one of them is no
/// object or list.
pub(in crate::model) fn pointer_difference(recorded: &str, called: &str) -> Option<(String, String)> {
    let read =
        |text: &str| Json::parse(text.as_bytes()).ok().filter(|json| matches!(json, Json::Object(_) | Json::Array(_)));
    let (a, b) = (read(recorded)?, read(called)?);
    let (path, a, b) = first_difference(&a, &b, String::new());
    (!path.is_empty()).then(|| (pointer_of(&path), change_within(&text_of(a), &text_of(b), 36)))
}

/// A value as text; what is not there as such.
pub(super) fn text_of(value: Option<&Json>) -> String {
    match value {
        None => "(absent)".to_owned(),
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
    }
}

/// `/p/q/0` of `p.q[0]`.
pub(super) fn pointer_of(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    format!("/{}", path.replace("].", "/").replace(['.', '['], "/").replace(']', "")).replace("//", "/")
}

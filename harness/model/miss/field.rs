//! The first field in which two values differ.

use super::words::change_within;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout, Object};

/// The path of a field in which two values differ, and its value on each side.
pub(super) type Field<'a> = (String, Option<&'a Json>, Option<&'a Json>);

/// Returns the first field in which two values differ.
pub fn first_difference<'a>(a: &'a Json, b: &'a Json) -> Field<'a> {
    all_differences(a, b, "").into_iter().next().unwrap_or_else(|| (String::new(), Some(a), Some(b)))
}

/// Returns the fields in which two values differ, below a path. Of a list whose elements come in another order, that is the list, and of
/// one that only lost or got some elements, the first of these.
fn all_differences<'a>(a: &'a Json, b: &'a Json, path: &str) -> Vec<Field<'a>> {
    match (a, b) {
        (a, b) if a == b => Vec::new(),
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: messages of different kinds will have different texts anyway. What is new or
            // gone often follows from what is otherwise.
            let mut keys: Vec<&str> = left.keys().chain(right.keys()).map(|key| &**key).collect();
            let is_alone = |key: &str| left.contains_key(key) != right.contains_key(key);
            keys.sort_by_key(|key| (!matches!(*key, "type" | "name"), is_alone(key), *key));
            keys.dedup();
            let of_key = |key: &str| {
                let deeper = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                match (left.get(key), right.get(key)) {
                    (Some(l), Some(r)) => all_differences(l, r, &deeper),
                    (l, r) => vec![(deeper, l, r)],
                }
            };
            keys.into_iter().flat_map(of_key).collect()
        }
        (Json::Array(left), Json::Array(right)) if !is_other_order(left, right) => {
            let (at, of) = (left.iter().zip(right).take_while(|(l, r)| l == r).count(), |at| format!("{path}[{at}]"));
            match (left.get(at), right.get(at)) {
                (l, Some(_)) if left.len() > right.len() && left.ends_with(&right[at..]) => vec![(of(at), l, None)],
                (Some(_), r) if left.len() < right.len() && right.ends_with(&left[at..]) => vec![(of(at), None, r)],
                (Some(_), Some(_)) => {
                    let both = left.iter().zip(right).enumerate();
                    both.flat_map(|(at, (l, r))| all_differences(l, r, &of(at))).collect()
                }
                (l, r) => vec![(of(at), l, r)],
            }
        }
        _ => vec![(path.to_owned(), Some(a), Some(b))],
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

/// Returns the change of the first field in which two values differ, in words, and of two more.
pub(super) fn change_of(a: &Json, b: &Json, width: usize) -> String {
    let all = all_differences(a, b, "");
    let change = |(_, was, is): &Field<'_>, width| match (was, is) {
        (Some(Json::Array(was)), Some(Json::Array(is))) if is_other_order(was, is) => {
            format!("its {} elements come in another order", is.len())
        }
        _ => value_change(*was, *is, width),
    };
    let [first, others @ ..] = &all[..] else { return String::new() };
    if let Some(other) = exchanged(a, b, &pointer_of(&first.0)) {
        return format!("{}, exchanged with `{other}`", change(first, width));
    }
    let other = |field: &Field<'_>| format!("; `{}`: {}", pointer_of(&field.0), change(field, width / 2));
    let more = if others.len() > 2 { format!("; {} more", others.len() - 2) } else { String::new() };
    change(first, width) + &others.iter().take(2).map(other).collect::<String>() + &more
}

/// Returns the first field in which two JSON texts differ, such as `/error/message`, and what changed, in words: `"08:14" → "09:14"`.
/// `None` if one of the texts is not a JSON object or array.
pub(crate) fn field_difference(recorded: &str, called: &str) -> Option<(String, String)> {
    let (a, b) = (structured(recorded)?, structured(called)?);
    let pointer = pointer_of(&first_difference(&a, &b).0);
    (!pointer.is_empty()).then(|| (pointer, change_of(&a, &b, 36)))
}

/// Returns what a JSON text has at each place, without the objects around it.
pub(crate) fn flat(text: &str) -> Option<Object> {
    fn add(all: &mut Object, at: &str, json: &Json) {
        for (key, value) in json.as_object().into_iter().flat_map(Object::iter) {
            let place = format!("{at}/{key}");
            add(all, &place, value);
            if value.as_object().is_none() {
                all.insert(place.into(), value.clone());
            }
        }
    }
    let mut all = Object::default();
    add(&mut all, "", &Json::parse(text.as_bytes()).ok()?);
    Some(all)
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
    let shown = |of: Option<&Json>| of.map_or("absent".to_owned(), |_| format!("{:?}", clipped(&text_of(of), width)));
    match (recorded, called) {
        // The same characters are of another type.
        (Some(a), Some(b)) if text_of(recorded) == text_of(called) => {
            format!("{} → {}", a.print(Layout::Python), b.print(Layout::Python))
        }
        (Some(a), Some(b)) => change_within(&text_of(Some(a)), &text_of(Some(b)), width),
        (a, b) => format!("{} → {}", shown(a), shown(b)),
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

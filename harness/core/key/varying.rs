//! Values in checks that vary from run to run, such as a random seed. They are found by the replays that prove a recording, and are not
//! compared afterwards.

use std::collections::BTreeSet;

use crate::json::Json;

/// Stands in the text of a check for a value that varied from run to run when it was recorded.
pub const VARIES: &str = "<varies>";

/// Returns a recorded value with [`VARIES`] in each place that the recorded value says so of, as far as a call's value has it too. So
/// both are equal if they differ nowhere else.
pub fn as_varying(recorded: &Json, called: &mut Json) {
    match (recorded, called) {
        (Json::Str(varies), called) if varies == VARIES => *called = recorded.clone(),
        (Json::Object(recorded), Json::Object(called)) => {
            for (key, recorded) in recorded.iter() {
                match called.get_mut(key) {
                    Some(called) => as_varying(recorded, called),
                    None if recorded.as_str() == Some(VARIES) => drop(called.insert(key, recorded.clone())),
                    None => {}
                }
            }
        }
        (Json::Array(recorded), Json::Array(called)) => {
            recorded.iter().zip(called).for_each(|(recorded, called)| as_varying(recorded, called));
        }
        _ => {}
    }
}

/// A place in a JSON value: keys and indices.
pub type JsonPath = Vec<String>;

/// Returns the places in which two values differ.
pub fn places_that_differ(one: &Json, other: &Json) -> BTreeSet<JsonPath> {
    let mut places = BTreeSet::new();
    differ(Some(one), Some(other), &mut Vec::new(), &mut places);
    places
}

fn differ(one: Option<&Json>, other: Option<&Json>, at: &mut JsonPath, places: &mut BTreeSet<JsonPath>) {
    let mut within = |key: &str, one, other| {
        at.push(key.to_owned());
        differ(one, other, at, places);
        at.pop();
    };
    match (one, other) {
        (one, other) if one == other => {}
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let keys: BTreeSet<&str> = one.keys().chain(other.keys()).collect();
            keys.into_iter().for_each(|key| within(key, one.get(key), other.get(key)));
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.for_each(|(index, (one, other))| within(&index.to_string(), Some(one), Some(other)));
        }
        _ => _ = places.insert(at.clone()),
    }
}

/// Puts [`VARIES`] into a value at a place, if there is an object or a list around it.
pub fn mark_varying(value: &mut Json, place: &[String]) {
    let Some((key, within)) = place.split_first() else {
        *value = VARIES.into();
        return;
    };
    match value {
        Json::Object(fields) => mark_varying(fields.or_insert_with(key, || Json::Null), within),
        Json::Array(items) => {
            let item = key.parse().ok().and_then(|index: usize| items.get_mut(index));
            item.into_iter().for_each(|item| mark_varying(item, within));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;

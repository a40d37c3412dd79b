//! Values in checks that vary from run to run, such as a random seed. They are found by the replays that prove a recording, and are not
//! compared afterwards.

use std::collections::BTreeSet;

use super::Check;
use crate::json::{Json, Layout};

/// Stands in the text of a check for a value that varied from run to run when it was recorded.
pub const VARIES: &str = "<varies>";

/// Returns the text of a call's check without the values of which the recorded text says that they vary. It equals the recorded text
/// if nothing else differs.
pub fn text_as_varying(recorded: &str, called: &str) -> Option<String> {
    if !recorded.contains(VARIES) {
        return None;
    }
    let (recorded, mut called) = (Json::parse(recorded.as_bytes()).ok()?, Json::parse(called.as_bytes()).ok()?);
    as_varying(&recorded, &mut called);
    Some(called.print(Layout::Python))
}

fn as_varying(recorded: &Json, called: &mut Json) {
    match (recorded, called) {
        (Json::Str(varies), called) if varies == VARIES => *called = recorded.clone(),
        (Json::Object(recorded), Json::Object(called)) => {
            for (key, recorded) in recorded.iter() {
                match called.get_mut(key) {
                    Some(called) => as_varying(recorded, called),
                    None if recorded.as_str() == Some(VARIES) => drop(called.insert(key.clone(), recorded.clone())),
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

/// A value that varies from run to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Varying {
    /// The turn in which it was found.
    pub turn: usize,
    pub check: Check,
    /// Its place in the check's JSON: keys and indices.
    pub place: Vec<String>,
}

impl Varying {
    /// Returns the values that differ between two texts of a turn's check. There are none if values of that check do not vary.
    pub fn between(turn: usize, check: Check, one: &str, other: &str) -> Vec<Varying> {
        let read = |text: &str| Json::parse(text.as_bytes()).ok();
        let Some((one, other)) = read(one).zip(read(other)).filter(|_| check.may_vary()) else { return Vec::new() };
        let mut places = Vec::new();
        differ(Some(&one), Some(&other), &mut Vec::new(), &mut places);
        places.into_iter().map(|place| Varying { turn, check, place }).collect()
    }

    /// Marks the values that vary in the text of a turn's check. `None` if it has none.
    pub fn marked(varying: &[Varying], turn: usize, check: Check, text: &str) -> Option<String> {
        // What varies in one turn does so in the others, but each has its own days.
        let is_of = |value: &&Varying| value.check == check && (value.turn == turn || check != Check::Dates);
        let mut of_check = varying.iter().filter(is_of).peekable();
        of_check.peek()?;
        let mut json = Json::parse(text.as_bytes()).ok()?;
        of_check.for_each(|value| mark(&mut json, &value.place, value.turn == turn));
        Some(json.print(Layout::Python))
    }
}

fn differ(one: Option<&Json>, other: Option<&Json>, at: &mut Vec<String>, places: &mut Vec<Vec<String>>) {
    let mut within = |key: &str, one, other| {
        at.push(key.to_owned());
        differ(one, other, at, places);
        at.pop();
    };
    match (one, other) {
        (one, other) if one == other => {}
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for key in keys {
                within(key, one.get(key), other.get(key));
            }
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.for_each(|(index, (one, other))| within(&index.to_string(), Some(one), Some(other)));
        }
        _ => places.push(at.clone()),
    }
}

/// Puts [`VARIES`] into a value at a place that it has. A field that is not there is added only if `adds`.
fn mark(value: &mut Json, place: &[String], adds: bool) {
    let Some((key, within)) = place.split_first() else {
        *value = VARIES.into();
        return;
    };
    let inner = match value {
        Json::Object(fields) if adds && within.is_empty() => Some(fields.entry(key.into()).or_default()),
        Json::Object(fields) => fields.get_mut(&**key),
        Json::Array(items) => key.parse().ok().and_then(|index: usize| items.get_mut(index)),
        _ => None,
    };
    let Some(inner) = inner else { return };
    mark(inner, within, adds);
}

#[cfg(test)]
mod tests;

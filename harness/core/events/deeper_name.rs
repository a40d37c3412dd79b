//! Finds where the events of a stream say what they are, if all of them are called the same.

use std::collections::{BTreeMap, BTreeSet};

use super::captured::{Captured, Event, Payload};
use super::notation;
use super::options::ShapeOptions;
use super::words::is_word;
use crate::json::Json;

/// The fewest events of which anything can be said.
const FEWEST: usize = 3;
/// The most different names.
const NAMES: usize = 12;

/// Returns the JSON pointer of a word that tells the events of a stream apart, if they are all called the same: events with the
/// same word have the same keys beside it, and some events with different words have different keys. `None` if the option is
/// set already.
pub fn deeper_name(captures: &[Captured], options: &ShapeOptions) -> Option<String> {
    if options.event_name.is_some() {
        return None;
    }
    // Streams often end with a mark that is not JSON.
    let is_data = |event: &&Event| matches!(&event.payload, Payload::Data(text) if &**text != "[DONE]");
    captures.iter().find_map(|capture| {
        let events: Vec<&Event> = capture.events.iter().filter(is_data).collect();
        let payloads: Vec<Json> = events.iter().filter_map(|event| event.json()).collect();
        let labels: BTreeSet<_> = events.iter().map(|event| event.label()).collect();
        let is_one = labels.len() == 1 && payloads.len() == events.len() && payloads.len() >= FEWEST;
        let collapsed = labels.iter().any(|label| options.collapse.iter().any(|name| name == label));
        if is_one && !collapsed { name_in(&payloads) } else { None }
    })
}

/// Returns the outermost such pointer.
fn name_in(payloads: &[Json]) -> Option<String> {
    let mut seen: BTreeMap<String, Vec<(String, Vec<String>)>> = BTreeMap::new();
    for payload in payloads {
        words(payload, "", &mut seen);
    }
    let tells_apart = |found: &Vec<(String, Vec<String>)>| {
        let mut kinds: BTreeMap<&str, BTreeSet<&[String]>> = BTreeMap::new();
        for (word, keys) in found {
            kinds.entry(word).or_default().insert(keys);
        }
        let shapes: BTreeSet<_> = kinds.values().collect();
        found.len() == payloads.len()
            && (2..=NAMES).contains(&kinds.len())
            && kinds.values().all(|keys| keys.len() == 1)
            && shapes.len() > 1
    };
    let pointers = seen.into_iter().filter(|(_, found)| tells_apart(found)).map(|(pointer, _)| pointer);
    pointers.min_by_key(|pointer| (pointer.matches('/').count(), pointer.clone()))
}

/// Collects the words in objects, each with the keys beside it.
fn words(value: &Json, pointer: &str, seen: &mut BTreeMap<String, Vec<(String, Vec<String>)>>) {
    let Some(object) = value.as_object() else { return };
    let keys: Vec<String> = object.keys().map(ToString::to_string).collect();
    for (key, value) in object.iter() {
        let pointer = format!("{pointer}/{}", notation::pointer_token(key));
        match value.as_str() {
            Some(word) if is_word(word) => seen.entry(pointer).or_default().push((word.to_owned(), keys.clone())),
            _ => words(value, &pointer, seen),
        }
    }
}

#[cfg(test)]
mod tests;

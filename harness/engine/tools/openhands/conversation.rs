//! A conversation, reduced to its active branch.

use std::collections::HashMap;
use std::path::Path;

use super::event::Event;
use super::folder;
use retake_base::error::{Error, Result};
use retake_core::json::Json;

/// The events on a conversation's active branch, beginning with the root.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Its events, from the root to the leaf.
    pub events: Vec<Event>,
    /// One line for each thing that was ignored, which names the file.
    pub warnings: Vec<String>,
}

impl Conversation {
    /// Reads the conversation of a folder (see [`find`](folder::find)).
    ///
    /// # Errors
    /// Names the file and the reason: it does not parse or is not an event, an event is missing or exists twice, or there are no
    /// events.
    pub fn read(folder: &Path) -> Result<Conversation> {
        let (events, leaf, mut warnings) = folder::read(folder)?;
        let events = active(events, leaf.as_deref(), &mut warnings).map_err(|e| e.in_file(folder))?;
        Conversation::of(events, warnings)
    }

    /// Reads events in memory. The last one is the leaf.
    ///
    /// # Errors
    /// Those of [`Conversation::read`]. Events are named by their index.
    pub fn of_events(events: Vec<Json>) -> Result<Conversation> {
        let named = events.into_iter().enumerate().map(|(i, json)| Named { name: format!("events[{i}]"), json });
        let mut warnings = Vec::new();
        let events = active(named.collect(), None, &mut warnings)?;
        Conversation::of(events, warnings)
    }

    fn of(named: Vec<Named>, mut warnings: Vec<String>) -> Result<Conversation> {
        let mut events = Vec::with_capacity(named.len());
        for Named { name, json } in named {
            match Event::read(json).map_err(|e| e.of(&format!("{name}:")))? {
                Ok(event) => events.push(event),
                Err(kind) => warnings.push(format!("{name}: ignored an event of the unknown kind {kind:?}")),
            }
        }
        Ok(Conversation { events, warnings })
    }
}

/// The parent of a root that is not the first event.
const ROOT: &str = "__root__";

/// An event, and its name in errors.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) json: Json,
}

/// Returns the events from the root to the leaf, in this order. If no leaf is given, the last event is the leaf. An event without
/// a parent follows the event before it, so a conversation that is older than branches is a single branch.
/// Fails if an event has no id, two events have the same id, a parent or the leaf is missing, or the parents form a cycle.
pub(super) fn active(events: Vec<Named>, leaf: Option<&str>, warnings: &mut Vec<String>) -> Result<Vec<Named>> {
    let mut at = HashMap::with_capacity(events.len());
    for (index, Named { name, json }) in events.iter().enumerate() {
        let id = json.str_of("id").ok_or_else(|| Error::new(format!("{name}: the event has no `id`")))?;
        if let Some(first) = at.insert(id, index) {
            return Err(Error::new(format!("{name}: its id `{id}` is also that of {}", events[first].name)));
        }
    }
    let Some(mut next) = events.len().checked_sub(1) else {
        return Err(Error::new("the conversation is empty: there is no event"));
    };
    if let Some(leaf) = leaf {
        let missing =
            || Error::new(format!("base_state.json: there is no event `{leaf}`, which `leaf_event_id` names"));
        next = *at.get(leaf).ok_or_else(missing)?;
    }
    let mut chosen = vec![false; events.len()];
    let mut order = Vec::new();
    loop {
        if std::mem::replace(&mut chosen[next], true) {
            return Err(Error::new(format!("{}: its parents form a cycle", events[next].name)));
        }
        order.push(next);
        next = match events[next].json.str_of("parent_id") {
            Some(ROOT) => break,
            Some(parent) => {
                let missing = || Error::new(format!("{}: there is no event `{parent}`, its parent", events[next].name));
                *at.get(parent).ok_or_else(missing)?
            }
            None if next == 0 => break,
            None => next - 1,
        };
    }
    let ignored = events.len() - order.len();
    if ignored > 0 {
        warnings.push(format!("ignored {} on other branches", retake_base::text::counted(ignored, "event")));
    }
    let mut events: Vec<Option<Named>> = events.into_iter().map(Some).collect();
    Ok(order.into_iter().rev().filter_map(|index| events[index].take()).collect())
}

#[cfg(test)]
mod tests;

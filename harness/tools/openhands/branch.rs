//! Finds the active branch in a tree of events.

use std::collections::HashMap;

use retake_base::error::{Error, Result};
use retake_core::json::Json;

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

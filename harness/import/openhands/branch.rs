//! The active branch of a tree of events.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::json::Json;

/// What the parent of a root is called, where it is not the first event.
const ROOT: &str = "__root__";

/// An event, and what errors call it.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) json: Json,
}

/// The events from the root to the leaf, in that order; to the last event where no leaf is named. An event without a
/// parent follows the one before it: conversations older than branches are one.
///
/// # Errors
/// An event without an id, one whose id another has, a parent or a leaf that is not there, a circle.
pub(super) fn active(events: Vec<Named>, leaf: Option<&str>, warnings: &mut Vec<String>) -> Result<Vec<Named>> {
    let mut at = HashMap::with_capacity(events.len());
    for (index, Named { name, json }) in events.iter().enumerate() {
        let id = json.str_of("id").ok_or_else(|| Error::new(format!("{name}: the event has no `id`")))?;
        if let Some(first) = at.insert(id, index) {
            return Err(Error::new(format!("{name}: its id `{id}` is that of {} too", events[first].name)));
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
            return Err(Error::new(format!("{}: its parents lead back to itself", events[next].name)));
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
    let aside = events.len() - order.len();
    if aside > 0 {
        warnings.push(format!("{} on other branches left aside", crate::text::counted(aside, "event")));
    }
    let mut events: Vec<Option<Named>> = events.into_iter().map(Some).collect();
    Ok(order.into_iter().rev().filter_map(|index| events[index].take()).collect())
}

//! A conversation, as far as it is the active one.

use std::path::Path;

use super::event::Event;
use super::{branch, folder};
use crate::error::Result;
use crate::json::Json;

/// The events of a conversation's active branch, from the root on.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) events: Vec<Event>,
    /// What a person should know of the rest: a line each, which names the file.
    pub(crate) warnings: Vec<String>,
}

impl Conversation {
    /// Reads the conversation of a folder (see [`find`](folder::find)).
    ///
    /// # Errors
    /// The file and the reason: it does not parse, is not an event, an event is missing or there twice, or there is none.
    pub(crate) fn read(folder: &Path) -> Result<Conversation> {
        let folder::Stored { events, leaf, mut warnings } = folder::read(folder)?;
        let events = branch::active(events, leaf.as_deref(), &mut warnings).map_err(|e| e.in_file(folder))?;
        Conversation::of(events, warnings)
    }

    /// Reads events in memory, of which the last is the leaf.
    ///
    /// # Errors
    /// As [`Conversation::read`]; events are named by their index.
    pub(crate) fn of_events(events: Vec<Json>) -> Result<Conversation> {
        let named =
            events.into_iter().enumerate().map(|(i, json)| branch::Named { name: format!("events[{i}]"), json });
        let mut warnings = Vec::new();
        let events = branch::active(named.collect(), None, &mut warnings)?;
        Conversation::of(events, warnings)
    }

    fn of(named: Vec<branch::Named>, mut warnings: Vec<String>) -> Result<Conversation> {
        let mut events = Vec::with_capacity(named.len());
        for branch::Named { name, json } in named {
            match Event::read(json).map_err(|e| e.of(&format!("{name}:")))? {
                Ok(event) => events.push(event),
                Err(kind) => warnings.push(format!("{name}: an event of the unknown kind {kind:?} is passed over")),
            }
        }
        Ok(Conversation { events, warnings })
    }
}

#[cfg(test)]
mod tests;

//! A conversation, reduced to its active branch.

use std::path::Path;

use super::event::Event;
use super::{branch, folder};
use retake_base::error::Result;
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
        let folder::Stored { events, leaf, mut warnings } = folder::read(folder)?;
        let events = branch::active(events, leaf.as_deref(), &mut warnings).map_err(|e| e.in_file(folder))?;
        Conversation::of(events, warnings)
    }

    /// Reads events in memory. The last one is the leaf.
    ///
    /// # Errors
    /// Those of [`Conversation::read`]. Events are named by their index.
    pub fn of_events(events: Vec<Json>) -> Result<Conversation> {
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
                Err(kind) => warnings.push(format!("{name}: ignored an event of the unknown kind {kind:?}")),
            }
        }
        Ok(Conversation { events, warnings })
    }
}

#[cfg(test)]
mod tests;

//! An event for which a step waits: by its name, by a value in it, and by how many of them have to come.

use std::fmt;

use crate::pointer::Pointer;
use retake_core::events::Event;
use retake_core::json::{Json, Layout};

/// An event for which a step waits.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSpec {
    /// Its name.
    pub event: String,
    /// The place of a value in its payload, and the value.
    pub is: Option<(Pointer, Json)>,
    /// How many such events have to come: the last of them is the one.
    pub times: usize,
}

impl EventSpec {
    /// Returns the first event of this name.
    pub fn named(event: impl Into<String>) -> EventSpec {
        EventSpec { event: event.into(), is: None, times: 1 }
    }

    /// Whether an event has the name and the value.
    pub fn fits(&self, event: &Event) -> bool {
        let has = |(at, value): &(Pointer, Json)| event.json().is_some_and(|json| at.find(&json) == Some(value));
        event.label() == self.event && self.is.as_ref().is_none_or(has)
    }
}

/// As a person reads it: `end`, or `state with /status = "finished", 2 times`.
impl fmt::Display for EventSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event)?;
        if let Some((at, value)) = &self.is {
            write!(f, " with {at} = {}", value.print(Layout::Compact))?;
        }
        if self.times > 1 { write!(f, ", {} times", self.times) } else { Ok(()) }
    }
}

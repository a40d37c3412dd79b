//! Reads conversations of OpenHands' agent SDK: a folder with `base_state.json` and `events/event-NNNNN-<id>.json`, or the same
//! events in memory.
//!
//! The field `parent_id` makes the events a tree. Only the branch from the root to the leaf that `base_state.json` names counts.

mod conversation;
mod event;
mod folder;

pub use conversation::Conversation;
pub use event::{Action, Event, Observation, Speaker};
pub use folder::find;

//! Conversations of OpenHands' agent SDK: a folder with `base_state.json` and `events/event-NNNNN-<id>.json`, or the same
//! events in memory.
//!
//! Events form a tree by `parent_id`; what counts is the branch from its root to the leaf that `base_state.json` names.

mod branch;
mod conversation;
mod event;
mod folder;
#[cfg(feature = "cli")]
mod turns;

pub(crate) use conversation::Conversation;
pub(crate) use event::{Action, Event, Speaker};
pub(crate) use folder::find;
#[cfg(feature = "cli")]
pub(crate) use turns::to_fixture;

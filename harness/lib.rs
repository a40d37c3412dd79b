//! x
pub mod conversation;
pub mod error;
pub mod events;
pub mod json;

//! The key of a model call, which decides whether two calls are the same: exactly version 1 of KEY.md. Pure.
//!
//! A key consists of two hashes: one of the conversation, and one of the caller and the conversation. Recording and replay
//! compute both with the same function, so they always agree. This is the page that the code implements:
//!
#![doc = include_str!("KEY.md")]

pub(crate) mod caller;
pub(crate) mod canonical;
pub(crate) mod checks;
mod hash;
pub(crate) mod normalize;
mod of_messages;
pub(crate) mod plain;
pub(crate) mod reminder;
pub(crate) mod rules;
mod written;

pub use caller::caller_of_tags;
pub(crate) use caller::{Aliases, UNKNOWN_CALLER};
#[cfg(feature = "cli")]
pub(crate) use canonical::message_from_langchain;
pub(crate) use canonical::with_more_rules;
pub(crate) use checks::{Check, CheckTexts, Checks, check_with_more_rules};
pub use hash::{Hash, ParseHashError};
pub(crate) use normalize::{Normalizer, is_blank};
pub use of_messages::{conversation_hash, input_hash};
pub(crate) use plain::plain_conversation;
pub use rules::Key;
pub(crate) use rules::Rules;
pub(crate) use written::keep_order;

#[cfg(test)]
mod tests;

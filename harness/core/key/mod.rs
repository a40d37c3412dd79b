//! The key of a model call, which decides whether two calls are the same: exactly version 1 of KEY.md. Pure.
//!
//! A key consists of two hashes: one of the conversation, and one of the caller and the conversation. Recording and replay
//! compute both with the same function, so they always agree. This is the page that the code implements:
//!
#![doc = include_str!("KEY.md")]

pub mod caller;
pub mod canonical;
pub mod checks;
mod hash;
pub mod normalize;
pub mod plain;
pub mod reminder;
pub mod rules;
mod running;
mod varying;
mod written;

pub use caller::{Aliases, UNKNOWN_CALLER, attributed, caller_of_tags};
pub use canonical::{message_from_langchain, with_rules};
pub use checks::{Check, CheckTexts, Checks, HEADERS, check_with_rules};
pub use hash::{Hash, ParseHashError};
pub use normalize::{Normalizer, dates, id_hashes, is_blank, names_date, put_dates};
pub use plain::plain_conversation;
pub use rules::{Key, Rules, conversation_hash, input_hash};
pub use running::RunningHash;
pub use varying::{VARIES, Varying, text_as_varying};
pub use written::{keep_order, keep_order_of_message};

#[cfg(test)]
mod tests;

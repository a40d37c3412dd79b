//! The two hashes of version 1, for a program that records on its own: it then agrees with replay by construction.

use super::hash::Hash;
use super::rules::Rules;
use crate::conversation::Message;

/// The hash of a call's conversation (KEY.md, sections 1 and 2), as fixtures store it in `conversation_hash`.
///
/// # Example
/// ```
/// use retake::{Message, key};
/// let hash = key::conversation_hash(vec![Message::new("system", "Be brief."), Message::new("human", "hello")]);
/// assert_eq!(hash, key::conversation_hash(vec![Message::new("human", "hello")]));
/// ```
#[must_use]
pub fn conversation_hash(messages: Vec<Message>) -> Hash {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(messages))
}

/// The hash of a caller and its conversation (KEY.md, section 3), as fixtures store it in `input_hash`. Without a caller it is
/// that of `lead_agent`; [`caller_of_tags`](super::caller_of_tags) tells the caller of a call in the process.
#[must_use]
pub fn input_hash(messages: Vec<Message>, caller: Option<&str>) -> Hash {
    let rules = Rules::default();
    rules.key(&rules.canonical(messages), caller).input_hash
}

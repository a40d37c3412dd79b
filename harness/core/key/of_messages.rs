//! The two hashes of version 1 as functions, for a program that records on its own: it uses the code that replay uses.

use super::hash::Hash;
use super::rules::Rules;
use crate::conversation::Message;

/// Returns the hash of a call's conversation (KEY.md, sections 1 and 2), which fixtures store as `conversation_hash`.
///
/// # Example
/// ```
/// use retake_core::{conversation::Message, key};
/// let hash = key::conversation_hash(vec![Message::new("system", "Be brief."), Message::new("human", "hello")]);
/// assert_eq!(hash, key::conversation_hash(vec![Message::new("human", "hello")]));
/// ```
pub fn conversation_hash(messages: Vec<Message>) -> Hash {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(messages))
}

/// Returns the hash of a caller and its conversation (KEY.md, section 3), which fixtures store as `input_hash`. Without a
/// caller, it is the hash for `lead_agent`. For a call in the process, [`caller_of_tags`](super::caller_of_tags) returns the
/// caller.
pub fn input_hash(messages: Vec<Message>, caller: Option<&str>) -> Hash {
    let rules = Rules::default();
    rules.key(&rules.canonical(messages), caller).input_hash
}

//! A call that no turn answers.
//!
//! | file | holds |
//! |---|---|
//! | `missed_call` | the [`Miss`] that people read |
//! | `reason` | why no turn answers |
//! | `explanation` | what is found out about it: the nearest turn, or how to tell callers apart |
//! | `nearest`, `parting`, `words` | which turn is most like the call, in which field they part, and in which words |
//! | `messages` | messages in a few words |
//! | `caller_rule` | the `[[callers]]` rule that would tell callers apart |

mod caller_rule;
mod explanation;
mod messages;
mod missed_call;
mod nearest;
mod parting;
mod reason;
mod words;

pub(super) use explanation::{Explanation, explain};
pub(crate) use messages::describe;
pub use missed_call::Miss;
pub(crate) use missed_call::MissedCall;
pub(crate) use parting::first_difference;
pub use reason::MissReason;
pub(crate) use words::change;

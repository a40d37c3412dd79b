//! A call that no turn answers.
//!
//! | file | holds |
//! |---|---|
//! | `missed_call` | the [`Miss`] that people read |
//! | `reason` | why no turn answers |
//! | `explanation` | what is found out about it: the nearest turn, or how to tell callers apart |
//! | `nearest` | which turn is most like the call |
//! | `alignment` | which calls were changed, and which are more than was recorded, once the run is over |
//! | `one_more` | a call beside all that were recorded, in words |
//! | `difference` | what of the two is not the same, message by message |
//! | `field`, `words` | in which field two values part, and in which words two texts |
//! | `messages` | messages in a few words |
//! | `caller_rule` | the `[[callers]]` rule that would tell callers apart |

mod alignment;
mod caller_rule;
mod difference;
mod explanation;
mod field;
mod messages;
mod missed_call;
mod nearest;
mod one_more;
mod reason;
mod words;

pub(super) use alignment::{Over, align};
pub(crate) use difference::Difference;
pub(super) use explanation::{Explanation, Situation, explain, kind_of};
pub(crate) use field::first_difference;
pub(super) use field::pointer_difference;
pub(crate) use messages::{answer_in_short, describe};
pub use missed_call::Miss;
pub(crate) use missed_call::MissedCall;
pub use reason::MissReason;
pub(crate) use words::change;

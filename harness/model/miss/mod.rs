//! Misses: calls that no turn answers, and why.
//!
//! | file | holds |
//! |---|---|
//! | `missed_call` | the [`Miss`] that people read |
//! | `reason` | why no turn answers |
//! | `explanation` | the explanation of a miss: the nearest turn, or how to tell callers apart |
//! | `nearest` | which turn is most like the call |
//! | `alignment` | which calls changed, and which are additional, once the run is over |
//! | `assignment` | the turns that calls get so that all together cost least |
//! | `difference` | the differences between the call and a turn, message by message |
//! | `blocks` | how messages differ in what is no text, such as images |
//! | `follows` | which differences follow from earlier ones, as a table |
//! | `failed` | whether a tool failed, as its result says |
//! | `field`, `words` | the first field in which two values differ, and the words in which two texts differ |
//! | `messages` | short descriptions of messages |
//! | `caller_rule` | the `[[callers]]` rule that would tell callers apart |

mod alignment;
mod assignment;
mod blocks;
mod caller_rule;
mod difference;
mod explanation;
mod failed;
mod field;
mod follows;
mod messages;
mod missed_call;
mod nearest;
mod reason;
mod words;

pub(super) use alignment::align;
pub use caller_rule::{RecordedCalls, caller_rule};
pub use difference::Difference;
pub(super) use explanation::{Situation, kind_of};
pub use field::first_difference;
pub(super) use field::{field_difference, flat, text_of};
pub use messages::{answer_in_short, describe, who};
pub use missed_call::{Miss, MissedCall};
pub(super) use nearest::equally_near;
pub use reason::MissReason;
pub use words::change;

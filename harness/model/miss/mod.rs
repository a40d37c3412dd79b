//! A call that no turn answers, and how it is explained: why, which recorded turn is nearest, and where the two part.

mod caller_rule;
pub(crate) mod explanation;
mod missed_call;

pub use missed_call::{Miss, Reason};

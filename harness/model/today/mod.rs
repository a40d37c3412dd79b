//! The provider of today beside a recording: asks it the calls of a replay as well, and compares.
//!
//! | file | holds |
//! |---|---|
//! | `asker` | one call of a replay, and the same to the provider, within the limits |
//! | `comparison` | what differs, over all calls |
//! | `behaviour` | what differs in what an answer does: tools, arguments, finish reason |
//! | `arguments` | whether arguments fit a JSON schema |

mod arguments;
mod asker;
mod behaviour;
mod comparison;

pub use asker::{Asker, KeptCall, Limits};
pub use comparison::{ApiCompared, Comparison, Finding, TurnCompared};

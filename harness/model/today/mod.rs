//! The provider of today beside a recording: asks it the calls of a replay as well, and compares.
//!
//! | file | holds |
//! |---|---|
//! | `kept_call` | one call of a replay |
//! | `asker` | the same call to the provider, within the limits |
//! | `comparison` | what differs, over all calls |
//! | `behaviour` | what differs in what an answer does: tools, arguments, finish reason |
//! | `arguments` | whether arguments fit a JSON schema |

mod arguments;
mod asker;
mod behaviour;
mod comparison;
mod kept_call;

pub use asker::{Asker, Limits};
pub use comparison::{Comparison, Finding, TurnCompared};
pub use kept_call::KeptCall;

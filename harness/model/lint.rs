//! What is wrong with a call by itself: tool calls and results that do not belong together, which a provider may refuse, or
//! let pass and answer the worse; text that no key sees.

use std::fmt;

/// What is wrong with one call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFlaw {
    /// Who made the call, where that is known.
    pub caller: Option<String>,
    /// The turn that answered it; `None` for a miss, and while recording.
    pub turn: Option<usize>,
    /// What is wrong: `a tool result without its call: call_1`.
    pub what: String,
    /// Of what kind it is.
    pub kind: FlawKind,
}

/// Kinds of flaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlawKind {
    /// Calls of tools and their results do not belong together.
    Protocol,
    /// The key does not see all of the call.
    Key,
}

impl fmt::Display for FlawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlawKind::Protocol => "protocol",
            FlawKind::Key => "key",
        })
    }
}

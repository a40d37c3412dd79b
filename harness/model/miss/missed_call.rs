//! A model call that no turn answers: as people read of it, and as a proof looks into it.

use std::fmt;
use std::path::PathBuf;

use super::difference::Difference;
use super::reason::MissReason;
use crate::cause::{Cause, headline};
use crate::key::{Key, UNKNOWN_CALLER};
use crate::model::lookup::Lookup;

/// A model call that no turn answered, with all that a person needs to find out why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// The scenario in which it happened.
    pub scenario: String,
    /// The fixture that was looked in.
    pub fixture: PathBuf,
    /// How the call came: `POST /v1/chat/completions`.
    pub via: String,
    /// Who made the call, where that is known.
    pub caller: Option<String>,
    /// The call's key, where it could be computed.
    pub key: Option<Key>,
    /// Why no turn answers.
    pub reason: MissReason,
    /// The nearest recorded turn, and where the two conversations part, line by line.
    pub evidence: Vec<String>,
    /// What of the call is not as it was recorded; at least one thing.
    pub(crate) causes: Vec<Cause>,
    /// Its number among the scenario's model calls, from 1.
    pub(crate) number: usize,
}

/// A call that missed, and the turn that it may have been meant for.
#[derive(Clone, Debug)]
pub(crate) struct MissedCall {
    pub(crate) lookup: Lookup,
    pub(crate) nearest: Option<usize>,
    pub(crate) reason: MissReason,
    /// What of it is not as it was recorded.
    pub(crate) differences: Vec<Difference>,
    /// The evidence for it, line by line.
    pub(crate) lines: Vec<String>,
    /// Its number among the scenario's model calls, from 1.
    pub(crate) number: usize,
}

impl Miss {
    /// The caller as people read it.
    #[must_use]
    pub fn caller_name(&self) -> &str {
        self.caller.as_deref().unwrap_or(UNKNOWN_CALLER)
    }

    /// All below the headline: the call, its key and the evidence.
    #[must_use]
    pub fn details(&self) -> String {
        let who = format!("by `{}`, in scenario `{}`", self.caller_name(), self.scenario);
        let number = if self.number == 0 { String::new() } else { format!("{}: ", self.number) };
        let mut lines = vec![format!("  call       {number}{}, {who}", self.via)];
        lines.extend(self.key.map(|key| {
            let (conversation, input) = (key.conversation_hash.short(), key.input_hash.short());
            format!("  key        conversation {conversation}…, input {input}…")
        }));
        lines.extend(self.evidence.iter().map(|line| format!("  {line}")));
        lines.join("\n")
    }

    /// One line: what of the call is not as it was recorded.
    #[must_use]
    pub fn headline(&self) -> String {
        headline(&self.causes)
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.headline(), self.details())
    }
}

//! A model call that no turn answers: as it is reported to people, and as the proof examines it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::difference::Difference;
use super::reason::MissReason;
use crate::lookup::Lookup;
use retake_base::cause::{Cause, headline};
use retake_base::line::{Line, lines_of, texts};
use retake_core::key::{Key, attributed};

/// A model call that no turn answered, with everything that a person needs to find out why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// The scenario in which the call was made.
    pub scenario: String,
    /// The fixture in which the call was looked up.
    pub fixture: PathBuf,
    /// How the call came: `POST /v1/chat/completions`.
    pub via: String,
    /// The caller, if it is known.
    pub caller: Option<String>,
    /// The call's key, if it could be computed.
    pub key: Option<Key>,
    /// Why no turn answers.
    pub reason: MissReason,
    /// The nearest recorded turn, and where the two conversations differ, line by line.
    pub evidence: Vec<String>,
    /// How the call differs from the recording. There is at least one cause.
    pub causes: Vec<Cause>,
    /// The call's number among the scenario's model calls, counted from 1. It is 0 for a call that could not be looked up.
    pub number: usize,
    /// The evidence as lines that say for which side they stand.
    #[doc(hidden)]
    pub lines: Vec<Line>,
}

/// A call that missed, and the turn that it resembles most.
#[derive(Clone, Debug)]
pub struct MissedCall {
    /// What was looked up.
    pub lookup: Lookup,
    /// The key by which it was looked up.
    pub key: Key,
    /// The index of the turn that it resembles most.
    pub nearest: Option<usize>,
    /// Whether the recording cannot have a turn for it, whatever other calls ask for: its turn is missing, or its caller is new.
    pub(super) has_no_turn: bool,
    /// Why no turn answers.
    pub reason: MissReason,
    /// How the call differs from the recording.
    pub differences: Vec<Difference>,
    /// The evidence, line by line.
    pub lines: Vec<Line>,
    /// The call's number among the scenario's model calls, counted from 1.
    pub number: usize,
}

impl MissedCall {
    /// A call that missed, without any explanation.
    pub(crate) fn new(lookup: Lookup, key: Key, reason: MissReason, number: usize) -> MissedCall {
        let (differences, lines) = (Vec::new(), Vec::new());
        MissedCall { lookup, key, nearest: None, has_no_turn: false, reason, differences, lines, number }
    }

    /// A miss of this call with the explanation of this one.
    pub fn explained(&self, miss: &Miss) -> Miss {
        let causes = self.differences.iter().map(|difference| difference.cause.clone()).collect();
        Miss { evidence: texts(&self.lines), lines: self.lines.clone(), causes, ..miss.clone() }
    }
}

impl Miss {
    /// A call that missed, without any explanation.
    pub fn new(scenario: &str, fixture: &Path, via: String, reason: MissReason, cause: Cause) -> Miss {
        let (scenario, fixture, evidence, causes) = (scenario.to_owned(), fixture.to_owned(), Vec::new(), vec![cause]);
        let (caller, key, number, lines) = (None, None, 0, Vec::new());
        Miss { scenario, fixture, via, caller, key, reason, evidence, causes, number, lines }
    }

    /// Everything below the headline: the call, the evidence, and the key.
    pub fn details(&self) -> String {
        texts(&self.detail_lines()).join("\n")
    }

    /// The same as lines.
    #[doc(hidden)]
    pub fn detail_lines(&self) -> Vec<Line> {
        let who = format!("{}, in scenario `{}`", attributed(", by", self.caller.as_deref()), self.scenario);
        let number = if self.number == 0 { String::new() } else { format!("{}: ", self.number) };
        let mut lines = lines_of(&format!("  call       {number}{}{who}", self.via));
        let evidence = self.lines.iter().map(|line| line.clone().indented(2));
        let key = self.key.map(|key| {
            let (conversation, input) = (key.conversation_hash.short(), key.input_hash.short());
            Line::from(format!("  key        conversation {conversation}…, input {input}…"))
        });
        // Evidence that ends with rules to paste into the suite stays at the end.
        if matches!(self.reason, MissReason::Ambiguous { .. }) {
            lines.extend(key.into_iter().chain(evidence));
        } else {
            lines.extend(evidence.chain(key));
        }
        lines
    }

    /// One line that says how the call differs from the recording.
    pub fn headline(&self) -> String {
        headline(&self.causes)
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.headline(), self.details())
    }
}

//! The failure of a scenario: what went wrong, why, and what to do.

use std::fmt;

use retake_base::cause::{Cause, CauseKind, headline};
use retake_base::error::Error;
use retake_base::text::{readable, visible};

/// Why a scenario failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What changed or went wrong, each cause before its consequences. There is at least one.
    pub causes: Vec<Cause>,
    /// Hints that help at once, printed right below the first line.
    pub hints: Vec<String>,
    /// The evidence: a diff, a miss with its nearest turn, the end of a log.
    pub evidence: Vec<String>,
    /// The ways to resolve the failure. Each was tried, or is the command that accepts the change.
    pub advice: Vec<Advice>,
}

/// One way to resolve a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The case that it is for: `if the change is intended`.
    pub case: String,
    /// The command, or the lines to write.
    pub command: String,
}

impl Failure {
    /// A failure with these causes.
    pub fn of(causes: Vec<Cause>) -> Failure {
        Failure { causes, hints: Vec::new(), evidence: Vec::new(), advice: Vec::new() }
    }

    /// A failure of the kind [`CauseKind::Other`], with this first line.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure::of(vec![Cause::new(CauseKind::Other, what)])
    }

    /// The first line: what went wrong.
    pub fn headline(&self) -> String {
        headline(&self.causes)
    }

    /// The same failure with `shown` applied to each text.
    #[must_use]
    pub fn with_texts(self, shown: impl Fn(&str) -> String) -> Failure {
        let each = |texts: Vec<String>| texts.iter().map(|text| shown(text)).collect();
        Failure {
            causes: self.causes.iter().map(|cause| Cause::new(cause.kind, shown(&cause.what))).collect(),
            hints: each(self.hints),
            evidence: each(self.evidence),
            advice: self
                .advice
                .iter()
                .map(|it| Advice { case: shown(&it.case), command: shown(&it.command) })
                .collect(),
        }
    }

    /// Adds evidence, which may have several lines.
    #[must_use]
    pub fn evidence(mut self, text: impl Into<String>) -> Failure {
        self.evidence.push(text.into());
        self
    }

    /// Adds the scenario's description, if it has one.
    #[must_use]
    pub fn about(mut self, description: &str) -> Failure {
        if !description.trim().is_empty() {
            self.evidence.insert(0, format!("the scenario: {}", description.trim()));
        }
        self
    }

    /// Adds a way to resolve the failure: a case such as `if the change is intended`, and the command.
    #[must_use]
    pub fn resolve(mut self, case: impl Into<String>, command: impl Into<String>) -> Failure {
        self.advice.push(Advice { case: case.into(), command: command.into() });
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { hints: error.hints().to_vec(), ..Failure::new(error.first_line()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.headline())?;
        for hint in &self.hints {
            write!(f, "\n  {}", readable(hint))?;
        }
        for evidence in &self.evidence {
            write!(f, "\n\n{}", visible(evidence))?;
        }
        if !self.advice.is_empty() {
            writeln!(f)?;
        }
        self.advice.iter().try_for_each(|Advice { case, command }| write!(f, "\n{case}:\n    {command}"))
    }
}

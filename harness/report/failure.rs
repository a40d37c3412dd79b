//! A failed scenario, in the order in which a person asks: what, why, and what to do.

use std::fmt;

use crate::error::Error;
use crate::text::visible;

/// Why a scenario failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, in one line.
    pub headline: String,
    /// The evidence: a diff, a miss with its nearest turn, the tail of a log.
    pub evidence: Vec<String>,
    /// What resolves it: in which case, and the command or the line to write.
    pub resolve: Vec<(String, String)>,
}

impl Failure {
    /// A failure with its first line.
    pub fn new(headline: impl Into<String>) -> Failure {
        Failure { headline: headline.into(), evidence: Vec::new(), resolve: Vec::new() }
    }

    /// Adds evidence, which may have several lines.
    #[must_use]
    pub fn evidence(mut self, text: impl Into<String>) -> Failure {
        self.evidence.push(text.into());
        self
    }

    /// Says what the scenario is to show, in the words of its author; nothing where there are none.
    #[must_use]
    pub fn of(mut self, description: &str) -> Failure {
        if !description.trim().is_empty() {
            self.evidence.insert(0, format!("the scenario: {}", description.trim()));
        }
        self
    }

    /// Adds what resolves it in some case: `if the change is meant`, and the command.
    #[must_use]
    pub fn resolve(mut self, case: impl Into<String>, command: impl Into<String>) -> Failure {
        self.resolve.push((case.into(), command.into()));
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.headline)?;
        for evidence in &self.evidence {
            write!(f, "\n\n{}", visible(evidence))?;
        }
        if !self.resolve.is_empty() {
            writeln!(f)?;
        }
        self.resolve.iter().try_for_each(|(case, command)| write!(f, "\n{case}:\n    {command}"))
    }
}

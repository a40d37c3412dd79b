//! The failure of a scenario: what went wrong, why, and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::run_data::FailureData;
use retake_base::cause::{Cause, CauseKind, headline};
use retake_base::error::Error;
use retake_base::line::{Line, lines_of, texts};
use retake_base::text::{readable, visible};

/// Why a scenario failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What changed or went wrong, each cause before its consequences. There is at least one.
    pub causes: Vec<Cause>,
    /// Hints that help at once, printed right below the first line.
    pub hints: Vec<String>,
    /// The evidence: a diff, a miss with its nearest turn, the end of a log.
    pub evidence: Vec<Evidence>,
    /// The ways to resolve the failure. Each was tried, or is the command that accepts the change.
    pub advice: Vec<Advice>,
    /// What the command does to the scenario that a hint names.
    pub does: Option<Deed>,
}

/// One way to resolve a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The case that it is for: `if the change is intended`.
    pub case: String,
    /// The command that resolves it, or the lines to write.
    pub command: String,
    /// What the command does to its scenario; absent if it is none, or does something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<Deed>,
}

/// What a command does to a scenario, so that the commands of several can be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Deed {
    /// It records the scenario.
    Record,
    /// It records what the recording lacks.
    Resume,
    /// It writes the scenario's golden anew.
    Update,
    /// It shows the run.
    Explain,
}

impl Advice {
    /// Advice for a case.
    pub fn new(case: impl Into<String>, command: impl Into<String>) -> Advice {
        Advice { case: case.into(), command: command.into(), does: None }
    }

    /// The same advice, whose command does this to its scenario.
    pub fn does(self, deed: Deed) -> Advice {
        Advice { does: Some(deed), ..self }
    }
}

impl Failure {
    /// A failure with these causes.
    pub fn of(causes: Vec<Cause>) -> Failure {
        Failure { causes, hints: Vec::new(), evidence: Vec::new(), advice: Vec::new(), does: None }
    }

    /// A failure of the kind [`CauseKind::Other`], with this first line.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure::of(vec![Cause::new(CauseKind::Other, what)])
    }

    /// The first line: what went wrong.
    pub fn headline(&self) -> String {
        headline(&self.causes)
    }

    /// The data of it, which has the hints among the evidence.
    pub fn data(&self) -> FailureData {
        let (causes, advice) = (self.causes.clone(), self.advice.clone());
        let evidence = self.hints.iter().cloned().map(Evidence::from).chain(self.evidence.iter().cloned()).collect();
        FailureData { headline: self.headline(), causes, evidence, advice, does: self.does }
    }

    /// The same failure with `shown` applied to each text.
    pub fn with_texts(self, shown: impl Fn(&str) -> String) -> Failure {
        let each = |texts: Vec<String>| texts.iter().map(|text| shown(text)).collect();
        let told = |it: Cause| Cause { what: shown(&it.what), root: it.root.as_deref().map(&shown), ..it };
        let advised = |it: Advice| Advice { case: shown(&it.case), command: shown(&it.command), ..it };
        Failure {
            causes: self.causes.into_iter().map(told).collect(),
            hints: each(self.hints),
            evidence: self.evidence.into_iter().map(|evidence| evidence.with_texts(&shown)).collect(),
            advice: self.advice.into_iter().map(advised).collect(),
            does: self.does,
        }
    }

    /// Adds what another failure says, apart from its advice.
    pub fn add(&mut self, other: Failure) {
        self.causes.extend(other.causes);
        self.hints.extend(other.hints);
        self.evidence.extend(other.evidence);
        self.advice.extend(other.advice);
    }

    /// Adds evidence. A text may have several lines.
    pub fn evidence(mut self, evidence: impl Into<Evidence>) -> Failure {
        self.evidence.push(evidence.into());
        self
    }

    /// Adds the scenario's description, if it has one.
    pub fn about(mut self, description: &str) -> Failure {
        if !description.trim().is_empty() {
            self.evidence.insert(0, format!("the scenario: {}", description.trim()).into());
        }
        self
    }

    /// Adds a way to resolve the failure: a case such as `if the change is intended`, and the command.
    pub fn resolve(mut self, case: impl Into<String>, command: impl Into<String>) -> Failure {
        self.advice.push(Advice::new(case, command));
        self
    }

    /// The first line, and the hints below it.
    pub(super) fn head(&self) -> Vec<Line> {
        let lines = |hint: &String| lines_of(&format!("  {}", readable(hint)));
        std::iter::once(Line::from(self.headline())).chain(self.hints.iter().flat_map(lines)).collect()
    }

    /// The ways to resolve it.
    pub(super) fn advice_lines(&self) -> Vec<Line> {
        let each = |Advice { case, command, .. }: &Advice| lines_of(&format!("{case}:\n    {command}"));
        self.advice.iter().flat_map(each).collect()
    }

    /// All of it.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self.head();
        for evidence in &self.evidence {
            lines.push("".into());
            lines.extend(evidence.lines().into_iter().map(|line| Line { text: visible(&line.text), ..line }));
        }
        if !self.advice.is_empty() {
            lines.push("".into());
            lines.extend(self.advice_lines());
        }
        lines
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { hints: error.hints().to_vec(), ..Failure::of(vec![Cause::of(CauseKind::Other, &error)]) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&texts(&self.lines()).join("\n"))
    }
}

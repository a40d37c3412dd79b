//! One `[[step]]`: what is done, what it must answer, and what later steps need of the answer.

use std::collections::BTreeMap;

use super::agent::AgentRun;
use super::capture::CaptureFrom;
use super::page::PageVisit;
use super::request::Request;
use crate::error::{Error, Place};

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What reports call the step.
    pub name: Option<String>,
    /// What is done.
    pub action: Action,
    /// Names for later steps, and where in the answer their values are.
    pub capture: BTreeMap<String, CaptureFrom>,
    /// The caller of a model call that the step waits for behind its answer: one that comes in the background, from when the
    /// step began.
    pub awaits: Option<String>,
    /// Whether the answer goes into the golden: a stream always does.
    pub golden: bool,
    /// Where the step starts in `scenario.toml`.
    pub place: Place,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Sends a request to the system.
    Request(Box<Request>),
    /// Runs a command-line agent.
    Run(AgentRun),
    /// Opens a page in a browser.
    Browse(Box<PageVisit>),
    /// Takes steps at the same time.
    Together(Vec<Step>),
}

/// Why a step with `browser` cannot be taken by a program without the feature.
pub(crate) fn without_browser() -> Error {
    Error::new("this runner cannot open pages: it is built without the feature `browser`")
        .help("in Rust: cargo test --features browser, where Cargo.toml passes it on to retake")
        .help("the command: cargo install retake --features browser")
}

impl Step {
    /// The step itself, or the steps that it takes at the same time.
    pub fn parts(&self) -> &[Step] {
        match &self.action {
            Action::Together(steps) => steps,
            _ => std::slice::from_ref(self),
        }
    }

    /// Whether it needs a system: only commands do without.
    pub(crate) fn needs_system(&self) -> bool {
        self.parts().iter().any(|step| matches!(step.action, Action::Request(_) | Action::Browse(_)))
    }

    /// Whether it needs a browser.
    pub(crate) fn needs_browser(&self) -> bool {
        self.parts().iter().any(|step| matches!(step.action, Action::Browse(_)))
    }
}

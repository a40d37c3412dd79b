//! One `[[step]]`: what it does, and which values of the answer it captures for later steps.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::agent::AgentRun;
use super::capture::CaptureFrom;
use super::page::PageVisit;
use super::request::Request;
use super::socket::SocketTalk;
use retake_base::error::{Error, Place};

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: Option<String>,
    pub action: Action,
    /// The names of captured values, and where each value is in the answer.
    pub capture: BTreeMap<String, CaptureFrom>,
    /// The caller of a background model call that the step waits for after its answer. Calls that come after the beginning of
    /// the step count.
    pub awaits: Option<String>,
    /// Whether the answer goes into the golden. Streams of a scenario's own requests always do.
    pub golden: bool,
    /// The file that it is written in: `scenario.toml`, or `suite.toml` for a shared step.
    pub file: Arc<Path>,
    pub place: Place,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Sends a request to the system.
    Request(Box<Request>),
    Socket(Box<SocketTalk>),
    Run(AgentRun),
    /// Opens a page in a browser.
    Browse(Box<PageVisit>),
    /// Runs several steps at the same time.
    Together(Vec<Step>),
}

/// Returns the error of a step with `browser` in a program that is built without the feature.
pub fn without_browser() -> Error {
    Error::new("this runner cannot open pages: it is built without the feature `browser`")
        .help("in Rust: cargo test --features browser, where Cargo.toml passes it on to retake")
        .help("the command: cargo install retake-cli --features browser")
}

impl Step {
    /// Returns the step itself, or the steps that it runs at the same time.
    pub fn parts(&self) -> &[Step] {
        match &self.action {
            Action::Together(steps) => steps,
            _ => std::slice::from_ref(self),
        }
    }

    /// Whether it needs a system. A step that runs a command does not, unless its templates do.
    pub fn needs_system(&self) -> bool {
        self.parts()
            .iter()
            .any(|step| matches!(step.action, Action::Request(_) | Action::Socket(_) | Action::Browse(_)))
    }

    pub fn needs_browser(&self) -> bool {
        self.parts().iter().any(|step| matches!(step.action, Action::Browse(_)))
    }
}

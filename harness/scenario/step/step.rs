//! One `[[step]]`: what it does, and which values of the answer it captures for later steps.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::body::Upload;
use super::event::EventSpec;
use super::page::PageVisit;
use super::request::Request;
use super::socket::SocketTalk;
use crate::pointer::Pointer;
use crate::template::Template;
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
    Run(Box<AgentRun>),
    /// Waits for an event of the stream to which the scenario listens.
    After(EventSpec),
    /// Opens a page in a browser.
    Browse(Box<PageVisit>),
    /// Runs several steps at the same time.
    Together(Vec<Step>),
}

/// Returns the error of a step with `browser` in a program that is built without the feature.
pub fn without_browser() -> Error {
    Error::new("this runner cannot open pages: it is built without the feature `browser`")
        .help("in Rust: cargo test --features browser, where Cargo.toml passes it on to retake")
        .help("the command, in a checkout of Retake: cargo install --path harness/cli --features browser")
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
        self.parts().iter().any(|step| !matches!(step.action, Action::Run(_) | Action::Together(_)))
    }

    pub fn needs_browser(&self) -> bool {
        self.parts().iter().any(|step| matches!(step.action, Action::Browse(_)))
    }
}

/// A command-line agent. The lines of its standard output are its events.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// The folder in which it runs, relative to the root. If absent, it runs in the stage's work folder.
    pub cwd: Option<Template>,
    /// Its environment variables, in addition to those that every program of a stage gets.
    pub env: BTreeMap<String, Template>,
    /// Files that lie in the work folder when it starts: `field` is the name there.
    pub files: Vec<Upload>,
    /// The expected exit code.
    pub exit: i32,
    /// Which events it starts and ends with.
    pub stream: StreamSpec,
}

/// The first and the last event of a stream, as far as the step names them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamSpec {
    /// The event that has to come first.
    pub first: Option<String>,
    /// The event at which the capture stops. A stream that ends before it fails.
    pub last: Option<EventSpec>,
    /// Whether the client leaves at `last` although the stream goes on.
    pub cancel: bool,
}

/// The source of a captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFrom {
    /// A cookie that this answer or an earlier one sets.
    Cookie(String),
    Header(String),
    /// A value in the JSON body.
    Json(Pointer),
    /// A value in an event: in the first event of this name that has the value. A step that waits for an event takes the latest
    /// one that came up to it.
    Sse {
        /// The event's name.
        event: String,
        /// The place in its payload.
        pointer: Pointer,
    },
}

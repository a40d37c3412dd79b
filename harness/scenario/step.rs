//! One `[[step]]`: what is done, what it must answer, and what later steps need of the answer.

use std::collections::BTreeMap;
use std::fmt;

use super::body::StepBody;
use super::capture::CaptureFrom;
use super::template::Template;
use super::template_json::TemplateJson;
use super::words::Pointer;
use crate::error::Place;

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What reports call the step.
    pub name: Option<String>,
    /// What is done.
    pub action: Action,
    /// Names for later steps, and where in the answer their values are.
    pub capture: BTreeMap<String, CaptureFrom>,
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
    Run(Run),
    /// Takes steps at the same time.
    Together(Vec<Step>),
}

/// A request, and how its answer is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path and query, from the `/` on.
    pub path: Template,
    /// Header names as they were written, sorted, with their values.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: StepBody,
    /// The statuses that are right; without them any 2xx is.
    pub status: Option<Vec<u16>>,
    /// Whether it comes back to a stream: with the id of the last event of the latest stream before it.
    pub reconnect: bool,
    /// How the answer is taken.
    pub take: Take,
}

/// How the answer to a request is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Take {
    /// As a whole.
    Body,
    /// As a whole, again and again, until a value in it is the wanted one.
    Until(Wait),
    /// As a stream of events, to its end.
    Stream(StreamSpec),
    /// As a stream of events beside the steps that follow.
    Listen(StreamSpec),
}

/// What a repeated request waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Where in the body.
    pub json: Pointer,
    /// The value that has to be there.
    pub is: TemplateJson,
}

/// Which events a stream starts and ends with, where the step says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSpec {
    /// The event that has to come first.
    pub first: Option<String>,
    /// The event at which the capture stops; the stream's end before it is a failure.
    pub last: Option<String>,
    /// Whether `last` is where the client leaves, though more would come.
    pub cancel: bool,
}

/// A command-line agent; the lines of its standard output are its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// Where it runs, relative to the root; the stage's work folder where absent.
    pub cwd: Option<Template>,
    /// All of its environment beyond what every program of a stage gets.
    pub env: BTreeMap<String, Template>,
    /// The exit code that is right.
    pub exit: i32,
    /// Which events it starts and ends with.
    pub stream: StreamSpec,
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
        self.parts().iter().any(|step| matches!(step.action, Action::Request(_)))
    }
}

impl Request {
    /// What is known of the stream, where the answer is taken as one.
    pub(crate) fn stream(&self) -> Option<&StreamSpec> {
        match &self.take {
            Take::Stream(stream) | Take::Listen(stream) => Some(stream),
            Take::Body | Take::Until(_) => None,
        }
    }
}

/// A request method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Method {
    /// The method as HTTP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! A step that runs a command-line agent.

use std::collections::BTreeMap;

use super::stream::StreamSpec;
use crate::scenario::template::Template;

/// A command-line agent; the lines of its standard output are its events.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
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

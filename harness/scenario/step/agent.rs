//! A step that runs a command-line agent.

use std::collections::BTreeMap;

use super::stream::StreamSpec;
use crate::template::Template;

/// A command-line agent. The lines of its standard output are its events.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// The folder in which it runs, relative to the root. If absent, it runs in the stage's work folder.
    pub cwd: Option<Template>,
    /// Its environment variables, in addition to those that every program of a stage gets.
    pub env: BTreeMap<String, Template>,
    /// The expected exit code.
    pub exit: i32,
    /// Which events it starts and ends with.
    pub stream: StreamSpec,
}

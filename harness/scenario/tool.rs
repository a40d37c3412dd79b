//! The tools that a suite declares: how to execute their calls, and how to compare what they return.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::options::NormalizeRule;
use super::template::Template;

/// `[tools.NAME]`: how to execute the calls of one tool, or of all tools of a server.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// What executes them.
    pub by: ToolBy,
    /// The names of its tools in recordings. Empty for a server whose every tool is meant.
    pub tools: Vec<String>,
    /// The prefix that recordings put before the server's names of its tools.
    pub prefix: String,
    /// How long a call may take.
    pub timeout: Duration,
    /// JSON pointers to parts of an observation that are not compared, such as `/observation/metadata/pid`.
    pub ignore: Vec<String>,
    /// Replacements in observations before they are compared, made after the suite's own.
    pub normalize: Vec<NormalizeRule>,
    /// The environment variables that its templates use as `{{ secret.NAME }}`.
    pub secrets: BTreeSet<String>,
}

/// What executes the calls of a tool.
#[derive(Clone, Debug)]
pub enum ToolBy {
    /// A server that speaks MCP on its standard input and output.
    McpCommand(ToolCommand),
    /// A server that speaks MCP over streamable HTTP.
    McpUrl(ToolUrl),
    /// An endpoint to which the arguments are posted as JSON.
    Http(ToolUrl),
    /// A command that gets the arguments as JSON on its standard input.
    Command(ToolCommand),
    /// Nothing: it is a tool of the agent itself, and its recorded results are used as they are.
    AsRecorded,
}

/// A program.
#[derive(Clone, Debug)]
pub struct ToolCommand {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// The folder in which it runs, relative to the root. If absent, it runs in the stage's work folder.
    pub cwd: Option<Template>,
    /// Its environment variables, in addition to those that every program of a stage gets.
    pub env: BTreeMap<String, Template>,
}

#[derive(Clone, Debug)]
pub struct ToolUrl {
    pub url: Template,
    /// Headers to add to each request.
    pub headers: BTreeMap<String, Template>,
}

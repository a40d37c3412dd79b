//! The tools that a suite declares: what executes their calls, and what of their observations is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::normalize::NormalizeRule;
use super::template::Template;

/// `[tools.NAME]`: what executes the calls of one tool, or of all tools of a server.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// What executes them.
    pub by: ToolBy,
    /// The names of its tools in recordings; of a server, all that it lists where this is empty.
    pub tools: Vec<String>,
    /// What recordings put before the names that a server has.
    pub prefix: String,
    /// How long a call may take.
    pub timeout: Duration,
    /// Places of an observation that are not compared, as JSON pointers: `/observation/metadata/pid`.
    pub ignore: Vec<String>,
    /// What is replaced in observations before they are compared, after the suite's own rules.
    pub normalize: Vec<NormalizeRule>,
    /// The environment variables whose values its templates take as `{{ secret.NAME }}`.
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
    /// Nothing: it is a tool of the agent's own, and its calls are taken as they were recorded.
    AsRecorded,
}

/// A program.
#[derive(Clone, Debug)]
pub struct ToolCommand {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// Where it runs, relative to the root; in the stage's folder where absent.
    pub cwd: Option<Template>,
    /// All of its environment beyond what every program of a stage gets.
    pub env: BTreeMap<String, Template>,
}

/// An address.
#[derive(Clone, Debug)]
pub struct ToolUrl {
    /// Where it is.
    pub url: Template,
    /// What each request brings beside what it has to.
    pub headers: BTreeMap<String, Template>,
}

//! What is typed of a live tool: `[tools.NAME]`.

use serde::Deserialize;

use super::normalize::RawNormalize;
use super::system::Texts;
use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::RawDuration;

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawTool {
    /// An MCP server: all tools that it lists, or those in `tools`.
    /// Example: `{ command = ["uvx", "mcp-server-fetch"] }`.
    pub(crate) mcp: Option<Spanned<RawMcp>>,
    /// An address to which the arguments of each call are posted.
    /// Example: `"http://127.0.0.1:8123/search"`.
    pub(crate) http: Option<Spanned<String>>,
    /// A program that is run for each call, with the arguments as JSON on its standard input and as `{{ args.NAME }}`.
    /// Example: `["cat", "{{ args.path }}"]`.
    pub(crate) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// Takes what was recorded for what it returns: for tools that are the agent's own.
    /// Example: `true`.
    pub(crate) as_recorded: Option<Spanned<bool>>,
    /// The folder in which a command runs, from the project's.
    /// Default: a folder of the run. Example: `"tools"`.
    pub(crate) cwd: Option<Spanned<String>>,
    /// The environment of a command, beside PATH and a home and a temporary folder.
    /// Default: `{}`. Example: `{ LANG = "C" }`.
    pub(crate) env: Option<Spanned<Texts>>,
    /// Headers of the requests to an address.
    /// Default: `{}`. Example: `{ Authorization = "Bearer {{ secret.SEARCH_KEY }}" }`.
    pub(crate) headers: Option<Spanned<Texts>>,
    /// The tools that it executes.
    /// Default: the one of its name, or all that a server lists. Example: `["fetch"]`.
    pub(crate) tools: Option<Spanned<Vec<String>>>,
    /// What recordings put before the names of a server's tools.
    /// Example: `"web_"`.
    pub(crate) prefix: Option<Spanned<String>>,
    /// How long a call may take.
    /// Default: `"60s"`. Example: `"5s"`.
    pub(crate) timeout: Option<Spanned<RawDuration>>,
    /// JSON pointers to what may differ in what it returns.
    /// Default: `[]`. Example: `["/observation/metadata/pid"]`.
    pub(crate) ignore: Option<Vec<Spanned<String>>>,
    /// What varies in what it returns.
    /// Default: `[]`. Example: `[{ pattern = "pid [0-9]+", replace = "pid N" }]`.
    pub(crate) normalize: Option<Vec<RawNormalize>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawMcp {
    /// The program of a server that speaks over standard input and output.
    /// Example: `["uvx", "mcp-server-fetch"]`.
    pub(crate) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The address of a server that runs already.
    /// Example: `"http://127.0.0.1:8124/mcp"`.
    pub(crate) url: Option<Spanned<String>>,
}

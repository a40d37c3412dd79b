//! The fields of `[tools.NAME]`, as they are written in the file.

use super::suite::RawNormalize;
use crate::read::spanned::{Spanned, Texts};
use crate::read::values::RawDuration;

tables! {
pub(crate) struct RawTool {
    /// An MCP server. It executes the calls of all tools that it lists, or of those in `tools`.
    /// Example: `{ command = ["uvx", "mcp-server-fetch"] }`.
    pub mcp: Option<Spanned<RawMcp>>,
    /// An HTTP server: the arguments of each call are posted to this URL, and `{{ tools.NAME.url }}` is the address of its double.
    /// Example: `"http://127.0.0.1:8123/search"`.
    pub http: Option<Spanned<String>>,
    /// A program to run for each call. It gets the arguments as JSON on its standard input, and as `{{ args.NAME }}`.
    /// Example: `["cat", "{{ args.path }}"]`.
    pub command: Option<Spanned<Vec<Spanned<String>>>>,
    /// Takes the recorded result as what the tool returns, without executing it: for the agent's own tools.
    /// Example: `true`.
    pub as_recorded: Option<Spanned<bool>>,
    /// The folder in which a command runs, relative to the project's folder.
    /// Default: the run's work folder. Example: `"tools"`.
    pub cwd: Option<Spanned<String>>,
    /// The environment variables of a command, in addition to PATH, a home and a temporary folder.
    /// Default: `{}`. Example: `{ LANG = "C" }`.
    pub env: Option<Spanned<Texts>>,
    /// Headers of the requests to a URL.
    /// Default: `{}`. Example: `{ Authorization = "Bearer {{ secret.SEARCH_KEY }}" }`.
    pub headers: Option<Spanned<Texts>>,
    /// The tools whose calls it executes.
    /// Default: the tool's own name, or all that a server lists. Example: `["fetch"]`.
    pub tools: Option<Spanned<Vec<String>>>,
    /// The prefix of the server's tool names in recordings.
    /// Example: `"web_"`.
    pub prefix: Option<Spanned<String>>,
    /// How long a call may take.
    /// Default: `"60s"`. Example: `"5s"`.
    pub timeout: Option<Spanned<RawDuration>>,
    /// JSON pointers to parts of a result that are not compared.
    /// Default: `[]`. Example: `["/observation/metadata/pid"]`.
    pub ignore: Option<Vec<Spanned<String>>>,
    /// Replacements for text that varies in results.
    /// Default: `[]`. Example: `[{ pattern = "pid [0-9]+", replace = "pid N" }]`.
    pub normalize: Option<Vec<RawNormalize>>,
}

pub(crate) struct RawMcp {
    /// The program of a server that speaks over standard input and output.
    /// Example: `["uvx", "mcp-server-fetch"]`.
    pub command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The address of a server that is already running.
    /// Example: `"http://127.0.0.1:8124/mcp"`.
    pub url: Option<Spanned<String>>,
}
}

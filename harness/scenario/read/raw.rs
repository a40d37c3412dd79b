//! What a person typed, field by field, before anything is checked against anything else.
//!
//! A new field begins here, in its struct. All lists of fields are made of these types (`fields`).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::json::RawJson;
use super::spanned::Spanned;
use super::values::{Kind, Pattern, RawDuration, RawStream, Statuses};
use crate::events::Detail;
use crate::model::OfferedTools;
use crate::scenario::options::{Delays, Level, Panics, Unused};
use crate::scenario::pointer::Pointer;
use crate::scenario::scenario::{ToolsFrom, Unobserved};

/// Text keys and values, each with its place.
pub(super) type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSuite {
    /// The system of scenarios that name none; where the suite has one system only, that one.
    /// Example: `"agent"`.
    pub(super) system: Option<Spanned<String>>,
    /// The systems under test, by name. A router of a Rust project is registered in tests/scenarios.rs instead.
    /// Default: `{}`. Example: `{ agent = { command = ["python3", "app.py"], ready = { http = "/health" } } }`.
    #[serde(default)]
    pub(super) systems: BTreeMap<Spanned<String>, Spanned<RawSystem>>,
    /// What executes the calls of recorded tools again, by the name of the tool or server.
    /// Default: `{}`. Example: `{ read_file = { command = ["cat", "{{ args.path }}"] } }`.
    #[serde(default)]
    pub(super) tools: BTreeMap<Spanned<String>, Spanned<RawTool>>,
    /// Rules that tell who made a call that does not say so itself; the first that fits counts.
    /// Default: `[]`. Example: `[{ name = "middleware:title", when = { message = "^Title" } }]`.
    #[serde(default)]
    pub(super) callers: Vec<Spanned<RawCaller>>,
    /// What varies from run to run in texts, beside UUIDs, time stamps, dates and temporary paths.
    /// Default: `[]`. Example: `[{ pattern = "order-[0-9]+", replace = "<ORDER>" }]`.
    #[serde(default)]
    pub(super) normalize: Vec<RawNormalize>,
    /// Other names of callers: alias to name.
    /// Default: `{}`. Example: `{ old_agent = "lead_agent" }`.
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, Spanned<String>>,
    /// Which turns no call has to ask for: none (`"fail"`), all (`"allow"`), or those of the callers in a list.
    /// Default: `"fail"`. Example: `["suggest_agent"]`.
    pub(super) unused: Option<Unused>,
    /// How much each part of a call weighs that is not as it was recorded.
    /// Default: `{}`. Example: `{ prompt = "fail" }`.
    pub(super) drift: Option<RawDrift>,
    /// How long no model call may have come, once the steps are done, before the scenario is over.
    /// Default: `"2s"`. Example: `"500ms"`.
    pub(super) settle: Option<RawDuration>,
    /// How long its systems stay after that, for calls that come late.
    /// Default: `"500ms"`. Example: `"0ms"`.
    pub(super) linger: Option<RawDuration>,
    /// What a panic of a router is: a failure, or what its service catches.
    /// Default: `"fail"`. Example: `"allow"`.
    pub(super) panics: Option<Panics>,
    /// Environment variables whose values never reach a file, beside those that templates name.
    /// Default: `[]`. Example: `["STRIPE_KEY"]`.
    pub(super) secrets: Option<Vec<Spanned<String>>>,
    /// How long a scenario may take.
    /// Default: `"60s"`. Example: `"90s"`.
    pub(super) timeout: Option<Spanned<RawDuration>>,
    /// Whether the pauses of recorded streams are replayed.
    /// Default: `"none"`. Example: `"recorded"`.
    pub(super) delays: Option<Delays>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSystem {
    /// Another system of this file: what this one does not say is as there; `env` and `files` are merged name by name.
    /// Example: `"agent"`.
    pub(super) extends: Option<Spanned<String>>,
    /// The program that is started for each scenario, and its arguments.
    /// Example: `["uvicorn", "app:app", "--port", "{{ port }}"]`.
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The folder in which it runs, from the project's.
    /// Default: `"."`. Example: `"services/agent"`.
    pub(super) cwd: Option<Spanned<String>>,
    /// Runs it in a copy of `cwd`, which is then its `{{ workdir }}`: for systems that write beside their code.
    /// Default: `false`. Example: `true`.
    pub(super) cwd_copy: Option<Spanned<bool>>,
    /// Files of `{{ workdir }}` that are rendered before the start, each from a file of the project.
    /// Default: `{}`. Example: `{ "config.yaml" = "templates/config.yaml" }`.
    pub(super) files: Option<Spanned<Texts>>,
    /// Its environment, beside PATH and a home and a temporary folder of its own. Nothing else of the runner's reaches
    /// it.
    /// Default: `{}`. Example: `{ PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{
    /// model.key }}" }`.
    pub(super) env: Option<Spanned<Texts>>,
    /// How to see that it is ready. A system with a `command` needs it.
    /// Example: `{ http = "/health", timeout = "30s" }`.
    pub(super) ready: Option<Spanned<RawReady>>,
    /// What is run in `cwd` before the first start, and again only where the files there changed.
    /// Example: `["pnpm", "build"]`.
    pub(super) build: Option<Spanned<Vec<Spanned<String>>>>,
    /// The port that it always has, where others have it built in. Its scenarios play one after another.
    /// Default: a free one. Example: `8011`.
    pub(super) port: Option<Spanned<u16>>,
    /// Whether all scenarios share one process, one after another.
    /// Default: `false`. Example: `true`.
    pub(super) shared: Option<Spanned<bool>>,
    /// The systems that are started before it; `{{ systems.NAME }}` is then the address of one.
    /// Default: `[]`. Example: `["gateway"]`.
    pub(super) needs: Option<Vec<Spanned<String>>>,
    /// The address, on this machine, of a system that somebody else has started.
    /// Example: `"http://127.0.0.1:8000"`.
    pub(super) url: Option<Spanned<String>>,
    /// How a system with a `url` was told to reach the model.
    /// Example: `{ addr = "127.0.0.1:9009", key_env = "MODEL_KEY" }`.
    pub(super) model: Option<Spanned<RawModel>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawTool {
    /// An MCP server: all tools that it lists, or those in `tools`.
    /// Example: `{ command = ["uvx", "mcp-server-fetch"] }`.
    pub(super) mcp: Option<Spanned<RawMcp>>,
    /// An address to which the arguments of each call are posted.
    /// Example: `"http://127.0.0.1:8123/search"`.
    pub(super) http: Option<Spanned<String>>,
    /// A program that is run for each call, with the arguments as JSON on its standard input and as `{{ args.NAME }}`.
    /// Example: `["cat", "{{ args.path }}"]`.
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// Takes what was recorded for what it returns: for tools that are the agent's own.
    /// Example: `true`.
    pub(super) as_recorded: Option<Spanned<bool>>,
    /// The folder in which a command runs, from the project's.
    /// Default: a folder of the run. Example: `"tools"`.
    pub(super) cwd: Option<Spanned<String>>,
    /// The environment of a command, beside PATH and a home and a temporary folder.
    /// Default: `{}`. Example: `{ LANG = "C" }`.
    pub(super) env: Option<Spanned<Texts>>,
    /// Headers of the requests to an address.
    /// Default: `{}`. Example: `{ Authorization = "Bearer {{ secret.SEARCH_KEY }}" }`.
    pub(super) headers: Option<Spanned<Texts>>,
    /// The tools that it executes.
    /// Default: the one of its name, or all that a server lists. Example: `["fetch"]`.
    pub(super) tools: Option<Spanned<Vec<String>>>,
    /// What recordings put before the names of a server's tools.
    /// Example: `"web_"`.
    pub(super) prefix: Option<Spanned<String>>,
    /// How long a call may take.
    /// Default: `"60s"`. Example: `"5s"`.
    pub(super) timeout: Option<Spanned<RawDuration>>,
    /// JSON pointers to what may differ in what it returns.
    /// Default: `[]`. Example: `["/observation/metadata/pid"]`.
    pub(super) ignore: Option<Vec<Spanned<String>>>,
    /// What varies in what it returns.
    /// Default: `[]`. Example: `[{ pattern = "pid [0-9]+", replace = "pid N" }]`.
    pub(super) normalize: Option<Vec<RawNormalize>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawMcp {
    /// The program of a server that speaks over standard input and output.
    /// Example: `["uvx", "mcp-server-fetch"]`.
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The address of a server that runs already.
    /// Example: `"http://127.0.0.1:8124/mcp"`.
    pub(super) url: Option<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawReady {
    /// A path that answers a GET with success.
    /// Example: `"/health"`.
    pub(super) http: Option<Spanned<String>>,
    /// A regular expression that fits a line of its log.
    /// Example: `"listening on"`.
    pub(super) line: Option<Pattern>,
    /// How long that may take.
    /// Default: `"30s"`. Example: `"60s"`.
    pub(super) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawModel {
    /// The address that the model server takes.
    /// Example: `"127.0.0.1:9009"`.
    pub(super) addr: Spanned<String>,
    /// The environment variable, of the runner, with the key that the system sends.
    /// Example: `"MODEL_KEY"`.
    pub(super) key_env: Spanned<String>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCaller {
    /// The caller whose calls they are.
    /// Example: `"middleware:title"`.
    pub(super) name: Spanned<String>,
    /// What of a call has to fit, all of it. Only the last rule may be empty, and fits every call.
    /// Example: `{ message = "^Generate a concise title", tools = false }`.
    pub(super) when: Spanned<RawWhen>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWhen {
    /// Regular expressions for headers, by name.
    /// Default: `{}`. Example: `{ x-part = "^title$" }`.
    #[serde(default)]
    pub(super) header: BTreeMap<Spanned<String>, Pattern>,
    /// Regular expressions for entries of the call's metadata.
    /// Default: `{}`. Example: `{ part = "^title$" }`.
    #[serde(default)]
    pub(super) metadata: BTreeMap<String, Pattern>,
    /// A regular expression for the model's name.
    /// Example: `"-mini$"`.
    pub(super) model: Option<Pattern>,
    /// A regular expression for the system prompt.
    /// Example: `"^You write titles"`.
    pub(super) system: Option<Pattern>,
    /// A regular expression for the last message.
    /// Example: `"^Generate a concise title"`.
    pub(super) message: Option<Pattern>,
    /// Whether the call offers tools, or the names of tools that it offers.
    /// Example: `false`.
    pub(super) tools: Option<OfferedTools>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawNormalize {
    /// A regular expression. It acts on texts, one by one.
    /// Example: `"order-[0-9]+"`.
    pub(super) pattern: Spanned<Pattern>,
    /// What stands in its place; `$1` is its first group.
    /// Example: `"<ORDER>"`.
    pub(super) replace: Spanned<String>,
}

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawDrift {
    /// The system prompt.
    /// Default: `"note"`. Example: `"fail"`.
    pub(super) prompt: Option<Level>,
    /// The tools that the call offers.
    /// Default: `"note"`. Example: `"fail"`.
    pub(super) tools: Option<Level>,
    /// The model's name.
    /// Default: `"note"`. Example: `"ignore"`.
    pub(super) model: Option<Level>,
    /// Temperature and the like.
    /// Default: `"ignore"`. Example: `"note"`.
    pub(super) settings: Option<Level>,
    /// Tool results that became an error, empty, or changed places.
    /// Default: `"fail"`. Example: `"note"`.
    pub(super) results: Option<Level>,
    /// What a tool returns that is executed again.
    /// Default: `"fail"`. Example: `"note"`.
    pub(super) observation: Option<Level>,
}

/// A scenario, or one of its cases, which may override any field.
#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawScenario {
    /// What it shows. A failure says so.
    /// Default: `""`. Example: `"Writes a note, reads it back, answers"`.
    pub(super) description: Option<String>,
    /// Whether it drives a system, or executes recorded calls of tools again.
    /// Default: `"system"`. Example: `"tools"`.
    pub(super) kind: Option<Spanned<Kind>>,
    /// The folder of an OpenHands conversation whose tool calls are executed again, from the project's.
    /// Example: `"recordings/conversation"`.
    pub(super) recording: Option<Spanned<String>>,
    /// Which conversation of that folder.
    /// Example: `"3f2a"`.
    pub(super) conversation: Option<Spanned<String>>,
    /// What becomes of recorded actions without an observation.
    /// Default: `"skip"`. Example: `"execute"`.
    pub(super) unobserved: Option<Spanned<Unobserved>>,
    /// Where the agent's tool servers answer from: the fixture, or the real ones.
    /// Default: `"recorded"`. Example: `"live"`.
    pub(super) tools: Option<Spanned<ToolsFrom>>,
    /// The system that it is played on.
    /// Default: that of suite.toml. Example: `"gateway"`.
    pub(super) system: Option<Spanned<String>>,
    /// Whose turns it replays. `"none"` says that no model is called.
    /// Default: the scenario's name. Example: `"write_read_file"`.
    pub(super) fixture: Option<Spanned<String>>,
    /// How long a scenario may take.
    /// Default: that of suite.toml. Example: `"90s"`.
    pub(super) timeout: Option<Spanned<RawDuration>>,
    /// How long no model call may have come, once the steps are done, before the scenario is over.
    /// Default: that of suite.toml. Example: `"500ms"`.
    pub(super) settle: Option<RawDuration>,
    /// How long its systems stay after that, for calls that come late.
    /// Default: that of suite.toml. Example: `"0ms"`.
    pub(super) linger: Option<RawDuration>,
    /// What a panic of a router is: a failure, or what its service catches.
    /// Default: that of suite.toml. Example: `"allow"`.
    pub(super) panics: Option<Panics>,
    /// Which turns no call has to ask for: none (`"fail"`), all (`"allow"`), or those of the callers in a list.
    /// Default: that of suite.toml. Example: `["suggest_agent"]`.
    pub(super) unused: Option<Unused>,
    /// How much each part of a call weighs that is not as it was recorded.
    /// Default: that of suite.toml. Example: `{ prompt = "fail" }`.
    pub(super) drift: Option<RawDrift>,
    /// Whether the pauses of recorded streams are replayed.
    /// Default: that of suite.toml. Example: `"recorded"`.
    pub(super) delays: Option<Delays>,
    /// Environment variables whose values never reach a file, beside those that templates name.
    /// Default: that of suite.toml. Example: `["STRIPE_KEY"]`.
    pub(super) secrets: Option<Vec<Spanned<String>>>,
    /// What holds while it is recorded.
    /// Default: `{}`. Example: `{ errors = true }`.
    pub(super) record: Option<RawRecord>,
    /// Values of its own for its templates, by name.
    /// Default: `{}`. Example: `{ prompt = "Say hello" }`.
    pub(super) vars: Option<BTreeMap<Spanned<String>, Spanned<RawJson>>>,
    /// What is done, one after another. The first that fails ends the scenario.
    /// Example: `[{ get = "/health" }]`.
    pub(super) step: Option<Vec<Spanned<RawStep>>>,
    /// What its golden holds.
    /// Default: `{}`. Example: `{ detail = "keys" }`.
    pub(super) golden: Option<RawGolden>,
    /// Trials of their own, `NAME.CASE`, each with a fixture and a golden of that name: any field, in place of the
    /// scenario's. Tables are merged, lists replaced.
    /// Example: `{ short = { vars = { prompt = "Hi" } } }`.
    pub(super) case: Option<BTreeMap<Spanned<String>, Spanned<RawScenario>>>,
}

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawRecord {
    /// Whether a provider's error becomes a turn.
    /// Default: `false`. Example: `true`.
    pub(super) errors: Option<bool>,
    /// How long it may take while it is recorded.
    /// Default: that of the scenario. Example: `"15m"`.
    pub(super) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawStep {
    /// What the step is called where it fails.
    /// Example: `"register"`.
    pub(super) name: Option<Spanned<String>>,
    /// Sends a GET to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(super) get: Option<Spanned<String>>,
    /// Sends a POST to this path.
    /// Example: `"/api/threads"`.
    pub(super) post: Option<Spanned<String>>,
    /// Sends a PUT to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(super) put: Option<Spanned<String>>,
    /// Sends a PATCH to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(super) patch: Option<Spanned<String>>,
    /// Sends a DELETE to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(super) delete: Option<Spanned<String>>,
    /// Opens a stream by a GET, and goes on with the next step while it is heard: to its `last`, or the scenario's end.
    /// Example: `"/events"`.
    pub(super) listen: Option<Spanned<String>>,
    /// Runs a command-line agent, and takes the JSON lines of its standard output as events.
    /// Example: `["agent", "exec", "--json", "{{ prompt }}"]`.
    pub(super) run: Option<Spanned<Vec<Spanned<String>>>>,
    /// Opens a page of the system, or of another one that needs it: `"frontend:/chat"`.
    /// Example: `"/chat/new"`.
    pub(super) browser: Option<Spanned<String>>,
    /// Steps that are done at the same time.
    /// Example: `[{ post = "/a" }, { post = "/b" }]`.
    pub(super) together: Option<Spanned<Vec<Spanned<RawStep>>>>,
    /// Headers of the request.
    /// Default: `{}`. Example: `{ "X-CSRF-Token" = "{{ csrf }}" }`.
    pub(super) headers: Option<Spanned<Texts>>,
    /// A JSON body.
    /// Example: `{ message = "{{ prompt }}" }`.
    pub(super) json: Option<Spanned<RawJson>>,
    /// A file of the scenario's folder, or of `../_shared/`, with the JSON body: TOML has no null.
    /// Example: `"body.json"`.
    pub(super) json_file: Option<Spanned<String>>,
    /// The fields of a form; beside `files` those of a multipart body.
    /// Example: `{ user = "ada" }`.
    pub(super) form: Option<Spanned<RawJson>>,
    /// Files that are uploaded, by field: of the scenario's folder, or of `../_shared/`.
    /// Example: `{ document = "note.txt" }`.
    pub(super) files: Option<Spanned<Texts>>,
    /// The folder in which `run` runs, from the project's.
    /// Default: `"."`. Example: `"agents/cli"`.
    pub(super) cwd: Option<Spanned<String>>,
    /// The environment of `run`, beside PATH and a home and a temporary folder.
    /// Default: `{}`. Example: `{ OPENAI_BASE_URL = "{{ model.openai }}" }`.
    pub(super) env: Option<Spanned<Texts>>,
    /// The exit code that `run` has to end with.
    /// Default: `0`. Example: `2`.
    pub(super) exit: Option<Spanned<i32>>,
    /// The HTTP status that has to come, or a list of those that may.
    /// Default: any success. Example: `[200, 201]`.
    pub(super) status: Option<Spanned<Statuses>>,
    /// Values of the answer for later steps, by name: `cookie:NAME`, `header:NAME`, `json:/pointer`,
    /// `sse:EVENT:/pointer` (the first such event).
    /// Default: `{}`. Example: `{ thread = "json:/thread_id" }`.
    pub(super) capture: Option<Spanned<Texts>>,
    /// Takes the answer as a stream of events, SSE or JSON lines. It goes into the golden. With `last` it ends at that
    /// event, and has to come to it.
    /// Default: `false`. Example: `{ first = "metadata", last = "end" }`.
    pub(super) stream: Option<Spanned<RawStream>>,
    /// Leaves the stream at an event, as a client that goes away.
    /// Example: `{ after = "values" }`.
    pub(super) cancel: Option<Spanned<RawCancel>>,
    /// Comes back to the latest stream, with the `Last-Event-ID` of its last event.
    /// Default: `false`. Example: `true`.
    pub(super) reconnect: Option<Spanned<bool>>,
    /// Asks again and again until a value of the answer is as said.
    /// Example: `{ json = "/status", is = "done" }`.
    pub(super) wait: Option<Spanned<RawWait>>,
    /// Waits, behind its answer, for a model call that this caller makes in the background.
    /// Example: `{ caller = "middleware:title" }`.
    #[serde(rename = "await")]
    pub(super) awaits: Option<Spanned<RawAwait>>,
    /// Puts an answer that is no stream into the golden.
    /// Default: true for streams. Example: `true`.
    pub(super) golden: Option<Spanned<bool>>,
    /// What is done and seen on the page, one after another.
    /// Default: `[]`. Example: `[{ click = "role:button Send" }]`.
    #[serde(rename = "do")]
    pub(super) acts: Option<Spanned<Vec<Spanned<RawAct>>>>,
    /// The page's local storage, set before its first script.
    /// Default: `{}`. Example: `{ theme = "dark" }`.
    pub(super) storage: Option<Spanned<Texts>>,
    /// Requests of the page whose answers go into the golden; `*` is any part.
    /// Default: `[]`. Example: `["POST /api/threads/*/runs/stream"]`.
    pub(super) traffic: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawAct {
    /// Waits until this is seen. It is found by its text, or by `role:ROLE NAME`, `label:`, `placeholder:`, `testid:`
    /// or `css:`.
    /// Example: `"{{ turn('lead_agent').text }}"`.
    pub(super) see: Option<Spanned<String>>,
    /// Waits until this is not seen.
    /// Example: `"Loading"`.
    pub(super) unseen: Option<Spanned<String>>,
    /// Waits until this is seen exactly once.
    /// Example: `"the first question"`.
    pub(super) once: Option<Spanned<String>>,
    /// Waits until these are seen, each above the next.
    /// Example: `["the first question", "the second question"]`.
    pub(super) above: Option<Spanned<Vec<Spanned<String>>>>,
    /// Clicks on this.
    /// Example: `"role:button Send"`.
    pub(super) click: Option<Spanned<String>>,
    /// Fills this field with `text`.
    /// Example: `"placeholder:How can I help"`.
    pub(super) fill: Option<Spanned<String>>,
    /// The text for `fill`.
    /// Example: `"{{ prompt }}"`.
    pub(super) text: Option<Spanned<String>>,
    /// Presses a key where the focus is.
    /// Example: `"Enter"`.
    pub(super) press: Option<Spanned<String>>,
    /// Goes to another path of the same system.
    /// Example: `"/chats"`.
    pub(super) goto: Option<Spanned<String>>,
    /// Loads the page anew.
    /// Example: `true`.
    pub(super) reload: Option<Spanned<bool>>,
    /// Puts the accessible tree of a region, by its role and name, into the golden.
    /// Example: `"main"`.
    pub(super) aria: Option<Spanned<String>>,
    /// Takes a picture of this name.
    /// Example: `"answer"`.
    pub(super) screenshot: Option<Spanned<String>>,
    /// Compares that picture with the one of an earlier run, on this machine only.
    /// Default: `false`. Example: `true`.
    pub(super) baseline: Option<Spanned<bool>>,
    /// How long that may take.
    /// Default: `"10s"`. Example: `"20s"`.
    pub(super) within: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCancel {
    /// The event at which the client leaves.
    /// Example: `"values"`.
    pub(super) after: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawAwait {
    /// The caller whose call is waited for.
    /// Example: `"middleware:title"`.
    pub(super) caller: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWait {
    /// A JSON pointer into the answer.
    /// Example: `"/status"`.
    pub(super) json: Pointer,
    /// The value that has to stand there.
    /// Example: `"done"`.
    pub(super) is: Spanned<RawJson>,
}

/// The named fields of a raw table, each with where it starts if it is there.
macro_rules! fields {
    ($raw:expr; $($field:ident),+) => {
        [$((stringify!($field), $raw.$field.as_ref().map(|field| field.span().start))),+]
    };
}
pub(super) use fields;

impl RawStep {
    /// The fields that only a step with a page has.
    pub(super) fn page_fields(&self) -> [(&'static str, Option<usize>); 3] {
        [
            ("do", self.acts.as_ref().map(|field| field.span().start)),
            ("storage", self.storage.as_ref().map(|field| field.span().start)),
            ("traffic", self.traffic.as_ref().map(|field| field.span().start)),
        ]
    }

    /// The fields that say what is sent, each with where it starts if it is there.
    pub(super) fn body_fields(&self) -> [(&'static str, Option<usize>); 4] {
        fields!(self; json, json_file, form, files)
    }

    /// The captures of the step, or of those that it takes at the same time.
    pub(super) fn captures(&self) -> Vec<&Spanned<String>> {
        let own = self.capture.iter().flat_map(|capture| capture.get_ref().keys());
        let parts = self.together.iter().flat_map(Spanned::get_ref);
        own.chain(parts.flat_map(|part| part.get_ref().captures())).collect()
    }
}

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawGolden {
    /// What is kept of an event beside its name and keys: nothing, the types of all that is in it, or the values.
    /// Default: `"types"`. Example: `"keys"`.
    pub(super) detail: Option<Detail>,
    /// JSON pointers to values worth pinning; `-1` is the last element of a list.
    /// Default: `[]`. Example: `["/messages/-1/content"]`.
    pub(super) show: Option<Vec<Pointer>>,
    /// Events of which a run counts as one: chunk boundaries are no contract.
    /// Default: `[]`. Example: `["messages"]`.
    pub(super) collapse: Option<Vec<String>>,
    /// Events that have no order among neighbours.
    /// Default: `[]`. Example: `["tool_result"]`.
    pub(super) unordered: Option<Vec<String>>,
    /// Events that may come at any time and are left out; `*` is any part.
    /// Default: `[]`. Example: `["heartbeat"]`.
    pub(super) ignore: Option<Vec<String>>,
    /// Whether comments of a stream, such as heartbeats, are in it.
    /// Default: `false`. Example: `true`.
    pub(super) comments: Option<bool>,
    /// Whether lengths and order of lists are in it, how many ids there are at a place, and the hash of all values.
    /// Default: `true`. Example: `false`.
    pub(super) lengths: Option<bool>,
    /// Keys, beside `type`, `role`, `status` and the like, under which words are shown and not their type alone.
    /// Default: `[]`. Example: `["phase"]`.
    pub(super) words: Option<Vec<String>>,
    /// Whether what a stream brings behind its `last` event is in it.
    /// Default: `true`. Example: `false`.
    pub(super) after_last: Option<bool>,
    /// Events, or places in them, of which types alone are shown: `EVENT` or `EVENT:/pointer`, with `*` for any part.
    /// Default: `[]`. Example: `["values:/run_id"]`.
    pub(super) loose: Option<Vec<String>>,
}

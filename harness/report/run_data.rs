//! The data of a scenario's last run, `.retake/runs/NAME.json`. All reports are made of it: in the terminal, as a page, and in
//! the forms of CI systems.
//!
//! The format is a promise to users: within `"format": "retake-run/2"` a field keeps its name and meaning, and new ones may be
//! added. Times are in milliseconds since the run began. Long texts are cut, and secrets are removed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::check::CheckData;
use super::evidence::Evidence;
use super::failure::{Advice, Deed};
use retake_base::cause::Cause;
use retake_base::line::Line;
use retake_core::cost::CallerCost;
use retake_engine::drive::StepData;
use retake_engine::system::EgressData;

/// The name and version of this format.
pub const FORMAT: &str = "retake-run/2";
/// The format of versions up to 0.2, which kept evidence as plain texts.
pub const OLD_FORMAT: &str = "retake-run/1";

/// The name of the test that fails if a golden or fixture belongs to no scenario.
pub const NO_ORPHANS: &str = "retake::no_orphans";
/// The name under which reports show model calls that missed after the verdict of their scenario.
pub const NO_LATE_CALLS: &str = "retake::no_late_calls";

/// The JSON schema of [`RunData`], which `retake explain --json` prints.
#[cfg(feature = "schema")]
pub fn run_schema() -> String {
    let schema = schemars::schema_for!(RunData);
    format!("{:#}\n", schema.as_value())
}

/// One run of one scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunData {
    /// [`FORMAT`].
    pub format: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The scenario's own description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The path of `scenario.toml`, relative to the project's folder.
    pub file: PathBuf,
    /// The path of the fixture, relative to the project's folder; absent if the scenario calls no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<PathBuf>,
    /// What was done with the scenario.
    pub action: RunAction,
    /// How it ended.
    pub result: RunResult,
    /// When it began, in UTC: `2026-11-22T14:15:54.120Z`.
    pub started: String,
    /// The time until the verdict.
    pub took_ms: f64,
    /// Why the run failed; absent if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureData>,
    /// Present if the scenario was green only when it was run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaky: Option<FlakyData>,
    /// The part of the scenarios that the job ran: `2/5`; absent if it ran all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// How many days old the recording is, if that is more than the suite's `max_age`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_old: Option<i64>,
    /// Notes that do not make the run fail, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The client's steps that were started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepData>,
    /// The model calls over HTTP in order of arrival, 2,000 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallData>,
    /// The requests to doubles of tool servers, 2,000 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_requests: Vec<ToolRequestData>,
    /// The turns that no call asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<TurnData>,
    /// The recorded requests to tool servers that were not made, each as its server and its index in the fixture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_exchanges: Vec<(String, usize)>,
    /// What its programs tried to reach besides the stage's own servers; absent if nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<EgressData>,
    /// The golden and the text of this run; absent if the scenario has no golden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<GoldenData>,
    /// What the calls of each caller cost; empty unless the scenario asks for it (`cost`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<CallerCost>,
    /// What a check against the provider found; absent unless the run was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckData>,
    /// The worlds of the scenario, in the data of the trial `NAME::worlds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worlds: Option<WorldsData>,
    /// The paths of logs, relative to the project's folder: the whole output of systems, and drift logs of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<PathBuf>,
}

impl RunData {
    /// Whether reports show the run. The test for orphans is shown only if it failed.
    pub fn is_shown(&self) -> bool {
        self.scenario != NO_ORPHANS || self.result == RunResult::Failed
    }

    /// The data of a run that passed, without any details.
    pub fn passed(scenario: &str, file: PathBuf, action: RunAction, started: String) -> RunData {
        let (format, scenario) = (FORMAT.to_owned(), scenario.to_owned());
        RunData { format, scenario, file, action, started, ..RunData::default() }
    }
}

/// What was done with the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunAction {
    /// It was replayed once.
    #[default]
    Test,
    /// It was replayed twice, to write its golden.
    Update,
    /// It was recorded, then replayed twice. The data is that of the last replay.
    Record,
    /// It was replayed once, and the provider was asked the same calls.
    Check,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunResult {
    /// It passed.
    #[default]
    Passed,
    /// It failed.
    Failed,
    /// It was not run; the notes say why.
    Skipped,
}

/// Why a run failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureData {
    /// The first line.
    pub headline: String,
    /// The causes, each before its consequences.
    pub causes: Vec<Cause>,
    /// The evidence: diffs, calls that missed, ends of logs.
    pub evidence: Vec<Evidence>,
    /// The ways to resolve the failure.
    pub advice: Vec<Advice>,
    /// What the command does to the scenario that the evidence names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<Deed>,
}

/// A scenario that was green only when it was run again (`retries`, or alone on a shared system that had crashed).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlakyData {
    /// How often it was run.
    pub tries: usize,
    /// The first line of each failure, in order.
    pub failures: Vec<String>,
}

/// The worlds of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorldsData {
    /// What the service sent in the recorded run, in lines.
    pub recorded: Vec<String>,
    /// The worlds, in the order of their table.
    pub worlds: Vec<WorldData>,
}

/// One world, and what the service did in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorldData {
    /// The turn, counted from 1; 0 if the client does something else.
    pub turn: usize,
    /// The turn's caller, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Its name in commands: `turn1/cut-clean/3`.
    pub world: String,
    /// The fault: `cut-clean 3/7`.
    pub fault: String,
    /// `recovered`, `SILENT` and so on.
    pub verdict: String,
    /// What says so.
    pub why: String,
    /// Whether it fails until somebody accepts it.
    pub fails: bool,
    /// What the service sent, in lines; empty if that was what was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<String>,
}

impl WorldData {
    /// Whether the world with this id is the one, or one of those, that a user names: `turn1/cut-clean/3`, `turn1/cut-clean`,
    /// `turn1`, `cut-clean`.
    pub fn is_named(id: &str, name: &str) -> bool {
        let begins = |id: &str| id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        begins(id) || id.split_once('/').is_some_and(|(_, fault)| begins(fault))
    }
}

/// A model call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallData {
    /// Its number among the calls of the run, counted from 1 in the order in which they came.
    #[serde(default)]
    pub number: usize,
    /// When it began, in milliseconds since the start of the run.
    pub at_ms: f64,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
    /// The request line: `POST /v1/chat/completions`.
    pub via: String,
    /// Its caller, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The number of messages in its conversation.
    pub messages: usize,
    /// The messages after the model's last answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<MessageData>,
    /// The turn that answered the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnData>,
    /// The checks that differ from the recorded call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<DriftData>,
    /// Why no turn answered the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss: Option<MissData>,
}

/// A message, cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageData {
    /// The type of the message: ``human``, or ``tool `read_file` ``.
    pub kind: String,
    /// The text.
    pub text: String,
}

/// A turn of the fixture, cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnData {
    /// Its index in the fixture.
    pub index: usize,
    /// Its caller, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The beginning of its text.
    pub text: String,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallData>,
    /// The recorded usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// Tokens of a model call.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tokens {
    /// The tokens of the request.
    pub input: u64,
    /// The tokens of the answer.
    pub output: u64,
}

/// A tool call of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallData {
    /// Its name.
    pub name: String,
    /// The beginning of its arguments, as JSON.
    pub args: String,
}

/// A check that differs from the recorded one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriftData {
    /// `prompt`, `tools`, `model`, `settings` or `results`.
    pub check: String,
    /// The words that changed.
    pub change: String,
}

/// A call that no turn answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissData {
    /// The reason, on one line.
    pub headline: String,
    /// The nearest turn and how the call differs from it, or what else explains the miss.
    pub evidence: Vec<Line>,
}

/// A request to a double of a tool server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolRequestData {
    /// When it began, in milliseconds since the start of the run.
    pub at_ms: f64,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
    /// The name of the tool server.
    pub server: String,
    /// The method and parameters.
    pub request: String,
    /// The beginning of the answer.
    pub answer: String,
    /// Whether the answer is an error.
    #[serde(default)]
    pub failed: bool,
}

/// A golden, and the text of a run for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoldenData {
    /// The path of its file, relative to the project's folder.
    pub file: PathBuf,
    /// The text of the file before the run; absent if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<String>,
    /// The text of this run; absent if it is the same, or if a step failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The differences between the two, in lines with `-` and `+`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

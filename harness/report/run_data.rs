//! The data of a run: all that a report shows of one scenario's last run, in `.retake/runs/NAME.json`. Every rendering reads
//! it, so one run can be looked at in the terminal, as a page, and in a CI's own form.
//!
//! The form is a promise: a field keeps its name and its meaning within `"format": "retake-run/1"`; new ones may come. Times
//! are milliseconds from the run's begin. Texts are the beginnings of what was said, and have lost their secrets.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The version that run data names.
pub(crate) const FORMAT: &str = "retake-run/1";

/// The trial beside the scenarios, which fails where goldens or fixtures belong to none.
pub(crate) const NO_ORPHANS: &str = "retake::no_orphans";

/// One run of one scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunData {
    /// [`FORMAT`].
    pub(crate) format: String,
    pub(crate) scenario: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// `scenario.toml`, from the project's folder.
    pub(crate) file: PathBuf,
    /// The fixture, from the project's folder; absent where the scenario calls no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fixture: Option<PathBuf>,
    pub(crate) action: RunAction,
    pub(crate) result: RunResult,
    /// When it began, in UTC: `2026-11-22T14:15:54.120Z`.
    pub(crate) started: String,
    /// How long it took, in milliseconds, until the verdict.
    pub(crate) took_ms: f64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<FailureData>,
    /// What a person should know all the same: a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// The client's steps that were begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<StepData>,
    /// The model calls over HTTP, in the order in which they came; of a flood the first 2,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallData>,
    /// What was asked of doubles of tool servers; of a flood the first 2,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_requests: Vec<ToolRequestData>,
    /// The turns that no call asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unused: Vec<TurnData>,
    /// The golden and what this run would write; absent where nothing goes into one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) golden: Option<GoldenData>,
    /// Files with more: whole logs of systems, drift logs of tools; from the project's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) logs: Vec<PathBuf>,
}

impl RunData {
    /// Whether a person is told of it: of what stands beside the scenarios only where it failed.
    pub(crate) fn is_told(&self) -> bool {
        self.scenario != NO_ORPHANS || self.result == RunResult::Failed
    }

    /// A run that passed, of which no more is told yet.
    pub(crate) fn passed(scenario: &str, file: PathBuf, action: RunAction, started: String) -> RunData {
        RunData {
            format: FORMAT.to_owned(),
            scenario: scenario.to_owned(),
            description: None,
            file,
            fixture: None,
            action,
            result: RunResult::Passed,
            started,
            took_ms: 0.0,
            failure: None,
            notes: Vec::new(),
            steps: Vec::new(),
            calls: Vec::new(),
            tool_requests: Vec::new(),
            unused: Vec::new(),
            golden: None,
            logs: Vec::new(),
        }
    }
}

/// What was done with the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunAction {
    /// It was replayed once.
    Test,
    /// It was replayed twice, to write its golden.
    Update,
    /// It was recorded, and replayed twice: what is told is the last replay.
    Record,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunResult {
    Passed,
    Failed,
}

/// Why a run failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FailureData {
    /// The first line.
    pub(crate) headline: String,
    /// What it comes from, each with its kind: `tool_result`, `status`, `crash`, ….
    pub(crate) causes: Vec<CauseData>,
    /// Diffs, misses, ends of logs, each of some lines.
    pub(crate) evidence: Vec<String>,
    /// What resolves it.
    pub(crate) advice: Vec<AdviceData>,
}

/// One cause of a failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CauseData {
    pub(crate) kind: String,
    pub(crate) what: String,
}

/// One way out of a failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AdviceData {
    /// In which case: `if the change is meant`.
    pub(crate) case: String,
    pub(crate) command: String,
}

/// A step of the client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepData {
    /// `step 2 (POST /runs)`.
    pub(crate) title: String,
    pub(crate) at_ms: f64,
    /// Absent where the run ended before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) took_ms: Option<f64>,
    /// `200`, or `exit 0` of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// The first events of its stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<EventData>,
    /// How many more came.
    #[serde(default)]
    pub(crate) more_events: usize,
}

/// An event of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventData {
    pub(crate) at_ms: f64,
    pub(crate) name: String,
    /// The beginning of its payload.
    pub(crate) payload: String,
}

/// A model call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallData {
    pub(crate) at_ms: f64,
    pub(crate) took_ms: f64,
    /// `POST /v1/chat/completions`.
    pub(crate) via: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<String>,
    /// How many messages its conversation has.
    pub(crate) messages: usize,
    /// Those behind the model's last answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) asked: Vec<MessageData>,
    /// The turn that it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<TurnData>,
    /// What differs beside the key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) drift: Vec<DriftData>,
    /// Why it got none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) miss: Option<MissData>,
}

/// A message, in short.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MessageData {
    /// ``human``, or ``tool `read_file` ``.
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// A turn of the fixture, in short.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TurnData {
    /// Its index in the fixture.
    pub(crate) index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<String>,
    /// The beginning of what it says.
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCallData>,
    /// Tokens read and written, as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Tokens>,
}

/// Tokens of a model call.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// A tool call of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToolCallData {
    pub(crate) name: String,
    /// The beginning of its arguments, as JSON.
    pub(crate) args: String,
}

/// A check of a call that is not the recorded one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DriftData {
    /// `prompt`, `tools`, `model`, `settings` or `results`.
    pub(crate) check: String,
    /// What changed, by words.
    pub(crate) change: String,
}

/// A call that no turn answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MissData {
    /// Why, in a line.
    pub(crate) headline: String,
    /// The nearest turn and where the two part, or whatever else is known.
    pub(crate) evidence: Vec<String>,
}

/// A request to a double of a tool server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToolRequestData {
    pub(crate) at_ms: f64,
    pub(crate) took_ms: f64,
    pub(crate) server: String,
    /// Its method and parameters.
    pub(crate) request: String,
    /// The beginning of the answer.
    pub(crate) answer: String,
    /// Whether that is an error.
    #[serde(default)]
    pub(crate) failed: bool,
}

/// A golden, and what a run made in its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GoldenData {
    /// Its file, from the project's folder.
    pub(crate) file: PathBuf,
    /// What the file held before the run; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) committed: Option<String>,
    /// What this run gives; absent where it gives the same, or did not get so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// How the two differ, in lines with `-` and `+`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
}

//! What is typed in `scenario.toml`, but for its steps.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::golden::RawGolden;
use super::step::RawStep;
use super::suite::RawDrift;
use crate::scenario::options::{Delays, Panics, Unused};
use crate::scenario::read::json::RawJson;
use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::{Kind, RawDuration};
use crate::scenario::scenario::{ToolsFrom, Unobserved};

/// A scenario, or one of its cases, which may override any field.
#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawScenario {
    /// What it shows. A failure says so.
    /// Default: `""`. Example: `"Writes a note, reads it back, answers"`.
    pub(crate) description: Option<String>,
    /// Whether it drives a system, or executes recorded calls of tools again.
    /// Default: `"system"`. Example: `"tools"`.
    pub(crate) kind: Option<Spanned<Kind>>,
    /// The folder of an OpenHands conversation whose tool calls are executed again, from the project's.
    /// Example: `"recordings/conversation"`.
    pub(crate) recording: Option<Spanned<String>>,
    /// Which conversation of that folder.
    /// Example: `"3f2a"`.
    pub(crate) conversation: Option<Spanned<String>>,
    /// What becomes of recorded actions without an observation.
    /// Default: `"skip"`. Example: `"execute"`.
    pub(crate) unobserved: Option<Spanned<Unobserved>>,
    /// Where the agent's tool servers answer from: the fixture, or the real ones.
    /// Default: `"recorded"`. Example: `"live"`.
    pub(crate) tools: Option<Spanned<ToolsFrom>>,
    /// The system that it is played on.
    /// Default: that of suite.toml. Example: `"gateway"`.
    pub(crate) system: Option<Spanned<String>>,
    /// Whose turns it replays. `"none"` says that no model is called.
    /// Default: the scenario's name. Example: `"write_read_file"`.
    pub(crate) fixture: Option<Spanned<String>>,
    /// How long a scenario may take.
    /// Default: that of suite.toml. Example: `"90s"`.
    pub(crate) timeout: Option<Spanned<RawDuration>>,
    /// How long no model call may have come, once the steps are done, before the scenario is over.
    /// Default: that of suite.toml. Example: `"500ms"`.
    pub(crate) settle: Option<RawDuration>,
    /// How long its systems stay after that, for calls that come late.
    /// Default: that of suite.toml. Example: `"0ms"`.
    pub(crate) linger: Option<RawDuration>,
    /// What a panic of a router is: a failure, or what its service catches.
    /// Default: that of suite.toml. Example: `"allow"`.
    pub(crate) panics: Option<Panics>,
    /// Which turns no call has to ask for: none (`"fail"`), all (`"allow"`), or those of the callers in a list.
    /// Default: that of suite.toml. Example: `["suggest_agent"]`.
    pub(crate) unused: Option<Unused>,
    /// How much each part of a call weighs that is not as it was recorded.
    /// Default: that of suite.toml. Example: `{ prompt = "fail" }`.
    pub(crate) drift: Option<RawDrift>,
    /// Whether the pauses of recorded streams are replayed.
    /// Default: that of suite.toml. Example: `"recorded"`.
    pub(crate) delays: Option<Delays>,
    /// Environment variables whose values never reach a file, beside those that templates name.
    /// Default: that of suite.toml. Example: `["STRIPE_KEY"]`.
    pub(crate) secrets: Option<Vec<Spanned<String>>>,
    /// What holds while it is recorded.
    /// Default: `{}`. Example: `{ errors = true }`.
    pub(crate) record: Option<RawRecord>,
    /// Values of its own for its templates, by name.
    /// Default: `{}`. Example: `{ prompt = "Say hello" }`.
    pub(crate) vars: Option<BTreeMap<Spanned<String>, Spanned<RawJson>>>,
    /// What is done, one after another. The first that fails ends the scenario.
    /// Example: `[{ get = "/health" }]`.
    pub(crate) step: Option<Vec<Spanned<RawStep>>>,
    /// What its golden holds.
    /// Default: `{}`. Example: `{ detail = "keys" }`.
    pub(crate) golden: Option<RawGolden>,
    /// Trials of their own, `NAME.CASE`, each with a fixture and a golden of that name: any field, in place of the
    /// scenario's. Tables are merged, lists replaced.
    /// Example: `{ short = { vars = { prompt = "Hi" } } }`.
    pub(crate) case: Option<BTreeMap<Spanned<String>, Spanned<RawScenario>>>,
}

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawRecord {
    /// Whether a provider's error becomes a turn.
    /// Default: `false`. Example: `true`.
    pub(crate) errors: Option<bool>,
    /// How long it may take while it is recorded.
    /// Default: that of the scenario. Example: `"15m"`.
    pub(crate) timeout: Option<Spanned<RawDuration>>,
}

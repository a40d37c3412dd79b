//! What is typed in `suite.toml`, but for its systems and tools.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::normalize::RawNormalize;
use super::system::RawSystem;
use super::tool::RawTool;
use crate::model::OfferedTools;
use crate::scenario::options::{Delays, Level, Panics, Unused};
use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::{Pattern, RawDuration};

#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawSuite {
    /// The system of scenarios that name none; where the suite has one system only, that one.
    /// Example: `"agent"`.
    pub(crate) system: Option<Spanned<String>>,
    /// The systems under test, by name. A router of a Rust project is registered in tests/scenarios.rs instead.
    /// Default: `{}`. Example: `{ agent = { command = ["python3", "app.py"], ready = { http = "/health" } } }`.
    #[serde(default)]
    pub(crate) systems: BTreeMap<Spanned<String>, Spanned<RawSystem>>,
    /// What executes the calls of recorded tools again, by the name of the tool or server.
    /// Default: `{}`. Example: `{ read_file = { command = ["cat", "{{ args.path }}"] } }`.
    #[serde(default)]
    pub(crate) tools: BTreeMap<Spanned<String>, Spanned<RawTool>>,
    /// Rules that tell who made a call that does not say so itself; the first that fits counts.
    /// Default: `[]`. Example: `[{ name = "middleware:title", when = { message = "^Title" } }]`.
    #[serde(default)]
    pub(crate) callers: Vec<Spanned<RawCaller>>,
    /// What varies from run to run in texts, beside UUIDs, time stamps, dates and temporary paths.
    /// Default: `[]`. Example: `[{ pattern = "order-[0-9]+", replace = "<ORDER>" }]`.
    #[serde(default)]
    pub(crate) normalize: Vec<RawNormalize>,
    /// Other names of callers: alias to name.
    /// Default: `{}`. Example: `{ old_agent = "lead_agent" }`.
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, Spanned<String>>,
    /// Which turns no call has to ask for: none (`"fail"`), all (`"allow"`), or those of the callers in a list.
    /// Default: `"fail"`. Example: `["suggest_agent"]`.
    pub(crate) unused: Option<Unused>,
    /// How much each part of a call weighs that is not as it was recorded.
    /// Default: `{}`. Example: `{ prompt = "fail" }`.
    pub(crate) drift: Option<RawDrift>,
    /// How long no model call may have come, once the steps are done, before the scenario is over.
    /// Default: `"2s"`. Example: `"500ms"`.
    pub(crate) settle: Option<RawDuration>,
    /// How long its systems stay after that, for calls that come late.
    /// Default: `"500ms"`. Example: `"0ms"`.
    pub(crate) linger: Option<RawDuration>,
    /// What a panic of a router is: a failure, or what its service catches.
    /// Default: `"fail"`. Example: `"allow"`.
    pub(crate) panics: Option<Panics>,
    /// Environment variables whose values never reach a file, beside those that templates name.
    /// Default: `[]`. Example: `["STRIPE_KEY"]`.
    pub(crate) secrets: Option<Vec<Spanned<String>>>,
    /// How long a scenario may take.
    /// Default: `"60s"`. Example: `"90s"`.
    pub(crate) timeout: Option<Spanned<RawDuration>>,
    /// Whether the pauses of recorded streams are replayed.
    /// Default: `"none"`. Example: `"recorded"`.
    pub(crate) delays: Option<Delays>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawCaller {
    /// The caller whose calls they are.
    /// Example: `"middleware:title"`.
    pub(crate) name: Spanned<String>,
    /// What of a call has to fit, all of it. Only the last rule may be empty, and fits every call.
    /// Example: `{ message = "^Generate a concise title", tools = false }`.
    pub(crate) when: Spanned<RawWhen>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawWhen {
    /// Regular expressions for headers, by name.
    /// Default: `{}`. Example: `{ x-part = "^title$" }`.
    #[serde(default)]
    pub(crate) header: BTreeMap<Spanned<String>, Pattern>,
    /// Regular expressions for entries of the call's metadata.
    /// Default: `{}`. Example: `{ part = "^title$" }`.
    #[serde(default)]
    pub(crate) metadata: BTreeMap<String, Pattern>,
    /// A regular expression for the model's name.
    /// Example: `"-mini$"`.
    pub(crate) model: Option<Pattern>,
    /// A regular expression for the system prompt.
    /// Example: `"^You write titles"`.
    pub(crate) system: Option<Pattern>,
    /// A regular expression for the last message.
    /// Example: `"^Generate a concise title"`.
    pub(crate) message: Option<Pattern>,
    /// Whether the call offers tools, or the names of tools that it offers.
    /// Example: `false`.
    pub(crate) tools: Option<OfferedTools>,
}

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawDrift {
    /// The system prompt.
    /// Default: `"note"`. Example: `"fail"`.
    pub(crate) prompt: Option<Level>,
    /// The tools that the call offers.
    /// Default: `"note"`. Example: `"fail"`.
    pub(crate) tools: Option<Level>,
    /// The model's name.
    /// Default: `"note"`. Example: `"ignore"`.
    pub(crate) model: Option<Level>,
    /// Temperature and the like.
    /// Default: `"ignore"`. Example: `"note"`.
    pub(crate) settings: Option<Level>,
    /// Tool results that became an error, empty, or changed places.
    /// Default: `"fail"`. Example: `"note"`.
    pub(crate) results: Option<Level>,
    /// What a tool returns that is executed again.
    /// Default: `"fail"`. Example: `"note"`.
    pub(crate) observation: Option<Level>,
}

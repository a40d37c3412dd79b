//! The fields of `scenario.toml`, except those of its steps, as they are written in the file.

use std::collections::BTreeMap;

use super::golden::RawGolden;
use super::step::RawStep;
use crate::options::{ClockFrom, Cost, Delays, Drift, Egress, Panics, Unused};
use crate::read::json::RawJson;
use crate::read::spanned::Spanned;
use crate::read::values::{Foreign, Kind, RawDuration};
use crate::read::worlds::RawWorlds;
use crate::{ToolsFrom, Unobserved};

tables! {
/// A scenario, or one of its cases, which may replace any field.
#[derive(Default)]
pub(crate) struct RawScenario {
    /// What the scenario is meant to show. Its failures quote it.
    /// Default: `""`. Example: `"Writes a note, reads it back, answers"`.
    pub description: Option<String>,
    /// Whether the scenario drives a system, or executes recorded tool calls again.
    /// Default: `"system"`. Example: `"tools"`.
    pub kind: Option<Spanned<Kind>>,
    /// The folder of an OpenHands conversation whose tool calls are executed again, relative to the project's folder.
    /// Example: `"recordings/conversation"`.
    pub recording: Option<Spanned<String>>,
    /// The id of the conversation in the `recording` folder.
    /// Example: `"3f2a"`.
    pub conversation: Option<Spanned<String>>,
    /// What happens to recorded actions that were rejected or have no observation: they are listed (`"skip"`) or
    /// executed.
    /// Default: `"skip"`. Example: `"execute"`.
    pub unobserved: Option<Spanned<Unobserved>>,
    /// Where the answers of the agent's tool servers come from: the fixture (`"recorded"`) or the real servers
    /// (`"live"`).
    /// Default: `"recorded"`. Example: `"live"`.
    pub tools: Option<Spanned<ToolsFrom>>,
    /// The system that the scenario drives.
    /// Default: from suite.toml. Example: `"gateway"`.
    pub system: Option<Spanned<String>>,
    /// The fixture whose turns are replayed. `"none"` says that no model is called.
    /// Default: the scenario's name. Example: `"write_read_file"`.
    pub fixture: Option<Spanned<String>>,
    /// Why the scenario does not run. It is reported as ignored, with this reason; `-- --ignored` runs it.
    /// Example: `"waits for issue 12"`.
    pub skip: Option<Spanned<String>>,
    /// Words by which `retake test --tag` chooses scenarios.
    /// Default: `[]`. Example: `["slow"]`.
    pub tags: Option<Vec<Spanned<String>>>,
    /// How often the scenario is run again if it failed. If it is green only then, it is reported as flaky. After a miss, nothing
    /// is run again.
    /// Default: from suite.toml. Example: `1`.
    pub retries: Option<u8>,
    /// How long a scenario may take.
    /// Default: from suite.toml. Example: `"90s"`.
    pub timeout: Option<Spanned<RawDuration>>,
    /// A scenario ends when its steps are done, no model call is in flight, and either all turns are served or none has arrived for this long.
    /// Default: from suite.toml. Example: `"500ms"`.
    pub settle: Option<RawDuration>,
    /// How long systems go on after the scenario has settled, so that late calls are noticed.
    /// Default: from suite.toml. Example: `"0ms"`.
    pub linger: Option<RawDuration>,
    /// What a panic in a router means: the scenario fails (`"fail"`), or the service is expected to catch it
    /// (`"allow"`).
    /// Default: from suite.toml. Example: `"allow"`.
    pub panics: Option<Panics>,
    /// Which turns may stay unserved: none (`"fail"`), all (`"allow"`), or those of the listed callers.
    /// Default: from suite.toml. Example: `["suggest_agent"]`.
    pub unused: Option<Unused>,
    /// For each part of a model call, whether a difference from the recording is ignored, noted, or a failure.
    /// Default: from suite.toml. Example: `{ prompt = "fail" }`.
    pub drift: Option<Drift>,
    /// What becomes of connections of systems and `run` steps to anything but the stage's own servers, other
    /// ports of this machine, and what `allow` lists. They are told (`"note"`), refused and a failure (`"fail"`), the same with proof
    /// that there were none (`"proven"`), or not looked at (`"off"`). While recording, nothing is refused.
    /// A shared system has what suite.toml says.
    /// Default: from suite.toml. Example: `"fail"`.
    pub egress: Option<Egress>,
    /// What the processes may reach in any case: addresses or names, each with its port.
    /// Default: from suite.toml. Example: `["127.0.0.1:5432"]`.
    pub allow: Option<Vec<Spanned<String>>>,
    /// Whether the delays of recorded answers are replayed (`"recorded"`) or left out (`"none"`).
    /// Default: from suite.toml. Example: `"recorded"`.
    pub delays: Option<Delays>,
    /// By which clock a replay tells the time: the machine's, or that of the recording, for services
    /// that count days. It needs libfaketime.
    /// Default: from suite.toml. Example: `"recorded"`.
    pub clock: Option<ClockFrom>,
    /// The faults of the model with which the scenario is run again, as the trial `NAME::worlds`: `true` for
    /// the usual ones, `"all"`, or names of faults.
    /// Default: from suite.toml. Example: `["rate-limit", "cut-clean"]`.
    pub worlds: Option<RawWorlds>,
    /// Whether goldens hold what model calls cost, by caller: how many, what they read and write,
    /// and what a cache can keep. A table says how much that may be.
    /// Default: from suite.toml. Example: `{ calls = 6, input = "12k", cached = "80%" }`.
    pub cost: Option<Foreign<Option<Cost>>>,
    /// Environment variables whose values are never written to a file, in addition to those that templates name.
    /// Default: from suite.toml. Example: `["STRIPE_KEY"]`.
    pub secrets: Option<Vec<Spanned<String>>>,
    /// Options that apply only while the scenario is recorded.
    /// Default: `{}`. Example: `{ errors = true }`.
    pub record: Option<RawRecord>,
    /// Values for the scenario's templates, by name.
    /// Default: `{}`. Example: `{ prompt = "Say hello" }`.
    pub vars: Option<BTreeMap<Spanned<String>, Spanned<RawJson>>>,
    /// The names of the shared steps of suite.toml that the scenario begins with. `[]` turns them off.
    /// Default: from suite.toml. Example: `[]`.
    pub before: Option<Vec<Spanned<String>>>,
    /// The steps, in order. The first one that fails ends the scenario.
    /// Example: `[{ get = "/health" }]`.
    pub step: Option<Vec<Spanned<RawStep>>>,
    /// What the golden contains.
    /// Default: `{}`. Example: `{ detail = "keys" }`.
    pub golden: Option<RawGolden>,
    /// Cases: each is a trial of its own, named `NAME.CASE`, with a fixture and a golden of that name. A case may set
    /// any field in place of the scenario's; tables are merged, lists are replaced.
    /// Example: `{ short = { vars = { prompt = "Hi" } } }`.
    pub case: Option<BTreeMap<Spanned<String>, Spanned<RawScenario>>>,
}

#[derive(Default)]
pub(crate) struct RawRecord {
    /// Whether an error response of the provider becomes a turn.
    /// Default: `false`. Example: `true`.
    pub errors: Option<bool>,
    /// How long the scenario may take while it is recorded.
    /// Default: the scenario's own. Example: `"15m"`.
    pub timeout: Option<Spanned<RawDuration>>,
}
}

//! Options that a suite sets for all scenarios, and a scenario or a case for itself: `unused`, `drift`, `settle` and the like.

use std::collections::BTreeMap;
use std::time::Duration;

use regex::Regex;

use crate::pointer::Pointer;
use crate::step::{Method, StepBody};
use crate::template::Template;
use retake_core::key::Check;
use retake_model::FaultKind;

/// A replacement in the text that the key hashes.
#[derive(Clone, Debug)]
pub struct NormalizeRule {
    /// The text to replace.
    pub pattern: Regex,
    /// The replacement; `$1` is the first group.
    pub replace: String,
}

/// Which tools a fork may call where the recording has no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForkTools {
    /// None: the run ends there.
    #[default]
    Recorded,
    /// The real ones.
    Live,
}

/// The options of a scenario that does not set its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// Which turns may stay unserved.
    pub unused: Unused,
    /// How much each kind of drift counts.
    pub drift: Drift,
    /// How long no model call must have arrived before the scenario is over, if turns are left.
    pub settle: Duration,
    /// How long the stage stays after the scenario has settled, for calls that come late.
    pub linger: Duration,
    /// Whether a panic in a router is a failure.
    pub panics: Panics,
    /// Environment variables whose values are never written to a file. Templates use them as `{{ secret.NAME }}`.
    pub secrets: Vec<String>,
    /// What its programs may reach besides the stage.
    pub egress: Egress,
    /// What they may reach in any case: addresses or names, each with its port.
    pub allow: Vec<String>,
    /// How long a scenario may take.
    pub timeout: Duration,
    /// Whether recorded pauses are replayed.
    pub delays: Delays,
    /// By which clock programs tell the time in a replay.
    pub clock: ClockFrom,
    /// How often a scenario that failed is run again.
    pub retries: u8,
    /// The headers that goldens hold, in lower case.
    pub headers: Vec<String>,
    /// The faults of the model that scenarios are run with, too.
    pub worlds: Option<Worlds>,
    /// What is asked of what model calls cost.
    pub cost: Option<Cost>,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults {
            unused: Unused::Fail,
            drift: Drift::default(),
            settle: Duration::from_secs(2),
            linger: Duration::from_millis(500),
            panics: Panics::Fail,
            secrets: Vec::new(),
            egress: Egress::default(),
            allow: Vec::new(),
            timeout: Duration::from_secs(60),
            delays: Delays::None,
            clock: ClockFrom::Now,
            retries: 0,
            headers: Vec::new(),
            worlds: None,
            cost: None,
        }
    }
}

/// The faults of the model that a scenario is run with, each at each turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Worlds {
    /// The kinds of faults.
    pub kinds: Vec<FaultKind>,
    /// The most worlds of one run.
    pub max: usize,
    /// How many calls of a turn meet the fault.
    pub times: u32,
    /// How many calls of a turn a service may make.
    pub calls: u32,
    /// What becomes of a run whose client has left for good; `None` if either is right.
    pub leaves: Option<Leaves>,
    /// How a client comes back to a run.
    pub back: Option<Back>,
    /// Where a request's body says that two requests are the same.
    pub same: Option<Pointer>,
    /// What becomes of a run whose system was killed; `None` if either is right.
    pub crash: Option<Crash>,
    /// The tools that only read, so that they may be called again.
    pub reads: Vec<String>,
}

/// The request with which a client comes back to a run. Its templates may use what the step captures, and `last`.
#[derive(Clone, Debug, PartialEq)]
pub struct Back {
    /// Its method.
    pub method: Method,
    /// Its path.
    pub path: Template,
    /// Its body.
    pub body: StepBody,
}

/// What becomes of a run whose system was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// It goes on when the system is started again.
    Resumes,
    /// Its client is told that it failed.
    Reports,
}

/// What becomes of a run whose client has left for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The model is asked no more.
    Stops,
    /// It is finished, and can be read later.
    Finishes,
}

impl Default for Worlds {
    fn default() -> Worlds {
        let kinds = FaultKind::by_default();
        Worlds {
            kinds,
            max: 200,
            times: 1,
            calls: 10,
            leaves: None,
            back: None,
            same: None,
            crash: None,
            reads: Vec::new(),
        }
    }
}

/// How much model calls may cost. Goldens hold what they do cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Cost {
    /// The most model calls of the scenario.
    /// Example: `6`.
    pub calls: Option<u32>,
    /// The most tokens that they read.
    /// Example: `"12k"`.
    pub input: Option<Tokens>,
    /// How much of each call but a caller's first one has to equal the beginning of an earlier one, so that a provider's cache keeps
    /// it.
    /// Example: `"80%"`.
    pub cached: Option<Percent>,
    /// The same for single callers, by name.
    /// Default: `{}`. Example: `{ lead_agent = { calls = 4 } }`.
    #[serde(default)]
    pub callers: BTreeMap<String, Budget>,
}

/// How much the calls of one caller may cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Budget {
    /// The most model calls of the caller.
    /// Example: `4`.
    pub calls: Option<u32>,
    /// The most tokens that they read.
    /// Example: `"9k"`.
    pub input: Option<Tokens>,
    /// How much of each of them but the first has to equal the beginning of an earlier one.
    /// Example: `"90%"`.
    pub cached: Option<Percent>,
}

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens(pub u64);

/// A share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(pub u64);

// How much a change in each part of a model call counts. What is not set counts as by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Drift {
    /// The system prompt.
    /// Default: `"note"`. Example: `"fail"`.
    pub prompt: Option<Level>,
    /// The definitions of the tools that the call offers.
    /// Default: `"note"`. Example: `"fail"`.
    pub tools: Option<Level>,
    /// The model's name.
    /// Default: `"note"`. Example: `"ignore"`.
    pub model: Option<Level>,
    /// Settings of the call, such as the temperature.
    /// Default: `"note"`. Example: `"fail"`.
    pub settings: Option<Level>,
    /// What changes how an answer looks: whether a stream ends with its usage, several choices, stop sequences, the kind
    /// of response format, log probabilities, and the version in the request's path.
    /// Default: `"note"`. Example: `"fail"`.
    pub form: Option<Level>,
    /// Tool results that have become errors or empty, or have changed places; other days and times in what a call
    /// says anew, where no clock changed them; and headers that requests to tools lack.
    /// Default: `"fail"`. Example: `"note"`.
    pub results: Option<Level>,
    /// What no other check covers: metadata, `user`, what may be cached, the role and the place of the prompt, and versions in
    /// headers.
    /// Default: `"note"`. Example: `"fail"`.
    pub extra: Option<Level>,
    /// What a tool returns when a recorded call of it is executed again.
    /// Default: `"fail"`. Example: `"note"`.
    pub observation: Option<Level>,
}

impl Drift {
    /// Returns how much a change in one check counts.
    pub fn of(&self, check: Check) -> Level {
        let level = match check {
            Check::Prompt => self.prompt,
            Check::Tools => self.tools,
            Check::Model => self.model,
            Check::Settings => self.settings,
            Check::Form => self.form,
            Check::Results | Check::Dates => return self.results.unwrap_or(Level::Fail),
            Check::Extra => self.extra,
        };
        level.unwrap_or(Level::Note)
    }

    /// Returns how much a difference in what a tool returns counts.
    pub fn of_observation(&self) -> Level {
        self.observation.unwrap_or(Level::Fail)
    }
}

/// How much a difference that is not a miss counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is not reported.
    Ignore,
    /// It is reported, but the scenario stays green.
    Note,
    /// The scenario fails.
    Fail,
}

/// Which turns may stay unserved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Unused {
    /// None.
    #[default]
    Fail,
    /// All.
    Allow,
    /// Those of the named callers.
    Callers(Vec<String>),
}

/// What becomes of connections to anything but the stage's own servers, other ports of this machine, and what is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Egress {
    /// They are not looked at.
    Off,
    /// They are told.
    #[default]
    Note,
    /// They are refused, and the scenario fails.
    Fail,
    /// Likewise, and the scenario fails where nothing proves that there were none.
    Proven,
}

/// What a panic in any task of a router means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panics {
    /// The scenario fails.
    #[default]
    Fail,
    /// Nothing: the service catches it, and the scenario tests that.
    Allow,
}

/// By which clock the programs of a stage tell the time in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockFrom {
    /// The machine's.
    #[default]
    Now,
    /// One that starts at the minute of the recording.
    Recorded,
    /// One that starts at half past ten of today, by UTC: nearly all time zones have that day then. No file can name it.
    Midday,
}

/// Whether the delays of a recorded answer are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delays {
    /// No: the stream is sent as fast as possible.
    #[default]
    None,
    /// Yes, with their recorded lengths.
    Recorded,
}

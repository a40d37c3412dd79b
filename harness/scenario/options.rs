//! What a suite sets for all scenarios, and a scenario or case for itself: `unused`, `drift`, `settle` and the like.

use std::time::Duration;

use crate::key::Check;

/// The options that a scenario has where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Which turns may stay unserved.
    pub unused: Unused,
    /// What drift weighs.
    pub drift: Drift,
    /// How long no call may have come before the verdict.
    pub settle: Duration,
    /// How long its stage stays when it has settled, for calls that come late.
    pub linger: Duration,
    /// What a panic of its router is.
    pub panics: Panics,
    /// Environment variables whose values never reach a file; `{{ secret.NAME }}` is such a value.
    pub secrets: Vec<String>,
    /// How long a scenario may take.
    pub timeout: Duration,
    /// Whether recorded pauses are replayed.
    pub delays: Delays,
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
            timeout: Duration::from_secs(60),
            delays: Delays::None,
        }
    }
}

/// How much a change of each part of a model call weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The system prompt.
    pub prompt: Level,
    /// The tool definitions.
    pub tools: Level,
    /// The model's name.
    pub model: Level,
    /// Temperature and the like.
    pub settings: Level,
    /// What is exceptional about the results of tool calls: errors, empty ones, ones out of order.
    pub results: Level,
    /// What a live tool is observed to do.
    pub observation: Level,
}

impl Drift {
    /// How much a change of one check weighs.
    #[must_use]
    pub fn of(&self, check: Check) -> Level {
        match check {
            Check::Prompt => self.prompt,
            Check::Tools => self.tools,
            Check::Model => self.model,
            Check::Settings => self.settings,
            Check::Results => self.results,
        }
    }
}

impl Default for Drift {
    fn default() -> Drift {
        Drift {
            prompt: Level::Note,
            tools: Level::Note,
            model: Level::Note,
            settings: Level::Ignore,
            results: Level::Fail,
            observation: Level::Fail,
        }
    }
}

/// How much a difference that is not a miss weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is not told.
    Ignore,
    /// It is told; the scenario stays green.
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

/// What a panic of a router is, in whatever task of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panics {
    /// The scenario fails by it.
    #[default]
    Fail,
    /// The service catches it, and that is the point.
    Allow,
}

/// Whether the pauses of a recorded stream are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delays {
    /// As fast as it goes.
    #[default]
    None,
    /// As they were recorded.
    Recorded,
}

//! What a suite sets for all scenarios, and a scenario or case for itself: `unused`, `drift`, `settle` and the like.

use std::time::Duration;

use toml::Spanned;

use super::raw::{RawDrift, RawScenario, RawSuite};
use super::source::Source;
use super::words::{Delays, Level, RawDuration, Unused};
use crate::error::Result;

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
}

impl Default for Drift {
    fn default() -> Drift {
        Drift { prompt: Level::Note, tools: Level::Note, model: Level::Note, settings: Level::Ignore }
    }
}

/// The options that a scenario has where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Which turns may stay unserved.
    pub unused: Unused,
    /// What drift weighs.
    pub drift: Drift,
    /// How long no call may have come before the verdict.
    pub settle: Duration,
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
            secrets: Vec::new(),
            timeout: Duration::from_secs(60),
            delays: Delays::None,
        }
    }
}

/// The options of one file or case, as far as it has any.
pub(super) struct Options<'a> {
    unused: Option<&'a Unused>,
    drift: Option<&'a RawDrift>,
    settle: Option<RawDuration>,
    secrets: Option<&'a [Spanned<String>]>,
    timeout: Option<&'a Spanned<RawDuration>>,
    delays: Option<Delays>,
}

impl<'a> From<&'a RawSuite> for Options<'a> {
    fn from(raw: &'a RawSuite) -> Options<'a> {
        Options {
            unused: raw.unused.as_ref(),
            drift: raw.drift.as_ref(),
            settle: raw.settle,
            secrets: raw.secrets.as_deref(),
            timeout: raw.timeout.as_ref(),
            delays: raw.delays,
        }
    }
}

impl<'a> From<&'a RawScenario> for Options<'a> {
    fn from(raw: &'a RawScenario) -> Options<'a> {
        Options {
            unused: raw.unused.as_ref(),
            drift: raw.drift.as_ref(),
            settle: raw.settle,
            secrets: raw.secrets.as_deref(),
            timeout: raw.timeout.as_ref(),
            delays: raw.delays,
        }
    }
}

impl Defaults {
    /// These options, with those of a file in their place where it has any.
    pub(super) fn overridden<'a>(&self, by: impl Into<Options<'a>>, source: &Source) -> Result<Defaults> {
        let by = by.into();
        let drift = by.drift.cloned().unwrap_or_default();
        Ok(Defaults {
            unused: by.unused.unwrap_or(&self.unused).clone(),
            drift: Drift {
                prompt: drift.prompt.unwrap_or(self.drift.prompt),
                tools: drift.tools.unwrap_or(self.drift.tools),
                model: drift.model.unwrap_or(self.drift.model),
                settings: drift.settings.unwrap_or(self.drift.settings),
            },
            settle: by.settle.map_or(self.settle, |settle| settle.0),
            secrets: by.secrets.map_or_else(|| Ok(self.secrets.clone()), |names| secrets(names, source))?,
            timeout: by.timeout.map_or(Ok(self.timeout), |timeout| limit(timeout, source))?,
            delays: by.delays.unwrap_or(self.delays),
        })
    }
}

/// A time limit, which cannot be zero.
pub(super) fn limit(raw: &Spanned<RawDuration>, source: &Source) -> Result<Duration> {
    match raw.get_ref().0 {
        Duration::ZERO => Err(source.error(raw.span().start, "a timeout of no time at all always fails")),
        duration => Ok(duration),
    }
}

fn secrets(names: &[Spanned<String>], source: &Source) -> Result<Vec<String>> {
    names.iter().map(|name| env_name(name, source)).collect()
}

/// The name of an environment variable.
pub(super) fn env_name(name: &Spanned<String>, source: &Source) -> Result<String> {
    let text = name.get_ref();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(word) {
        let error = source.error(name.span().start, format!("`{text}` cannot be the name of an environment variable"));
        return Err(error.help("names are made of letters, digits and `_`, and do not start with a digit"));
    }
    Ok(text.clone())
}

//! What is compared on each served turn, but never decides a match (KEY.md, section 5).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{Hash, Normalizer};
use crate::json::{Json, Layout};

/// What of a call is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// All system text.
    Prompt,
    /// The tool definitions.
    Tools,
    /// The model's name.
    Model,
    /// All other settings.
    Settings,
    /// How the conversation's tool calls were answered, where that is exceptional.
    Results,
}

impl Check {
    /// All of them, in the order in which people are told of them.
    pub const ALL: [Check; 5] = [Check::Prompt, Check::Tools, Check::Model, Check::Settings, Check::Results];

    /// Whether its text is JSON.
    #[must_use]
    pub fn is_json(self) -> bool {
        matches!(self, Check::Tools | Check::Settings)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Prompt => "prompt",
            Check::Tools => "tools",
            Check::Model => "model",
            Check::Settings => "settings",
            Check::Results => "results",
        })
    }
}

/// The hashes of a call's system prompt, tools, model and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checks {
    /// Of all system text.
    pub prompt: Hash,
    /// Of the tool definitions.
    pub tools: Hash,
    /// Of the model's name.
    pub model: Hash,
    /// Of all other settings.
    pub settings: Hash,
    /// Of what is exceptional about results; `None` in turns that are older than this check, which fit any.
    pub results: Option<Hash>,
}

impl Checks {
    /// The hash of one.
    #[must_use]
    pub fn of(&self, check: Check) -> Option<Hash> {
        match check {
            Check::Prompt => Some(self.prompt),
            Check::Tools => Some(self.tools),
            Check::Model => Some(self.model),
            Check::Settings => Some(self.settings),
            Check::Results => self.results,
        }
    }

    /// As a turn that is older than the check of results has them.
    #[must_use]
    pub fn without_results(self) -> Checks {
        Checks { results: None, ..self }
    }
}

/// The text of a check as it would be with more rules of the suite: `more` holds these only.
pub(crate) fn check_with_more_rules(check: Check, text: &str, more: &Normalizer) -> String {
    match Json::parse(text.as_bytes()) {
        Ok(mut json) if check.is_json() => {
            more.own_in(&mut json, false);
            json.print(Layout::Python)
        }
        // It holds no text of the call.
        _ if check == Check::Results => text.to_owned(),
        _ => more.own(text).into_owned(),
    }
}

/// The normalized texts behind [`Checks`]. Cloning shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckTexts {
    /// All system text.
    pub prompt: Arc<str>,
    /// The tool definitions, as canonical JSON; empty where there are none.
    pub tools: Arc<str>,
    /// The model's name.
    pub model: Arc<str>,
    /// All other settings, as canonical JSON.
    pub settings: Arc<str>,
    /// What is exceptional about the results of tool calls, a line each.
    pub results: Arc<str>,
}

impl CheckTexts {
    /// Normalizes prompt, tools, model and settings, so that a date in a prompt is not drift. Nothing is exceptional about
    /// results, until [`with_results`](CheckTexts::with_results) says so.
    #[must_use]
    pub fn new(normalizer: &Normalizer, prompt: &str, tools: &Json, model: &str, settings: &Json) -> CheckTexts {
        let text = |text: &str| normalizer.own(&normalizer.of_check(text)).into();
        let json = |value: &Json| match value {
            Json::Null => "".into(),
            other => {
                let mut other = Cow::Borrowed(other);
                if normalizer.has_own() {
                    normalizer.own_in(other.to_mut(), false);
                }
                normalizer.of_check(&other.print(Layout::Python)).into()
            }
        };
        CheckTexts {
            prompt: text(prompt),
            tools: json(tools),
            model: text(model),
            settings: json(settings),
            results: "".into(),
        }
    }

    /// With what is exceptional about results.
    #[must_use]
    pub fn with_results(self, results: &str) -> CheckTexts {
        CheckTexts { results: results.into(), ..self }
    }

    /// The hashes of all.
    #[must_use]
    pub fn hashes(&self) -> Checks {
        let hash = |text: &str| Hash::of(text.as_bytes());
        Checks {
            prompt: hash(&self.prompt),
            tools: hash(&self.tools),
            model: hash(&self.model),
            settings: hash(&self.settings),
            results: Some(hash(&self.results)),
        }
    }

    /// The text of one.
    #[must_use]
    pub fn of(&self, check: Check) -> &Arc<str> {
        match check {
            Check::Prompt => &self.prompt,
            Check::Tools => &self.tools,
            Check::Model => &self.model,
            Check::Settings => &self.settings,
            Check::Results => &self.results,
        }
    }
}

//! The checks: what is compared on each served turn, but is not part of the key (KEY.md, section 5).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{Hash, Normalizer};
use crate::json::{Json, Layout};

/// A part of a call that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// All system text.
    Prompt,
    Tools,
    /// The model's name.
    Model,
    Settings,
    /// What changes how an answer looks, by presence and kind alone.
    Form,
    /// The exceptions about the results of the conversation's tool calls, such as an error or a missing result.
    Results,
    /// What is left out of the other checks, such as metadata. It tells no turns apart.
    Extra,
}

impl Check {
    /// All checks, in the order in which they are reported.
    pub const ALL: [Check; 7] =
        [Check::Prompt, Check::Tools, Check::Model, Check::Settings, Check::Form, Check::Results, Check::Extra];

    /// Whether values of this check may vary from run to run, which is marked in the recorded text.
    pub fn may_vary(self) -> bool {
        matches!(self, Check::Settings | Check::Extra)
    }

    pub fn is_json(self) -> bool {
        matches!(self, Check::Tools | Check::Settings | Check::Form | Check::Extra)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Prompt => "prompt",
            Check::Tools => "tools",
            Check::Model => "model",
            Check::Settings => "settings",
            Check::Form => "form",
            Check::Results => "results",
            Check::Extra => "extra",
        })
    }
}

/// The hash of each check of a call. They are equal if they rank turns alike: `extra` never does.
#[derive(Clone, Copy, Debug, Eq)]
pub struct Checks {
    /// The hash of all system text.
    pub prompt: Hash,
    pub tools: Hash,
    pub model: Hash,
    pub settings: Hash,
    /// The hash of what changes how an answer looks. `None` in turns that were recorded before this check existed; these match
    /// any form.
    pub form: Option<Hash>,
    /// The hash of the exceptions about results. `None` in turns that were recorded before this check existed; these match
    /// any results.
    pub results: Option<Hash>,
    /// The hash of what is left out of the others, if it is known.
    pub extra: Option<Hash>,
}

impl PartialEq for Checks {
    fn eq(&self, other: &Checks) -> bool {
        self.ranking() == other.ranking()
    }
}

impl std::hash::Hash for Checks {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.ranking().hash(hasher);
    }
}

impl Checks {
    fn ranking(&self) -> ([Hash; 4], [Option<Hash>; 2]) {
        ([self.prompt, self.tools, self.model, self.settings], [self.form, self.results])
    }

    /// Creates checks of hashes in the order of [`Check::ALL`].
    pub fn of_hashes(
        [prompt, tools, model, settings, form, results, extra]: [Option<Hash>; Check::ALL.len()],
    ) -> Checks {
        let [prompt, tools, model, settings] =
            [prompt, tools, model, settings].map(|hash| hash.unwrap_or_else(|| Hash::of(b"")));
        Checks { prompt, tools, model, settings, form, results, extra }
    }

    pub fn of(&self, check: Check) -> Option<Hash> {
        match check {
            Check::Prompt => Some(self.prompt),
            Check::Tools => Some(self.tools),
            Check::Model => Some(self.model),
            Check::Settings => Some(self.settings),
            Check::Form => self.form,
            Check::Results => self.results,
            Check::Extra => self.extra,
        }
    }

    /// Returns these checks, and the same checks as turns have them that were recorded before all of them existed.
    pub fn with_older(self) -> [Checks; 3] {
        let without_form = Checks { form: None, ..self };
        [self, without_form, Checks { results: None, ..without_form }]
    }

    /// Whether a call with these checks is the same as one with the others, where both have them.
    pub fn fits(self, other: Checks) -> bool {
        self.with_older().contains(&other) || other.with_older().contains(&self)
    }
}

/// Returns the text of a check that is stored as it was sent. With a normalizer that has no rules but the suite's, it is the text as it
/// would be with these rules added.
pub fn check_with_rules(check: Check, text: &str, rules: &Normalizer) -> String {
    match check {
        // These are Retake's own words, and contain no text of the call.
        Check::Form | Check::Results => text.to_owned(),
        Check::Extra => {
            Json::parse(text.as_bytes()).map_or_else(|_| text.to_owned(), |extra| extra_with_rules(extra, rules))
        }
        Check::Tools | Check::Settings if rules.has_own() => match Json::parse(text.as_bytes()) {
            Ok(mut json) => {
                rules.own_in(&mut json, false);
                rules.of_check(&json.print(Layout::Python)).into_owned()
            }
            Err(_) => rules.own(&rules.of_check(text)).into_owned(),
        },
        Check::Tools | Check::Settings => rules.of_check(text).into_owned(),
        Check::Prompt | Check::Model => rules.own(&rules.of_check(text)).into_owned(),
    }
}

/// The field of `extra` that contains headers.
pub const HEADERS: &str = "headers";

/// Returns the text of `extra`. The rules apply to each string, but in headers only the suite's: a provider's versions are dates.
fn extra_with_rules(mut extra: Json, rules: &Normalizer) -> String {
    fn in_strings(value: &mut Json, rules: &Normalizer) {
        match value {
            Json::Str(text) => *text = rules.of_check(text).into_owned(),
            Json::Array(items) => items.iter_mut().for_each(|item| in_strings(item, rules)),
            Json::Object(fields) => fields.values_mut().for_each(|field| in_strings(field, rules)),
            _ => {}
        }
    }
    rules.own_in(&mut extra, false);
    if let Some(fields) = extra.as_object_mut() {
        fields.iter_mut().filter(|(name, _)| *name != HEADERS).for_each(|(_, value)| in_strings(value, rules));
    }
    extra.print(Layout::Python)
}

/// The normalized texts behind [`Checks`]. Cloning shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckTexts {
    pub prompt: Arc<str>,
    /// The tool definitions, as canonical JSON. Empty if there are none.
    pub tools: Arc<str>,
    /// The model's name.
    pub model: Arc<str>,
    /// All other settings, as canonical JSON.
    pub settings: Arc<str>,
    /// What changes how an answer looks, as canonical JSON; `None` if it is not known.
    pub form: Option<Arc<str>>,
    /// The exceptions about the results of tool calls, one on each line.
    pub results: Arc<str>,
    /// What is left out of the others, as canonical JSON; `None` if it is not known.
    pub extra: Option<Arc<str>>,
}

impl CheckTexts {
    /// Normalizes prompt, tools, model and settings, so that a changed date in a prompt is not drift. The form is not
    /// known until [`with_form`](CheckTexts::with_form) sets it, and the results have no exceptions until
    /// [`with_results`](CheckTexts::with_results) sets them.
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
            form: None,
            results: "".into(),
            extra: None,
        }
    }

    /// Sets what is left out of the other checks, normalized as they are.
    #[must_use]
    pub fn with_extra(self, normalizer: &Normalizer, extra: Json) -> CheckTexts {
        CheckTexts { extra: Some(extra_with_rules(extra, normalizer).into()), ..self }
    }

    /// Sets what changes how an answer looks. These are Retake's own words, so there is nothing to normalize.
    #[must_use]
    pub fn with_form(self, form: &Json) -> CheckTexts {
        CheckTexts { form: Some(form.print(Layout::Python).into()), ..self }
    }

    /// Sets the exceptions about results.
    #[must_use]
    pub fn with_results(self, results: &str) -> CheckTexts {
        CheckTexts { results: results.into(), ..self }
    }

    /// Sets the text of one check.
    #[must_use]
    pub fn with(mut self, check: Check, text: Arc<str>) -> CheckTexts {
        match check {
            Check::Prompt => self.prompt = text,
            Check::Tools => self.tools = text,
            Check::Model => self.model = text,
            Check::Settings => self.settings = text,
            Check::Form => self.form = Some(text),
            Check::Results => self.results = text,
            Check::Extra => self.extra = Some(text),
        }
        self
    }

    pub fn hashes(&self) -> Checks {
        let hash = |text: &str| Hash::of(text.as_bytes());
        Checks {
            prompt: hash(&self.prompt),
            tools: hash(&self.tools),
            model: hash(&self.model),
            settings: hash(&self.settings),
            form: self.form.as_deref().map(hash),
            results: Some(hash(&self.results)),
            extra: self.extra.as_deref().map(hash),
        }
    }

    /// Returns the text of one check; `None` if it is not known.
    pub fn of(&self, check: Check) -> Option<&Arc<str>> {
        Some(match check {
            Check::Prompt => &self.prompt,
            Check::Tools => &self.tools,
            Check::Model => &self.model,
            Check::Settings => &self.settings,
            Check::Form => return self.form.as_ref(),
            Check::Results => &self.results,
            Check::Extra => return self.extra.as_ref(),
        })
    }
}

/// In the order of [`Check::ALL`].
impl From<CheckTexts> for [Option<Arc<str>>; Check::ALL.len()] {
    fn from(texts: CheckTexts) -> Self {
        let CheckTexts { prompt, tools, model, settings, form, results, extra } = texts;
        [Some(prompt), Some(tools), Some(model), Some(settings), form, Some(results), extra]
    }
}

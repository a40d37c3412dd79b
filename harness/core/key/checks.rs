//! The checks: what is compared on each served turn, but is not part of the key (KEY.md, section 5).

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
    /// The days and points in time in what the call says anew, of which the key has only that they are there. They choose among turns
    /// that rank alike.
    Dates,
}

impl Check {
    /// All checks, in the order in which they are reported.
    pub const ALL: [Check; 8] = {
        use Check::{Dates, Extra, Form, Model, Prompt, Results, Settings, Tools};
        [Prompt, Tools, Model, Settings, Form, Results, Extra, Dates]
    };

    /// Whether values of this check may vary from run to run, which is marked in the recorded text.
    pub fn may_vary(self) -> bool {
        matches!(self, Check::Settings | Check::Extra | Check::Dates)
    }

    /// Whether a turn may lack this check, as one that was recorded before it existed.
    pub fn may_lack(self) -> bool {
        matches!(self, Check::Form | Check::Results | Check::Extra | Check::Dates)
    }

    pub fn is_json(self) -> bool {
        matches!(self, Check::Tools | Check::Settings | Check::Form | Check::Extra | Check::Dates)
    }
}

/// The names of the checks, in the order of [`Check::ALL`].
const NAMES: [&str; Check::ALL.len()] = ["prompt", "tools", "model", "settings", "form", "results", "extra", "dates"];

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[*self as usize])
    }
}

/// The hash of each check of a call. They are equal if they rank turns alike: `extra` does not count for that, nor do `dates`.
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
    /// The hash of the days and points in time, if there are some and they are known.
    pub dates: Option<Hash>,
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
        [prompt, tools, model, settings, form, results, extra, dates]: [Option<Hash>; Check::ALL.len()],
    ) -> Checks {
        let [prompt, tools, model, settings] = [prompt, tools, model, settings].map(|it| it.unwrap_or(Hash::of(b"")));
        Checks { prompt, tools, model, settings, form, results, extra, dates }
    }

    pub fn of(&self, check: Check) -> Option<Hash> {
        let Checks { prompt, tools, model, settings, form, results, extra, dates } = *self;
        [Some(prompt), Some(tools), Some(model), Some(settings), form, results, extra, dates][check as usize]
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
    let of_json = |change: fn(Json, &Normalizer) -> String| {
        Json::parse(text.as_bytes()).map_or_else(|_| text.to_owned(), |json| change(json, rules))
    };
    match check {
        // These are Retake's own words, and contain no text of the call.
        Check::Form | Check::Results => text.to_owned(),
        Check::Extra => of_json(extra_with_rules),
        Check::Dates => of_json(dates_with_rules),
        Check::Tools | Check::Settings if rules.has_own() => {
            of_json(|json, rules| rules.of_check(&rules.own_of(&json, false).print(Layout::Python)).into_owned())
        }
        _ => rules.own(&rules.of_check(text)).into_owned(),
    }
}

/// The field of `extra` that contains headers.
pub const HEADERS: &str = "headers";

/// Returns the text of `extra`. The rules apply to each string, but in headers only the suite's: a provider's versions are dates.
fn extra_with_rules(mut extra: Json, rules: &Normalizer) -> String {
    rules.own_in(&mut extra, false);
    if let Some(fields) = extra.as_object_mut() {
        let others = fields.iter_mut().filter(|(name, _)| *name != HEADERS);
        others.for_each(|(_, value)| value.each_text_mut(&mut |text| *text = rules.of_check(text).into_owned()));
    }
    extra.print(Layout::Python)
}

/// Returns the text of `dates`, to which only the suite's rules apply.
fn dates_with_rules(mut dates: Json, rules: &Normalizer) -> String {
    rules.own_in(&mut dates, false);
    if dates == Json::Null { String::new() } else { dates.print(Layout::Python) }
}

/// The normalized texts behind [`Checks`], in the order of [`Check::ALL`]; `None` is not known. Cloning shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckTexts(pub [Option<Arc<str>>; Check::ALL.len()]);

impl CheckTexts {
    /// Normalizes prompt, tools, model and settings, so that a changed date in a prompt is not drift. The form is not
    /// known until [`with`](CheckTexts::with) sets it, and the results have no exceptions until it sets them.
    pub fn new(normalizer: &Normalizer, prompt: &str, tools: &Json, model: &str, settings: &Json) -> CheckTexts {
        let text = |text: &str| Arc::from(normalizer.own(&normalizer.of_check(text)));
        let json = |value: &Json| match value {
            Json::Null => "".into(),
            other => normalizer.of_check(&normalizer.own_of(other, false).print(Layout::Python)).into(),
        };
        let [prompt, tools, model, settings] = [text(prompt), json(tools), text(model), json(settings)].map(Some);
        CheckTexts([prompt, tools, model, settings, None, Some("".into()), None, None])
    }

    /// Sets what is left out of the other checks, normalized as they are.
    pub fn with_extra(self, normalizer: &Normalizer, extra: Json) -> CheckTexts {
        self.with(Check::Extra, extra_with_rules(extra, normalizer).into())
    }

    /// Sets the days and points in time; null if there are none.
    pub fn with_dates(self, normalizer: &Normalizer, dates: Json) -> CheckTexts {
        self.with(Check::Dates, dates_with_rules(dates, normalizer).into())
    }

    /// Sets the text of one check.
    pub fn with(mut self, check: Check, text: Arc<str>) -> CheckTexts {
        self.0[check as usize] = Some(text);
        self
    }

    pub fn hashes(&self) -> Checks {
        Checks::of_hashes(self.0.each_ref().map(|text| text.as_ref().map(|text| Hash::of(text.as_bytes()))))
    }

    /// Returns the text of one check; `None` if it is not known.
    pub fn of(&self, check: Check) -> Option<&Arc<str>> {
        self.0[check as usize].as_ref()
    }

    /// Returns the text of one check, which is empty if it is not known.
    pub fn text(&self, check: Check) -> &str {
        self.of(check).map_or("", AsRef::as_ref)
    }
}

//! Drift of a model call: the checks that differ from the recorded ones.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::breakage::{Breakage, RecordedPrompts, breakage, refused};
use super::callers::names_of_tools;
use super::lookup::Lookup;
use super::miss::{change, field_difference, flat};
use super::second_look::Clock;
use retake_base::text::listed;
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, names_date, text_as_varying};
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{IN_PLACE, expressible_in_every_api, system_of};

/// A check that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftOf {
    /// The check that differs.
    pub check: Check,
    /// The recorded text.
    pub recorded: Arc<str>,
    /// The call's text.
    pub called: Arc<str>,
    /// What the change breaks, if it breaks something.
    pub breakage: Option<Breakage>,
}

impl DriftOf {
    /// Describes the change for the first line of a failure. `of` names the caller, as in `` of `lead_agent` ``, or is empty.
    pub fn in_words(&self, of: &str) -> String {
        let short = self.in_short();
        match self.check {
            Check::Results if [&self.called, &self.recorded].map(|of| of.contains(IN_PLACE)) == [true, false] => {
                format!("tool results{of} are sent for each other's calls ({short})")
            }
            Check::Results => format!("tool results{of} are marked differently than recorded ({short})"),
            Check::Prompt => format!("the system prompt{of} changed ({short})"),
            Check::Tools => self.tool().unwrap_or_else(|| format!("the tool definitions{of} changed ({short})")),
            Check::Settings => format!("the settings{of} changed ({short})"),
            Check::Extra => format!("what is sent beside the calls{of} changed ({short})"),
            Check::Model => format!("the model{of} changed ({short})"),
            Check::Dates => format!("a call{of} tells another day or time than recorded ({short})"),
            Check::Form => format!("the form of answer that calls{of} ask for changed ({short})"),
        }
    }

    /// Describes the change of each option in a form: `` `usage`: true → nothing ``.
    fn options(&self) -> Vec<String> {
        let read = |text: &str| Json::parse(text.as_bytes()).ok().and_then(Json::into_object).unwrap_or_default();
        let (recorded, called) = (read(&self.recorded), read(&self.called));
        let options: BTreeSet<&str> = recorded.keys().chain(called.keys()).map(|key| &**key).collect();
        let shown = |value: Option<&Json>| value.map_or("nothing".to_owned(), |value| value.print(Layout::Compact));
        let changed = options.into_iter().filter(|option| recorded.get(*option) != called.get(*option));
        let of_option = |of: &str| format!("`{of}`: {} → {}", shown(recorded.get(of)), shown(called.get(of)));
        changed.map(of_option).collect()
    }

    /// The change in short, for a note.
    pub fn in_short(&self) -> String {
        // The objects of `extra` only say where something is sent.
        let named = |text: &str| flat(text).map_or(text.to_owned(), |flat| Json::Object(flat).print(Layout::Python));
        let field = match self.check {
            Check::Extra => field_difference(&named(&self.recorded), &named(&self.called)),
            check => field_difference(&self.recorded, &self.called).filter(|_| check.may_vary()),
        };
        match (self.check, field) {
            (Check::Form, _) => self.options().join(", "),
            (Check::Results, _) => {
                let alone = |of: &str, other: &str| {
                    of.lines().filter(|line| !other.lines().any(|of| of == *line)).collect::<Vec<_>>().join("; ")
                };
                change(&alone(&self.recorded, &self.called), &alone(&self.called, &self.recorded))
            }
            (Check::Dates, Some((_, words))) => words,
            (_, Some((pointer, words))) => format!("`{pointer}`: {words}"),
            _ => change(&self.recorded, &self.called),
        }
    }

    /// Describes the change of the first tool whose definition changed.
    fn tool(&self) -> Option<String> {
        let read = |text: &str| Json::parse(text.as_bytes()).ok();
        let (recorded, called) = (read(&self.recorded)?, read(&self.called)?);
        let (before, now) = (names_of_tools(&recorded), names_of_tools(&called));
        if let Some(gone) = before.iter().find(|name| !now.contains(name)) {
            return Some(format!("tool `{gone}` is not offered any more"));
        }
        if let Some(new) = now.iter().find(|name| !before.contains(name)) {
            return Some(format!("tool `{new}` is offered, but was not when it was recorded"));
        }
        let (recorded, called) = (recorded.as_array()?, called.as_array()?);
        let sorted = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        if before != now && sorted(&before) == sorted(&now) && recorded.iter().all(|tool| called.contains(tool)) {
            return Some(format!("the tools are offered in a different order: {}", listed(&now)));
        }
        // Each definition is compared with the one of the same name, wherever it stands. Gemini's stand inside of others.
        let nested = before.len() != recorded.len() || now.len() != called.len();
        let of_name = |at: usize| {
            let name = now.get(at)?;
            recorded.get(if nested { at } else { before.iter().position(|other| other == name)? })
        };
        let mut pairs = called.iter().enumerate().filter_map(|(at, is)| Some((now.get(at)?, of_name(at)?, is)));
        let (name, was, is) = pairs.find(|(_, was, is)| was != is)?;
        let (pointer, words) = field_difference(&was.print(Layout::Python), &is.print(Layout::Python))?;
        Some(format!("tool `{name}` is defined differently: `{pointer}` ({words})"))
    }
}

/// Returns the checks of a call that differ from those of the turn that answers it.
pub(super) fn drift(
    fixture: &Fixture,
    turn: &Turn,
    lookup: &Lookup,
    clock: &Clock,
    prompts: &OnceLock<RecordedPrompts>,
) -> Vec<DriftOf> {
    let (Some(checks), Some(called)) = (turn.checks, &lookup.checks) else { return Vec::new() };
    let same_api = turn.wire.as_ref().map(|wire| wire.api) == lookup.api;
    // A prompt as it was sent and as it is, if it tells another day than today where it told its own.
    let of_another_day = || {
        let (recorded, called) =
            (turn.sent.texts.as_deref()?[Check::Prompt as usize].as_ref()?, system_of(lookup.conversation.messages()));
        let told = **recorded != called && clock.tells_another_day(fixture.recorded?, recorded, &called);
        told.then(|| (recorded.clone(), Arc::from(called)))
    };
    let drift_of = |check: Check| {
        let hash = checks.of(check)?;
        let is_same = Some(hash) == called.hashes.of(check);
        // Names stand for dates in what is compared, so that it does not say which.
        let is_dated = || fixture.texts.get(&hash).is_some_and(|text| names_date(text));
        if check == Check::Prompt
            && (!is_same || is_dated())
            && let Some((recorded, called)) = of_another_day()
        {
            return Some(DriftOf { check, recorded, called, breakage: Some(Breakage::AnotherDay) });
        }
        if is_same {
            return None;
        }
        let recorded = fixture.texts.get(&hash).cloned().unwrap_or_default();
        let called = called.texts.of(check)?.clone();
        let called = text_as_varying(&recorded, &called).filter(|_| check.may_vary()).map_or(called, Arc::from);
        if called == recorded {
            return None;
        }
        // Each API asks for forms in its own way, below its own version, and has its own fields beside a call.
        // Not every API marks a tool result as an error.
        if !same_api
            && (matches!(check, Check::Form | Check::Extra | Check::Dates)
                || check == Check::Results && expressible_in_every_api(&recorded) == expressible_in_every_api(&called))
        {
            return None;
        }
        let prompts = || prompts.get_or_init(|| RecordedPrompts::of(fixture));
        let other = || prompts().other_caller(&called, turn.caller.as_deref()).map(str::to_owned);
        let of_api = turn.wire.as_ref().filter(|_| same_api).map(|wire| wire.api);
        let breakage = breakage(turn, check, &recorded, &called, other)
            .or_else(|| refused(fixture, of_api?, check, &recorded, &called));
        Some(DriftOf { check, recorded, called, breakage })
    };
    Check::ALL.into_iter().filter_map(drift_of).collect()
}

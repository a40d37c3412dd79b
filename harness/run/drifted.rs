//! Calls that got their turn, but differ from it in a check, and requests that got their answer, but lack headers or have other ids: which of these fail a run,
//! and how that is told.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::findings::BODY;
use super::tool_ids;
use super::trial::Replayed;
use super::verdict::SHOWN;
use crate::report::{Evidence, Failure, unified_lines};
use retake_base::cause::{Cause, CauseKind};
use retake_core::days::tells;
use retake_core::events::{Event, Foreign};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, attributed, names_date};
use retake_model::{Breakage, DriftOf, change};
use retake_scenario::{Level, Scenario};
use retake_wire::fixture::Lack;

impl Replayed {
    /// The failure about the first call whose check differs so that it fails.
    pub(super) fn drifted(&self, scenario: &Scenario) -> Option<Failure> {
        let foreign = LazyCell::new(|| self.foreign(&|answer| answer));
        let of_service = LazyCell::new(|| {
            let mut of_service = Foreign::default();
            let beside = self.played.driven.beside.iter().map(|(_, of)| of);
            let captured = self.played.driven.captured.iter().chain(beside);
            // What a stream says in pieces may be any words.
            let answers = captured.flat_map(|of| &of.events).filter(|event| event.label() == BODY);
            answers.filter_map(Event::json).for_each(|payload| of_service.add(&payload));
            of_service
        });
        // An edited prompt breaks nothing. One that says other values, or no day any more, was not edited, but filled in otherwise.
        let refilled = |of: &DriftOf| {
            let (was, is) = (&of.recorded, &of.called);
            let says_others = || foreign.says_other_values(was, is) || of_service.lacks_value(was, is);
            let others = || says_others() || self.says_as_another(was, is) || self.lacks_day(was, is);
            match of.breakage {
                Some(Breakage::AnotherDay) => Some("tells another day than today"),
                None if of.check == Check::Prompt && others() => Some("says other values"),
                _ => None,
            }
        };
        let breaks = |of: &DriftOf| of.breakage.is_some() || refilled(of).is_some();
        let fails = |(_, of): &&(usize, DriftOf)| {
            let level = scenario.options.drift.of(of.check);
            level == Level::Fail || level == Level::Note && breaks(of)
        };
        let failing: Vec<_> = self.played.drift.iter().filter(fails).collect();
        let (turn, first) = failing.iter().find(|(_, drift)| breaks(drift)).or(failing.first())?;
        let fixture = self.fixture.as_ref()?;
        let caller = fixture.table.turns()[*turn].caller.as_deref();
        let of = attributed(" of", caller);
        let what = match (&first.breakage, refilled(first)) {
            (_, Some(how)) => format!("the system prompt{of} {how} ({})", change(&first.recorded, &first.called)),
            (Some(breakage), None) => breakage.to_string(),
            (None, None) => first.in_words(&of),
        };
        let by = attributed(", by", caller);
        let place = format!("  {}{by}, in scenario `{}`", fixture.place_of(*turn), scenario.name);
        // Tools and settings are one line of JSON each.
        let json = |text: &str| Json::parse(text.as_bytes());
        let lines = |text: &str| json(text).map_or_else(|_| text.to_owned(), |json| json.print(Layout::Pretty));
        let diff = unified_lines(&lines(&first.recorded), &lines(&first.called));
        let failure = Failure::of(vec![Cause::new(CauseKind::Check, what)]);
        Some(failure.evidence(Evidence::diff(place, diff)))
    }

    /// Whether a prompt was changed only where it says values that the scenario sends, or as another recorded one differs from it, so
    /// that it says what belongs to another call.
    fn says_as_another(&self, recorded: &str, called: &str) -> bool {
        let was: Vec<&str> = recorded.split_whitespace().collect();
        let changes = |to: &str| {
            let is: Vec<&str> = to.split_whitespace().collect();
            let ops = capture_diff_slices(Algorithm::Myers, &was, &is).into_iter();
            let changed = ops.filter(|op| op.tag() != DiffTag::Equal);
            changed.map(|op| (op.old_range(), is[op.new_range()].join(" "))).collect::<Vec<_>>()
        };
        let sent = |(range, _): &(Range<usize>, String)| {
            let value = was[range.clone()].join(" ");
            let value = value.trim_matches(|c: char| !c.is_alphanumeric());
            value.contains(char::is_alphabetic) && self.played.driven.sent.came(value)
        };
        let (own, Some(fixture)) = (changes(called), &self.fixture) else { return false };
        let prompts = fixture.table.turns().iter().filter_map(|turn| fixture.texts.get(&turn.checks?.prompt));
        let mut others = prompts.collect::<BTreeSet<_>>().into_iter().map(|prompt| changes(prompt));
        let is_of = |other: Vec<_>| own.iter().all(|change| other.contains(change));
        !own.is_empty() && (own.iter().all(sent) || others.any(is_of))
    }

    /// Whether a text tells no day where the recorded one told about the day of the recording, or tells it without the year.
    fn lacks_day(&self, recorded: &str, called: &str) -> bool {
        let Some(then) = self.fixture.as_ref().and_then(|fixture| fixture.recorded) else { return false };
        let (then, now) = (then.time().date(), self.clock.minute().time().date());
        let tells_one = |text: &str, day| names_date(text) || tells(text, day, 0);
        let has_year = |text: &str| [then, now].iter().any(|day| text.contains(&day.year().to_string()));
        tells_one(recorded, then) && (!tells_one(called, now) || has_year(recorded) && !has_year(called))
    }

    /// The failure about requests to tools that lack headers.
    pub(super) fn lacks_headers(&self, scenario: &Scenario) -> Option<Failure> {
        let mut lacking = self.lacking_headers().filter(|_| scenario.options.drift.of(Check::Results) == Level::Fail);
        let failure = Failure::of(vec![Cause::new(CauseKind::Check, lacking.next()?)]);
        Some(lacking.take(SHOWN).fold(failure, Failure::evidence))
    }

    /// What requests to tools lack, one line for each header.
    pub(super) fn lacking_headers(&self) -> impl Iterator<Item = String> {
        self.played.tools.lacking.iter().filter_map(|((server, index), lack)| {
            let (asked, before) = self.fixture.as_ref()?.tools.get(server)?.get(..=*index)?.split_last()?;
            let request = format!("`{}` of `{}` to `{server}`", asked.method, asked.tool());
            Some(match lack {
                Lack::Id(id) => tool_ids::in_words(&request, id, before),
                Lack::Header(header) => match header.split_once(": ") {
                    None => format!("{request} has no header `{header}` any more"),
                    Some((name, _)) => format!("{request} has another value of the header `{name}` than recorded"),
                },
            })
        })
    }
}

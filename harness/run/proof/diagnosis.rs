//! Finds what varied between a recording and its replay: in which message of which call, and which rules make the two equal. The
//! rules are tried on both.

use super::candidates::line_at;
use super::loosening::Loosening;
use super::rule::{Rule, common};
use super::tried::{Tried, applied, normalizer, with};
use super::vary::{Mend, Variation, compare};
use crate::run::trial::Replayed;
use retake_base::text::{around, nth_turn};
use retake_core::conversation::OPAQUE;
use retake_core::events::Golden;
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Rules, attributed};
use retake_model::{MissReason, MissedCall, describe, first_difference};
use retake_scenario::Scenario;
use retake_wire::fixture::Fixture;

/// What varied at one place.
#[derive(Debug)]
pub(super) struct Finding {
    /// The call and the place in it, one labelled line each.
    pub(super) place: Vec<String>,
    /// The same on one line, without values.
    pub(super) short: String,
    /// The recorded line and the replayed one.
    pub(super) lines: (String, String),
    /// What the values look like (`a time of day`), with the stage's name for them if they belong to the stage.
    pub(super) causes: Vec<String>,
    /// Whether the same items came in a different order.
    pub(super) reordered: bool,
    /// Whether the rules make the call equal to the recorded one.
    pub(super) mended: bool,
}

/// What varied in one run, and the rules that make it equal.
#[derive(Debug, Default)]
pub(super) struct Diagnosis {
    pub(super) findings: Vec<Finding>,
    pub(super) rules: Vec<Rule>,
    /// The `[golden]` options that help if no rule does and only the golden varies.
    pub(super) loosening: Option<Loosening>,
}

/// What varied in the calls that missed, in replays of the same recording. Rules that are found in one replay have to hold in the
/// others: an id of hexadecimal digits may happen to have no letters.
pub(super) fn of_misses(replays: &[&Replayed], fixture: &Fixture, tried: &Tried<'_>) -> Diagnosis {
    let mut all = replays.iter().map(|replayed| of_replay(replayed, replays, fixture, tried));
    let first = all.next().unwrap_or_default();
    let is_whole = |it: &Diagnosis| !it.rules.is_empty() && it.findings.iter().all(|finding| finding.mended);
    if is_whole(&first) { first } else { all.find(is_whole).unwrap_or(first) }
}

fn of_replay(replayed: &Replayed, replays: &[&Replayed], fixture: &Fixture, tried: &Tried<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    // What the recording says on the stage of this replay: its places do not vary.
    let fixture = replayed.fixture.as_deref().unwrap_or(fixture);
    for missed in &replayed.log.missed {
        let Some(index) = missed.nearest else { continue };
        if !matches!(missed.reason, MissReason::NotRecorded | MissReason::RequestNotRecorded { .. }) {
            continue;
        }
        let Some(recorded) = fixture.conversation(index, tried.rules) else { continue };
        let rules = diagnosis.rules.clone();
        let (recorded, called) = (applied(&recorded, &rules), applied(&missed.lookup.conversation, &rules));
        let others = replays.iter().filter(|it| !std::ptr::eq(**it, replayed)).flat_map(|other| &other.log.missed);
        let others = others.filter(|other| other.nearest == Some(index));
        let others = others.map(|other| &other.lookup.conversation[..]).collect();
        let call = MissedAt { replayed, missed, turn: index, others };
        let (mut findings, more) = call.compare(&recorded, &called, &rules, tried);
        let all: Vec<Rule> = rules.into_iter().chain(more).collect();
        let key = |messages: &[Json]| with(tried.rules, &all).conversation_hash(&applied(messages, &all));
        // Keep the rules only if they make the whole call equal.
        if key(&recorded) == key(&called) {
            for finding in &mut findings {
                finding.mended = true;
            }
            diagnosis.rules = all;
        }
        diagnosis.findings.extend(findings);
    }
    diagnosis
}

/// What varies between the two texts of a check.
pub(super) fn of_check(check: Check, recorded: &str, called: &str) -> Vec<Variation> {
    let json = |text: &str| Json::parse(text.as_bytes()).ok().filter(|_| check.is_json());
    let (Some(mut a), Some(mut b)) = (json(recorded), json(called)) else {
        return compare(recorded, called, true, &|_| true);
    };
    let mut found = Vec::new();
    while a != b {
        let variations = Differing::in_values(&a, &b, false).variations(&|_| true);
        let more = normalizer(&rules_of(&variations));
        found.extend(variations);
        let before = (a.clone(), b.clone());
        more.own_in(&mut a, false);
        more.own_in(&mut b, false);
        if (&a, &b) == (&before.0, &before.1) {
            break;
        }
    }
    found
}

/// One call that missed.
struct MissedAt<'a> {
    replayed: &'a Replayed,
    missed: &'a MissedCall,
    turn: usize,
    /// The same call in other replays.
    others: Vec<&'a [Json]>,
}

impl MissedAt<'_> {
    fn compare(
        &self,
        recorded: &[Json],
        called: &[Json],
        before: &[Rule],
        tried: &Tried<'_>,
    ) -> (Vec<Finding>, Vec<Rule>) {
        let whole = |lines, cause: &str, mend| {
            let variation = Variation { cause: cause.to_owned(), values: Default::default(), mend };
            (vec![self.finding("the conversation", lines, &[variation])], vec![])
        };
        if recorded.len() != called.len() {
            let lines = (format!("{} messages", recorded.len()), format!("{} messages", called.len()));
            return whole(lines, "a different number of messages", Mend::None);
        }
        let text = |message: &Json| message.print(Layout::Python);
        let (mut first, mut second): (Vec<_>, Vec<_>) =
            (recorded.iter().map(text).collect(), called.iter().map(text).collect());
        let in_order = first == second;
        first.sort();
        second.sort();
        if !in_order && first == second {
            let outline = |messages: &[Json]| messages.iter().map(describe).collect::<Vec<_>>().join(", ");
            let lines = (outline(recorded), outline(called));
            return whole(lines, "the same messages in a different order", Mend::Order);
        }
        let (mut findings, mut rules) = (Vec::new(), Vec::new());
        for (at, (a, b)) in recorded.iter().zip(called).enumerate() {
            let all: Vec<Rule> = before.iter().chain(&rules).cloned().collect();
            let new = &all[before.len()..];
            let applied_to = |message: &Json, rules: &[Rule]| applied(std::slice::from_ref(message), rules).pop();
            let (Some(mut a), Some(mut b)) = (applied_to(a, new), applied_to(b, new)) else { continue };
            let message = format!("message {} of {} ({})", at + 1, called.len(), describe(&b));
            // A rule works on a single text, so compare text by text.
            while a != b {
                let all: Vec<Rule> = before.iter().chain(&rules).cloned().collect();
                let place = Differing::in_messages(&a, &b);
                let fits = |rule: &Rule| {
                    let stays = || rule.alone && rule.takes_what_stays(recorded, called);
                    tried.fits(&all, rule) && !stays() && !self.fails_elsewhere(recorded, &all[before.len()..], rule)
                };
                let variations = place.variations(&fits);
                let lines = differing_lines(&place.recorded, &place.called);
                findings.push(self.finding(&format!("{message}, in `{}`", place.path), lines, &variations));
                let more = rules_of(&variations);
                rules.extend(more.iter().cloned());
                let (Some(new_a), Some(new_b)) = (applied_to(&a, &more), applied_to(&b, &more)) else { break };
                let moved = new_a == new_b || Differing::in_messages(&new_a, &new_b).path != place.path;
                (a, b) = (new_a, new_b);
                if !moved {
                    break;
                }
            }
        }
        (findings, rules)
    }

    /// Whether a rule leaves the recorded call different from the same call of another replay, though it replaces what differs.
    fn fails_elsewhere(&self, recorded: &[Json], new: &[Rule], rule: &Rule) -> bool {
        self.others.iter().filter(|other| other.len() == recorded.len()).any(|other| {
            let (recorded, other) = (applied(recorded, new), applied(other, new));
            recorded.iter().zip(&other).filter(|(a, b)| a != b).any(|(a, b)| {
                let place = Differing::in_messages(a, b);
                rule.leaves_apart(&place.recorded, &place.called)
            })
        })
    }

    fn finding(&self, place: &str, lines: (String, String), variations: &[Variation]) -> Finding {
        let whose = attributed(" of", self.missed.lookup.caller.as_deref());
        let mut causes: Vec<String> = Vec::new();
        for Variation { cause, values, .. } in variations {
            let own = self.replayed.played.driven.names.name_of(&values.1);
            let own = own.map(|name| format!(": {name} of the stage, different in each run")).unwrap_or_default();
            let cause = format!("{cause}{own}");
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        let turn = nth_turn(self.turn);
        let call = format!("call      {}{whose}, {turn}", self.missed.lookup.via);
        Finding {
            place: vec![call, format!("varies    {place}")],
            short: format!("{turn}{whose}, {place}: {}", causes.join(", ")),
            lines,
            causes,
            reordered: variations.iter().any(|variation| matches!(variation.mend, Mend::Order)),
            mended: false,
        }
    }
}

pub(super) fn rules_of(variations: &[Variation]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for variation in variations {
        if let Mend::Rule(rule) = &variation.mend
            && !rules.iter().any(|known| known.regex.as_str() == rule.regex.as_str())
        {
            rules.push(rule.clone());
        }
    }
    rules
}

/// The first line in which two texts differ, from each text.
fn differing_lines(a: &str, b: &str) -> (String, String) {
    let at = common(a, b);
    let column = at - a[..at].rfind('\n').map_or(0, |i| i + 1);
    (around(line_at(a, at), column), around(line_at(b, at), column))
}

/// What varied between the goldens of runs whose calls were all answered.
pub(super) fn of_goldens(runs: &[Replayed], scenario: &Scenario, tried: &Tried<'_>) -> Diagnosis {
    let texts = |rules: &Rules| -> Vec<String> {
        let goldens = runs.iter().map(|replayed| replayed.golden_by(scenario, rules).unwrap_or_default());
        let mut goldens: Vec<Golden> = goldens.collect();
        Golden::agree_on_what_varies(&mut goldens.iter_mut().collect::<Vec<_>>(), scenario.golden.detail);
        goldens.iter().map(ToString::to_string).collect()
    };
    let all = texts(tried.rules);
    let lines = |text: &str| -> Vec<Json> { text.lines().map(Json::from).collect() };
    // Rules work on values before these are printed into the golden, so they may not see the text that surrounds a value there.
    // Try rules without that text too.
    for in_context in [true, false] {
        for other in all.iter().filter(|other| **other != all[0]) {
            let fits = |rule: &Rule| {
                let stays = || rule.takes_what_stays(&lines(&all[0]), &lines(other)) || tried.changes_calls(rule);
                tried.fits(&[], rule) && !(rule.alone && stays())
            };
            let rules = rules_of(&compare(&all[0], other, in_context, &fits));
            let found = texts(&with(tried.rules, &rules));
            if !rules.is_empty() && found.windows(2).all(|two| two[0] == two[1]) {
                return Diagnosis { rules, ..Diagnosis::default() };
            }
        }
    }
    let loosening = Loosening::of(&runs.iter().collect::<Vec<_>>(), &scenario.golden, tried.rules);
    Diagnosis { loosening, ..Diagnosis::default() }
}

/// The first place in which two messages, or two values, differ.
pub(super) struct Differing {
    /// The place: `content`, or `tool_calls[0].args.path`.
    pub(super) path: String,
    /// The recorded text there.
    pub(super) recorded: String,
    /// The call's text there.
    pub(super) called: String,
    /// Whether a suite's rules work there, which they do if both values are texts.
    ruled: bool,
}

impl Differing {
    /// Compares two canonical messages.
    pub(super) fn in_messages(recorded: &Json, called: &Json) -> Differing {
        let whole = Differing::in_values(recorded, called, false);
        let body = |message: &Json| {
            let opaque = message.str_of("type") == Some(OPAQUE);
            Json::parse(message.str_of("content")?.as_bytes()).ok().filter(|_| opaque)
        };
        match (body(recorded), body(called)) {
            (Some(a), Some(b)) if whole.path == "content" && a != b => {
                let inside = Differing::in_values(&a, &b, true);
                Differing { path: format!("content: {}", inside.path), ..inside }
            }
            _ => whole,
        }
    }

    /// Compares two values. `numbers` says whether rules work on numbers too.
    pub(super) fn in_values(recorded: &Json, called: &Json, numbers: bool) -> Differing {
        let (path, a, b) = first_difference(recorded, called);
        let acted_on = |value: Option<&Json>| match value {
            Some(Json::Str(_)) => true,
            Some(Json::Int(_) | Json::BigInt(_) | Json::Float(_)) => numbers,
            _ => false,
        };
        let text = |value: Option<&Json>| match value {
            Some(Json::Str(text)) => text.clone(),
            value => value.map_or_else(|| "(absent)".to_owned(), |value| value.print(Layout::Python)),
        };
        Differing { path, recorded: text(a), called: text(b), ruled: acted_on(a) && acted_on(b) }
    }

    /// What varies there. `fits` decides whether a rule may be proposed.
    pub(super) fn variations(&self, fits: &dyn Fn(&Rule) -> bool) -> Vec<Variation> {
        if self.ruled {
            return compare(&self.recorded, &self.called, true, fits);
        }
        let values = (self.recorded.clone(), self.called.clone());
        vec![Variation { cause: "a different value, which no rule works on".to_owned(), values, mend: Mend::None }]
    }
}

//! What varied between a recording and its replay: in which message of which call, and the rules that would make the two
//! equal, tried on both.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::vary::{Mend, Rule, Variation, compare};
use crate::fixture::{Fixture, Recorded};
use crate::json::{Json, Layout};
use crate::key::{CheckTexts, Hash, Rules, is_blank};
use crate::model::{MissedCall, Reason, describe, first_difference};
use crate::run::trial::Replayed;
use crate::scenario::Scenario;
use crate::text::around;

/// What varied at one place.
#[derive(Debug)]
pub(super) struct Finding {
    /// The call and the place in it: a line each, with their labels.
    pub(super) place: Vec<String>,
    /// The same in short, without values.
    pub(super) short: String,
    /// The recorded line and the replayed one.
    pub(super) lines: (String, String),
    /// What each thing that varies looks like, with what the stage calls it where it is the stage's own.
    pub(super) causes: Vec<String>,
    /// Whether items came in another order.
    pub(super) reordered: bool,
    /// Whether the rules that were found make the call equal to the recorded one.
    pub(super) mended: bool,
}

/// What varied in one run, and the rules that mend it.
#[derive(Debug, Default)]
pub(super) struct Diagnosis {
    pub(super) findings: Vec<Finding>,
    pub(super) rules: Vec<Rule>,
}

/// A recorded call, as rules are tried on it.
struct Call {
    caller: Option<String>,
    conversation: Vec<Json>,
}

/// What rules are tried on.
pub(super) struct Tried<'a> {
    rules: &'a Rules,
    calls: Vec<Call>,
    distinct: usize,
}

impl<'a> Tried<'a> {
    pub(super) fn new(fixture: Option<&Fixture>, rules: &'a Rules) -> Tried<'a> {
        let calls = fixture.into_iter().flat_map(|fixture| {
            let turns = fixture.table.turns().iter().enumerate();
            turns.filter_map(|(index, turn)| {
                let conversation = fixture.conversation(index, rules)?;
                Some(Call { caller: turn.caller.clone(), conversation })
            })
        });
        let mut tried = Tried { rules, calls: calls.collect(), distinct: 0 };
        tried.distinct = tried.keys(&[]).len();
        tried
    }

    fn keys(&self, extra: &[Rule]) -> BTreeSet<(Option<String>, Hash)> {
        let with = with(self.rules, extra);
        let key = |call: &Call| (call.caller.clone(), with.conversation_hash(&applied(&call.conversation, extra)));
        self.calls.iter().map(key).collect()
    }

    /// Whether calls that were different stay so.
    pub(super) fn keep_calls_apart(&self, rules: &[&Rule]) -> bool {
        let rules: Vec<Rule> = rules.iter().map(|rule| (*rule).clone()).collect();
        self.keys(&rules).len() == self.distinct
    }

    /// The same for one rule. The rule stands behind others that were found before.
    fn keeps_calls_apart(&self, before: &[Rule], rule: &Rule) -> bool {
        let rules: Vec<Rule> = before.iter().chain([rule]).cloned().collect();
        self.keys(&rules).len() == self.distinct
    }
}

/// Key rules and more rules behind them.
pub(super) fn with(rules: &Rules, extra: &[Rule]) -> Rules {
    let more = extra.iter().map(|rule| (rule.regex.clone(), rule.replace.clone()));
    Rules { normalizer: rules.normalizer.clone().with(more), aliases: rules.aliases.clone() }
}

/// Canonical messages as they would be with more rules: those rules stand behind all that were applied before.
fn applied(conversation: &[Json], extra: &[Rule]) -> Vec<Json> {
    let apply = |message: &Json| {
        let Json::Object(fields) = message else { return Some(message.clone()) };
        let mut fields = fields.clone();
        if let Some(Json::Str(content)) = fields.get_mut("content") {
            *content = in_text(content, extra);
            if is_blank(content) && !fields.contains_key("tool_calls") {
                return None;
            }
        }
        Some(Json::Object(fields))
    };
    conversation.iter().filter_map(apply).collect()
}

fn in_text(text: &str, rules: &[Rule]) -> String {
    rules.iter().fold(text.to_owned(), |text, rule| rule.apply(&text))
}

/// A fixture as a recording with more rules would have made it; none where it keeps hashes only.
pub(super) fn rekeyed(fixture: &Fixture, rules: &Rules, extra: &[Rule]) -> Option<Arc<Fixture>> {
    let turns = fixture.table.turns().iter().enumerate().map(|(index, turn)| {
        let text = |hash: Hash| Some(Arc::from(in_text(fixture.texts.get(&hash)?, extra)));
        let checks = turn.checks?;
        Some(Recorded {
            caller: turn.caller.clone(),
            conversation: applied(&fixture.conversation(index, rules)?, extra),
            checks: CheckTexts {
                prompt: text(checks.prompt)?,
                tools: text(checks.tools)?,
                model: text(checks.model)?,
                settings: text(checks.settings)?,
            },
            output: turn.output.clone(),
            wire: turn.wire.clone()?,
        })
    });
    let turns = turns.collect::<Option<Vec<_>>>()?;
    let (path, notes): (&PathBuf, _) = (&fixture.path, fixture.notes.clone());
    Some(Arc::new(Fixture::of_turns(path, notes, turns, &with(rules, extra))))
}

/// What varied in the calls that missed.
pub(super) fn of_misses(replayed: &Replayed, fixture: &Fixture, tried: &Tried<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    for missed in &replayed.missed_calls {
        let Some(index) = missed.nearest else { continue };
        if !matches!(missed.reason, Reason::NotRecorded | Reason::RequestNotRecorded { .. }) {
            continue;
        }
        let Some(recorded) = fixture.conversation(index, tried.rules) else { continue };
        let rules = diagnosis.rules.clone();
        let (recorded, called) = (applied(&recorded, &rules), applied(&missed.lookup.conversation, &rules));
        let call = OfCall { replayed, missed, turn: index };
        let (mut findings, more) = call.compare(&recorded, &called, &rules, tried);
        let all: Vec<Rule> = rules.into_iter().chain(more).collect();
        let key = |messages: &[Json]| with(tried.rules, &all).conversation_hash(&applied(messages, &all));
        // Rules that do not suffice are none.
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

/// One call that missed.
struct OfCall<'a> {
    replayed: &'a Replayed,
    missed: &'a MissedCall,
    turn: usize,
}

impl OfCall<'_> {
    fn compare(
        &self,
        recorded: &[Json],
        called: &[Json],
        before: &[Rule],
        tried: &Tried<'_>,
    ) -> (Vec<Finding>, Vec<Rule>) {
        if recorded.len() != called.len() {
            let lines = (format!("{} messages", recorded.len()), format!("{} messages", called.len()));
            return (
                vec![self.finding("the conversation", lines, &[other("another number of messages", false)])],
                vec![],
            );
        }
        let text = |message: &Json| message.print(Layout::Python);
        let (mut first, mut second): (Vec<_>, Vec<_>) =
            (recorded.iter().map(text).collect(), called.iter().map(text).collect());
        let in_order = first == second;
        first.sort();
        second.sort();
        if !in_order && first == second {
            let lines = (outline(recorded), outline(called));
            return (
                vec![self.finding("the conversation", lines, &[other("the same messages in another order", true)])],
                vec![],
            );
        }
        let (mut findings, mut rules) = (Vec::new(), Vec::new());
        for (at, (a, b)) in recorded.iter().zip(called).enumerate() {
            let all: Vec<Rule> = before.iter().chain(&rules).cloned().collect();
            let new = &all[before.len()..];
            let (a, b) = (applied(std::slice::from_ref(a), new).pop(), applied(std::slice::from_ref(b), new).pop());
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a == b {
                continue;
            }
            let (field, left, right) = first_difference(&a, &b, String::new());
            let place = format!("message {} of {} ({}), in `{field}`", at + 1, called.len(), describe(&b));
            // Arguments are normalized within the JSON of the whole conversation.
            let content = field == "content";
            let text = |value: Option<&Json>| match value {
                Some(Json::Str(text)) if content => text.clone(),
                value => value.map_or_else(|| "(absent)".to_owned(), |value| value.print(Layout::Python)),
            };
            let whole = |message: &Json, value| if content { text(value) } else { message.print(Layout::Python) };
            let (left, right) = (whole(&a, left), whole(&b, right));
            let fits = |rule: &Rule| tried.keeps_calls_apart(&all, rule);
            let variations = compare(&left, &right, true, &fits);
            findings.push(self.finding(&place, parting_lines(&left, &right), &variations));
            rules.extend(rules_of(&variations));
        }
        (findings, rules)
    }

    fn finding(&self, place: &str, lines: (String, String), variations: &[Variation]) -> Finding {
        let caller = self.missed.lookup.caller.as_deref().unwrap_or("unknown");
        let causes = variations.iter().map(|variation| {
            let own = self.replayed.name_of(&variation.values.1);
            own.map_or_else(
                || variation.cause.clone(),
                |name| format!("{}: {name} of the stage, another one in each run", variation.cause),
            )
        });
        let mut distinct: Vec<String> = Vec::new();
        for cause in causes {
            if !distinct.contains(&cause) {
                distinct.push(cause);
            }
        }
        Finding {
            place: vec![
                format!("call      {} of `{caller}`, turns[{}]", self.missed.lookup.via, self.turn),
                format!("varies    {place}"),
            ],
            short: format!("turns[{}] of `{caller}`, {place}: {}", self.turn, distinct.join(", ")),
            lines,
            causes: distinct,
            reordered: variations.iter().any(|variation| matches!(variation.mend, Mend::Order)),
            mended: false,
        }
    }
}

fn other(cause: &str, reordered: bool) -> Variation {
    let mend = if reordered { Mend::Order } else { Mend::None };
    Variation { cause: cause.to_owned(), values: Default::default(), mend }
}

fn rules_of(variations: &[Variation]) -> Vec<Rule> {
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

fn outline(messages: &[Json]) -> String {
    messages.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// The first line in which two texts differ, of both.
fn parting_lines(a: &str, b: &str) -> (String, String) {
    let at: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let start = a[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = |text: &str| {
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        around(&text[start..end], at - start)
    };
    (line(a), line(b))
}

/// What varied between the goldens of two runs whose calls were all answered.
pub(super) fn of_goldens(first: &Replayed, second: &Replayed, scenario: &Scenario, tried: &Tried<'_>) -> Diagnosis {
    let texts = |rules: &Rules| {
        let text = |replayed: &Replayed| replayed.golden_text(scenario, rules).unwrap_or_default();
        (text(first), text(second))
    };
    let (a, b) = texts(tried.rules);
    let fits = |rule: &Rule| tried.keeps_calls_apart(&[], rule);
    // Rules see values before they are printed into a golden, so what stands around a value there may not be theirs.
    for in_context in [true, false] {
        let rules = rules_of(&compare(&a, &b, in_context, &fits));
        let (a, b) = texts(&with(tried.rules, &rules));
        if !rules.is_empty() && a == b {
            return Diagnosis { findings: Vec::new(), rules };
        }
    }
    Diagnosis::default()
}

//! Finds `[[callers]]` rules that tell callers apart by the differences between their recorded calls, ready to be pasted.

use std::collections::{BTreeMap, BTreeSet};

use crate::belonging::name_of;
use crate::callers::names_of_tools;
use retake_core::json::Json;
use retake_core::key::{Check, CheckTexts};
use retake_wire::fixture::{Fixture, Group};

/// The most characters of a prompt that a rule looks for.
const PIECE: usize = 60;

/// What is known about the recorded calls of one caller: system prompts, names of tools, models.
#[derive(Debug, Default)]
pub struct RecordedCalls {
    prompts: BTreeSet<String>,
    tools: BTreeSet<Vec<String>>,
    models: BTreeSet<String>,
}

/// Returns the lines of a miss that say which rules to add. The rules tell apart the callers of a group of turns that all have the
/// conversation of the call.
pub(crate) fn lines(group: &Group, called: Option<&CheckTexts>, fixture: &Fixture) -> Vec<String> {
    let mut callers: BTreeMap<String, RecordedCalls> = BTreeMap::new();
    let mut unnamed = false;
    for (number, part) in group.apart().iter().enumerate() {
        let turn = part.turns.first().map(|first| &fixture.table.turns()[*first]);
        unnamed |= turn.is_some_and(|turn| turn.caller.is_none());
        let recorded = callers.entry(name_of(turn, number)).or_default();
        let Some(checks) = turn.and_then(|turn| turn.checks) else { continue };
        let text = |hash| fixture.texts.get(&hash).map(ToString::to_string).unwrap_or_default();
        recorded.add(text(checks.prompt), tools_in(&text(checks.tools)), text(checks.model));
    }
    let mut rules = Vec::new();
    // deer-flow's format keeps no prompts, tools or models, so it is not known in what its callers differ.
    if callers.values().all(|recorded| !recorded.prompts.is_empty()) {
        rules.extend(callers.keys().filter_map(|name| rule_of(name, &callers, called)));
    }
    // Rules that fit this call come first, because the first rule that fits counts.
    rules.sort_by_key(|(_, fits)| !fits);
    if !rules.iter().any(|(_, fits)| *fits) {
        rules.splice(0..0, rule_of_any(&callers, called).map(|rule| (rule, true)));
    }
    let fix = "to fix     let the system send the header x-retake-caller";
    if rules.is_empty() {
        return vec![
            format!("{fix}: nothing in these calls tells them apart, so no"),
            "           [[callers]] rule on system, tools or model can".to_owned(),
        ];
    }
    let again = if unnamed { ", and record it again" } else { "" };
    let mut lines = vec![format!("{fix}, or add a [[callers]] rule to scenarios/suite.toml{again}:")];
    for (rule, _) in rules {
        lines.push(String::new());
        lines.extend(rule.lines().map(str::to_owned));
    }
    lines
}

/// Returns the rule for one of these callers, if anything tells its calls from those of the others.
pub fn caller_rule(name: &str, callers: &BTreeMap<String, RecordedCalls>) -> Option<String> {
    rule_of(name, callers, None).map(|(rule, _)| rule)
}

/// Returns the rule for one of the callers, and whether it fits this call.
fn rule_of(name: &str, callers: &BTreeMap<String, RecordedCalls>, called: Option<&CheckTexts>) -> Option<Condition> {
    let own = callers.get(name)?;
    let others: Vec<&RecordedCalls> = callers.iter().filter(|(other, _)| *other != name).map(|(_, r)| r).collect();
    let found = by_prompt(own, &others, called).or_else(|| by_tools(own, &others, called));
    let (when, fits) = found.or_else(|| by_model(own, &others, called))?;
    Some((rule(&format!("name = {}", toml_string(name)), &when), fits))
}

/// Returns a rule that fits this call if the recorded calls do not show who the caller is. The reader has to choose the name.
fn rule_of_any(callers: &BTreeMap<String, RecordedCalls>, called: Option<&CheckTexts>) -> Option<String> {
    let called = called?;
    let in_no_recording = |piece: &str| !callers.values().any(|recorded| recorded.holds(piece));
    let piece = piece_of(called.text(Check::Prompt), in_no_recording)?;
    let names: Vec<String> = callers.keys().map(|name| toml_string(name)).collect();
    let (first, rest) = names.split_first()?;
    Some(rule(&format!("name = {first}  # or {}", rest.join(", or ")), &looks_for("system", &piece)))
}

impl RecordedCalls {
    /// Adds a call: its system prompt, the names of its tools, its model.
    pub fn add(&mut self, prompt: String, tools: Vec<String>, model: String) {
        self.prompts.insert(prompt);
        self.tools.insert(tools);
        self.models.insert(model);
    }

    fn holds(&self, piece: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt.contains(piece))
    }
}

/// A condition that fits the calls of one caller only, and whether it fits this call.
type Condition = (String, bool);

fn by_prompt(own: &RecordedCalls, others: &[&RecordedCalls], called: Option<&CheckTexts>) -> Option<Condition> {
    let is_own = |piece: &str| {
        own.prompts.iter().all(|prompt| prompt.contains(piece)) && !others.iter().any(|other| other.holds(piece))
    };
    let prompt = own.prompts.first()?;
    let now = called.map(|called| called.text(Check::Prompt));
    let in_call = now.and_then(|now| piece_of(prompt, |piece| is_own(piece) && now.contains(piece)));
    let fits = in_call.is_some();
    Some((looks_for("system", &in_call.or_else(|| piece_of(prompt, is_own))?), fits))
}

fn by_tools(own: &RecordedCalls, others: &[&RecordedCalls], called: Option<&CheckTexts>) -> Option<Condition> {
    let called = called.map(|called| tools_in(called.text(Check::Tools)));
    let tools = own.tools.first()?;
    if own.tools.iter().all(Vec::is_empty) && others.iter().all(|other| other.tools.iter().all(|all| !all.is_empty())) {
        return Some(("when = { tools = false }".to_owned(), called.is_some_and(|called| called.is_empty())));
    }
    let is_own = |tool: &&String| {
        own.tools.iter().all(|all| all.contains(tool))
            && !others.iter().any(|o| o.tools.iter().any(|all| all.contains(tool)))
    };
    let tool = tools.iter().find(is_own)?;
    Some((format!("when = {{ tools = [{}] }}", toml_string(tool)), called.is_some_and(|called| called.contains(tool))))
}

fn by_model(own: &RecordedCalls, others: &[&RecordedCalls], called: Option<&CheckTexts>) -> Option<Condition> {
    let model = own.models.first().filter(|model| own.models.len() == 1 && !model.is_empty())?;
    let shared = others.iter().any(|other| other.models.contains(model));
    let when = format!("when = {{ model = {} }}", toml_string(&format!("^{}$", regex::escape(model))));
    (!shared).then(|| (when, called.is_some_and(|called| called.text(Check::Model) == &**model)))
}

/// Returns the first line or sentence of a prompt that fits, cut to a readable length.
fn piece_of(prompt: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let cut = |piece: &str| match piece.char_indices().nth(PIECE) {
        Some((at, _)) => piece[..at].rsplit_once(' ').map_or(&piece[..at], |(words, _)| words).to_owned(),
        None => piece.to_owned(),
    };
    // Normalized parts are a different text in each call, so a rule cannot look for them.
    let stable = |piece: &&str| !["<UUID>", "<TS>", "<DATE>", "<PATH>"].iter().any(|name| piece.contains(name));
    let pieces = prompt.lines().flat_map(|line| line.split_inclusive(". ")).map(str::trim).filter(|p| !p.is_empty());
    let mut short = pieces.clone().filter(stable).map(cut);
    // Two long lines may be equal up to the cut. Then any three words that fit will do.
    let mut words = pieces.filter(stable).flat_map(|piece| {
        let words: Vec<&str> = piece.split(' ').collect();
        words.windows(3.min(words.len()).max(1)).map(|words| words.join(" ")).collect::<Vec<_>>()
    });
    short.find(|piece| fits(piece)).or_else(|| words.find(|piece| fits(piece)))
}

fn tools_in(text: &str) -> Vec<String> {
    let tools = Json::parse(text.as_bytes()).unwrap_or(Json::Null);
    names_of_tools(&tools).into_iter().map(str::to_owned).collect()
}

fn looks_for(field: &str, piece: &str) -> String {
    format!("when = {{ {field} = {} }}", toml_string(&regex::escape(piece)))
}

fn rule(name: &str, when: &str) -> String {
    format!("[[callers]]\n{name}\n{when}")
}

/// Returns a text as a TOML string.
fn toml_string(text: &str) -> String {
    toml::Value::from(text).to_string()
}

//! Changes of what was recorded: of answers, which the next call of a conversation repeats, and of tool results. Only the keys
//! decide whether such a change is noticed, so these changes are not part of a golden's score.

use std::collections::BTreeMap;

use super::kind::Kind;
use super::payload::{changed, other_text, spots};
use super::rules::without;
use retake_core::conversation::{Answer, Block, Finish, Message};
use retake_core::json::Json;
use retake_core::key::{Key, Rules};
use retake_model::HeardCall;
use retake_wire::fixture::{After, Fixture, canonical_answer};

/// The most changes that are tried on each part of one answer or result.
const MOST: usize = 12;

/// A part of a recording that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A text of an answer.
    Text,
    /// The name of a tool that an answer calls.
    ToolName,
    /// An argument of such a call.
    Argument,
    /// Why an answer ended.
    Finish,
    /// What a tool returned.
    ToolResult,
}

impl Part {
    /// The part's name, both in print and in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Part::Text => "text of an answer",
            Part::ToolName => "name of a tool call",
            Part::Argument => "argument of a tool call",
            Part::Finish => "finish reason",
            Part::ToolResult => "tool result",
        }
    }
}

/// How many changes of one part the keys notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByKeys {
    /// How many changed texts or values a later call repeats.
    pub tried: usize,
    /// How many of these give the later call a different key, so that it would miss.
    pub noticed: usize,
    /// How many no later call repeats, so that only a golden can notice the change.
    pub last: usize,
    /// The suite's rules that hide changes, each with the number of changes that it hides.
    pub hidden: BTreeMap<usize, usize>,
}

/// Tallies by part.
pub(super) type ByPart = BTreeMap<Part, ByKeys>;

/// Changes each recorded answer. Returns `None` if the fixture keeps hashes instead of conversations.
pub fn of_answers(fixture: &Fixture, rules: &Rules) -> Option<ByPart> {
    let turns = fixture.table.turns();
    let mut parts = ByPart::new();
    for (index, turn) in turns.iter().enumerate() {
        let asked = fixture.conversation(index, rules)?.len();
        let repeats = |after: After| after.turn == index && after.keep.is_none_or(|keep| keep > asked);
        let next = turns.iter().position(|turn| turn.input.as_ref().and_then(|input| input.after).is_some_and(repeats));
        let next = match next {
            Some(next) => Some((fixture.conversation(next, rules)?, &turns[next])),
            None => None,
        };
        // No later call repeats an answer that is nothing but reasoning.
        let own = canonical_answer(&turn.output, rules);
        let next = next.filter(|(conversation, _)| own.is_some() && conversation.get(asked) == own.as_ref());
        for (part, answer) in changed_answers(&turn.output) {
            let tally = parts.entry(part).or_default();
            let Some((conversation, next)) = &next else {
                tally.last += 1;
                continue;
            };
            let mut conversation = conversation.clone();
            conversation.splice(asked..=asked, canonical_answer(&answer, rules));
            let key = rules.key(&conversation, next.caller.as_deref());
            let hides = |rule: usize| {
                let without = without(rules, rule);
                canonical_answer(&answer, &without) != canonical_answer(&turn.output, &without)
            };
            tally.add(key != next.key, rules, hides);
        }
    }
    Some(parts)
}

/// Changes each tool result in the calls of a replay.
pub fn of_results(calls: &[HeardCall], rules: &Rules) -> ByKeys {
    let mut tally = ByKeys::default();
    for call in calls {
        let key = |messages: &[Message], rules: &Rules| -> Key {
            rules.key(&rules.canonical(messages.to_vec()), call.caller.as_deref())
        };
        let recorded = key(&call.messages, rules);
        // Only the new results: an earlier call already had the others.
        let answered = call.messages.iter().rposition(|message| message.kind == "ai").map_or(0, |last| last + 1);
        let results = (answered..call.messages.len()).filter(|at| call.messages[*at].kind == "tool");
        for at in results {
            for content in changed_contents(&call.messages[at].content) {
                let mut messages = call.messages.clone();
                messages[at].content = content;
                let hides = |rule: usize| {
                    let without = without(rules, rule);
                    key(&messages, &without) != key(&call.messages, &without)
                };
                tally.add(key(&messages, rules) != recorded, rules, hides);
            }
        }
    }
    tally
}

impl ByKeys {
    /// Adds the counts of another tally.
    pub(super) fn add_all(&mut self, other: &ByKeys) {
        self.tried += other.tried;
        self.noticed += other.noticed;
        self.last += other.last;
        for (rule, count) in &other.hidden {
            *self.hidden.entry(*rule).or_default() += count;
        }
    }

    fn add(&mut self, noticed: bool, rules: &Rules, hides: impl Fn(usize) -> bool) {
        self.tried += 1;
        self.noticed += usize::from(noticed);
        if !noticed && let Some(rule) = (0..rules.normalizer.own_rules()).find(|rule| hides(*rule)) {
            *self.hidden.entry(rule).or_default() += 1;
        }
    }
}

fn changed_answers(answer: &Answer) -> Vec<(Part, Answer)> {
    let mut all = Vec::new();
    for (at, block) in answer.blocks.iter().enumerate() {
        let mut with = |part: Part, block: Block| {
            let mut answer = answer.clone();
            answer.blocks[at] = block;
            all.push((part, answer));
        };
        match block {
            Block::Text(text) => {
                for text in changed_texts(text) {
                    with(Part::Text, Block::Text(text));
                }
            }
            Block::ToolCall(call) => {
                let mut renamed = call.clone();
                renamed.name.push_str("_renamed");
                with(Part::ToolName, Block::ToolCall(renamed));
                for args in changed_values(&call.args) {
                    let mut call = call.clone();
                    call.args = args;
                    with(Part::Argument, Block::ToolCall(call));
                }
            }
            Block::Reasoning(_) | Block::Refusal(_) | Block::Native(_) => {}
        }
    }
    if answer.finish.is_some() {
        let cut = if answer.finish == Some(Finish::Length) { Finish::Stop } else { Finish::Length };
        all.push((Part::Finish, Answer { finish: Some(cut), ..answer.clone() }));
    }
    all
}

/// Returns the text with its last digit or letter changed, with a word added, and without its first word.
fn changed_texts(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut texts = vec![other_text(text), format!("{text} more")];
    texts.extend(text.trim_start().split_once(char::is_whitespace).map(|(_, rest)| rest.to_owned()));
    texts
}

/// Returns the value with one of the values inside it changed, in several ways.
fn changed_values(json: &Json) -> Vec<Json> {
    if let Json::Str(text) = json {
        return changed_texts(text).into_iter().map(Json::Str).collect();
    }
    let spots = spots(json, &|_, _| false).into_iter().filter(|spot| spot.kind == Kind::ChangeValue);
    let places = spots.map(|spot| (spot.shown.clone(), spot)).collect();
    super::spread::spread(places, MOST).iter().filter_map(|spot| changed(json, spot)).collect()
}

/// Returns the content of a tool message with one change, in several ways. If the content is JSON as text, a value inside that
/// JSON is changed.
fn changed_contents(content: &Json) -> Vec<Json> {
    let Json::Str(text) = content else { return changed_values(content) };
    match Json::parse(text.as_bytes()) {
        Ok(inner @ (Json::Object(_) | Json::Array(_))) => {
            let print = |json: Json| Json::Str(json.print(retake_core::json::Layout::Python));
            changed_values(&inner).into_iter().map(print).collect()
        }
        _ => changed_values(content),
    }
}

#[cfg(test)]
mod tests;

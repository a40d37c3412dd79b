//! Turns a fixture's conversations into a script. A fixture stores each message once, so each call is found once.

use std::collections::{HashMap, HashSet};

use crate::tools::observed::observation_event;
use crate::tools::script::{Action, Entry, Script, Withheld};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;
use retake_wire::fixture::{Fixture, Turn, canonical_answer};

/// Returns the tool calls in a fixture's answers, in recorded order, each with the result that a later model call sent.
/// Fails if the fixture keeps only hashes of conversations, because then it holds no results.
pub fn of_fixture(fixture: &Fixture, rules: &Rules) -> Result<Script> {
    let turns = fixture.table.turns();
    if !turns.is_empty() && turns.iter().all(|turn| turn.input.is_none()) {
        let error = Error::new("the fixture keeps only hashes of conversations, so it holds no tool results");
        return Err(error.in_file(&fixture.path).help(format!("record it again: {RETAKE} record NAME")));
    }
    let mut reader =
        Reader { script: Script::default(), parts: Vec::new(), known: HashMap::new(), open: Vec::new(), rules };
    for (index, turn) in turns.iter().enumerate() {
        reader.turn(index, turn);
        let results = turn.checks.and_then(|checks| fixture.texts.get(&checks.results?));
        reader.empty_results(index, results.map_or("", |text| text));
    }
    Ok(reader.script)
}

/// What a message of a conversation has to do with tools.
#[derive(Clone)]
enum Slot {
    /// Nothing.
    Other,
    /// It is a tool result; with the tool's name if the message has one.
    Result(Option<String>),
    /// It makes tool calls; with the index of their entry in the script.
    Calls(usize),
}

/// The messages that one turn adds to a conversation.
#[derive(Default)]
struct Part {
    /// The earlier turn whose conversation this one continues.
    after: Option<usize>,
    /// How many messages of that earlier conversation come before its own.
    base: usize,
    own: Vec<Slot>,
    /// The turn's answer; `None` if an agent keeps nothing of it in its history.
    answer: Option<Slot>,
}

struct Reader<'a> {
    script: Script,
    /// For each turn that was read, its part of the conversation.
    parts: Vec<Part>,
    /// Answers with tool calls, by their text: an agent that rewrites its history sends them again as new messages.
    known: HashMap<String, Vec<usize>>,
    /// The entries whose calls may have no result yet.
    open: Vec<usize>,
    rules: &'a Rules,
}

impl Reader<'_> {
    fn turn(&mut self, index: usize, turn: &Turn) {
        let Some(input) = &turn.input else {
            self.parts.push(Part::default());
            return;
        };
        let after = input.after.map(|after| after.turn);
        let whole = after.map_or(0, |turn| self.length(turn));
        let base = input.after.and_then(|after| after.keep).unwrap_or(whole).min(whole);
        self.parts.push(Part { after, base, ..Part::default() });
        for message in &input.messages {
            let slot = self.message(index, message);
            self.parts[index].own.push(slot);
        }
        let calls = turn.output.tool_calls();
        self.parts[index].answer = canonical_answer(&turn.output, self.rules).map(|message| {
            if calls.is_empty() {
                return Slot::Other;
            }
            let group = calls.iter().map(|call| action(&call.name, &call.args)).collect();
            Slot::Calls(self.calls(&message, group))
        });
    }

    fn message(&mut self, turn: usize, message: &Json) -> Slot {
        match message.str_of("type") {
            Some("human") => {
                let said = Json::object([("content", message.get("content").cloned().unwrap_or(Json::Null))]);
                self.script.entries.push(Entry::User(said));
                Slot::Other
            }
            Some("tool") => {
                let name = message.str_of("name").map(str::to_owned);
                self.result(turn, name.as_deref(), message);
                Slot::Result(name)
            }
            _ => {
                let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
                if calls.is_empty() {
                    self.script.agent_messages += 1;
                    return Slot::Other;
                }
                if let Some(entry) = self.sent_again(turn, message) {
                    return Slot::Calls(entry);
                }
                let args = |call: &Json| call.get("args").cloned().unwrap_or(Json::Null);
                let group = calls.iter().map(|of| action(of.str_of("name").unwrap_or_default(), &args(of))).collect();
                Slot::Calls(self.calls(message, group))
            }
        }
    }

    fn calls(&mut self, message: &Json, group: Vec<Action>) -> usize {
        let entry = self.script.entries.len();
        self.script.entries.push(Entry::Together(group));
        self.open.push(entry);
        self.known.entry(message.print(Layout::Compact)).or_default().push(entry);
        entry
    }

    /// Returns the entry of known tool calls that this message repeats, unless this turn's conversation already has them.
    fn sent_again(&self, turn: usize, message: &Json) -> Option<usize> {
        let known = self.known.get(&message.print(Layout::Compact))?;
        let here: HashSet<usize> =
            self.back(turn).filter_map(|s| if let Slot::Calls(e) = s { Some(e) } else { None }).collect();
        known.iter().copied().find(|entry| !here.contains(entry))
    }

    /// Assigns a result to the call that it answers: the first call of the same tool that has no result yet.
    fn result(&mut self, turn: usize, name: Option<&str>, message: &Json) {
        let mut before = Vec::new();
        let mut calls = None;
        for slot in self.back(turn) {
            match slot {
                Slot::Result(name) => before.push(name),
                Slot::Calls(entry) => {
                    calls = Some(entry);
                    break;
                }
                Slot::Other => break,
            }
        }
        let entry = calls.and_then(|entry| self.script.entries.get_mut(entry));
        let observation = observation(name, message);
        let Some(Entry::Together(group)) = entry else {
            self.script.never_reached.push(observation);
            return;
        };
        let mut open: Vec<usize> = (0..group.len()).collect();
        let mut take = |name: Option<&str>| {
            let named = open.iter().position(|&call| name.is_some_and(|name| name == group[call].tool));
            let place = named.or(if name.is_none() { open.first().map(|_| 0) } else { None });
            place.map(|place| open.remove(place))
        };
        for earlier in before.iter().rev() {
            take(earlier.as_deref());
        }
        match take(name) {
            Some(call) => {
                let action = &mut group[call];
                action.withheld = None;
                match action.expected.first() {
                    None => action.expected.push(observation),
                    Some(first) if *first == observation => {}
                    Some(_) => self.script.warnings.push(format!(
                        "a call of `{}` was recorded with several results: only the first one is compared",
                        action.tool
                    )),
                }
            }
            None => self.script.never_reached.push(observation),
        }
    }

    /// Gives an empty result to the calls of a turn's conversation that have none in it. A conversation leaves out what is empty,
    /// and no provider takes a call without its result, so there was one; except where the text of the turn's check names a call
    /// that had none.
    fn empty_results(&mut self, turn: usize, check: &str) {
        let open = |of: &Entry| matches!(of, Entry::Together(group) if group.iter().any(|a| a.expected.is_empty()));
        self.open.retain(|entry| self.script.entries.get(*entry).is_some_and(open));
        if self.open.is_empty() {
            return;
        }
        let mut slots: Vec<Slot> = self.back(turn).collect();
        slots.reverse();
        let mut calls = 0;
        for (at, slot) in slots.iter().enumerate() {
            let Slot::Calls(entry) = slot else { continue };
            let Some(Entry::Together(group)) = self.script.entries.get_mut(*entry) else { continue };
            let mut without: Vec<usize> = (0..group.len()).collect();
            for result in &slots[at + 1..] {
                let Slot::Result(name) = result else { break };
                let named = |call: &usize| name.as_ref().is_none_or(|name| *name == group[*call].tool);
                if let Some(place) = without.iter().position(named) {
                    without.remove(place);
                }
            }
            for call in without {
                let action = &mut group[call];
                let none = format!("call {}, `{}`: no result", calls + call + 1, action.tool);
                if action.expected.is_empty() && !check.lines().any(|line| line == none) {
                    action.withheld = None;
                    action.expected.push(observation(Some(&action.tool), &Json::object([("content", "".into())])));
                }
            }
            calls += group.len();
        }
    }

    /// Walks the conversation of a turn backwards, from the last message that was read so far.
    fn back(&self, turn: usize) -> impl Iterator<Item = Slot> {
        let (mut turn, mut left) = (turn, self.parts[turn].base + self.parts[turn].own.len());
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            while left < self.parts[turn].base {
                let after = self.parts[turn].after?;
                if left == self.parts[after].base + self.parts[after].own.len() {
                    return self.parts[after].answer.clone();
                }
                turn = after;
            }
            self.parts[turn].own.get(left - self.parts[turn].base).cloned()
        })
    }

    /// The number of messages in a turn's conversation, including its answer.
    fn length(&self, turn: usize) -> usize {
        let part = &self.parts[turn];
        part.base + part.own.len() + usize::from(part.answer.is_some())
    }
}

fn action(tool: &str, args: &Json) -> Action {
    let record = Json::object([("tool_name", tool.into()), ("action", args.clone())]);
    let withheld = Some(Withheld::Unobserved);
    Action { record, tool: tool.to_owned(), args: args.clone(), expected: Vec::new(), withheld }
}

/// Returns a result as an event, which is the form that other recordings have.
fn observation(name: Option<&str>, message: &Json) -> Json {
    let content = message.get("content").cloned().unwrap_or(Json::Null);
    observation_event(name, Json::object([("content", content)]))
}

#[cfg(test)]
mod tests;

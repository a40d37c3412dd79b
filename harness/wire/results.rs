//! Examines how the tool calls of a conversation were answered. Finds flaws in the protocol, and the exceptions that make up the
//! check `results` (KEY.md, section 5). Keys cannot show either of them, since they drop the ids of calls and leave out
//! empty results.

use super::{Api, Call, Shared};
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, CheckTexts, Normalizer};

/// What is said of a result that came where another one belongs.
pub const IN_PLACE: &str = ": in the place of call ";

impl Call {
    /// Returns the texts of this call's checks (KEY.md, section 5).
    pub fn checks(&self, normalizer: &Normalizer) -> CheckTexts {
        self.checks_but_results(normalizer).with(Check::Results, (*Results::of(self).check).into())
    }

    /// Returns the same texts without exceptions about results.
    pub fn checks_but_results(&self, normalizer: &Normalizer) -> CheckTexts {
        let texts = CheckTexts::new(normalizer, &self.system, &self.tools, &self.model, &self.settings);
        // The form is told in Retake's own words, so there is nothing to normalize.
        let form = || self.form.print(Layout::Python).into();
        if self.form == Json::Null { texts } else { texts.with(Check::Form, form()) }
    }
}

/// The findings about the results of a conversation's tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// One line for each flaw, with the id of the call: things that a provider may reject, or accept and then answer badly.
    pub flaws: Vec<String>,
    /// The text of the check: one line for each exception, without ids. Usually empty.
    pub check: String,
}

/// The end of the line about a result that is an error.
const ERROR: &str = ": an error";
/// The end of the line about an empty id. Some APIs have no ids.
const EMPTY_ID: &str = ": an empty id";

impl Results {
    /// Examines the conversation of a call, in order.
    pub fn of(call: &Call) -> Results {
        // If a conversation continues another one, its beginning is missing here, so nothing can be said.
        let goes_on = |message: &Shared| {
            let mut blocks = message.content.as_array().unwrap_or_default().iter();
            let names_more = |b: &Json| ["previous_response_id", "conversation"].iter().any(|key| b.get(key).is_some());
            blocks.any(|b| names_more(b) || b.str_of("type") == Some("item_reference"))
        };
        if !call.api.is_spoken() || call.messages.iter().any(goes_on) {
            return Results::default();
        }
        let needs_ids = !matches!(call.api, Api::Gemini | Api::Ollama);
        let mut walk = Walk { needs_ids, ..Walk::default() };
        for message in &call.messages {
            match message.kind.as_str() {
                "tool" => walk.result(message),
                _ => walk.other_message(message),
            }
        }
        walk.end()
    }
}

/// Returns the lines of the check that any two APIs can both express: those about errors and empty ids are left out.
pub fn expressible_in_every_api(check: &str) -> String {
    let told = check.lines().filter(|line| !line.ends_with(ERROR) && !line.ends_with(EMPTY_ID));
    told.collect::<Vec<_>>().join("\n")
}

/// The state of a walk through a conversation that matches results with calls.
#[derive(Default)]
struct Walk<'a> {
    needs_ids: bool,
    calls: usize,
    /// The calls that have no result yet, each with its number, counted from 1.
    open: Vec<(usize, &'a ToolCall)>,
    /// The results since the last message that was not a result, each with the number of the call that it answers.
    answered: Vec<(usize, &'a Message)>,
    flaws: Vec<String>,
    exceptions: Vec<String>,
}

impl<'a> Walk<'a> {
    /// Takes a message that is not a tool result, and remembers its tool calls.
    fn other_message(&mut self, message: &'a Message) {
        self.end_of_results();
        for call in &message.tool_calls {
            self.calls += 1;
            self.open.push((self.calls, call));
        }
    }

    /// Takes a tool result, and looks for the call that it answers.
    fn result(&mut self, message: &'a Message) {
        let name = message.name.as_deref().unwrap_or_default();
        let needs_ids = self.needs_ids;
        let answered = match message.tool_call_id.as_deref() {
            Some("") if needs_ids => {
                self.flaws.push("an empty id: in a tool result".to_owned());
                self.exceptions.push(format!("a result of `{name}`{EMPTY_ID}"));
                self.open.iter().position(|(_, call)| call.id.is_empty())
            }
            Some(id) if !id.is_empty() => {
                let by_id = self.open.iter().position(|(_, call)| call.id == id);
                let by_name = |(_, call): &(usize, &ToolCall)| !needs_ids && call.id.is_empty() && call.name == name;
                by_id.or_else(|| self.open.iter().position(by_name))
            }
            // Results without an id: OpenAI's older functions, and APIs that match results by name and order. A message without
            // a name either is not a tool result.
            _ if name.is_empty() => return,
            _ => self.open.iter().position(|(_, call)| call.name == name),
        };
        match (answered, message.tool_call_id.as_deref().filter(|id| !id.is_empty())) {
            (Some(at), _) => {
                let (number, call) = self.open.remove(at);
                self.answered.push((number, message));
                if needs_ids && call.id.is_empty() && message.tool_call_id.is_some() {
                    self.flaws.push(format!("an empty id: in a call of `{}`", call.name));
                }
            }
            (None, Some(id)) => self.without_call(name, &format!("`{id}`")),
            (None, None) if name.is_empty() => {}
            (None, None) => self.without_call(name, &format!("a result of `{name}`")),
        }
    }

    fn without_call(&mut self, name: &str, which: &str) {
        self.flaws.push(format!("a tool result without its call: {which}"));
        self.exceptions.push(format!("a result of `{name}` without its call"));
    }

    /// Examines a run of consecutive results.
    fn end_of_results(&mut self) {
        let answered = std::mem::take(&mut self.answered);
        // Nobody can see whether equal results changed places, so they count as being in order.
        let equal = |a: &Message, b: &Message| a.name == b.name && a.content == b.content && a.failed == b.failed;
        let mut numbers: Vec<usize> = answered.iter().map(|(number, _)| *number).collect();
        for first in 0..numbers.len() {
            for second in first + 1..numbers.len() {
                if numbers[second] < numbers[first] && equal(answered[first].1, answered[second].1) {
                    numbers.swap(first, second);
                }
            }
        }
        let mut in_order = numbers.clone();
        in_order.sort_unstable();
        for ((number, expected), (_, message)) in numbers.into_iter().zip(in_order).zip(answered) {
            let about = format!("call {number}, `{}`", message.name.as_deref().unwrap_or_default());
            if message.failed {
                self.exceptions.push(format!("{about}{ERROR}"));
            }
            if is_empty(message) {
                self.exceptions.push(format!("{about}: empty"));
            }
            if number != expected {
                self.exceptions.push(format!("{about}{IN_PLACE}{expected}"));
            }
        }
    }

    fn end(mut self) -> Results {
        self.end_of_results();
        for (number, call) in std::mem::take(&mut self.open) {
            self.flaws.push(match call.id.as_str() {
                "" => format!("a tool call without its result: a call of `{}`", call.name),
                id => format!("a tool call without its result: `{id}`, a call of `{}`", call.name),
            });
            self.exceptions.push(format!("call {number}, `{}`: no result", call.name));
        }
        Results { flaws: self.flaws, check: self.exceptions.join("\n") }
    }
}

fn is_empty(message: &Message) -> bool {
    match &message.content {
        Json::Str(text) => retake_core::key::is_blank(text),
        Json::Array(blocks) => blocks.is_empty(),
        Json::Null => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;

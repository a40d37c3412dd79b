//! How a conversation's tool calls were answered: the protocol's flaws, and the exceptions that the check `results` holds
//! (KEY.md, section 5). No key knows of either: keys drop the ids of calls, and leave empty results out.

use super::{Api, Call};
use crate::conversation::{Message, ToolCall};
use crate::json::Json;
use crate::key::{CheckTexts, Normalizer};

impl Call {
    /// The texts of its checks (KEY.md, section 5).
    #[must_use]
    pub fn checks(&self, normalizer: &Normalizer) -> CheckTexts {
        let texts = CheckTexts::new(normalizer, &self.system, &self.tools, &self.model, &self.settings);
        texts.with_results(&Results::of(self).check)
    }
}

/// What is to be said of the results of a conversation's tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    /// What a provider may refuse, or let pass and answer the worse: a line each, with the calls' ids.
    pub(crate) flaws: Vec<String>,
    /// The text of the check: what is exceptional, a line each, without ids. Empty as a rule.
    pub(crate) check: String,
}

/// The mark of a result that is an error, at the end of its line.
const ERROR: &str = ": an error";
/// The mark of an id that is empty; not each API has ids.
const EMPTY_ID: &str = ": an empty id";

impl Results {
    /// Those of a call's conversation, in its order.
    pub(crate) fn of(call: &Call) -> Results {
        // Of a conversation that goes on from another one, a part is not here.
        let goes_on = |message: &Message| {
            let mut blocks = message.content.as_array().unwrap_or_default().iter();
            let names_more = |b: &Json| ["previous_response_id", "conversation"].iter().any(|key| b.get(key).is_some());
            blocks.any(|b| names_more(b) || b.str_of("type") == Some("item_reference"))
        };
        if call.api == Api::Opaque || call.messages.iter().any(goes_on) {
            return Results::default();
        }
        let needs_ids = matches!(call.api, Api::OpenAiChat | Api::OpenAiResponses | Api::Anthropic);
        let mut walk = Walk { needs_ids, ..Walk::default() };
        for message in &call.messages {
            match message.kind.as_str() {
                "tool" => walk.result(message),
                _ => walk.said(message),
            }
        }
        walk.end()
    }
}

/// The text of the check as far as two different APIs can both tell it.
pub(crate) fn told_by_each_api(check: &str) -> String {
    let told = check.lines().filter(|line| !line.ends_with(ERROR) && !line.ends_with(EMPTY_ID));
    told.collect::<Vec<_>>().join("\n")
}

/// A way through a conversation, from call to result.
#[derive(Default)]
struct Walk<'a> {
    needs_ids: bool,
    calls: usize,
    /// Calls without a result so far, each with its number from 1.
    open: Vec<(usize, &'a ToolCall)>,
    /// The results since somebody spoke, each with the number of the call that it answers.
    answered: Vec<(usize, &'a Message)>,
    flaws: Vec<String>,
    exceptions: Vec<String>,
}

impl<'a> Walk<'a> {
    fn said(&mut self, message: &'a Message) {
        self.end_of_results();
        for call in &message.tool_calls {
            self.calls += 1;
            self.open.push((self.calls, call));
        }
    }

    fn result(&mut self, message: &'a Message) {
        let name = message.name.as_deref().unwrap_or_default();
        let needs_ids = self.needs_ids;
        let answered = match message.tool_call_id.as_deref() {
            Some("") if needs_ids => {
                self.flaws.push("an empty id: of a tool result".to_owned());
                self.exceptions.push(format!("a result of `{name}`{EMPTY_ID}"));
                self.open.iter().position(|(_, call)| call.id.is_empty())
            }
            Some(id) if !id.is_empty() => {
                let by_id = self.open.iter().position(|(_, call)| call.id == id);
                let by_name = |(_, call): &(usize, &ToolCall)| !needs_ids && call.id.is_empty() && call.name == name;
                by_id.or_else(|| self.open.iter().position(by_name))
            }
            // Functions of OpenAI's first kind, and APIs that go by name and order. What has neither is of another kind.
            _ if name.is_empty() => return,
            _ => self.open.iter().position(|(_, call)| call.name == name),
        };
        match (answered, message.tool_call_id.as_deref().filter(|id| !id.is_empty())) {
            (Some(at), _) => {
                let (number, call) = self.open.remove(at);
                self.answered.push((number, message));
                if needs_ids && call.id.is_empty() && message.tool_call_id.is_some() {
                    self.flaws.push(format!("an empty id: of the call of `{}`", call.name));
                }
            }
            (None, Some(id)) => self.without_call(name, &format!("`{id}`")),
            (None, None) if name.is_empty() => {}
            (None, None) => self.without_call(name, &format!("of `{name}`")),
        }
    }

    fn without_call(&mut self, name: &str, which: &str) {
        self.flaws.push(format!("a tool result without its call: {which}"));
        self.exceptions.push(format!("a result of `{name}` without its call"));
    }

    /// Looks at the results that came in a row.
    fn end_of_results(&mut self) {
        let answered = std::mem::take(&mut self.answered);
        // Equal results can change places without anybody seeing it: they are taken to be in order.
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
                self.exceptions.push(format!("{about}: in the place of call {expected}"));
            }
        }
    }

    fn end(mut self) -> Results {
        self.end_of_results();
        for (number, call) in std::mem::take(&mut self.open) {
            self.flaws.push(match call.id.as_str() {
                "" => format!("a tool call without its result: of `{}`", call.name),
                id => format!("a tool call without its result: `{id}` of `{}`", call.name),
            });
            self.exceptions.push(format!("call {number}, `{}`: no result", call.name));
        }
        Results { flaws: self.flaws, check: self.exceptions.join("\n") }
    }
}

fn is_empty(message: &Message) -> bool {
    use crate::json::Json;
    match &message.content {
        Json::Str(text) => crate::key::is_blank(text),
        Json::Array(blocks) => blocks.is_empty(),
        Json::Null => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;

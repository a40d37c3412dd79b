//! Completes calls that sent only what was new, from the calls before them in the trace.

use std::collections::HashMap;

use super::call::ModelCall;
use super::lack::Lack;
use super::talk::name_results;

/// Completes the calls, which are in the order of their start. Returns for each why it cannot be completed.
pub(super) fn complete(calls: &mut [ModelCall]) -> Vec<Option<Lack>> {
    let mut by_answer: HashMap<String, usize> = HashMap::new();
    let mut by_tool_call: HashMap<String, usize> = HashMap::new();
    let mut lacks: Vec<Option<Lack>> = Vec::new();
    for at in 0..calls.len() {
        let call = &calls[at];
        let first = call.messages.iter().find(|message| message.kind != "system");
        let begins = first
            .filter(|message| message.kind == "tool")
            .map(|message| message.tool_call_id.clone().unwrap_or_default());
        let earlier = call.continues.as_ref().and_then(|(id, _)| by_answer.get(id)).copied();
        let earlier = earlier.or_else(|| begins.as_ref().and_then(|id| by_tool_call.get(id)).copied());
        let says_so = call.continues.as_ref().filter(|(_, says_so)| *says_so).map(|(id, _)| id.clone());
        let lack = match (earlier, says_so, begins) {
            (Some(earlier), _, _) if lacks[earlier].is_some() => lacks[earlier].clone(),
            (Some(earlier), ..) => {
                prepend(calls, earlier, at);
                None
            }
            (None, Some(id), _) => Some(Lack::Conflict(format!(
                "it sends only what is new, after the answer {id}, which is not in the trace"
            ))),
            (None, None, Some(id)) => Some(Lack::Conflict(format!(
                "it begins with the result of the tool call {id:?}, but no call in the trace made it"
            ))),
            (None, None, None) => None,
        };
        lacks.push(lack);
        let answer = &calls[at].answer;
        by_answer.extend(answer.id.clone().map(|id| (id, at)));
        let ids = answer.tool_calls().into_iter().map(|call| call.id.clone());
        by_tool_call.extend(ids.filter(|id| !id.is_empty()).map(|id| (id, at)));
    }
    for at in 0..calls.len() {
        let held = calls[at].answer.tool_calls().len();
        let later = calls[at + 1..].iter().filter_map(|later| calls_after(&calls[at], later)).min();
        if let (None, Some(made)) = (&lacks[at], later.filter(|made| *made > held)) {
            let reason =
                format!("it holds {held} tool calls of its answer, and the next call says that it made {made}");
            lacks[at] = Some(Lack::Conflict(reason));
        }
    }
    lacks
}

/// How many tool calls the answer to a call made, as a later call of the same conversation says.
fn calls_after(call: &ModelCall, later: &ModelCall) -> Option<usize> {
    let mut later = later.messages.iter().filter(|message| message.kind != "system");
    let mut own = call.messages.iter().filter(|message| message.kind != "system");
    let same = own.all(|message| later.next() == Some(message));
    later.next().filter(|next| same && next.kind == "ai").map(|answer| answer.tool_calls.len())
}

/// Puts an earlier call and its answer before a later call's messages, unless they are there.
fn prepend(calls: &mut [ModelCall], earlier: usize, at: usize) {
    let spoken =
        |call: &ModelCall| call.messages.iter().filter(|message| message.kind != "system").cloned().collect::<Vec<_>>();
    let mut before = spoken(&calls[earlier]);
    let own = spoken(&calls[at]);
    if before.first().is_some_and(|first| own.first() == Some(first)) && own.len() > before.len() {
        return;
    }
    before.push(calls[earlier].answer.to_message());
    let call = &mut calls[at];
    let system = call.messages.iter().filter(|message| message.kind == "system").cloned();
    let mut messages: Vec<_> = system.chain(before).chain(own).collect();
    name_results(&mut messages);
    call.messages = messages;
    call.notes.push("it sent only what was new; the rest is from the calls before it".to_owned());
}

//! Completes calls that sent only what was new, from the calls before them in the trace.

use std::collections::HashMap;

use super::call::ModelCall;
use super::lack::Lack;
use super::talk::name_results;
use retake_core::conversation::Message;

/// Completes the calls, which are in the order of their start. Returns for each why it cannot be completed.
pub(super) fn complete(calls: &mut [ModelCall]) -> Vec<Result<(), Lack>> {
    let (mut by_answer, mut by_tool_call) = (HashMap::<String, usize>::new(), HashMap::<String, usize>::new());
    let mut done: Vec<Result<(), Lack>> = Vec::new();
    for at in 0..calls.len() {
        let call = &calls[at];
        let first = spoken(call).next().filter(|message| message.kind == "tool");
        let begins = first.map(|message| message.tool_call_id.clone().unwrap_or_default());
        let earlier = call.continues.as_ref().and_then(|(id, _)| by_answer.get(id));
        let earlier = earlier.or_else(|| by_tool_call.get(begins.as_ref()?)).copied();
        let says_so = call.continues.as_ref().filter(|(_, says_so)| *says_so);
        let lost = says_so
            .map(|(id, _)| format!("it sends only what is new, after the answer {id}, which is not in the trace"));
        let lost = lost.or(begins
            .map(|id| format!("it begins with the result of the tool call {id:?}, but no call in the trace made it")));
        done.push(match earlier {
            Some(earlier) => done[earlier].clone().map(|()| prepend(calls, earlier, at)),
            None => lost.map_or(Ok(()), |lost| Err(Lack::Conflict(lost))),
        });
        let answer = &calls[at].answer;
        by_answer.extend(answer.id.clone().map(|id| (id, at)));
        let ids = answer.tool_calls().into_iter().map(|call| call.id.clone());
        by_tool_call.extend(ids.filter(|id| !id.is_empty()).map(|id| (id, at)));
    }
    for at in 0..calls.len() {
        let held = calls[at].answer.tool_calls().len();
        let later = calls[at + 1..].iter().filter_map(|later| calls_after(&calls[at], later)).min();
        if let (Ok(()), Some(made)) = (&done[at], later.filter(|made| *made > held)) {
            let what = format!("it holds {held} tool calls of its answer, and the next call says that it made {made}");
            done[at] = Err(Lack::Conflict(what));
        }
    }
    done
}

/// What was said in a call, without its system prompts.
fn spoken(call: &ModelCall) -> impl Iterator<Item = &Message> {
    call.messages.iter().filter(|message| message.kind != "system")
}

/// How many tool calls the answer to a call made, as a later call of the same conversation says.
fn calls_after(call: &ModelCall, later: &ModelCall) -> Option<usize> {
    let mut later = spoken(later);
    let same = spoken(call).all(|message| later.next() == Some(message));
    later.next().filter(|next| same && next.kind == "ai").map(|answer| answer.tool_calls.len())
}

/// Puts an earlier call and its answer before a later call's messages, unless they are there.
fn prepend(calls: &mut [ModelCall], earlier: usize, at: usize) {
    let of = |at: usize| spoken(&calls[at]).cloned().collect::<Vec<_>>();
    let (mut before, own) = (of(earlier), of(at));
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

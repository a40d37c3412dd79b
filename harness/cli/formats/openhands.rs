//! Makes turns from the model's answers in a conversation. Each turn answers the messages before it.

use std::collections::BTreeMap;
use std::path::Path;

use retake::__private::tools::openhands::{Action, Conversation, Event, Observation, Speaker};
use retake_base::error::{Error, Result};
use retake_core::conversation::{Answer, Block, Finish, Message, ToolCall};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::{Fired, Scrub};
use retake_wire::fixture::{Fixture, Recorded, ToolExchanges};

/// Makes a fixture from a conversation, and returns one line for each answer that cannot become a turn. The turns have no `wire`,
/// so their answers are rendered for each API. `scrub` are the secrets to remove.
/// Fails if the name of a secret is unknown, which cannot happen with the names that come from `scrub`.
pub(crate) fn to_fixture(
    conversation: Conversation,
    out: &Path,
    notes: BTreeMap<String, Json>,
    rules: &Rules,
    scrub: &Scrub,
) -> Result<(Fixture, Vec<String>)> {
    let mut fired = Fired::new();
    // What is stored is not normalized.
    let plain = Rules::none();
    let sent = |message: Message| plain.canonical(vec![message]);
    let (mut messages, mut turns) = (Vec::new(), Vec::new());
    let mut open: Option<Answer> = None;
    let (mut condensed, mut left_out) = (false, Vec::new());
    // The end closes the last answer, as does a history that is condensed.
    for mut event in conversation.events.into_iter().chain([Event::Condensed]) {
        event.scrub(scrub, &mut fired);
        let goes_on = match (&event, &open) {
            (Event::Action(action), Some(answer)) => answer.id.is_some() && answer.id == action.answer,
            _ => matches!(event, Event::Aside),
        };
        match open.take_if(|_| !goes_on) {
            Some(Answer { id, .. }) if condensed => {
                let id = id.unwrap_or_else(|| "without an id".to_owned());
                left_out.push(format!("the answer {id}: the history was condensed before it, so it has no key"));
            }
            Some(output) => {
                let conversation = messages.clone();
                messages.extend(sent(output.to_message()));
                turns.push(Recorded { caller: None, conversation, texts: None, request: None, output, wire: None });
            }
            None => {}
        }
        match event {
            Event::Action(action) => {
                let thought = || action.event.get("thought").map(text_of).unwrap_or_default();
                let answer = open.get_or_insert_with(|| answer(action.answer.clone(), thought()));
                answer.blocks.push(Block::ToolCall(call(action)));
                answer.finish = Some(Finish::ToolCalls);
            }
            Event::Message { by: Speaker::Agent, event } => {
                let id = event.str_of("llm_response_id").map(str::to_owned);
                open = Some(answer(id, text_of_message(&event)));
            }
            Event::Message { by: Speaker::User, event } => {
                messages.extend(sent(Message::new("human", text_of_message(&event))));
            }
            Event::Observation(observation) => messages.extend(sent(result(observation))),
            Event::Condensed => condensed = true,
            Event::Aside => {}
        }
    }
    let mut fixture = Fixture::of_foreign(out, notes, turns, &ToolExchanges::new(), rules);
    let fired = fired.iter().map(String::as_str);
    fixture.scrub = Scrub::of_names(fired, |_| None).map_err(Error::new)?;
    Ok((fixture, left_out))
}

fn answer(id: Option<String>, text: String) -> Answer {
    let blocks = if text.is_empty() { Vec::new() } else { vec![Block::Text(text)] };
    Answer { id, blocks, finish: Some(Finish::Stop), ..Answer::default() }
}

/// Returns the call as the model made it, since the agent may have removed arguments from the action.
fn call(action: Action) -> ToolCall {
    let args = action.event.get("tool_call").and_then(|call| call.get("arguments"));
    let args = match args {
        Some(Json::Str(text)) => Json::parse(text.as_bytes()).unwrap_or_else(|_| text.as_str().into()),
        Some(other) => other.clone(),
        None => action.args.unwrap_or_else(|| Json::object::<String>([])),
    };
    ToolCall { id: action.call_id, name: action.tool, args }
}

fn result(observation: Observation) -> Message {
    let event = &observation.event;
    let observed = event.get("observation");
    let text = match event.str_of("kind") {
        Some("AgentErrorEvent") => event.str_of("error").unwrap_or_default().to_owned(),
        Some("UserRejectObservation") => {
            format!("Action rejected: {}", event.str_of("rejection_reason").unwrap_or_default())
        }
        _ => {
            let failed = observed.and_then(|observed| observed.get("is_error")).is_some_and(Json::is_truthy);
            let content = observed.and_then(|observed| observed.get("content")).map(text_of).unwrap_or_default();
            if failed { format!("Tool Execution Error. {content}") } else { content }
        }
    };
    Message {
        name: event.str_of("tool_name").map(str::to_owned),
        tool_call_id: Some(observation.call_id),
        ..Message::new("tool", text)
    }
}

fn text_of_message(event: &Json) -> String {
    let message = event.get("llm_message").and_then(|message| message.get("content")).map(text_of).unwrap_or_default();
    message + &event.get("extended_content").map(text_of).unwrap_or_default()
}

/// Returns the joined text of content blocks, or the content itself if it is text.
pub(super) fn text_of(content: &Json) -> String {
    match content {
        Json::Str(text) => text.clone(),
        Json::Array(blocks) => blocks.iter().filter_map(|block| block.str_of("text")).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;

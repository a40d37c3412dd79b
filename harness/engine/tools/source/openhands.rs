//! Turns an OpenHands conversation into a script.

use std::collections::HashMap;

use crate::tools::openhands::{self, Conversation, Event, Speaker};
use crate::tools::script::{Action, Entry, Script, Withheld};
use retake_core::json::Json;

/// Fields of an action that hold what the model says about it. `tool_call` repeats the action, including the model's summary.
const NOT_LOGGED: &str = "\
    thought reasoning_content thinking_blocks responses_reasoning_item reasoning_details summary critic_result \
    tool_call";

/// Returns the script of a conversation's active branch.
pub fn of_conversation(conversation: Conversation) -> Script {
    let Conversation { events, warnings } = conversation;
    let mut script = Script { warnings, ..Script::default() };
    // The place of each action in the script, by its id and by the id of its call. Some models reuse call ids.
    let (mut by_id, mut by_call) = (HashMap::new(), HashMap::new());
    let mut answer = None;
    for event in events {
        match event {
            Event::Message { by: Speaker::Agent, .. } => script.agent_messages += 1,
            Event::Message { by: Speaker::User, event } => {
                script.entries.push(Entry::User(event.get("llm_message").map_or(event.clone(), said)));
                answer = None;
            }
            Event::Action(action) => {
                let joins = action.answer.is_some() && action.answer == answer;
                answer.clone_from(&action.answer);
                if !joins {
                    script.entries.push(Entry::Together(Vec::new()));
                }
                let at = script.entries.len() - 1;
                let Some(Entry::Together(group)) = script.entries.last_mut() else { continue };
                by_id.insert(action.id.clone(), (at, group.len()));
                by_call.insert(action.call_id.clone(), (at, group.len()));
                group.push(scripted(action));
            }
            Event::Observation(observation) => {
                let known = observation.action_id.as_ref().and_then(|id| by_id.get(id));
                let at = known.or_else(|| by_call.get(&observation.call_id)).copied();
                match at.and_then(|at| action_at(&mut script.entries, at)) {
                    Some(action) => {
                        if observation.rejected {
                            action.withheld = Some(Withheld::Rejected);
                        } else if action.withheld == Some(Withheld::Unobserved) {
                            action.withheld = None;
                        }
                        action.expected.push(observation.event);
                    }
                    None => script.never_reached.push(observation.event),
                }
            }
            Event::Condensed | Event::Aside => {}
        }
    }
    script
}

fn action_at(entries: &mut [Entry], (entry, place): (usize, usize)) -> Option<&mut Action> {
    match entries.get_mut(entry) {
        Some(Entry::Together(actions)) => actions.get_mut(place),
        _ => None,
    }
}

fn scripted(action: openhands::Action) -> Action {
    let openhands::Action { tool, args, mut event, .. } = action;
    if let Json::Object(fields) = &mut event {
        fields.retain(|name, _| NOT_LOGGED.split(' ').all(|field| field != name));
        if let Some(Json::Object(own)) = fields.get_mut("action")
            && own.get("kind").and_then(Json::as_str) == Some("ThinkAction")
        {
            own.remove("thought");
        }
    }
    let withheld = if args.is_some() { Withheld::Unobserved } else { Withheld::NoAction };
    let args = args.unwrap_or(Json::Null);
    Action { record: event, tool, args, expected: Vec::new(), withheld: Some(withheld) }
}

/// Returns what the user said, without the other fields of the message.
fn said(message: &Json) -> Json {
    Json::object([("content", message.get("content").cloned().unwrap_or(Json::Null))])
}

//! One event of a conversation, as far as tools and turns need it.

use crate::error::{Error, Result};
use crate::json::{Json, Object};
#[cfg(feature = "cli")]
use crate::secrets::{Fired, Scrub};

/// What an event is.
#[derive(Debug)]
pub(crate) enum Event {
    /// Somebody said something.
    Message { by: Speaker, event: Json },
    /// The agent asked for a tool.
    Action(Action),
    /// What came of it.
    Observation(Observation),
    /// The agent's history was summarized: the model saw another one from here on.
    Condensed,
    /// What neither tools nor turns need.
    Aside,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    Agent,
    /// The user, or a hook in the user's place.
    User,
}

/// An `ActionEvent`.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) call_id: String,
    /// The model's answer that asked for it.
    pub(crate) answer: Option<String>,
    /// The tool's arguments; `None` where the agent could not make an action of the call, so that nothing was executed.
    pub(crate) args: Option<Json>,
    pub(crate) event: Json,
}

/// An `ObservationEvent`, `AgentErrorEvent` or `UserRejectObservation`.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) action_id: Option<String>,
    pub(crate) call_id: String,
    pub(crate) rejected: bool,
    pub(crate) event: Json,
}

/// Events that have nothing to do with tools.
const ASIDE: [&str; 17] = [
    "SystemPromptEvent",
    "SystemPromptUpdateEvent",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "ConversationStateUpdateEvent",
    "ConversationErrorEvent",
    "ConversationIterationLimitEvent",
    "HookExecutionEvent",
    "LLMCompletionLogEvent",
    "TokenEvent",
    "PauseEvent",
    "InterruptEvent",
    "StreamingDeltaEvent",
    "ResumeTranscriptEvent",
    "WarningEvent",
    "AskUserEvent",
    "SecurityAnalyzerConfigurationEvent",
];

impl Event {
    /// Reads an event by its `kind`; gives the kind back where it is not known.
    ///
    /// # Errors
    /// The field that it lacks.
    pub(crate) fn read(event: Json) -> Result<Result<Event, String>> {
        let kind = text(&event, "kind")?;
        Ok(Ok(match kind.as_str() {
            "MessageEvent" => {
                let by = if text(&event, "source")? == "agent" { Speaker::Agent } else { Speaker::User };
                Event::Message { by, event }
            }
            "ActionEvent" => Event::Action(Action {
                id: text(&event, "id")?,
                tool: text(&event, "tool_name")?,
                call_id: text(&event, "tool_call_id")?,
                answer: event.str_of("llm_response_id").map(str::to_owned),
                args: event.get("action").and_then(args),
                event,
            }),
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => Event::Observation(Observation {
                action_id: event.str_of("action_id").map(str::to_owned),
                call_id: text(&event, "tool_call_id")?,
                rejected: kind == "UserRejectObservation",
                event,
            }),
            "Condensation" => Event::Condensed,
            known if ASIDE.contains(&known) => Event::Aside,
            _ => return Ok(Err(kind)),
        }))
    }
}

#[cfg(feature = "cli")]
impl Event {
    /// Takes its secrets away.
    pub(super) fn scrub(&mut self, scrub: &Scrub, fired: &mut Fired) {
        match self {
            Event::Message { event, .. } | Event::Observation(Observation { event, .. }) => scrub.json(event, fired),
            Event::Action(action) => {
                scrub.json(&mut action.event, fired);
                action.args.iter_mut().for_each(|args| scrub.json(args, fired));
            }
            Event::Condensed | Event::Aside => {}
        }
    }
}

/// A tool's arguments: the action's own fields, or what an action of an MCP tool wraps.
fn args(action: &Json) -> Option<Json> {
    let fields = action.as_object()?;
    if action.str_of("kind") == Some("MCPToolAction") {
        return Some(fields.get("data").cloned().unwrap_or(Json::Object(Object::new())));
    }
    let own = fields.iter().filter(|(name, _)| *name != "kind");
    Some(Json::object(own.map(|(name, value)| (name, value.clone()))))
}

fn text(event: &Json, field: &str) -> Result<String> {
    let found = || event.get(field).map_or("nothing", Json::kind);
    let wrong = || Error::new(format!("`{field}`: expected a string, found {}", found()));
    event.str_of(field).map(str::to_owned).ok_or_else(wrong)
}

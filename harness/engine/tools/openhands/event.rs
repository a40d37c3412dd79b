//! One event of a conversation, with the parts that tools and turns need.

use retake_base::error::{Error, Result};
use retake_core::json::{Json, Object};
use retake_core::secrets::{Fired, Scrub};

/// An event.
#[derive(Debug)]
pub enum Event {
    /// A message of the agent or the user.
    Message {
        /// Who wrote it.
        by: Speaker,
        /// The whole event.
        event: Json,
    },
    /// The agent called a tool.
    Action(Action),
    /// The result of a tool call.
    Observation(Observation),
    /// The agent's history was summarized, so the model saw a different history from here on.
    Condensed,
    /// An event that neither tools nor turns need.
    Aside,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The agent.
    Agent,
    /// The user, or a hook in the user's place.
    User,
}

/// An `ActionEvent`.
#[derive(Debug)]
pub struct Action {
    /// The event's id.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The call's id.
    pub call_id: String,
    /// The id of the model's answer that contains the call.
    pub answer: Option<String>,
    /// The tool's arguments; `None` if the agent could not turn the call into an action, so nothing was executed.
    pub args: Option<Json>,
    /// The whole event.
    pub event: Json,
}

/// An `ObservationEvent`, `AgentErrorEvent` or `UserRejectObservation`.
#[derive(Debug)]
pub struct Observation {
    /// The id of the action that it observes.
    pub action_id: Option<String>,
    /// The call's id.
    pub call_id: String,
    /// Whether the user rejected the call.
    pub rejected: bool,
    /// The whole event.
    pub event: Json,
}

/// The kinds of events that neither tools nor turns need.
const ASIDE: &str = "\
    SystemPromptEvent SystemPromptUpdateEvent CondensationRequest CondensationSummaryEvent \
    ConversationStateUpdateEvent ConversationErrorEvent ConversationIterationLimitEvent HookExecutionEvent \
    LLMCompletionLogEvent TokenEvent PauseEvent InterruptEvent StreamingDeltaEvent ResumeTranscriptEvent WarningEvent \
    AskUserEvent SecurityAnalyzerConfigurationEvent";

impl Event {
    /// Reads an event by its `kind`. Returns the kind as an inner `Err` if it is not known.
    ///
    /// # Errors
    /// Names a required field that is missing or not a string.
    pub fn read(event: Json) -> Result<Result<Event, String>> {
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
            known if ASIDE.split(' ').any(|aside| aside == known) => Event::Aside,
            _ => return Ok(Err(kind)),
        }))
    }

    /// Removes secrets from the event.
    pub fn scrub(&mut self, scrub: &Scrub, fired: &mut Fired) {
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

/// Returns a tool's arguments: the fields of the action, or the field `data` of an action of an MCP tool.
fn args(action: &Json) -> Option<Json> {
    let fields = action.as_object()?;
    if action.str_of("kind") == Some("MCPToolAction") {
        return Some(fields.get("data").cloned().unwrap_or(Json::Object(Object::new())));
    }
    let own = fields.iter().filter(|(name, _)| *name != "kind");
    Some(Json::object(own.map(|(name, value)| (name.clone(), value.clone()))))
}

fn text(event: &Json, field: &str) -> Result<String> {
    let found = || event.get(field).map_or("nothing", Json::kind);
    let wrong = || Error::new(format!("`{field}`: expected a string, found {}", found()));
    event.str_of(field).map(str::to_owned).ok_or_else(wrong)
}

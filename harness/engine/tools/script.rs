//! The script of a replay: the actions of a recording, in order. Pure.

use retake_core::json::Json;

/// The actions of a recording, and the user messages between them.
#[derive(Debug, Default)]
pub struct Script {
    /// The calls, in their order.
    pub entries: Vec<Entry>,
    /// Observations that answer no action, so nothing can be compared with them.
    pub never_reached: Vec<Json>,
    /// The number of messages from the agent, which need no action.
    pub agent_messages: usize,
    /// What a person should know about the recording, one line for each warning.
    pub warnings: Vec<String>,
}

/// One piece of a script.
#[derive(Debug)]
pub enum Entry {
    /// What the user said, for the log.
    User(Json),
    /// The actions of one model answer, which ran in parallel.
    Together(Vec<Action>),
}

/// One recorded call of a tool.
#[derive(Debug)]
pub struct Action {
    /// The action as the log shows it: without reasoning, thoughts and summaries.
    pub record: Json,
    pub tool: String,
    pub args: Json,
    /// The recorded observations, as events.
    pub expected: Vec<Json>,
    /// Why the action did not run when it was recorded, if it did not. Then it runs now only on request.
    pub withheld: Option<Withheld>,
}

/// Why an action did not run when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Nothing was observed: the action waited for a confirmation, or the recording ends there.
    Unobserved,
    /// The user or a hook rejected it.
    Rejected,
    /// The agent could not turn the call into an action, so there is nothing to execute.
    NoAction,
    /// The tool server asked the agent something during the call, which nobody could answer now.
    AsksAgent,
}

impl Withheld {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Withheld::Unobserved => "recorded without an observation",
            Withheld::Rejected => "rejected when it was recorded",
            Withheld::AsksAgent => "the server asked the agent something during the call",
            Withheld::NoAction => "a call that the agent could not execute when it was recorded",
        }
    }
}

impl Script {
    /// Returns all actions, in order.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.entries.iter().flat_map(|entry| match entry {
            Entry::Together(actions) => actions.as_slice(),
            Entry::User(_) => &[],
        })
    }
}

impl Action {
    /// Whether the action is executed. With `all`, actions that did not run when they were recorded are executed too.
    pub(crate) fn runs(&self, all: bool) -> bool {
        match self.withheld {
            None => true,
            Some(Withheld::NoAction | Withheld::AsksAgent) => false,
            Some(Withheld::Unobserved | Withheld::Rejected) => all,
        }
    }
}

//! What is to be done again: the actions of a recording, in order. Pure.

use crate::json::Json;

/// The actions of a recording, and what stood between them.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) entries: Vec<Entry>,
    /// Observations that answer no action, so that nothing can reach them.
    pub(crate) never_reached: Vec<Json>,
    /// What the agent said in between: nothing to do.
    pub(crate) agent_messages: usize,
    /// What a person should know of the recording: a line each.
    pub(crate) warnings: Vec<String>,
}

/// One piece of a script.
#[derive(Debug)]
pub(crate) enum Entry {
    /// What the user said, for the log.
    User(Json),
    /// The actions of one answer of the model: they ran in parallel.
    Together(Vec<Action>),
}

/// One recorded call of a tool.
#[derive(Debug)]
pub(crate) struct Action {
    /// The action as the log shows it: without reasoning, thoughts and summaries.
    pub(crate) record: Json,
    pub(crate) tool: String,
    pub(crate) args: Json,
    /// What was observed, as events.
    pub(crate) expected: Vec<Json>,
    /// Why it did not run then; it runs now only if somebody asks for it.
    pub(crate) withheld: Option<Withheld>,
}

/// Why an action did not run when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// Nothing was observed: it waited for a confirmation, or the recording ends there.
    Unobserved,
    /// The user or a hook refused it.
    Rejected,
    /// The agent could make no action of the call. There is nothing that could be executed.
    NoAction,
}

impl Withheld {
    /// The reason, for a person.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Withheld::Unobserved => "recorded without an observation",
            Withheld::Rejected => "rejected when it was recorded",
            Withheld::NoAction => "a call that the agent could not execute when it was recorded",
        }
    }
}

impl Script {
    /// All actions, in order.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.entries.iter().flat_map(|entry| match entry {
            Entry::Together(actions) => actions.as_slice(),
            Entry::User(_) => &[],
        })
    }
}

impl Action {
    /// Whether it is executed; `all` asks for what did not run when it was recorded too.
    pub(crate) fn runs(&self, all: bool) -> bool {
        match self.withheld {
            None => true,
            Some(Withheld::NoAction) => false,
            Some(Withheld::Unobserved | Withheld::Rejected) => all,
        }
    }
}

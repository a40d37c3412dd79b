//! The causes of a failure: each one names the component that differs from the recording, or that went wrong. Pure.
//!
//! The model server finds causes in calls that miss, and the verdict finds them in the rest of the run. Reports show the
//! text of a cause; code distinguishes causes by their kind.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// One cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// `tool_result`, `status`, `crash` and so on.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: CauseKind,
    /// What went wrong, in one line.
    pub what: String,
    /// What went wrong behind it, if failures of other scenarios may have that in common: `POST /chat answered 500`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl Cause {
    pub fn new(kind: CauseKind, what: impl Into<String>) -> Cause {
        Cause { kind, what: what.into(), root: None }
    }

    /// The cause that an error tells.
    pub fn of(kind: CauseKind, error: &Error) -> Cause {
        Cause { root: error.root().map(str::to_owned), ..Cause::new(kind, error.first_line()) }
    }
}

/// The family that a kind of cause belongs to. It decides how the first line of the failure begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseClass {
    /// No turn answers a model call.
    Miss,
    /// No call asked for a turn.
    Unused,
    /// A check of a call differs from the recorded one.
    Drift,
    /// What the client received differs from the golden.
    Golden,
    /// Model calls cost something else than the golden says.
    Cost,
    /// Any other cause. Its description needs no prefix.
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The call comes from a different caller than the recorded one.
    Caller,
    /// The call has messages that the recorded one lacks.
    MessageExtra,
    /// The call lacks messages that the recorded one has.
    MessageMissing,
    /// The call lacks the beginning or the end of the recorded history.
    HistoryShortened,
    /// The same messages come in a different order.
    MessageOrder,
    /// A message has a different type: `system` instead of `human`.
    MessageType,
    NoMessages,
    /// A tool result has the id of another tool call, or of none.
    ToolCallId,
    MessageText,
    /// A different tool is called, or has answered.
    ToolName,
    ToolArgument,
    ToolResult,
    /// The system prompt differs, and nothing else distinguishes the calls.
    SystemPrompt,
    /// The system repeats a call that was already answered.
    CalledAgain,
    NewCall,
    /// The call's caller cannot be determined.
    CallerUnknown,
    /// The conversation differs, and the fixture has only its hash to compare it with.
    Conversation,
    /// A model is called although the scenario says that none is.
    NoModelExpected,
    /// The call lacks the key that the system was given.
    WrongKey,
    /// The path of the call belongs to no API, usually because of a wrong base URL.
    WrongUrl,
    /// The request cannot be parsed.
    Unreadable,
    /// The API of the call cannot express the recorded answer.
    Unrenderable,
    /// A request to something other than a chat model has no recorded answer.
    OtherRequest,
    /// A request to a tool server has no recorded answer.
    ToolRequest,
    /// The system stops calling the model, although the recording goes on.
    StoppedAsking,
    /// A caller of the recording makes no call.
    CallerSilent,
    /// A recorded request to a tool server is not made.
    ToolUnused,
    /// The stream contains an event that reports an error.
    ErrorEvent,
    /// The system exited by itself.
    Crash,
    /// A router panicked.
    Panic,
    /// The scenario reached its timeout.
    TimeUp,
    /// A step did not get the response that it expects.
    Step,
    /// The tool calls and tool results of a conversation do not match each other.
    Protocol,
    /// A check of a served call (prompt, tools, model, settings, results) differs, and `drift` says that this fails.
    Check,
    /// The provider no longer answers as recorded.
    Provider,
    /// A recording could not be compared with the provider.
    NotChecked,
    /// There is no golden yet.
    GoldenMissing,
    /// Another version of Retake wrote the golden.
    GoldenOutdated,
    /// The stream lacks an event of the golden.
    EventMissing,
    /// The stream has an event that the golden lacks.
    EventExtra,
    /// An event has a different name.
    EventRenamed,
    /// The events came in a different order.
    EventOrder,
    EventShape,
    /// A value that the golden pins differs.
    EventValue,
    /// The HTTP status or the exit code differs.
    Status,
    ContentType,
    /// A header of a response differs.
    Header,
    /// The body of a response that is not a stream differs.
    Body,
    /// Model calls cost something else than the golden says.
    Cost,
    /// Model calls cost more than they may.
    Budget,
    /// A program reached, or tried to reach, what the scenario does not provide.
    Egress,
    /// Two runs of the same scenario differ, so nothing can be compared.
    Unstable,
    /// A file of the project is wrong, or something else that the description says. Data of another version may know other kinds.
    #[serde(other)]
    Other,
}

impl CauseKind {
    /// Whether no healthy service does this, so that nobody intends it: a call that a provider would refuse or misunderstand, or
    /// that reaches no provider.
    pub fn is_broken(self) -> bool {
        use CauseKind::{MessageType, NoMessages, Protocol, ToolCallId, Unreadable, WrongKey, WrongUrl};
        matches!(self, MessageType | NoMessages | ToolCallId | Protocol | WrongKey | WrongUrl | Unreadable)
    }

    /// The family of the kind. Most kinds of one family are declared one after another.
    pub fn class(self) -> CauseClass {
        match self {
            CauseKind::StoppedAsking | CauseKind::CallerSilent | CauseKind::ToolUnused => CauseClass::Unused,
            CauseKind::Check => CauseClass::Drift,
            CauseKind::Cost => CauseClass::Cost,
            kind if (CauseKind::GoldenMissing..=CauseKind::Body).contains(&kind) => CauseClass::Golden,
            kind if (CauseKind::ErrorEvent..=CauseKind::Protocol).contains(&kind) => CauseClass::Plain,
            kind if (CauseKind::Budget..=CauseKind::Other).contains(&kind) => CauseClass::Plain,
            _ => CauseClass::Miss,
        }
    }
}

/// The name that the data of a run uses: `tool_result` for [`ToolResult`](CauseKind::ToolResult).
impl fmt::Display for CauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Returns the first line of a failure: all causes, where neighbours of one family share a prefix.
pub fn headline(causes: &[Cause]) -> String {
    let mut line = String::new();
    let mut before = None;
    for Cause { kind, what, .. } in causes {
        let class = kind.class();
        if before.is_some() {
            line.push_str("; and ");
        }
        if before != Some(class) {
            line.push_str(match class {
                CauseClass::Miss => "replay miss: ",
                CauseClass::Unused => "unused: ",
                CauseClass::Drift => "drift: ",
                CauseClass::Golden => "golden: ",
                CauseClass::Cost | CauseClass::Plain => "",
            });
        }
        line.push_str(what);
        before = Some(class);
    }
    line
}

#[cfg(test)]
mod tests;

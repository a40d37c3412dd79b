//! What a failure comes from: the component that is not as it was recorded, or that went wrong. Pure.
//!
//! A model server finds causes in calls that miss, a verdict in the rest of a run; reports show their words, and whoever
//! reads a run's data tells them apart by their kinds.

/// One cause of a failure, in the words of its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Of what kind it is.
    pub(crate) kind: CauseKind,
    /// What is said of it: ``tool `read_file` returned different text than recorded ("sunny" → "rainy")``.
    pub(crate) what: String,
}

impl Cause {
    /// A cause of a kind, in words.
    pub(crate) fn new(kind: CauseKind, what: impl Into<String>) -> Cause {
        Cause { kind, what: what.into() }
    }
}

/// Which family of causes a kind belongs to: what the first line of a failure begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseClass {
    /// A model call that no turn answers.
    Miss,
    /// A turn that no call asked for.
    Unused,
    /// A check of a call that differs from the recorded one.
    Drift,
    /// What the client saw differs from the golden.
    Golden,
    /// All others say by themselves what they are.
    Plain,
}

/// Kinds of causes.
#[expect(dead_code, reason = "calls and goldens are told apart by all of them soon")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseKind {
    /// Another caller than the recorded one asks.
    Caller,
    /// The call has messages that the recorded one lacks.
    MessageExtra,
    /// The call lacks messages that the recorded one has.
    MessageMissing,
    /// The recorded history begins earlier, or ends later.
    HistoryShortened,
    /// The same messages come in another order.
    MessageOrder,
    /// A message is of another type: `system` for `human`.
    MessageType,
    /// A message says something else.
    MessageText,
    /// Another tool is called, or has answered.
    ToolName,
    /// A tool is called with a different argument.
    ToolArgument,
    /// A tool returned something else.
    ToolResult,
    /// The system prompt, where it alone tells calls apart.
    SystemPrompt,
    /// A call that was answered comes again.
    CalledAgain,
    /// A call that is like none recorded.
    NewCall,
    /// Which caller asks cannot be told.
    CallerUnknown,
    /// A conversation of which the fixture keeps a hash only.
    Conversation,
    /// The scenario says that no model is called.
    NoModelExpected,
    /// A call without the key that the system was given.
    WrongKey,
    /// A call at a path of no API: mostly a wrong base URL.
    WrongUrl,
    /// A request that cannot be read.
    Unreadable,
    /// A turn that the call's API has no words for.
    Unrenderable,
    /// A request of no chat model.
    OtherRequest,
    /// A request to a tool server.
    ToolRequest,
    /// The service asks no more, though the recording goes on.
    StoppedAsking,
    /// A caller of the recording never asks.
    CallerSilent,
    /// A recorded request to a tool server is not made.
    ToolUnused,
    /// The stream holds an event that says error.
    ErrorEvent,
    /// The system ended by itself.
    Crash,
    /// A router panicked.
    Panic,
    /// The system never became ready, or cannot be started.
    NotReady,
    /// The time of the scenario was up.
    TimeUp,
    /// A step got another answer than it wants.
    Step,
    /// Tool calls and results do not belong together.
    Protocol,
    /// A check of served calls that the suite says fails: prompt, tools, model, settings, results.
    Check,
    /// There is no golden yet.
    GoldenMissing,
    /// An event of the golden did not come.
    EventMissing,
    /// An event came that the golden lacks.
    EventExtra,
    /// An event has another name.
    EventRenamed,
    /// Events came in another order.
    EventOrder,
    /// An event has another shape.
    EventShape,
    /// A pinned value of an event differs.
    EventValue,
    /// Another HTTP status, or exit code.
    Status,
    /// Another content type.
    ContentType,
    /// The body of an answer that is not a stream.
    Body,
    /// The run cannot be compared: two runs of the same differ.
    Unstable,
    /// A file of the project is wrong, or something else that the words say.
    Other,
}

impl CauseKind {
    /// The name in the data of a run: `tool_result`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CauseKind::Caller => "caller",
            CauseKind::MessageExtra => "message_extra",
            CauseKind::MessageMissing => "message_missing",
            CauseKind::HistoryShortened => "history_shortened",
            CauseKind::MessageOrder => "message_order",
            CauseKind::MessageType => "message_type",
            CauseKind::MessageText => "message_text",
            CauseKind::ToolName => "tool_name",
            CauseKind::ToolArgument => "tool_argument",
            CauseKind::ToolResult => "tool_result",
            CauseKind::SystemPrompt => "system_prompt",
            CauseKind::CalledAgain => "called_again",
            CauseKind::NewCall => "new_call",
            CauseKind::CallerUnknown => "caller_unknown",
            CauseKind::Conversation => "conversation",
            CauseKind::NoModelExpected => "no_model_expected",
            CauseKind::WrongKey => "wrong_key",
            CauseKind::WrongUrl => "wrong_url",
            CauseKind::Unreadable => "unreadable",
            CauseKind::Unrenderable => "unrenderable",
            CauseKind::OtherRequest => "other_request",
            CauseKind::ToolRequest => "tool_request",
            CauseKind::StoppedAsking => "stopped_asking",
            CauseKind::CallerSilent => "caller_silent",
            CauseKind::ToolUnused => "tool_unused",
            CauseKind::ErrorEvent => "error_event",
            CauseKind::Crash => "crash",
            CauseKind::Panic => "panic",
            CauseKind::NotReady => "not_ready",
            CauseKind::TimeUp => "time_up",
            CauseKind::Step => "step",
            CauseKind::Protocol => "protocol",
            CauseKind::Check => "check",
            CauseKind::GoldenMissing => "golden_missing",
            CauseKind::EventMissing => "event_missing",
            CauseKind::EventExtra => "event_extra",
            CauseKind::EventRenamed => "event_renamed",
            CauseKind::EventOrder => "event_order",
            CauseKind::EventShape => "event_shape",
            CauseKind::EventValue => "event_value",
            CauseKind::Status => "status",
            CauseKind::ContentType => "content_type",
            CauseKind::Body => "body",
            CauseKind::Unstable => "unstable",
            CauseKind::Other => "other",
        }
    }

    /// The family.
    pub(crate) fn class(self) -> CauseClass {
        match self {
            CauseKind::StoppedAsking | CauseKind::CallerSilent | CauseKind::ToolUnused => CauseClass::Unused,
            CauseKind::Check => CauseClass::Drift,
            CauseKind::GoldenMissing
            | CauseKind::EventMissing
            | CauseKind::EventExtra
            | CauseKind::EventRenamed
            | CauseKind::EventOrder
            | CauseKind::EventShape
            | CauseKind::EventValue
            | CauseKind::Status
            | CauseKind::ContentType
            | CauseKind::Body => CauseClass::Golden,
            CauseKind::ErrorEvent
            | CauseKind::Crash
            | CauseKind::Panic
            | CauseKind::NotReady
            | CauseKind::TimeUp
            | CauseKind::Step
            | CauseKind::Protocol
            | CauseKind::Unstable
            | CauseKind::Other => CauseClass::Plain,
            _ => CauseClass::Miss,
        }
    }
}

/// The first line of a failure: all causes, each family named once.
pub(crate) fn headline(causes: &[Cause]) -> String {
    let mut line = String::new();
    let mut before = None;
    for Cause { kind, what } in causes {
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
                CauseClass::Plain => "",
            });
        }
        line.push_str(what);
        before = Some(class);
    }
    line
}

#[cfg(test)]
mod tests;

//! The faults by which a world differs from the recording, with their names and families.

use std::fmt;

/// Declares an enum whose values have names.
macro_rules! named {
    ($(#[doc = $of:literal])+ $all:literal $enum:ident { $($(#[doc = $doc:literal])+ $value:ident = $name:literal;)+ }) => {
        $(#[doc = $of])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum { $($(#[doc = $doc])+ $value),+ }

        impl $enum {
            #[doc = $all]
            pub const ALL: [$enum; [$($name),+].len()] = [$($enum::$value),+];

            /// The name, as it is written in `worlds = [...]` and shown in tables.
            pub fn name(self) -> &'static str {
                match self { $($enum::$value => $name),+ }
            }
        }
    };
}

named! {
    /// A family of faults.
    "All families, in the order of tables."
    Family {
        /// The answer does not arrive, or breaks on its way.
        Transport = "transport";
        /// The answer arrives, but is not what was asked for.
        Meaning = "meaning";
        /// The same answer in other pieces.
        Framing = "framing";
        /// Answers of calls that are under way together, in another order.
        Order = "order";
        /// The client leaves, comes back, or comes a second time.
        Client = "client";
        /// The process of the system is killed, and started again.
        Process = "process";
        /// A tool fails, or its answer is lost.
        Tools = "tools";
    }
}

impl Family {
    /// Whether a service should not notice these faults, so that its golden has to be equal.
    pub fn is_invisible(self) -> bool {
        matches!(self, Family::Framing | Family::Order)
    }
}

/// Declares the kinds of faults, each with its name, its family, and whether it is part of the family's name.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal, $family:ident, $by_family:literal;)+) => {
        named! {
            /// What goes wrong with an answer.
            "All kinds, in the order of tables."
            FaultKind { $($(#[doc = $doc])+ $kind = $name;)+ }
        }

        impl FaultKind {
            /// The family.
            pub fn family(self) -> Family {
                match self { $(FaultKind::$kind => Family::$family),+ }
            }

            /// Whether the name of its family, and `"all"`, mean it too. Others are asked for by name only.
            pub fn goes_with_family(self) -> bool {
                match self { $(FaultKind::$kind => $by_family),+ }
            }
        }
    };
}

kinds! {
    /// Status 429.
    RateLimit = "rate-limit", Transport, true;
    /// Status 503, or Anthropic's 529.
    Overloaded = "overloaded", Transport, true;
    /// Status 500.
    Error500 = "error-500", Transport, true;
    /// The connection is closed before the head of the response.
    Reset = "reset", Transport, true;
    /// Status 200 without a body.
    Empty = "empty", Transport, true;
    /// No response at all.
    Hang = "hang", Transport, false;
    /// The stream stops, and stays open.
    Stall = "stall", Transport, true;
    /// The connection is closed inside the body.
    CutDirty = "cut-dirty", Transport, true;
    /// The stream ends well-formed, but without its last events.
    CutClean = "cut-clean", Transport, true;
    /// The provider's own error inside the stream.
    ErrorEvent = "error-event", Transport, true;
    /// A piece that is no JSON.
    Garbage = "garbage", Transport, true;
    /// Status 429 for each attempt.
    Exhausted = "exhausted", Transport, false;
    /// Status 400: the conversation is longer than the model's context.
    ContextOverflow = "context-overflow", Transport, true;
    /// Status 401: the key is not good any more.
    Unauthorized = "unauthorized", Transport, true;
    /// Status 404: the model does not exist any more.
    ModelGone = "model-gone", Transport, true;
    /// The token limit cuts the text.
    Length = "length", Meaning, true;
    /// The token limit is reached before any text or call.
    LengthNothing = "length-nothing", Meaning, true;
    /// The token limit cuts the arguments of a tool call.
    LengthInToolCall = "length-in-tool-call", Meaning, true;
    /// The model stops without saying anything.
    Nothing = "nothing", Meaning, true;
    /// The model thinks, and says nothing.
    ReasoningOnly = "reasoning-only", Meaning, true;
    /// Gemini's answer has no list of parts.
    NoParts = "no-parts", Meaning, true;
    /// A content filter cuts the text.
    ContentFilter = "content-filter", Meaning, true;
    /// The model refuses.
    Refusal = "refusal", Meaning, true;
    /// The model calls a tool that does not exist.
    UnknownTool = "unknown-tool", Meaning, true;
    /// The arguments of a tool call are no JSON.
    BadArguments = "bad-arguments", Meaning, true;
    /// The arguments of a tool call do not fit the schema that the call offered.
    WrongArguments = "wrong-arguments", Meaning, true;
    /// The model makes a tool call twice, with the same id.
    CallTwice = "call-twice", Meaning, true;
    /// Pieces that end at any bytes.
    FramingSeeded = "framing-seeded", Framing, true;
    /// Pieces that end inside of each character of several bytes, and inside of each end of an event.
    FramingInside = "framing-inside", Framing, true;
    /// Pieces of one byte.
    FramingBytes = "framing-bytes", Framing, true;
    /// One piece.
    FramingWhole = "framing-whole", Framing, true;
    /// Lines that end with CR LF.
    FramingCrlf = "framing-crlf", Framing, true;
    /// What the provider itself sends between the frames: pings, comments.
    FramingBetween = "framing-between", Framing, true;
    /// Answers of calls that are under way together, in another order.
    Order = "order", Order, true;
    /// The client leaves at an event, and comes back at once with the id of that event.
    Leave = "leave", Client, true;
    /// The client leaves at an event, and comes back when the run has ended.
    Late = "late", Client, true;
    /// The client leaves at an event for good.
    Gone = "gone", Client, true;
    /// A second client reads the same run, from an event of the first one on.
    Viewers = "viewers", Client, true;
    /// The same request comes a second time, while the first one is answered.
    Twice = "twice", Client, true;
    /// The system is killed and started again.
    Kill = "kill", Process, true;
    /// A tool says that it failed, and did nothing.
    ToolError = "tool-error", Tools, true;
    /// A tool does nothing, and never answers.
    ToolTimeout = "tool-timeout", Tools, true;
    /// A tool acts, and its answer has another form than the protocol's.
    ToolForm = "tool-form", Tools, true;
    /// A tool acts, and the connection is closed before it answers.
    ToolLost = "tool-lost", Tools, true;
}

impl FaultKind {
    /// The kinds of `worlds = true`.
    pub fn by_default() -> Vec<FaultKind> {
        use FaultKind::{CutClean, CutDirty, ErrorEvent, LengthInToolCall, Nothing, RateLimit, Stall};
        let chosen = [RateLimit, Stall, CutClean, CutDirty, ErrorEvent, LengthInToolCall, Nothing];
        let whole = [Family::Framing, Family::Client];
        Self::ALL.into_iter().filter(|kind| chosen.contains(kind) || whole.contains(&kind.family())).collect()
    }

    /// The kinds that a word means: a kind's name, a family's name, `model` for the usual ones of that side, or `all` for those of all
    /// sides. `None` if it means none.
    pub fn of_word(word: &str) -> Option<Vec<FaultKind>> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == word) {
            return Some(vec![kind]);
        }
        if word == "model" {
            return Some(Self::by_default().into_iter().filter(|kind| kind.side() == "model").collect());
        }
        let family = Family::ALL.into_iter().find(|family| family.name() == word);
        let of = |kind: &FaultKind| kind.goes_with_family() && family.is_none_or(|family| kind.family() == family);
        (family.is_some() || word == "all").then(|| Self::ALL.into_iter().filter(of).collect())
    }

    /// The side that fails: `model`, `client`, `process` or `tools`.
    pub fn side(self) -> &'static str {
        match self.family() {
            Family::Transport | Family::Meaning | Family::Framing | Family::Order => "model",
            other => other.name(),
        }
    }

    /// All words that [`FaultKind::of_word`] knows.
    pub fn words() -> Vec<&'static str> {
        let families = Family::ALL.into_iter().map(Family::name).chain(["model", "all"]);
        // `order` is a family with one kind of the same name.
        families.chain(Self::ALL.into_iter().map(FaultKind::name).filter(|name| *name != "order")).collect()
    }

    /// The fault at each of its places in a stream of this many frames with data; 0 if it is no stream.
    pub(super) fn places(self, frames: usize) -> Vec<Fault> {
        let cuts = matches!(
            self,
            FaultKind::Stall | FaultKind::CutDirty | FaultKind::CutClean | FaultKind::ErrorEvent | FaultKind::Garbage
        );
        if !cuts || frames < 2 {
            return vec![Fault { kind: self, after: None, of: 0 }];
        }
        let mut after = vec![1, frames / 2, frames - 1];
        after.dedup();
        after.into_iter().map(|after| Fault { kind: self, after: Some(after), of: frames }).collect()
    }
}

/// A fault, and where in the stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// After how many frames with data; `None` for the middle, or if the answer is no stream.
    pub after: Option<usize>,
    /// How many such frames the stream has; 0 if that is not known.
    pub of: usize,
}

impl Fault {
    /// Reads a fault as users write it: `cut-clean`, or `cut-clean/3` after three frames.
    pub fn parse(text: &str) -> Option<Fault> {
        let (name, after) = match text.split_once('/') {
            Some((name, after)) => (name, Some(after.parse().ok().filter(|after| *after > 0)?)),
            None => (text, None),
        };
        let kind = FaultKind::ALL.into_iter().find(|kind| kind.name() == name && kind.side() == "model")?;
        Some(Fault { kind, after, of: 0 })
    }

    /// Reads a fault, and the turn that it is for if one is named: `turn3/cut-clean/1`. Turns are counted from 1, the result from
    /// 0.
    pub fn of_turn(text: &str) -> Option<(Option<usize>, Fault)> {
        match text.split_once('/').and_then(|(turn, fault)| Some((turn.strip_prefix("turn")?, fault))) {
            None => Some((None, Fault::parse(text)?)),
            Some((turn, fault)) => Some((Some(turn.parse::<usize>().ok()?.checked_sub(1)?), Fault::parse(fault)?)),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after {
            Some(after) if self.of > 0 => write!(f, "{} {after}/{}", self.kind.name(), self.of),
            _ => f.write_str(self.kind.name()),
        }
    }
}

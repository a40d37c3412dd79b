//! The faults by which a world differs from the recording, with their names and families.

use std::fmt;

/// Declares an enum whose values have names: a row for each, with its name and what it is.
macro_rules! named {
    ($of:literal $all:literal $enum:ident { $($value:ident $name:literal $doc:literal;)+ }) => {
        #[doc = $of]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum { $(#[doc = $doc] $value),+ }

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
    "A family of faults." "All families, in the order of tables." Family {
        Transport "transport" "The answer does not arrive, or breaks on its way.";
        Meaning "meaning" "The answer arrives, but is not what was asked for.";
        Framing "framing" "The same answer in other pieces.";
        Order "order" "Answers of calls that are under way together, in another order.";
        Client "client" "The client leaves, comes back, or comes a second time.";
        Process "process" "The process of the system is killed, and started again.";
        Tools "tools" "A tool fails, or its answer is lost.";
    }
}

/// Which words mean a kind: its name; its family's name, and `"all"`, too; or also `worlds = true`.
#[derive(PartialEq)]
enum Asked {
    ByName,
    WithFamily,
    Usual,
}

/// Declares the kinds of faults: a row for each, with its name, its family, which words mean it, and what goes wrong.
macro_rules! kinds {
    ($($kind:ident $name:literal $family:ident $asked:ident $doc:literal;)+) => {
        named! { "What goes wrong with an answer." "All kinds, in the order of tables." FaultKind { $($kind $name $doc;)+ } }

        impl FaultKind {
            /// The family.
            pub fn family(self) -> Family {
                match self { $(FaultKind::$kind => Family::$family),+ }
            }

            fn asked(self) -> Asked {
                match self { $(FaultKind::$kind => Asked::$asked),+ }
            }
        }
    };
}

kinds! {
    RateLimit "rate-limit" Transport Usual "Status 429.";
    Overloaded "overloaded" Transport WithFamily "Status 503, or Anthropic's 529.";
    Error500 "error-500" Transport WithFamily "Status 500.";
    Reset "reset" Transport WithFamily "The connection is closed before the head of the response.";
    Empty "empty" Transport WithFamily "Status 200 without a body.";
    Hang "hang" Transport ByName "No response at all.";
    Stall "stall" Transport Usual "The stream stops, and stays open.";
    CutDirty "cut-dirty" Transport Usual "The connection is closed inside the body.";
    CutClean "cut-clean" Transport Usual "The stream ends well-formed, but without its last events.";
    ErrorEvent "error-event" Transport Usual "The provider's own error inside the stream.";
    Garbage "garbage" Transport WithFamily "A piece that is no JSON.";
    Exhausted "exhausted" Transport ByName "Status 429 for each attempt.";
    ContextOverflow "context-overflow" Transport WithFamily "Status 400: the conversation is longer than the model's context.";
    Unauthorized "unauthorized" Transport WithFamily "Status 401: the key is not good any more.";
    ModelGone "model-gone" Transport WithFamily "Status 404: the model does not exist any more.";
    Length "length" Meaning WithFamily "The token limit cuts the text.";
    LengthNothing "length-nothing" Meaning WithFamily "The token limit is reached before any text or call.";
    LengthInToolCall "length-in-tool-call" Meaning Usual "The token limit cuts the arguments of a tool call.";
    Nothing "nothing" Meaning Usual "The model stops without saying anything.";
    ReasoningOnly "reasoning-only" Meaning WithFamily "The model thinks, and says nothing.";
    NoParts "no-parts" Meaning WithFamily "Gemini's answer has no list of parts.";
    ContentFilter "content-filter" Meaning WithFamily "A content filter cuts the text.";
    Refusal "refusal" Meaning WithFamily "The model refuses.";
    UnknownTool "unknown-tool" Meaning WithFamily "The model calls a tool that does not exist.";
    BadArguments "bad-arguments" Meaning WithFamily "The arguments of a tool call are no JSON.";
    WrongArguments "wrong-arguments" Meaning WithFamily "The arguments of a tool call do not fit the schema that the call offered.";
    CallTwice "call-twice" Meaning WithFamily "The model makes a tool call twice, with the same id.";
    FramingSeeded "framing-seeded" Framing Usual "Pieces that end at any bytes.";
    FramingInside "framing-inside" Framing Usual "Pieces that end inside of each character of several bytes, and inside of each end of an event.";
    FramingBytes "framing-bytes" Framing Usual "Pieces of one byte.";
    FramingWhole "framing-whole" Framing Usual "One piece.";
    FramingCrlf "framing-crlf" Framing Usual "Lines that end with CR LF.";
    FramingBetween "framing-between" Framing Usual "What the provider itself sends between the frames: pings, comments.";
    Order "order" Order WithFamily "Answers of calls that are under way together, in another order.";
    Leave "leave" Client Usual "The client leaves at an event, and comes back at once with the id of that event.";
    Late "late" Client Usual "The client leaves at an event, and comes back when the run has ended.";
    Gone "gone" Client Usual "The client leaves at an event for good.";
    Viewers "viewers" Client Usual "A second client reads the same run, from an event of the first one on.";
    Twice "twice" Client Usual "The same request comes a second time, while the first one is answered.";
    Kill "kill" Process WithFamily "The system is killed and started again.";
    ToolError "tool-error" Tools WithFamily "A tool says that it failed, and did nothing.";
    ToolTimeout "tool-timeout" Tools WithFamily "A tool does nothing, and never answers.";
    ToolForm "tool-form" Tools WithFamily "A tool acts, and its answer has another form than the protocol's.";
    ToolLost "tool-lost" Tools WithFamily "A tool acts, and the connection is closed before it answers.";
}

impl FaultKind {
    fn all(of: impl Fn(FaultKind) -> bool) -> Vec<FaultKind> {
        Self::ALL.into_iter().filter(|kind| of(*kind)).collect()
    }

    /// The kinds of `worlds = true`.
    pub fn by_default() -> Vec<FaultKind> {
        Self::all(|kind| kind.asked() == Asked::Usual)
    }

    /// The kinds that a word means: a kind's name, a family's name, `model` for the usual ones of that side, or `all` for those of all
    /// sides. `None` if it means none.
    pub fn of_word(word: &str) -> Option<Vec<FaultKind>> {
        let kinds = match Self::all(|kind| kind.name() == word) {
            none if none.is_empty() => Self::all(|kind| match kind.asked() {
                Asked::ByName => false,
                Asked::Usual if word == "model" => kind.side() == word,
                _ => word == "all" || kind.family().name() == word,
            }),
            one => one,
        };
        Some(kinds).filter(|kinds| !kinds.is_empty())
    }

    /// The side that fails: `model`, `client`, `process` or `tools`.
    pub fn side(self) -> &'static str {
        let family = self.family();
        if family < Family::Client { "model" } else { family.name() }
    }

    /// All words that [`FaultKind::of_word`] knows.
    pub fn words() -> Vec<&'static str> {
        let families = Family::ALL.into_iter().map(Family::name).chain(["model", "all"]);
        // `order` is a family with one kind of the same name.
        families.chain(Self::ALL.into_iter().map(FaultKind::name).filter(|name| *name != "order")).collect()
    }

    /// Whether it breaks an answer on its way, at a place of its stream.
    pub fn breaks(self) -> bool {
        use FaultKind::{CutClean, CutDirty, ErrorEvent, Garbage, Stall};
        matches!(self, Stall | CutDirty | CutClean | ErrorEvent | Garbage)
    }

    /// The fault at no place of a stream.
    pub fn whole(self) -> Fault {
        Fault { kind: self, after: None, of: 0 }
    }

    /// The fault at each of its places in a stream of this many frames with data; 0 if it is no stream.
    pub(super) fn places(self, frames: usize) -> Vec<Fault> {
        if !self.breaks() || frames < 2 {
            return vec![self.whole()];
        }
        let mut after = vec![1, frames / 2, frames - 1];
        after.dedup();
        after.into_iter().map(|after| Fault { after: Some(after), of: frames, ..self.whole() }).collect()
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
    /// Reads a fault as users write it, `cut-clean`, or `cut-clean/3` after three frames; and the turn that it is for if one is named:
    /// `turn3/cut-clean/1`. Turns are counted from 1, the result from 0.
    pub fn of_turn(text: &str) -> Option<(Option<usize>, Fault)> {
        let number = |text: &str| text.parse().ok().filter(|number: &usize| *number > 0);
        let mut parts = text.split('/').peekable();
        let turn = match parts.peek()?.strip_prefix("turn") {
            Some(turn) => parts.next().and(Some(number(turn)? - 1)),
            None => None,
        };
        let name = parts.next()?;
        let kind = FaultKind::ALL.into_iter().find(|kind| kind.name() == name && kind.side() == "model")?;
        let after = parts.next().map(|after| number(after).ok_or(())).transpose().ok()?;
        parts.next().is_none().then_some((turn, Fault { after, ..kind.whole() }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        self.after.filter(|_| self.of > 0).map_or(Ok(()), |after| write!(f, " {after}/{}", self.of))
    }
}

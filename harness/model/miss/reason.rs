//! Why no turn answers a call.

use retake_base::text::{self, nth_turn};
use std::fmt;

/// Why no turn answers a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissReason {
    /// No turn has this conversation.
    NotRecorded,
    /// The conversation was recorded, but only for other callers.
    OtherCaller {
        /// The callers that have turns with this conversation.
        callers: Vec<String>,
    },
    /// Each turn that would fit was served already.
    AllServed {
        /// The first of those turns. There are at most eight, so that a call that is repeated forever does not fill the memory.
        turns: Vec<usize>,
        /// How many more there are.
        more: usize,
    },
    /// Several callers have turns with this conversation, and the caller of this call is not known.
    Ambiguous {
        /// The callers that have turns with this conversation.
        callers: Vec<String>,
    },
    /// The scenario says that no model is called.
    NoFixture,
    /// The request cannot be read.
    Unreadable {
        /// What was found and what was expected.
        what: String,
    },
    /// The turn that answers was recorded over another API, and holds something that this API cannot express.
    Unrenderable {
        /// The turn.
        turn: String,
        /// The API and the block.
        what: String,
    },
    /// A request that is not a call to a chat model was not recorded.
    RequestNotRecorded {
        /// Method and path.
        request: String,
    },
    /// A request to a tool server was not recorded.
    ToolNotRecorded {
        /// Method and tool.
        call: String,
        /// What it says that the nearest recorded request does not; `None` if none was alike.
        differs: Option<String>,
    },
    /// A request to a tool server was made more often than it was recorded.
    ToolAllServed {
        /// Method and tool.
        call: String,
        /// How many times the request was recorded.
        times: usize,
    },
    /// No API has this method and path.
    UnknownRoute {
        /// Method and path.
        request: String,
    },
    /// No API is known for this path, and nothing was recorded for it.
    UnknownPath {
        /// Method and path.
        request: String,
    },
    /// The request did not bring this stage's key.
    WrongKey,
}

impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissReason::NotRecorded => write!(f, "this conversation was never recorded"),
            MissReason::OtherCaller { callers } => {
                write!(f, "this conversation was recorded for {} only", text::listed(callers))
            }
            MissReason::AllServed { turns, more } => {
                let turns: Vec<String> = turns.iter().copied().map(nth_turn).collect();
                let more = if *more == 0 { String::new() } else { format!(" and {more} more") };
                write!(f, "the call was made again: {}{more} answered it before", turns.join(", "))
            }
            MissReason::Ambiguous { callers } => {
                write!(f, "{} had this conversation, and the call does not say whose it is", text::listed(callers))
            }
            MissReason::NoFixture => write!(f, "the scenario says `fixture = \"none\"`, so no model call is expected"),
            MissReason::Unreadable { what } => write!(f, "the request cannot be read: {what}"),
            MissReason::Unrenderable { turn, what } => write!(f, "{turn} answers, but {what}"),
            MissReason::RequestNotRecorded { request } => {
                let path = request.split_once(' ').map_or("", |(_, path)| path);
                let what = retake_wire::known_opaque(path);
                let bodiless = ["GET ", "HEAD ", "DELETE "].iter().any(|method| request.starts_with(method));
                let (by, so) = if bodiless { ("path", "") } else { ("whole body", " with this body") };
                let what = what.map(|what| format!("{what}, replayed by its {by}"));
                let what = what.as_deref().unwrap_or("not a path of a model that Retake knows");
                write!(f, "`{request}` is {what}, and was not recorded{so}")
            }
            MissReason::ToolNotRecorded { call, differs: None } => write!(f, "{call} was never recorded"),
            MissReason::ToolNotRecorded { call, differs: Some(what) } => write!(f, "{call} {what}"),
            MissReason::ToolAllServed { call, times } => {
                write!(f, "{call} was made again: it was recorded {} with these arguments", text::times(*times))
            }
            MissReason::UnknownRoute { request } | MissReason::UnknownPath { request } => {
                let wrong = if matches!(self, MissReason::UnknownRoute { .. }) { ": is a base URL wrong?" } else { "" };
                write!(f, "the service calls `{request}`, which is not a path of a model that Retake knows{wrong}")
            }
            MissReason::WrongKey => write!(f, "the request did not bring the key that the system was given"),
        }
    }
}

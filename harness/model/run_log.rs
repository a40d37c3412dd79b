//! The log of a replay: what happened to its calls. Whoever serves a call writes to it and reads nothing back; it is read once, when
//! the run is over, and everything that is said about the run is said from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::Instant;

use super::drift::DriftOf;
use super::lookup::Lookup;
use super::miss::{Miss, MissedCall, text_of};
use super::today::KeptCall;
use retake_base::text::clipped;
use retake_core::conversation::{Answer, Message};
use retake_wire::fixture::{Fixture, Turn};

/// How many of the messages that a call adds are kept.
const MESSAGES: usize = 8;
/// How many characters of each of these messages are kept.
const TEXT: usize = 400;

/// What a replay noted.
#[derive(Clone, Debug, Default)]
pub struct RunLog {
    /// The calls that came over HTTP, in the order in which they were answered.
    pub calls: Vec<CallSeen>,
    /// The first calls that missed, apart from requests that could not be read.
    pub missed: Vec<MissedCall>,
    /// Whether a call got no answer, so that whatever happened later may be its consequence.
    pub unanswered: bool,
    /// The turns that no call asked for, in recorded order.
    pub unused: Vec<usize>,
    /// The turn that was served last, and the number of the call that got it.
    pub left_after: Option<(usize, usize)>,
    /// The calls that turns answered, before normalization. Only they show what the normalizers make equal, because a fixture holds
    /// texts that are already normalized.
    pub heard: Vec<HeardCall>,
    /// The calls that turns answered, with their bodies, to ask a provider the same.
    pub kept: Vec<KeptCall>,
    /// The turns whose answers were served with values of this run.
    pub own: BTreeMap<usize, Arc<Turn>>,
    /// What calls told of days that were others when they were recorded.
    pub days: BTreeSet<String>,
}

impl RunLog {
    /// The answers of all turns, as this run was served.
    pub fn answers<'a>(&'a self, fixture: &'a Fixture) -> impl Iterator<Item = &'a Answer> + Clone {
        let turns = fixture.table.turns().iter().enumerate();
        turns.map(|(index, turn)| &self.own.get(&index).map_or(turn, AsRef::as_ref).output)
    }
}

/// What a log keeps besides the calls that missed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keeps {
    /// The calls that come over HTTP.
    pub calls: bool,
    /// The messages of calls before normalization.
    pub messages: bool,
    /// The bodies of calls.
    pub bodies: bool,
}

/// A model call that was answered, or missed.
#[derive(Clone, Debug)]
pub struct CallSeen {
    /// When it came.
    pub came: Instant,
    /// When the answer went out.
    pub answered: Instant,
    /// How the call came: `POST /v1/chat/completions`.
    pub via: String,
    /// What it asked.
    pub asked: Asked,
    /// What it got.
    pub outcome: CallOutcome,
}

/// What a call asks.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The caller, if it is known.
    pub caller: Option<String>,
    /// The number of messages in the conversation.
    pub messages: usize,
    /// The first messages after the model's last answer: the kind and the beginning of the text of each.
    pub added: Vec<(String, String)>,
}

/// How a call was answered.
#[derive(Clone, Debug)]
pub enum CallOutcome {
    /// With this turn of the fixture; and the checks that differ.
    Turn(usize, Vec<DriftOf>),
    /// With a miss.
    Missed(Arc<Miss>),
}

/// A call that a turn answered, before normalization.
#[derive(Clone, Debug)]
pub struct HeardCall {
    /// The index of the turn.
    pub turn: usize,
    /// The canonical name of the caller, if it is known.
    pub caller: Option<String>,
    /// The messages of the call, without secrets.
    pub messages: Vec<Message>,
}

impl Asked {
    /// Summarizes what a call asks.
    pub(super) fn of(lookup: &Lookup) -> Asked {
        let added = lookup.conversation.added().into_iter().take(MESSAGES);
        let added = added.map(|message| {
            let kind = message.str_of("type").unwrap_or("message");
            let kind = message.str_of("name").map_or_else(|| kind.to_owned(), |name| format!("{kind} `{name}`"));
            (kind, clipped(&text_of(message.get("content")), TEXT).into_owned())
        });
        Asked { caller: lookup.caller.clone(), messages: lookup.conversation.length, added: added.collect() }
    }
}

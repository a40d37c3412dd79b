//! The model calls of one scenario in the order in which they were answered, kept for the run data.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::drift::DriftOf;
use super::lookup::Lookup;
use super::miss::Miss;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout};

/// The most calls of a run that are kept. Nobody reads more.
const KEPT: usize = 2_000;
/// How many of the messages that a call adds are kept.
const MESSAGES: usize = 8;
/// How many characters of each of these messages are kept.
const TEXT: usize = 400;

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

/// The calls of a run, in the order in which they were answered.
#[derive(Debug, Default)]
pub(super) struct CallsSeen(Mutex<Vec<CallSeen>>);

/// A call that has no answer yet. `None` if calls are not remembered.
pub(super) struct CallUnderWay<'a>(Option<(&'a CallsSeen, Instant, String, Asked)>);

impl<'a> CallUnderWay<'a> {
    /// Notes that a call comes now. `call` returns how it came and what it asks; it is not called if calls are not remembered.
    pub(super) fn begin(seen: Option<&'a CallsSeen>, call: impl FnOnce() -> (String, Asked)) -> CallUnderWay<'a> {
        CallUnderWay(seen.map(|seen| {
            let (via, asked) = call();
            (seen, Instant::now(), via, asked)
        }))
    }

    /// Notes how the call was answered.
    pub(super) fn end(self, outcome: CallOutcome) {
        let Some((seen, came, via, asked)) = self.0 else { return };
        let mut calls = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() < KEPT {
            calls.push(CallSeen { came, answered: Instant::now(), via, asked, outcome });
        }
    }
}

impl CallsSeen {
    pub(super) fn all(&self) -> Vec<CallSeen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Asked {
    /// Summarizes what a call asks.
    pub(super) fn of(lookup: &Lookup) -> Asked {
        let added = lookup.conversation.added().into_iter().take(MESSAGES);
        let added = added.map(|message| {
            let kind = message.str_of("type").unwrap_or("message");
            let kind = message.str_of("name").map_or_else(|| kind.to_owned(), |name| format!("{kind} `{name}`"));
            (kind, clipped(&content(&message), TEXT).into_owned())
        });
        Asked { caller: lookup.caller.clone(), messages: lookup.conversation.length(), added: added.collect() }
    }
}

/// Returns a message's text, or its content as JSON if that is not a text.
fn content(message: &Json) -> String {
    match message.get("content") {
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
        None => String::new(),
    }
}

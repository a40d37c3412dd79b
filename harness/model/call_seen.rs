//! The calls of one scenario as they came, for the data of its run.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::drift::DriftOf;
use super::lookup::Lookup;
use super::miss::Miss;
use crate::json::{Json, Layout};
use crate::text::clipped;

/// How many calls of a run are kept: of a flood nobody reads more.
const KEPT: usize = 2_000;
/// How many of the messages that a call adds are kept, and how much of each, in characters.
const MESSAGES: usize = 8;
const TEXT: usize = 400;

/// A model call that was answered, or missed.
#[derive(Clone, Debug)]
pub(crate) struct CallSeen {
    pub(crate) came: Instant,
    /// When its answer went out.
    pub(crate) answered: Instant,
    /// How it came: `POST /v1/chat/completions`.
    pub(crate) via: String,
    pub(crate) asked: Asked,
    pub(crate) outcome: CallOutcome,
}

/// What a call asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Who asks, where that is known.
    pub(crate) caller: Option<String>,
    /// How many messages its conversation has.
    pub(crate) messages: usize,
    /// The first of those behind the model's last answer: kind and beginning of the text.
    pub(crate) added: Vec<(String, String)>,
}

/// What a call got.
#[derive(Clone, Debug)]
pub(crate) enum CallOutcome {
    /// A turn of the fixture, and what differs beside the key.
    Turn(usize, Vec<DriftOf>),
    /// No turn answers it.
    Missed(Arc<Miss>),
}

/// The calls of a run, in the order in which they were answered.
#[derive(Debug, Default)]
pub(super) struct CallsSeen(Mutex<Vec<CallSeen>>);

/// A call that came and has no answer yet; nothing where calls are not remembered.
pub(super) struct CallUnderWay<'a>(Option<(&'a CallsSeen, Instant, String, Asked)>);

impl<'a> CallUnderWay<'a> {
    /// A call that comes now. `call` tells how it came and what it asks, where that is wanted.
    pub(super) fn begin(seen: Option<&'a CallsSeen>, call: impl FnOnce() -> (String, Asked)) -> CallUnderWay<'a> {
        CallUnderWay(seen.map(|seen| {
            let (via, asked) = call();
            (seen, Instant::now(), via, asked)
        }))
    }

    /// Notes what it got.
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
    /// What a call asks, in a few words.
    pub(super) fn of(lookup: &Lookup) -> Asked {
        let messages = &lookup.conversation;
        let answered = messages.iter().rposition(|message| message.str_of("type") == Some("ai"));
        let added = messages.iter().skip(answered.map_or(0, |last| last + 1)).take(MESSAGES);
        let added = added.map(|message| {
            let kind = message.str_of("type").unwrap_or("message");
            let kind = message.str_of("name").map_or_else(|| kind.to_owned(), |name| format!("{kind} `{name}`"));
            (kind, clipped(&content(message), TEXT).into_owned())
        });
        Asked { caller: lookup.caller.clone(), messages: messages.len(), added: added.collect() }
    }
}

/// A message's text, or its content as JSON where that is not text.
fn content(message: &Json) -> String {
    match message.get("content") {
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
        None => String::new(),
    }
}

//! The calls of one scenario as they came, before anything of them was normalized: what normalizers make equal shows on them
//! alone, since a fixture holds what they left.

use std::sync::{Mutex, PoisonError};

use crate::conversation::Message;

/// A call that a turn answered.
#[derive(Clone, Debug)]
pub(crate) struct HeardCall {
    /// The index of the turn.
    pub(crate) turn: usize,
    /// Who asked, by canonical name, where that is known.
    pub(crate) caller: Option<String>,
    /// What it said, without secrets.
    pub(crate) messages: Vec<Message>,
}

/// The calls in the order in which they were answered.
#[derive(Debug, Default)]
pub(super) struct HeardCalls(Mutex<Vec<HeardCall>>);

impl HeardCalls {
    pub(super) fn add(&self, call: HeardCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    pub(super) fn all(&self) -> Vec<HeardCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

//! The calls of one scenario before normalization. Only they show what the normalizers make equal, because a fixture holds texts
//! that are already normalized.

use std::sync::{Mutex, PoisonError};

use retake_core::conversation::Message;

/// A call that a turn answered.
#[derive(Clone, Debug)]
pub struct HeardCall {
    /// The index of the turn.
    pub turn: usize,
    /// The canonical name of the caller, if it is known.
    pub caller: Option<String>,
    /// The messages of the call, without secrets.
    pub messages: Vec<Message>,
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

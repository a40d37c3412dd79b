//! The calls of a replay, kept to ask the provider the same.

use std::sync::{Mutex, PoisonError};

use crate::record::PendingCall;
use crate::served::Served;

/// A call, with the turn that answered it.
#[derive(Clone)]
pub struct KeptCall {
    pub(super) served: Served,
    pub(super) call: PendingCall,
}

/// The calls of a replay so far.
#[derive(Default)]
pub(crate) struct KeptCalls(Mutex<Vec<KeptCall>>);

impl KeptCall {
    /// The index of the turn in the fixture.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.served.index
    }
}

impl std::fmt::Debug for KeptCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeptCalls")
    }
}

impl KeptCalls {
    pub(crate) fn add(&self, served: Served, call: PendingCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(KeptCall { served, call });
    }

    pub(crate) fn all(&self) -> Vec<KeptCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

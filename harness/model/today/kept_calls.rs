//! The calls of a replay, kept to ask the provider the same.

use crate::record::PendingCall;
use crate::served::Served;
use retake_base::lock::Mutex;

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
    pub fn turn(&self) -> usize {
        self.served.index
    }

    /// How many tokens the recorded call took; estimated from its length if nobody counted them.
    pub(super) fn tokens(&self) -> u64 {
        let output = &self.served.turn().output;
        let estimate = (self.call.body.len() + output.text().len()) / 4;
        output.usage.map_or(estimate as u64, |usage| usage.input + usage.output)
    }
}

impl std::fmt::Debug for KeptCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its headers hold a key.
        f.debug_struct("KeptCall").field("turn", &self.served.index).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for KeptCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeptCalls")
    }
}

impl KeptCalls {
    pub(crate) fn add(&self, served: Served, call: PendingCall) {
        self.0.lock().push(KeptCall { served, call });
    }

    pub(crate) fn all(&self) -> Vec<KeptCall> {
        self.0.lock().clone()
    }
}

//! A call of a replay, kept to ask the provider the same.

use crate::record::PendingCall;
use crate::served::Served;

/// A call, with the turn that answered it.
#[derive(Clone)]
pub struct KeptCall {
    pub(crate) served: Served,
    pub(crate) call: PendingCall,
}

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

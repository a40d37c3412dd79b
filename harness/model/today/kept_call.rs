//! A call of a replay, for the provider of today.

use std::fmt;

use crate::record::PendingCall;
use crate::served::Served;
use retake_core::key::Check;
use retake_wire::fixture::Turn;

/// A call of a replay, with the turn that answered it, kept to ask the provider the same.
#[derive(Clone)]
pub struct KeptCall {
    pub(crate) served: Served,
    /// The call, as it was sent.
    pub call: PendingCall,
}

impl KeptCall {
    /// The turn in the fixture, with its index, and by how many bytes the prompt and the tools are longer than recorded.
    pub fn recorded(&self) -> (usize, &Turn, isize) {
        let texts = self.served.drift.iter().filter(|drift| matches!(drift.check, Check::Prompt | Check::Tools));
        let grown = texts.map(|drift| drift.called.len().cast_signed() - drift.recorded.len().cast_signed()).sum();
        (self.served.index, self.served.turn(), grown)
    }

    /// How many tokens the recorded call took; estimated from its length if nobody counted them.
    pub(super) fn tokens(&self) -> u64 {
        let output = &self.served.turn().output;
        let estimate = (self.call.body.len() + output.text().len()) / 4;
        output.usage.map_or(estimate as u64, |usage| usage.input + usage.output)
    }
}

impl fmt::Debug for KeptCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its headers hold a key.
        f.debug_struct("KeptCall").field("turn", &self.served.index).finish_non_exhaustive()
    }
}

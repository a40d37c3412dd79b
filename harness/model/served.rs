//! A turn that answers a call, and the response that it becomes.

use std::borrow::Cow;
use std::sync::Arc;

use super::drift::DriftOf;
use crate::fixture::{Fixture, Turn};
use crate::wire::{self, Call, Response, Unrenderable};

/// A turn that answers a call.
#[derive(Clone, Debug)]
pub struct Served {
    pub(super) fixture: Arc<Fixture>,
    /// Its index in the fixture.
    pub index: usize,
    /// What of the call's checks differs from the recorded ones.
    pub drift: Vec<DriftOf>,
    /// Whether it was found by the rules of deer-flow's first fixtures only.
    pub(super) by_first_key: bool,
    /// Whether another API recorded it, and it was found by what each API carries.
    pub(super) over_another_api: bool,
}

impl Served {
    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.fixture.table.turns()[self.index]
    }

    /// The response to the call: as it was recorded, as a rule, and then it is not even copied.
    pub(super) fn response_to(&self, call: &Call) -> Result<Cow<'_, Response>, Unrenderable> {
        let turn = self.turn();
        let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
        if let Some(response) = wire::as_recorded(recorded, &call.render_for("")) {
            return Ok(Cow::Borrowed(response));
        }
        let seed = turn.key.input_hash.to_string();
        wire::respond(&turn.output, recorded, &call.render_for(&seed)).map(Cow::Owned)
    }
}

//! A turn that answers a call, and the response that is made from it.

use std::borrow::Cow;
use std::sync::Arc;

use super::drift::DriftOf;
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{self as wire, Call, Response, Unrenderable};

/// A turn that answers a call.
#[derive(Clone, Debug)]
pub struct Served {
    pub(super) fixture: Arc<Fixture>,
    /// The turn's index in the fixture.
    pub index: usize,
    /// The checks of the call that differ from the recorded ones.
    pub drift: Vec<DriftOf>,
    /// Whether the turn was found only by the key rules of deer-flow's first fixtures.
    pub(super) by_first_key: bool,
    /// Whether the turn was recorded over a different API, and was found by the parts of a conversation that every API carries.
    pub(super) over_another_api: bool,
}

impl Served {
    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.fixture.table.turns()[self.index]
    }

    /// Returns the response to the call. Usually that is the recorded one, which is then borrowed, not copied.
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

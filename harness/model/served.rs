//! A turn that answers a call, and the response that is made from it.

use std::borrow::Cow;
use std::sync::Arc;

use super::drift::DriftOf;
use retake_core::json::Json;
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{self as wire, Call, Response, Unrenderable};

/// By what a turn was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    ByKey,
    /// By the key rules of deer-flow's first fixtures.
    ByFirstKey,
    /// By what the run knows: the day of the recording, and today.
    ByDay,
    /// By what the run knows: its folders, and those of the recording.
    ByPlace,
    /// By the parts of a conversation that every API carries: it was recorded over a different one.
    OverAnotherApi,
}

/// A turn that answers a call.
#[derive(Clone, Debug)]
pub struct Served {
    pub(super) fixture: Arc<Fixture>,
    /// The turn's index in the fixture.
    pub index: usize,
    /// The checks of the call that differ from the recorded ones.
    pub drift: Vec<DriftOf>,
    pub(super) found: Found,
    /// The turn with values of this run in its answer, if it says any.
    pub(super) own: Option<Arc<Turn>>,
}

impl Served {
    /// A turn that was looked at, but not taken.
    pub(super) fn plain(fixture: Arc<Fixture>, index: usize) -> Served {
        Served { fixture, index, drift: Vec::new(), found: Found::ByKey, own: None }
    }

    /// The turn.
    pub fn turn(&self) -> &Turn {
        self.own.as_deref().unwrap_or_else(|| &self.fixture.table.turns()[self.index])
    }

    /// Whether the recorded call asked for its usage. A provider sends none to a call that does not ask.
    fn asked_for_usage(&self) -> bool {
        let form = self.turn().checks.and_then(|checks| self.fixture.texts.get(&checks.form?));
        let form = form.and_then(|form| Json::parse(form.as_bytes()).ok());
        form.is_some_and(|form| form.get("usage").is_some_and(Json::is_truthy))
    }

    /// Returns the response to the call. Usually that is the recorded one, which is then borrowed, not copied.
    pub(super) fn response_to(&self, call: &Call) -> Result<Cow<'_, Response>, Unrenderable> {
        let turn = self.turn();
        // What came in another framing than the recorded call asked for goes that way again, if this call asks for the same.
        let otherwise = turn.wire.as_ref().filter(|wire| wire.api == call.api && wire.asked.is_some());
        if let Some(wire) = otherwise.filter(|wire| wire.asked_stream() == call.stream) {
            return Ok(Cow::Borrowed(&wire.response));
        }
        let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
        if let Some(response) = wire::as_recorded(recorded, &call.render_for("")) {
            if call.stream && !call.include_usage && self.asked_for_usage() {
                return Ok(Cow::Owned(wire::without_usage(response)));
            }
            return Ok(Cow::Borrowed(response));
        }
        let seed = turn.key.input_hash.to_string();
        wire::respond(&turn.output, recorded, &call.render_for(&seed)).map(Cow::Owned)
    }
}

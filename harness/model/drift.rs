//! What of a call's checks differs from the recorded ones.

use std::sync::Arc;

use super::checked::Checked;
use crate::fixture::{Fixture, Turn};
use crate::key::Check;

/// A check that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftOf {
    /// Which one.
    pub check: Check,
    /// The recorded text.
    pub recorded: Arc<str>,
    /// The call's text.
    pub called: Arc<str>,
}

/// The checks of a call that differ from those of the turn that answers it.
pub(super) fn drift(fixture: &Fixture, turn: &Turn, called: &Checked) -> Vec<DriftOf> {
    let Some(recorded) = turn.checks else { return Vec::new() };
    let differs = |check: &Check| recorded.of(*check) != called.hashes.of(*check);
    let drift_of = |check: Check| DriftOf {
        check,
        recorded: fixture.texts.get(&recorded.of(check)).cloned().unwrap_or_default(),
        called: called.texts.of(check).clone(),
    };
    Check::ALL.into_iter().filter(differs).map(drift_of).collect()
}

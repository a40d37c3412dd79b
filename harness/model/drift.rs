//! What of a call's checks differs from the recorded ones.

use std::sync::{Arc, OnceLock};

use super::breakage::{Breakage, RecordedPrompts, breakage, prompt_of_another};
use super::checked::Checked;
use crate::fixture::{Fixture, Turn};
use crate::key::Check;
use crate::wire::{Api, told_by_each_api};

/// A check that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftOf {
    /// Which one.
    pub check: Check,
    /// The recorded text.
    pub recorded: Arc<str>,
    /// The call's text.
    pub called: Arc<str>,
    /// What the change breaks, where it breaks something.
    pub breakage: Option<Breakage>,
}

/// The checks of a call over an API that differ from those of the turn that answers it.
pub(super) fn drift(
    fixture: &Fixture,
    turn: &Turn,
    called: &Checked,
    api: Option<Api>,
    prompts: &OnceLock<RecordedPrompts>,
) -> Vec<DriftOf> {
    let Some(checks) = turn.checks else { return Vec::new() };
    let same_api = turn.wire.as_ref().map(|wire| wire.api) == api;
    let drift_of = |check: Check| {
        let hash = checks.of(check)?;
        if Some(hash) == called.hashes.of(check) {
            return None;
        }
        let recorded = fixture.texts.get(&hash).cloned().unwrap_or_default();
        let called = called.texts.of(check).clone();
        // Not each API says of a result that it is an error.
        if check == Check::Results && !same_api && told_by_each_api(&recorded) == told_by_each_api(&called) {
            return None;
        }
        let other = || prompt_of_another(prompts.get_or_init(|| RecordedPrompts::of(fixture)), turn, &called);
        let breakage = breakage(turn, check, &recorded, &called, other);
        Some(DriftOf { check, recorded, called, breakage })
    };
    Check::ALL.into_iter().filter_map(drift_of).collect()
}

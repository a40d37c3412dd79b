//! Whether streams come in several pieces, or at once when everything is done. A fast service may send all its events so quickly
//! that they come together by chance, and one that sends them at once may still need several packets. So what counts is whether
//! the model's calls went on between two events, and the model pauses in the middle of its answers where this is held.

use super::project::Project;
use super::second_look::may_play_again;
use super::trial::{self, How, Replayed};
use retake_model::Pacing;
use retake_scenario::Scenario;

/// How many more replays are looked at before a stream counts as coming at once.
const LOOKS: usize = 3;

impl Replayed {
    /// Says of the streams that come in pieces in all replays of a proof that they do. Returns whether there are any.
    pub(super) fn hold_pieces(&mut self, others: &[Replayed]) -> bool {
        let captured = &mut self.played.driven.captured;
        for (at, one) in captured.iter_mut().enumerate() {
            let too = |other: &Replayed| other.played.driven.captured.get(at).is_some_and(|it| it.delivery.in_pieces);
            one.delivery.held_in_pieces = one.delivery.in_pieces && !others.is_empty() && others.iter().all(too);
        }
        captured.iter().any(|capture| capture.delivery.held_in_pieces)
    }

    /// Leaves open whether streams come in pieces, which a single replay of a proof cannot tell.
    pub(super) fn forget_pieces(&mut self) {
        self.played.driven.captured.iter_mut().for_each(|capture| capture.delivery.held_in_pieces = false);
    }

    /// Says of the streams that the committed golden holds to come in pieces whether they do in this run.
    pub(super) fn note_pieces(&mut self) {
        let held = self.committed.as_deref().map(|committed| committed.golden.in_pieces()).unwrap_or_default();
        for (at, capture) in self.played.driven.captured.iter_mut().enumerate() {
            capture.delivery.held_in_pieces = held.get(at) == Some(&true) && capture.delivery.in_pieces;
        }
    }

    /// Looks again, under longer pauses, at streams that came at once although the committed golden holds them to come in pieces.
    pub(super) fn look_again_at_pieces(&mut self, project: &Project, scenario: &Scenario) {
        let held = self.committed.as_deref().map(|committed| committed.golden.in_pieces()).unwrap_or_default();
        for _ in 0..LOOKS {
            let captured = &self.played.driven.captured;
            let at_once = held.iter().zip(captured).any(|(held, capture)| *held && !capture.delivery.held_in_pieces);
            if !at_once || !self.misses.is_empty() || !may_play_again(project, scenario, self) {
                return;
            }
            let how = How { pacing: Pacing::Shaken, ..How::default() };
            let Ok(again) = trial::replay(project, scenario, self.fixture.clone(), &self.rules, how) else { return };
            let captured = self.played.driven.captured.iter_mut();
            for (capture, again) in captured.zip(&again.played.driven.captured) {
                capture.delivery.held_in_pieces |= again.delivery.held_in_pieces;
            }
        }
    }
}

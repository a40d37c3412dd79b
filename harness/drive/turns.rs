//! The turns that a page may wait for while a scenario is recorded.

use retake_core::json::Json;

/// Returns the turns that were recorded so far, in the form of [`Fixture::answers`](retake_wire::fixture::Fixture::answers).
pub(crate) type LiveTurns<'a> = dyn Fn() -> Json + 'a;

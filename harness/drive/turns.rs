//! The turns that a page may wait for while a scenario is recorded.

use crate::json::Json;

/// Returns the turns that were recorded so far, in the form of [`Fixture::answers`](crate::fixture::Fixture::answers).
pub(crate) type LiveTurns<'a> = dyn Fn() -> Json + 'a;

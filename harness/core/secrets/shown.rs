//! Removes secrets from everything that people see of a run, since terminal output ends up in CI logs and in bug reports.

use std::sync::{LazyLock, PoisonError, RwLock};

use super::{Fired, Scrub};
use crate::json::Json;

/// The secrets of this run, with values from its environment. The known forms are used until they are set.
static HIDDEN: LazyLock<RwLock<Scrub>> = LazyLock::new(|| RwLock::new(Scrub::known()));

/// Sets the secrets that are removed from now on.
pub fn hide(secrets: Scrub) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = secrets;
}

/// Returns a text for people, without secrets.
pub fn shown(text: &str) -> String {
    hidden(|scrub| scrub.text(text, &mut Fired::new()).into_owned())
}

/// Removes secrets from JSON that people will see.
pub fn shown_json(json: &mut Json) {
    hidden(|scrub| scrub.json(json, &mut Fired::new()));
}

fn hidden<T>(lose: impl FnOnce(&Scrub) -> T) -> T {
    lose(&HIDDEN.read().unwrap_or_else(PoisonError::into_inner))
}

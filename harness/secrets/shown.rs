//! What people are shown of a run loses its secrets too: terminals end in logs of CI and in issues.

use std::sync::{PoisonError, RwLock};

use super::{Fired, Scrub};
use crate::json::Json;

/// What texts lose beside the known forms: the values of this run's environment.
static HIDDEN: RwLock<Option<Scrub>> = RwLock::new(None);

/// Says which secrets texts lose from now on.
pub(crate) fn hide(secrets: Scrub) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

/// A text for people, without secrets.
#[must_use]
pub(crate) fn shown(text: &str) -> String {
    hidden(|scrub| scrub.text(text, &mut Fired::new()).into_owned())
}

/// JSON for people, without secrets.
pub(crate) fn shown_json(json: &mut Json) {
    hidden(|scrub| scrub.json(json, &mut Fired::new()));
}

fn hidden<T>(lose: impl FnOnce(&Scrub) -> T) -> T {
    match &*HIDDEN.read().unwrap_or_else(PoisonError::into_inner) {
        Some(scrub) => lose(scrub),
        None => lose(&Scrub::known()),
    }
}

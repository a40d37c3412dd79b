//! What people are shown of a run loses its secrets too: terminals end in logs of CI and in issues.

use std::sync::{PoisonError, RwLock};

use super::{Fired, Scrub};

/// What texts lose beside the known forms: the values of this run's environment.
static HIDDEN: RwLock<Option<Scrub>> = RwLock::new(None);

/// Says which secrets texts lose from now on.
pub(crate) fn hide(secrets: Scrub) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

/// A text for people, without secrets.
#[must_use]
pub(crate) fn shown(text: &str) -> String {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    let mut fired = Fired::new();
    match &*hidden {
        Some(scrub) => scrub.text(text, &mut fired).into_owned(),
        None => Scrub::known().text(text, &mut fired).into_owned(),
    }
}

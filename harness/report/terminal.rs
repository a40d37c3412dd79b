//! Lines for the terminal. A person who closed the pipe wants no more of them: a failed write is no error.
//!
//! Terminals end in logs of CI and in issues, so what is said of a run has lost its secrets.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::{PoisonError, RwLock};

use crate::secrets::{Fired, Scrub};

/// What lines lose beside the known forms: the values of this run's environment.
static HIDDEN: RwLock<Option<Scrub>> = RwLock::new(None);

/// Says which secrets lines lose from now on.
pub(crate) fn hide(secrets: Scrub) {
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

/// A text for people, without secrets.
#[must_use]
pub(crate) fn scrubbed(text: &str) -> String {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    let mut fired = Fired::new();
    match &*hidden {
        Some(scrub) => scrub.text(text, &mut fired).into_owned(),
        None => Scrub::known().text(text, &mut fired).into_owned(),
    }
}

/// A line of what was asked for, on stdout, as it is.
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line about what is going on, on stderr.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", scrubbed(&line.to_string()));
}

/// An error on stderr.
pub fn error(error: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "error: {}", scrubbed(&error.to_string()));
}

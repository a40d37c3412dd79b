//! How far a scenario got.

use std::sync::{Arc, Mutex, PoisonError};

/// How far a scenario got, for the case that its time runs out. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Underway(Arc<Mutex<SoFar>>);

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoFar {
    /// The step.
    pub(crate) step: String,
    /// How many events of it have come.
    pub(crate) events: usize,
    /// What it waits for, where it says so.
    pub(crate) note: Option<String>,
}

impl Underway {
    /// What is under way.
    pub(crate) fn so_far(&self) -> SoFar {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn step(&self, step: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = SoFar { step, ..SoFar::default() };
    }

    pub(super) fn events(&self, count: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).events = count;
    }

    pub(super) fn note(&self, note: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).note = Some(note);
    }
}

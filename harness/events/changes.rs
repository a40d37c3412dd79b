//! What changed between two goldens, in words. Pure.

use crate::cause::{Cause, CauseKind};

/// One change between two goldens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// What it is, for a first line.
    pub(crate) cause: Cause,
}

/// What changed from a golden to the text of a run. Empty where they are the same.
pub(crate) fn changes(golden: &str, run: &str) -> Vec<Change> {
    if golden.trim_end() == run.trim_end() {
        return Vec::new();
    }
    vec![Change { cause: Cause::new(CauseKind::EventShape, "the events are not those of the golden") }]
}

//! The policy of a run: which goldens and fixtures it may write.

use retake_base::env::{in_ci, is_set};
use retake_base::error::{Error, Result};

/// What to do with a golden that differs from this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Write nothing, since `CI` is set.
    Verify,
    /// Leave the golden as it is, and write the new text next to it for review.
    Propose,
    /// Overwrite the golden, after a proof.
    Overwrite,
}

impl Policy {
    /// The policy of a run. It overwrites goldens if it `records`, or if `update` or `UPDATE_GOLDEN` asks for it.
    /// Fails if it would have to write with `CI` set.
    pub(super) fn of_run(records: bool, update: bool) -> Result<Policy> {
        let update = update || is_set("UPDATE_GOLDEN");
        match (in_ci(), update || records) {
            (true, true) => {
                let what = if records { "recording" } else { "updating goldens" };
                Err(refusal(&format!("{what} with CI set: goldens and fixtures are never written in CI")))
            }
            (false, true) => Ok(Policy::Overwrite),
            (true, false) => Ok(Policy::Verify),
            (false, false) => Ok(Policy::Propose),
        }
    }
}

/// Refuses to write a fixture with `CI` set. `doing` names what would write it, for the error.
///
/// # Errors
/// If `CI` is set.
pub fn may_write_fixtures(doing: &str) -> Result<()> {
    if in_ci() { Err(refusal(&format!("{doing} with CI set: fixtures are never written in CI"))) } else { Ok(()) }
}

fn refusal(what: &str) -> Error {
    Error::new(what).help("run it on your own machine and commit what it wrote; if this is your machine, unset CI")
}

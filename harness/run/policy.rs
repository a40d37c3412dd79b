//! What a run may write.

use crate::error::{Error, Result};

/// What happens to a golden that is not this run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing is written: `CI` is set.
    Verify,
    /// It is left as it is, with the new text beside it for `cargo insta review`.
    Propose,
    /// It is written anew, after its proof.
    Overwrite,
}

impl Policy {
    /// The policy of a run that records, or is told to `update` goldens, by its command line or by `UPDATE_GOLDEN`.
    ///
    /// # Errors
    /// Where it is to write with `CI` set.
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

/// Refuses to write a fixture where `CI` is set: then only reports are written. `doing` is what would write it.
///
/// # Errors
/// With `CI` set.
#[cfg(feature = "cli")]
pub(crate) fn may_write_fixtures(doing: &str) -> Result<()> {
    if in_ci() { Err(refusal(&format!("{doing} with CI set: fixtures are never written in CI"))) } else { Ok(()) }
}

fn refusal(what: &str) -> Error {
    Error::new(what).help("run it on your own machine and commit what it wrote; if this is your machine, unset CI")
}

fn in_ci() -> bool {
    is_set("CI")
}

/// Whether a variable says yes.
fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "no"))
}

//! What the environment says about a run.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

/// Whether this is a CI job, where nothing that is committed is written.
pub fn in_ci() -> bool {
    is_set("CI")
}

/// Whether an environment variable is set to something other than no.
pub fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "no"))
}

/// The command as a person calls it, for commands that are printed and have to run as they stand: `retake`, `npx retake`,
/// `uv run retake`, `uvx --from retake-cli retake`.
pub const RETAKE: Retake = Retake;

/// See [`RETAKE`].
#[derive(Clone, Copy, Debug)]
pub struct Retake;

impl fmt::Display for Retake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&CALLED)
    }
}

/// The npm package says how it was called. uv tells its children that it is uv, and has the command either in the project's own
/// environment or in one that it made for this call.
static CALLED: LazyLock<String> = LazyLock::new(|| {
    if let Some(called) = std::env::var("RETAKE_CALLED").ok().filter(|called| !called.is_empty()) {
        return called;
    }
    let program = std::env::current_exe().unwrap_or_default();
    let environment = program.parent().and_then(Path::parent).filter(|folder| folder.join("pyvenv.cfg").is_file());
    match (std::env::var_os("UV"), environment) {
        (Some(_), Some(folder)) if folder.ends_with(".venv") => "uv run retake",
        (Some(_), Some(_)) => "uvx --from retake-cli retake",
        _ => "retake",
    }
    .to_owned()
});

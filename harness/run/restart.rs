//! Starting this program anew with more variables: insta reads its environment once, and setting it here would be unsafe.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::{Error, Result};

/// The variable that names the project's folder, in place of the one that the runner was built in.
const ROOT: &str = "RETAKE_ROOT";
/// The variable that tells a program that was started anew in which folder its arguments were typed.
const TYPED_IN: &str = "RETAKE_TYPED_IN";

/// The folder that the environment names, where it does.
pub(super) fn root() -> Option<PathBuf> {
    std::env::var_os(ROOT).filter(|root| !root.is_empty()).map(PathBuf::from)
}

/// The folder in which this program's arguments were typed: the current one, but for a program that was started anew.
#[cfg(feature = "cli")]
pub(crate) fn typed_in() -> PathBuf {
    std::env::var_os(TYPED_IN).map_or_else(|| std::env::current_dir().unwrap_or_default(), PathBuf::from)
}

/// Starts this program anew with the same arguments, unless its environment holds the variables already. In the project's
/// folder, where cargo starts it too: from any other one insta would write the way from the project to the runner's source
/// into goldens, over folders of this machine.
///
/// On Unix it takes the place of this process; elsewhere its exit code is returned. `None` where nothing was to be done.
///
/// # Errors
/// Where the program cannot be started.
pub(super) fn with_environment(root: &Path, variables: &[(&'static str, OsString)]) -> Result<Option<ExitCode>> {
    if variables.iter().all(|(name, value)| std::env::var_os(name).as_deref() == Some(OsStr::new(value))) {
        return Ok(None);
    }
    let failed = |e: std::io::Error| Error::new(format!("failed to start this program again: {e}"));
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(std::env::args_os().skip(1)).envs(variables.iter().map(|(name, value)| (name, value)));
    command.current_dir(root).env(ROOT, root).env(TYPED_IN, std::env::current_dir().unwrap_or_default());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(Some(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))))
    }
}

//! Restarts this program with more environment variables: insta reads its environment once, and setting a variable in a running
//! program is unsafe.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use retake_base::error::{Error, Result};

/// The environment variable that names the project's folder, instead of the one in which the runner was built.
const ROOT: &str = "RETAKE_ROOT";
/// The environment variable that passes a restarted program the folder in which its arguments were typed.
const TYPED_IN: &str = "RETAKE_TYPED_IN";

/// The project's folder that the environment names, if it does.
pub(super) fn root() -> Option<PathBuf> {
    std::env::var_os(ROOT).filter(|root| !root.is_empty()).map(PathBuf::from)
}

/// The folder in which this program's arguments were typed: the current one, unless the program was restarted.
pub fn typed_in() -> PathBuf {
    std::env::var_os(TYPED_IN).map_or_else(|| std::env::current_dir().unwrap_or_default(), PathBuf::from)
}

/// Restarts this program with the same arguments, unless its environment contains the variables already. It starts in the
/// project's folder, as with cargo: from any other folder, insta would write a path with folders of this machine into goldens.
///
/// On Unix the new program replaces this process; elsewhere its exit code is returned. `None` means that no restart was needed.
/// Fails if the program cannot be started.
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

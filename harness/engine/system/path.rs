//! The PATH of the programs that Retake starts.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns the runner's own PATH, without the folder of a Python environment that was made only for the `retake` command: `uvx`
/// puts that folder first, and a service that is started as `python3` would get a Python without its packages.
pub(super) fn path() -> String {
    let path = env::var("PATH").unwrap_or_default();
    let program = env::current_exe().unwrap_or_default();
    // uv sets UV for the programs that it runs, and VIRTUAL_ENV for a project's own environment.
    let by_uv = env::var_os("UV").is_some();
    match program.parent().filter(|bin| by_uv && is_of_this_command(bin, env::var_os("VIRTUAL_ENV").as_deref())) {
        Some(bin) => without(&path, bin),
        None => path,
    }
}

/// Whether a folder of programs belongs to a Python environment that is not the active one.
fn is_of_this_command(bin: &Path, active: Option<&OsStr>) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let environment = bin.parent().filter(|environment| environment.join("pyvenv.cfg").is_file());
    environment.is_some_and(|own| active.is_none_or(|active| resolved(Path::new(active)) != resolved(own)))
}

fn without(path: &str, bin: &Path) -> String {
    let kept: Vec<PathBuf> = env::split_paths(path).filter(|folder| folder != bin).collect();
    env::join_paths(kept).ok().and_then(|kept| kept.into_string().ok()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests;

//! What may be the reason that a system does not start, told by what it printed and by what is beside it.

use std::path::{Path, PathBuf};

/// Returns the Python of a virtual environment in this folder.
pub fn environment_beside(folder: &Path) -> Option<PathBuf> {
    let python = |name: &str| folder.join(name).join("bin/python");
    [".venv", "venv"].map(python).into_iter().find(|file| file.exists())
}

/// Returns what helps, if the log of a program that did not start tells it.
pub(super) fn hint(log: &[String], program: &str, folder: &Path) -> Option<String> {
    let missing = log
        .iter()
        .rev()
        .find_map(|line| line.split_once("ModuleNotFoundError: No module named '")?.1.split('\'').next())?;
    let python = environment_beside(folder)?;
    let python = python.strip_prefix(folder).unwrap_or(&python).display();
    if program.contains("venv/bin/") {
        return Some(format!("`{missing}` is not installed in its environment: {python} -m pip install …"));
    }
    Some(format!(
        "`{missing}` may be installed in the environment beside it, which `{program}` is not of: command = [\"{python}\", …]"
    ))
}

#[cfg(test)]
mod tests;

//! Fills the work folder before the program starts: with a copy of the folder that it would run in, and with rendered files.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

use super::order::Order;

/// Folders of dependencies and builds. They are large, and systems do not write to them, so the copy links to the original.
const LINKED: [&str; 4] = ["node_modules", ".venv", "venv", "target"];
/// Folders that no system reads.
const LEFT_OUT: [&str; 6] = [".git", ".hg", ".svn", ".jj", ".retake", "__pycache__"];

/// Copies and writes what an order says. Its folders have to exist already.
pub(super) fn lay_out(order: &Order) -> Result<(), String> {
    let stage = order.folders.first().map(AsRef::as_ref);
    if let Some((from, to)) = &order.copied {
        copy(from, to, stage).map_err(|(path, e)| format!("its copy of {} cannot be made: {e}", path.display()))?;
    }
    for (path, text) in &order.files {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| fs::write(path, text));
        written.map_err(|e| format!("its file {} cannot be written: {e}", path.display()))?;
    }
    Ok(())
}

type Failed = (std::path::PathBuf, io::Error);

/// Copies the content of a folder into another one. The stage's own folder, which may be in the first, is left out.
fn copy(from: &Path, to: &Path, stage: Option<&Path>) -> Result<(), Failed> {
    let at = |path: &Path| {
        let path = path.to_owned();
        |e| (path, e)
    };
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (path, target, name) = (entry.path(), to.join(entry.file_name()), entry.file_name());
        let kind = entry.file_type().map_err(at(&path))?;
        let is = |names: &[&str]| names.iter().any(|known| *known == name);
        if is(&LEFT_OUT) || Some(path.as_path()) == stage {
            continue;
        }
        if kind.is_symlink() {
            copy_link(&path, &target).map_err(at(&path))?;
        } else if kind.is_dir() && is(&LINKED) {
            symlink(&path, &target).map_err(at(&path))?;
        } else if kind.is_dir() {
            fs::create_dir(&target).map_err(at(&target))?;
            copy(&path, &target, stage)?;
        } else if kind.is_file() {
            fs::copy(&path, &target).map_err(at(&path))?;
        }
    }
    Ok(())
}

/// Copies a symbolic link so that it leads to the same target. A relative target with `..` would be another one from the new
/// folder, so it becomes absolute.
fn copy_link(link: &Path, target: &Path) -> io::Result<()> {
    let leads_to = fs::read_link(link)?;
    let leads_out = leads_to.components().any(|part| part == std::path::Component::ParentDir);
    let leads_to = if leads_out { link.canonicalize().unwrap_or(leads_to) } else { leads_to };
    symlink(leads_to, target)
}

#[cfg(test)]
mod tests;

//! Files that appear whole or not at all, and errors that name them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Reads a file.
///
/// # Errors
/// The file and the reason, in words that do not depend on the platform where a person is likely to meet them.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    read_as(path, path)
}

/// Reads a file that errors show by another path.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_as(shown: &Path, path: &Path) -> Result<Vec<u8>> {
    if let Some(special) = special(path) {
        return Err(Error::new(format!("failed to read it: it is {special}, expected a file")).in_file(shown));
    }
    std::fs::read(path).map_err(|e| failed_as(shown, "read", path, &e))
}

/// Writes a file by way of a temporary one beside it, synced and renamed: a reader sees the old text or the new one.
///
/// # Errors
/// The file and the reason. What stood there before is then untouched.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_renamed(path, bytes, true)
}

/// The same of what nobody misses after the machine itself went down: nothing waits for the disk.
///
/// # Errors
/// As [`write_whole`].
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    write_renamed(path, bytes, false)
}

fn write_renamed(path: &Path, bytes: &[u8], synced: bool) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        remove_abandoned(folder);
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(TEMPORARY).permissions(new_file_permissions()).tempfile_in(folder)?;
        // Says that its writer lives.
        file.as_file().lock()?;
        file.write_all(bytes)?;
        if synced {
            file.as_file().sync_all()?;
        }
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    // Between its making and its lock a file looks abandoned to another writer.
    let again = |error: std::io::Error| if error.kind() == ErrorKind::NotFound { write() } else { Err(error) };
    write().or_else(again).map_err(|e| failed("write", path, &e))
}

/// The folder of a project for what runs leave, `.retake`, which git takes nothing in of. It is made where it is not there.
///
/// # Errors
/// Where it cannot be written.
pub(crate) fn run_folder(root: &Path) -> Result<PathBuf> {
    let folder = root.join(RUN_FOLDER);
    let ignored = folder.join(".gitignore");
    if !ignored.exists() {
        write_whole(&ignored, b"*\n")?;
    }
    Ok(folder)
}

/// What [`run_folder`] is called.
pub(crate) const RUN_FOLDER: &str = ".retake";

/// What the name of a file begins with that is not whole yet.
const TEMPORARY: &str = ".retake-";

/// Removes what writers that were killed left in a folder. Once a process: a folder may have thousands of files.
fn remove_abandoned(folder: &Path) {
    static LOOKED_INTO: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !LOOKED_INTO.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        let abandoned = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_temporary && entry.file_type().is_ok_and(|kind| kind.is_file()) && abandoned() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The files of a folder with an ending, without it, sorted; none where there is no folder. Dotfiles are left out.
///
/// # Errors
/// The folder and the reason.
pub(crate) fn names(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| failed("read", folder, &e))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(|e| failed("read", folder, &e))?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(ending).filter(|name| !name.starts_with('.')).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Removes a file that may not be there.
///
/// # Errors
/// The file and the reason.
pub(crate) fn remove(path: &Path) -> Result<()> {
    // On a file system that cannot be written, what is not there cannot be removed either.
    match std::fs::remove_file(path) {
        Err(e) if path.symlink_metadata().is_ok() => Err(failed("remove", path, &e)),
        _ => Ok(()),
    }
}

/// An error about a file.
pub(crate) fn failed(doing: &str, path: &Path, error: &std::io::Error) -> Error {
    failed_as(path, doing, path, error)
}

/// An error about a file that is shown by another path, such as the one from the project's folder.
pub(crate) fn failed_as(shown: &Path, doing: &str, path: &Path, error: &std::io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::PermissionDenied => "no permission".to_owned(),
        ErrorKind::IsADirectory => "a folder stands where a file was expected".to_owned(),
        kind => match broken_link(path) {
            Some(link) => format!("it is {link}"),
            None if kind == ErrorKind::NotFound => "no such file".to_owned(),
            None => error.to_string(),
        },
    };
    Error::new(format!("failed to {doing} it: {what}")).in_file(shown)
}

/// What stands at a path, in words, where that is a link to what is not there, or to itself.
pub(crate) fn broken_link(path: &Path) -> Option<String> {
    let leads_nowhere = path.metadata().is_err_and(|error| error.kind() != ErrorKind::PermissionDenied);
    let target = std::fs::read_link(path).ok().filter(|_| leads_nowhere)?;
    Some(format!("a link to `{}` that leads nowhere", target.display()))
}

/// What stands at a path, in words, where reading it could go on for ever: who reads a pipe waits for somebody to write
/// into it. Pipes that this program was given open are somebody's output.
pub(crate) fn special(path: &Path) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|given| path.starts_with(given)) {
            return None;
        }
        let kind = path.metadata().ok()?.file_type();
        let kinds = [
            (kind.is_fifo(), "a named pipe"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        kinds.into_iter().find_map(|(is, name)| is.then_some(name))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// What a plainly created file gets; temporary files are otherwise private to their owner.
#[cfg(unix)]
fn new_file_permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::Permissions::from_mode(0o666)
}

#[cfg(not(unix))]
fn new_file_permissions() -> std::fs::Permissions {
    unreachable!("tempfile takes permissions on Unix only")
}

#[cfg(test)]
pub(crate) mod generated;
#[cfg(test)]
mod tests;

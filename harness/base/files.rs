//! Reading and writing files: a written file appears whole or not at all, and each error names its file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::lock::Mutex;

/// Reads a file.
/// An error names the file and the reason. The wording of the common reasons is the same on all platforms.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_as(path, path)
}

/// Reads a file, and shows another path in errors.
/// As [`read`].
pub fn read_as(shown: &Path, path: &Path) -> Result<Vec<u8>> {
    if let Some(special) = special(path) {
        return Err(Error::new(format!("failed to read it: it is {special}, expected a file")).in_file(shown));
    }
    std::fs::read(path).map_err(|e| failed_as(shown, "read", path, &e))
}

/// Reads a file that somebody else may have put into a folder, such as run data of another CI job. It is given relative to the
/// folder, and is read only if it is in there, regular, and of at most `most` bytes. `None` if there is no such file.
/// An error names the file and the reason.
pub fn read_inside(folder: &Path, file: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let path = folder.join(file);
    let refused = |what: String| Error::new(format!("failed to read it: {what}")).in_file(&path);
    if !file.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(refused("expected the path of a file in this folder".to_owned()));
    }
    if let Some(special) = special(&path) {
        return Err(refused(format!("it is {special}, expected a file")));
    }
    let resolved = folder.canonicalize().and_then(|home| Ok((path.canonicalize()?, home)));
    let opened = match resolved {
        Ok((resolved, home)) => match resolved.strip_prefix(&home) {
            Ok(below) => open_below(&home, below),
            Err(_) => return Err(leads_out(&path)),
        },
        Err(error) => Err(error),
    };
    let read = |opened: File| {
        let about = opened.metadata()?;
        let mut bytes = Vec::new();
        if about.is_file() && about.len() <= most {
            // It may be growing.
            opened.take(most + 1).read_to_end(&mut bytes)?;
        }
        Ok((about, bytes))
    };
    match opened.and_then(read) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", &path, &e)),
        Ok((about, _)) if !about.is_file() => Err(refused("expected a file".to_owned())),
        Ok((about, bytes)) if about.len().max(bytes.len() as u64) > most => {
            Err(refused(format!("it has more than the {most} bytes that are read of such a file")))
        }
        Ok((_, bytes)) => Ok(Some(bytes)),
    }
}

/// Opens a file below a folder. Each folder on the way is opened from the one before it, and no link is followed, so what is
/// renamed meanwhile leads nowhere else. Opening a pipe does not wait for a writer.
#[cfg(unix)]
fn open_below(home: &Path, below: &Path) -> std::io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let way = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(CWD, home, way, Mode::empty())?;
    for folder in below.parent().into_iter().flat_map(Path::components) {
        at = openat(&at, folder.as_os_str(), way, Mode::empty())?;
    }
    let last = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(&at, below.file_name().unwrap_or_default(), last, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_below(home: &Path, below: &Path) -> std::io::Result<File> {
    File::open(home.join(below))
}

/// As [`inside`], for a file or folder that is written to: a link to what does not exist yet would create that.
pub fn inside_to_write(root: &Path, file: &Path) -> Result<()> {
    inside(root, file)?;
    let mut path = root.to_owned();
    for part in file.components() {
        path.push(part);
        if let Some(link) = broken_link(&path) {
            return Err(Error::new(format!("{link}, expected a file or folder of the project")).in_file(file));
        }
    }
    Ok(())
}

/// Checks that a file or folder of a project, given relative to its root, is not outside the project: a link that leads out would
/// read private files of the machine into requests and reports, or write where nobody looks. What does not exist is fine. So is a
/// file that is a link to the same path in another tree, since a build system lays out a project as such links.
/// An error names the link.
pub fn inside(root: &Path, file: &Path) -> Result<()> {
    let mut path = root.to_owned();
    for part in file.components() {
        path.push(part);
        match path.symlink_metadata() {
            // Only links need a closer look, and most projects have none.
            Ok(found) if found.is_symlink() || !matches!(part, Component::Normal(_)) => {
                return links_inside(root, file);
            }
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn links_inside(root: &Path, file: &Path) -> Result<()> {
    let Ok(home) = root.canonicalize() else { return Ok(()) };
    let mut path = root.to_owned();
    for part in file.components() {
        path.push(part);
        let Ok(leads_to) = path.canonicalize() else { return Ok(()) };
        let laid_out = leads_to.ends_with(file) && leads_to.is_file();
        // What is neither a file nor a folder is not read.
        if !leads_to.starts_with(&home) && !laid_out && special(&path).is_none() {
            return Err(leads_out(path.strip_prefix(root).unwrap_or(file)));
        }
    }
    Ok(())
}

fn leads_out(shown: &Path) -> Error {
    let error = Error::new("a link that leads out of the project, expected a file or folder of the project");
    error.in_file(shown).help("links may lead to other places in the project")
}

/// Writes a temporary file in the same folder, syncs it and renames it, so a reader sees either the old text or the new one.
/// An error names the file and the reason. The old file is then unchanged.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_renamed(path, bytes, true)
}

/// As [`write_whole`], but without waiting for the disk: for files that may be lost when the machine itself goes down.
/// As [`write_whole`].
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    write_renamed(path, bytes, false)
}

fn write_renamed(path: &Path, bytes: &[u8], synced: bool) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        remove_abandoned(folder);
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(TEMPORARY).permissions(new_file_permissions()).tempfile_in(folder)?;
        // The lock shows other writers that this one is alive.
        file.as_file().lock()?;
        file.write_all(bytes)?;
        if synced {
            file.as_file().sync_all()?;
        }
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    // Before it is locked, a new file looks abandoned, so another writer may have removed it.
    let again = |error: std::io::Error| if error.kind() == ErrorKind::NotFound { write() } else { Err(error) };
    write().or_else(again).map_err(|e| failed("write", path, &e))
}

/// Returns a file or folder for run data in a project, which may not exist yet. Creates `.retake`, in which it is, if needed, with
/// a `.gitignore` that covers all of it.
/// Fails if it would be outside the project, or cannot be written.
pub fn run_folder(root: &Path, of: &str) -> Result<PathBuf> {
    let place = Path::new(RUN_FOLDER).join(of);
    inside_to_write(root, &place)?;
    let ignored = root.join(RUN_FOLDER).join(".gitignore");
    if !ignored.exists() {
        write_whole(&ignored, b"*\n")?;
    }
    Ok(root.join(place))
}

/// The name of the folder that [`run_folder`] returns.
pub const RUN_FOLDER: &str = ".retake";

/// The prefix of a temporary file's name.
const TEMPORARY: &str = ".retake-";

/// Removes the temporary files of killed writers from a folder. A process does this once for each folder, since a folder may
/// have thousands of files.
fn remove_abandoned(folder: &Path) {
    static LOOKED_INTO: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    if !LOOKED_INTO.lock().insert(folder.to_owned()) {
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

/// Returns the sorted names of a folder's files that have an ending, without that ending. Leaves out dotfiles; a missing
/// folder has no files.
/// An error names the folder and the reason.
pub fn names(folder: &Path, ending: &str) -> Result<Vec<String>> {
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

/// Removes a file, if it exists.
/// An error names the file and the reason.
pub fn remove(path: &Path) -> Result<()> {
    // A read-only file system may refuse to remove even a file that does not exist.
    match std::fs::remove_file(path) {
        Err(e) if path.symlink_metadata().is_ok() => Err(failed("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Returns an error about a file.
pub fn failed(doing: &str, path: &Path, error: &std::io::Error) -> Error {
    failed_as(path, doing, path, error)
}

/// Returns an error about a file that shows another path, such as the one relative to the project's folder.
pub fn failed_as(shown: &Path, doing: &str, path: &Path, error: &std::io::Error) -> Error {
    let what = match error.kind() {
        ErrorKind::PermissionDenied => "no permission".to_owned(),
        ErrorKind::IsADirectory => "it is a folder, expected a file".to_owned(),
        kind => match broken_link(path) {
            Some(link) => format!("it is {link}"),
            None if kind == ErrorKind::NotFound => "no such file".to_owned(),
            None => error.to_string(),
        },
    };
    Error::new(format!("failed to {doing} it: {what}")).in_file(shown)
}

/// Describes the link at a path if its target does not exist or is the link itself; otherwise `None`.
pub fn broken_link(path: &Path) -> Option<String> {
    let leads_nowhere = path.metadata().is_err_and(|error| error.kind() != ErrorKind::PermissionDenied);
    let target = std::fs::read_link(path).ok().filter(|_| leads_nowhere)?;
    Some(format!("a broken link to `{}`", target.display()))
}

/// Describes what is at a path if reading it might never end, such as a named pipe to which nobody writes; otherwise `None`.
/// Pipes that this program inherited open are allowed, since they are the output of another program.
pub fn special(path: &Path) -> Option<&'static str> {
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

/// The permissions of a normally created file. Without them, a temporary file is private to its owner.
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
mod tests;

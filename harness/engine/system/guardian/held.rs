//! Which folders of stages are in use. Runner and guardian each hold a lock on the folder, which the kernel releases when they end, no
//! matter how. If both were killed, the next runner finds the folder without a lock, and removes it.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::process::remove;

/// The file that says that whoever uses a folder holds its lock. Earlier versions held none.
const MARK: &str = ".held";

/// Locks a new folder, then marks it. `None` if it cannot be locked, as on some network file systems.
pub(super) fn mark(folder: &Path) -> Option<File> {
    let lock = lock(folder)?;
    File::create(folder.join(MARK)).ok().map(|_| lock)
}

/// Locks a folder, beside others who hold it.
pub(super) fn lock(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    lock.lock_shared().ok().map(|()| lock)
}

/// Removes the folders of stages whose runner and guardian were killed.
pub(super) fn remove_left(temp: &Path) {
    for entry in std::fs::read_dir(temp).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let number = name.to_str().and_then(|name| name.strip_prefix("retake-"));
        let is_of_stage = number.is_some_and(|it| it.len() == 12 && it.bytes().all(|b| b.is_ascii_hexdigit()));
        let is_own = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == rustix::process::getuid().as_raw());
        if is_of_stage && is_own() && path.join(MARK).exists() {
            // Nobody begins to use a folder that is there already.
            if let Some(_lock) = File::open(&path).ok().filter(|lock| lock.try_lock().is_ok()) {
                remove(&path);
            }
        }
    }
}

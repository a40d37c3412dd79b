//! Leases ports for systems, so that runners at the same time never use the same one.
//!
//! A system binds its port itself, some time after it was told the number. So the port must not be one that the kernel hands
//! out to programs that ask for any free port: it comes from below that range. Among runners, each leased port has a locked
//! file; the kernel unlocks it when the runner ends, no matter how.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};

use retake_base::error::{Error, Result};

/// The first port to lease. The services of a machine mostly have lower ones.
const FIRST: u16 = 12_000;
/// The least number of ports to choose from. If the kernel's range begins too low for that, leased ports overlap with it.
const FEWEST: u16 = 2_000;

/// A lock on a name. Only one process of this user can hold it at a time. Dropping it releases the name.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

/// A port that no other runner uses until this is dropped.
#[derive(Debug)]
pub(super) struct PortLease {
    pub(super) port: u16,
    _lock: Lock,
}

impl PortLease {
    /// Leases a port that is free on all addresses of this machine.
    /// Fails if the folder of the locks cannot be used, or no port is free.
    pub(super) fn take() -> Result<PortLease> {
        let ports = range();
        let count = u128::from(ports.end - ports.start);
        let offset = u16::try_from(uuid::Uuid::new_v4().as_u128() % count).unwrap_or_default();
        for port in (ports.start + offset..ports.end).chain(ports.start..ports.start + offset) {
            let Some(lock) = Lock::try_take(&port.to_string())?.filter(|_| is_free(port)) else { continue };
            return Ok(PortLease { port, _lock: lock });
        }
        Err(Error::new(format!("no port from {} to {} is free", ports.start, ports.end - 1)))
    }

    /// Leases this port. This blocks the thread while another runner has it.
    /// Fails if a program that is not a runner uses it.
    pub(super) fn take_pinned(port: u16) -> Result<PortLease> {
        let lock = Lock::take(&port.to_string())?;
        if is_free(port) {
            return Ok(PortLease { port, _lock: lock });
        }
        let error = Error::new(format!("port {port}, which the system pins, is in use"));
        Err(error.help(format!("stop what listens there: ss -ltnp 'sport = :{port}' shows what it is")))
    }
}

impl Lock {
    /// Waits until the name is free, and takes it. This blocks the thread.
    /// Fails if the folder of the locks cannot be used.
    pub(super) fn take(name: &str) -> Result<Lock> {
        loop {
            let (path, file) = open(name)?;
            file.lock().map_err(|e| retake_base::files::failed("lock", &path, &e))?;
            if still_stands(&file, &path) {
                return Ok(Lock { path, _file: file });
            }
        }
    }

    fn try_take(name: &str) -> Result<Option<Lock>> {
        let (path, file) = open(name)?;
        match file.try_lock() {
            Ok(()) if still_stands(&file, &path) => Ok(Some(Lock { path, _file: file })),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(retake_base::files::failed("lock", &path, &e)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still locked, since the fields are dropped after this: a process that has opened it in the meantime then
        // sees that it was removed.
        remove(&self.path);
    }
}

/// Removes the lock files of runners that were killed.
pub(super) fn remove_stale_ones() {
    for folder in folders(Path::new("/tmp")).chain(folders(&std::env::temp_dir())) {
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            remove_stale(&file.path());
        }
    }
}

/// Removes a lock file that nobody holds.
fn remove_stale(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    if file.try_lock().is_ok() && still_stands(&file, path) {
        remove(path);
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    // The last lock file takes the folder with it. Removing the folder fails while other files are in it.
    let _ = path.parent().map(std::fs::remove_dir);
}

/// Opens a lock file, in the folder that belongs to this user only.
fn open(name: &str) -> Result<(PathBuf, File)> {
    loop {
        let folder = folder()?;
        let path = folder.join(name);
        match File::options().create(true).truncate(false).read(true).write(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            // Another process removed the folder in between.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(retake_base::files::failed("open", &path, &e)),
        }
    }
}

/// The number of names to try for the folder of all locks. It is in a folder in which everybody may write, so other users may
/// have taken some of the names.
const NAMES: usize = 16;

/// Returns the folder of all locks. All processes of a user need the same one, so `/tmp` is preferred to a temporary folder that
/// may be set for this process only.
fn folder() -> Result<PathBuf> {
    let common = if cfg!(unix) { own_folder(Path::new("/tmp")).ok() } else { None };
    common.map_or_else(|| own_folder(&std::env::temp_dir()), Ok)
}

/// Returns the first folder for locks that belongs to this user or can be created. All processes of a user find the same one.
fn own_folder(base: &Path) -> Result<PathBuf> {
    let mut first_error = None;
    for folder in folders(base) {
        match make_own(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => drop(first_error.get_or_insert(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| Error::new("no folder for port locks")))
}

fn folders(base: &Path) -> impl Iterator<Item = PathBuf> {
    let base = base.join(format!("retake-ports-{}", user()));
    (0..NAMES).map(move |n| if n == 0 { base.clone() } else { base.with_extension(n.to_string()) })
}

#[cfg(unix)]
fn make_own(folder: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(retake_base::files::failed("make", folder, &e)),
        _ => {}
    }
    if folder.symlink_metadata().is_ok_and(|found| !found.is_dir() || found.uid() != user()) {
        return Err(Error::new("the folder for port locks is not a folder of this user").in_file(folder));
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_own(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| retake_base::files::failed("make", folder, &e))
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> &'static str {
    "user"
}

/// Whether a path still leads to the file that was opened. Its last holder may have removed it before this process locked it.
#[cfg(unix)]
fn still_stands(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(opened), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (opened.dev(), opened.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn still_stands(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Returns the ports to lease: those below the kernel's own range.
fn range() -> Range<u16> {
    let kernels = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
    let first_of_kernel = kernels.and_then(|range| range.split_whitespace().next()?.parse().ok());
    FIRST..first_of_kernel.unwrap_or(32_768).max(FIRST + FEWEST)
}

fn is_free(port: u16) -> bool {
    let is_taken = |address: SocketAddr| TcpListener::bind(address).is_err_and(|e| e.kind() == ErrorKind::AddrInUse);
    // On macOS, a port can be bound on the loopback address even if it is in use on the unspecified one, and the other way
    // round.
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        && !is_taken((Ipv4Addr::UNSPECIFIED, port).into())
        && !is_taken((Ipv6Addr::LOCALHOST, port).into())
}

#[cfg(test)]
mod tests;

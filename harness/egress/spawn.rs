//! Starts a program behind a filter.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::process::{Child, Command};
use std::thread;

use libc::{
    SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, SECCOMP_SET_MODE_FILTER, c_long, c_ulong, sock_fprog,
};

use rustix::process::Resource;

use crate::Instruction;
use crate::attempt::is_readable;
use crate::listener::{Answer, Listener};

/// Returns a filter. It gets the lowest number of a descriptor that can send datagrams to any address; 0 if that is not known.
pub type Filter<'a> = &'a (dyn Fn(u32) -> io::Result<Vec<Instruction>> + Sync);

/// What every filter here needs. It has one flag that changes nothing here: kernels that do not know it, those before 5.7, may not know
/// how to let a call pass that a listener was asked about. A filter is no reason for the kernel to make memory slower.
const NEEDED: c_ulong =
    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH | SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// A signal that does not kill must not interrupt a call that is being decided, or it would be asked about twice. Kernels before 5.19 do
/// not know that.
const WANTED: c_ulong = NEEDED | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

/// The most descriptors that `select` takes.
const MOST: u64 = 1024;

/// Whether a filter with a listener can be installed here.
/// Fails with the reason if not.
pub fn is_possible(filter: Filter) -> io::Result<()> {
    behind(filter, || ()).map(drop)
}

/// Starts a program behind a filter. Nothing passes it before somebody [attends](Listener::attend) to the listener.
///
/// The program is also started where nobody can listen, with the reason in place of a listener: another one may listen already (`EBUSY`),
/// the kernel may not allow it, or not let the memory of programs be read.
/// Fails if the program cannot be started.
pub fn spawn(mut command: Command, filter: Filter) -> io::Result<(Child, io::Result<Listener>)> {
    let (child, listener) = match behind(filter, || command.spawn()) {
        Ok((child, listener)) => (child?, listener),
        Err(reason) => return Ok((command.spawn()?, Err(reason))),
    };
    if let Err(reason) = is_readable(child.id()) {
        // Nobody could say what it asks for, so it gets everything.
        thread::spawn(move || listener.attend(|_| Answer::Passes));
        return Ok((child, Err(reason)));
    }
    Ok((child, Ok(listener)))
}

/// Does something on a thread behind a filter. A filter counts for its thread and what that starts: this process itself stays as it is.
/// Fails if the filter cannot be installed; then nothing was done.
fn behind<T: Send>(filter: Filter, act: impl FnOnce() -> T + Send) -> io::Result<(T, Listener)> {
    thread::scope(|scope| {
        let fenced = || install(filter, WANTED).map(|listener| (act(), listener));
        let fenced = thread::Builder::new().spawn_scoped(scope, fenced)?;
        fenced.join().unwrap_or_else(|_| Err(io::Error::from_raw_os_error(libc::ECANCELED)))
    })
}

/// Installs the filter for this thread, and for what it starts from here on.
fn install(filter: Filter, flags: c_ulong) -> io::Result<Listener> {
    // Kernels that know all flags can also give a process a descriptor.
    let limit = rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(MOST).min(MOST) as u32;
    let numbers = if flags == WANTED { limit / 2..limit } else { 0..0 };
    match seccomp(flags, &filter(numbers.start)?) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) && flags != NEEDED => install(filter, NEEDED),
        // Only root may keep the right to gain privileges.
        Err(e) if e.raw_os_error() == Some(libc::EACCES) && !rustix::thread::no_new_privs()? => {
            rustix::thread::set_no_new_privs(true)?;
            install(filter, flags)
        }
        listener => listener.map(|listener| Listener::new(listener, numbers)),
    }
}

/// Returns the listener of a new filter.
fn seccomp(flags: c_ulong, filter: &[Instruction]) -> io::Result<OwnedFd> {
    let len = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    let mode = c_ulong::from(SECCOMP_SET_MODE_FILTER);
    // SAFETY: the kernel reads the program and its instructions, which live until the call returns.
    let listener: c_long = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    match RawFd::try_from(listener) {
        // SAFETY: the kernel has just made this descriptor, for nobody else.
        Ok(listener @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

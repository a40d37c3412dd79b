//! Starts a program behind a filter, and brings the filter's listener from the new process into this one.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread;

use libc::{
    SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, SECCOMP_SET_MODE_FILTER, c_int, c_long,
    c_ulong, sock_filter, sock_fprog,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::filter::filter;
use crate::listener::Listener;

/// Whether a filter with a listener can be installed here.
/// Fails with the reason if not.
pub fn is_possible() -> io::Result<()> {
    // A folder is no program. Whether it would run behind the filter is known before that.
    start(Command::new("/"), false)?.1.map(drop)
}

/// Starts a program behind a filter. Nothing passes it before somebody [attends](Listener::attend) to the listener. If the filter
/// `refuses`, what it cannot ask about (`io_uring`, 32-bit programs) does not work behind it.
///
/// The program is also started where the filter cannot be installed, with the reason in place of a listener: another one may listen
/// already (`EBUSY`), or the kernel does not allow it.
/// Fails if the program cannot be started.
pub fn spawn(mut command: Command, refuses: bool) -> io::Result<(Child, io::Result<Listener>)> {
    // Known before: a program behind a filter that has nobody to ask would reach nothing.
    if let Err(reason) = is_possible() {
        return Ok((command.spawn()?, Err(reason)));
    }
    let (child, listener) = start(command, refuses)?;
    Ok((child?, listener))
}

/// Tries both: to install the filter, and to start the program behind it.
/// Fails if no pipe to the new process can be made.
fn start(mut command: Command, refuses: bool) -> io::Result<(io::Result<Child>, io::Result<Listener>)> {
    let filter = filter(refuses);
    let (told, tells) = io::pipe()?;
    let (awaits, taken) = io::pipe()?;
    let mut failed = tells.try_clone()?;
    let of_parent = taken.as_raw_fd();
    // `Command::spawn` returns only when the new process has become the program. Until then, it waits for this thread.
    let taking = thread::spawn(move || take(told, taken));
    let install = move || {
        // SAFETY: this closes the copy of the new process. Nothing there uses it, so that the process does not wait for ever if this one is
        // killed: its pipe is closed then.
        unsafe { libc::close(of_parent) };
        install(&filter, &tells, &awaits)
    };
    // SAFETY: between fork and exec, `install` only makes system calls, and allocates nothing.
    unsafe { command.pre_exec(install) };
    let spawned = command.spawn();
    drop(command);
    if spawned.is_err() {
        // If there was no new process, nothing has been said.
        let _ = failed.write_all(&(-libc::ECANCELED).to_ne_bytes());
    }
    drop(failed);
    let listener = taking.join().unwrap_or_else(|_| Err(io::Error::from_raw_os_error(libc::ECANCELED)));
    Ok((spawned, listener))
}

/// Takes the listener over from the new process, which goes on then, and gives up otherwise. It says its descriptor of the listener, or
/// a negative error number, then its id.
fn take(mut told: PipeReader, mut taken: PipeWriter) -> io::Result<Listener> {
    let mut number = || -> io::Result<i32> {
        let mut said = [0; 4];
        told.read_exact(&mut said)?;
        Ok(i32::from_ne_bytes(said))
    };
    let listener = number()?;
    if listener < 0 {
        return Err(io::Error::from_raw_os_error(-listener));
    }
    let process = pidfd_open(Pid::from_raw(number()?).ok_or(rustix::io::Errno::SRCH)?, PidfdFlags::empty())?;
    let listener = pidfd_getfd(process, listener, PidfdGetfdFlags::empty())?;
    taken.write_all(b".")?;
    Ok(Listener(listener))
}

/// Installs the filter in this process, which is about to become the program. Fails if that is impossible.
fn install(filter: &[sock_filter], mut tells: &PipeWriter, mut awaits: &PipeReader) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    // A signal that does not kill must not interrupt a call that is being decided, or it would be asked about twice. Kernels before
    // 5.19 do not know that.
    let with_signals = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let mut listener = seccomp(with_signals | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, filter);
    if listener.as_ref().is_err_and(|e| e.raw_os_error() == Some(libc::EINVAL)) {
        listener = seccomp(with_signals, filter);
    }
    let said = listener.unwrap_or_else(|e| -e.raw_os_error().unwrap_or(libc::EINVAL));
    tells.write_all(&said.to_ne_bytes())?;
    tells.write_all(&rustix::process::getpid().as_raw_nonzero().get().to_ne_bytes())?;
    // The listener's descriptor of this process closes when it becomes the program.
    awaits.read_exact(&mut [0])
}

/// Installs a filter for this process and all that it starts, and returns the descriptor of its listener.
fn seccomp(flags: c_ulong, filter: &[sock_filter]) -> io::Result<RawFd> {
    let len = u16::try_from(filter.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    let mode = c_ulong::from(SECCOMP_SET_MODE_FILTER);
    // SAFETY: the kernel reads the program and its instructions, which live until the call returns.
    let listener: c_long = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    if listener < 0 { Err(io::Error::last_os_error()) } else { Ok(c_int::try_from(listener).unwrap_or(-1)) }
}

//! Waits for calls that a filter asks about, and answers them.

#![allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]

use std::fs;
use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use libc::{
    SECCOMP_ADDFD_FLAG_SEND, SECCOMP_ADDFD_FLAG_SETFD, SECCOMP_IOCTL_NOTIF_ADDFD, SECCOMP_IOCTL_NOTIF_ID_VALID,
    SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND, SECCOMP_IOCTL_NOTIF_SET_FLAGS, seccomp_notif,
    seccomp_notif_addfd, seccomp_notif_resp,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};

use crate::attempt::{Attempt, targets};

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It goes on as if there was no filter.
    Passes,
    /// It fails with `ENETUNREACH`, as on a machine without a network.
    Refused,
}

/// The side of a filter that decides. Once it is dropped, each call with an address fails.
#[derive(Debug)]
pub struct Listener {
    asked: OwnedFd,
    /// The numbers of the sockets that can send to any address.
    numbers: Range<u32>,
}

/// The bits of a socket's type that are no flags.
pub const SOCK_TYPE: u32 = 0xf;

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`: a call and its answer are two turns of one processor, instead of waking another one twice.
const SYNC_WAKE_UP: libc::c_ulong = 1;

impl Listener {
    pub(crate) fn new(asked: OwnedFd, numbers: Range<u32>) -> Listener {
        // SAFETY: this request takes a number. Kernels before 6.6 do not know it.
        unsafe { libc::ioctl(asked.as_raw_fd(), SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
        Listener { asked, numbers }
    }

    /// Asks `judge` about each address that a process behind the filter tries to reach, until none of these processes is left. A call
    /// with several addresses is refused if one of them is.
    pub fn attend(&self, mut judge: impl FnMut(&Attempt) -> Answer) {
        while self.wait() {
            // The process may be gone by now, then there is nothing to receive or to answer.
            let Ok(asked) = self.receive() else { continue };
            let call = asked.data.nr.into();
            if call == libc::SYS_socket && self.place(&asked).is_ok() {
                continue;
            }
            let found = targets(asked.pid, call, &asked.data.args);
            // What was read is the memory of this process, and not of a later one with its number.
            if found.is_empty() || self.is_valid(asked.id) {
                let answers = found.into_iter().map(|to| judge(&Attempt { pid: asked.pid, to }));
                let _ = self.answer(asked.id, answers.max().unwrap_or(Answer::Passes));
            }
        }
    }

    /// Makes the socket for datagrams that a process asks for, in its place, with a number that the filter knows.
    /// Fails if the process has to do it: another network is its own, or it has no more numbers.
    fn place(&self, seccomp_notif { id, pid, data, .. }: &seccomp_notif) -> io::Result<()> {
        let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net"));
        // Nobody else takes the highest numbers before all others are taken.
        let is_free = |number: &u32| fs::symlink_metadata(format!("/proc/{pid}/fd/{number}")).is_err();
        let number = self.numbers.clone().rev().find(is_free);
        let (Some(newfd), true) = (number, network("self")? == network(&pid.to_string())?) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let [family, kind, protocol, ..] = data.args.map(|argument| argument as u32);
        let (kind, flags) = (SocketType::from_raw(kind & SOCK_TYPE), SocketFlags::from_bits_retain(kind & !SOCK_TYPE));
        let (family, protocol) =
            (AddressFamily::from_raw(family as u16), NonZero::new(protocol).map(Protocol::from_raw));
        let socket = socket_with(family, kind, flags | SocketFlags::CLOEXEC, protocol)?;
        let flags = (flags & SocketFlags::CLOEXEC).bits();
        let (how, srcfd) = (SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND, socket.as_raw_fd() as u32);
        let mut place = seccomp_notif_addfd { id: *id, flags: how as u32, srcfd, newfd, newfd_flags: flags };
        // SAFETY: the request reads a value of this type.
        unsafe { self.request(SECCOMP_IOCTL_NOTIF_ADDFD, &mut place) }
    }

    /// Waits for the next call. Returns `false` if no process is left.
    fn wait(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(self.asked.as_fd(), PollFlags::IN)];
        retry_on_intr(|| poll(&mut polled, None)).is_ok() && polled[0].revents().contains(PollFlags::IN)
    }

    fn receive(&self) -> io::Result<seccomp_notif> {
        // SAFETY: the type consists of integers, for which zero is a value. The kernel demands zeroes.
        let mut asked: seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the request writes a value of this type.
        unsafe { self.request(SECCOMP_IOCTL_NOTIF_RECV, &mut asked) }.map(|()| asked)
    }

    fn is_valid(&self, mut id: u64) -> bool {
        // SAFETY: the request reads a value of this type.
        unsafe { self.request(SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id) }.is_ok()
    }

    fn answer(&self, id: u64, answer: Answer) -> io::Result<()> {
        let (error, flags) = match answer {
            Answer::Passes => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::Refused => (-libc::ENETUNREACH, 0),
        };
        let mut said = seccomp_notif_resp { id, val: 0, error, flags };
        // SAFETY: the request reads a value of this type.
        unsafe { self.request(SECCOMP_IOCTL_NOTIF_SEND, &mut said) }
    }

    /// Asks the kernel for something.
    ///
    /// # Safety
    ///
    /// The request has to be one of a listener, with a value of this type.
    unsafe fn request<T>(&self, request: libc::Ioctl, value: &mut T) -> io::Result<()> {
        // SAFETY: the descriptor is a listener's, and the caller knows the rest.
        let result = unsafe { libc::ioctl(self.asked.as_raw_fd(), request, std::ptr::from_mut(value)) };
        if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

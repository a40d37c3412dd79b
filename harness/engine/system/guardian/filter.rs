//! The filter, as instructions of the kernel's classic BPF.
//!
//! Kept crates build filters that allow, refuse or kill. None knows the action that asks a listener, so the few instructions stand here.

// Numbers of system calls are small and positive, codes of instructions have 8 bits.
#![allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]

use std::io;
use std::mem::offset_of;

use libc::{
    AF_INET, AF_INET6, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
    MSG_FASTOPEN, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_USER_NOTIF, SOCK_DGRAM, SOCK_RAW, seccomp_data,
    sock_filter,
};
use retake_egress::SOCK_TYPE;

/// The architecture of this process's own system calls (`AUDIT_ARCH_…` of `linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
/// On others there is no filter.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// System calls of `x86_64` with this bit are those of its 32-bit sibling, x32.
const X32: u32 = 0x4000_0000;

/// Returns a filter that asks the listener about each call with an address, also of a message, if its socket may send to any: it has a
/// number of `from` or more. Sockets for datagrams get such numbers, since the listener makes them. If `from` is 0, it does
/// not, and is asked about every message. If the filter `refuses`, calls that cannot be asked about do not exist behind it:
/// `io_uring_setup`, whose ring sends without calls, those of 32-bit programs, and raw sockets, which only root could make.
pub(super) fn filter(refuses: bool, from: u32) -> io::Result<Vec<sock_filter>> {
    if ARCHITECTURE == 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let missing = if refuses { SECCOMP_RET_ERRNO | libc::ENOSYS as u32 } else { SECCOMP_RET_ALLOW };
    let instruction = |code: u32, k, jt, jf| sock_filter { code: code as u16, jt, jf, k };
    // Loads four bytes of the call's data.
    let load = |offset: usize| instruction(BPF_LD | BPF_W | BPF_ABS, offset as u32, 0, 0);
    // Skips `then` instructions if what was loaded compares so with `value`, else `otherwise`.
    let jump = |comparison, value, then, otherwise| instruction(BPF_JMP | comparison | BPF_K, value, then, otherwise);
    let end = |action| instruction(BPF_RET | BPF_K, action, 0, 0);
    let argument = |index: usize| load(offset_of!(seccomp_data, args) + index * size_of::<u64>());
    let (asks, passes) = (end(SECCOMP_RET_USER_NOTIF), end(SECCOMP_RET_ALLOW));
    // A message goes to an address if its socket has no connection, or opens one at once.
    let message = |flags| {
        let opens = jump(BPF_JSET, MSG_FASTOPEN as u32, 0, 1);
        vec![argument(0), jump(BPF_JGE, from, 2, 0), argument(flags), opens, asks, passes]
    };
    // The two halves of the pointer to the address. `send` is `sendto` without one.
    let upper = load(offset_of!(seccomp_data, args) + 4 * size_of::<u64>() + size_of::<u32>());
    let sends = vec![argument(4), jump(BPF_JEQ, 0, 0, 2), upper, jump(BPF_JEQ, 0, 1, 0), asks, passes];
    let mut calls = vec![
        (libc::SYS_connect, vec![asks]),
        (libc::SYS_sendto, sends),
        (libc::SYS_sendmsg, message(2)),
        (libc::SYS_sendmmsg, message(3)),
        (libc::SYS_io_uring_setup, vec![end(missing)]),
    ];
    if from > 0 {
        let family = [argument(0), jump(BPF_JEQ, AF_INET as u32, 1, 0), jump(BPF_JEQ, AF_INET6 as u32, 0, 4)];
        let kind = instruction(BPF_ALU | BPF_AND | BPF_K, SOCK_TYPE, 0, 0);
        let raw = if refuses { end(SECCOMP_RET_ERRNO | libc::EPERM as u32) } else { passes };
        let is_raw = jump(BPF_JEQ, SOCK_RAW as u32, 1, 0);
        let datagrams = [argument(1), kind, jump(BPF_JEQ, SOCK_DGRAM as u32, 3, 0), is_raw, passes, raw, asks];
        calls.push((libc::SYS_socket, [&family[..], &datagrams].concat()));
    }
    let mut filter = vec![
        load(offset_of!(seccomp_data, arch)),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        end(missing),
        load(offset_of!(seccomp_data, nr)),
        jump(BPF_JGE, X32, 0, 1),
        end(missing),
    ];
    for (call, then) in calls {
        filter.push(jump(BPF_JEQ, call as u32, 0, then.len() as u8));
        filter.extend(then);
    }
    filter.push(passes);
    Ok(filter)
}

#[cfg(test)]
mod tests;

//! The filter, as instructions of the kernel's classic BPF.
//!
//! Kept crates build filters that allow, refuse or kill. None knows the action that asks a listener, so the few instructions stand here.

// Numbers of system calls are small and positive, codes of instructions have 8 bits.
#![allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]

use std::io;
use std::mem::offset_of;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO,
    SECCOMP_RET_USER_NOTIF, seccomp_data, sock_filter,
};

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

/// Returns a filter that asks the listener about each call with an address. If it `refuses`, calls that cannot be asked about do not
/// exist behind it: `io_uring_setup`, whose ring sends without calls, and those of 32-bit programs.
pub(crate) fn filter(refuses: bool) -> io::Result<Vec<sock_filter>> {
    if ARCHITECTURE == 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let missing = if refuses { SECCOMP_RET_ERRNO | libc::ENOSYS as u32 } else { SECCOMP_RET_ALLOW };
    let number = |call: libc::c_long| call as u32;
    let instruction = |code: u32, k, jt, jf| sock_filter { code: code as u16, jt, jf, k };
    // Loads four bytes of the call's data.
    let load = |offset: usize| instruction(BPF_LD | BPF_W | BPF_ABS, offset as u32, 0, 0);
    // Skips `then` instructions if what was loaded compares so with `value`, else `otherwise`.
    let jump = |comparison, value, then, otherwise| instruction(BPF_JMP | comparison | BPF_K, value, then, otherwise);
    let end = |action| instruction(BPF_RET | BPF_K, action, 0, 0);
    let address = offset_of!(seccomp_data, args) + 4 * size_of::<u64>();
    // Each pair skips one instruction where its comparison fails, or the other way round.
    let mut filter = vec![
        load(offset_of!(seccomp_data, arch)),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        end(missing),
        load(offset_of!(seccomp_data, nr)),
        jump(BPF_JGE, X32, 0, 1),
        end(missing),
    ];
    for (call, action) in [
        (libc::SYS_connect, SECCOMP_RET_USER_NOTIF),
        (libc::SYS_sendmsg, SECCOMP_RET_USER_NOTIF),
        (libc::SYS_sendmmsg, SECCOMP_RET_USER_NOTIF),
        (libc::SYS_io_uring_setup, missing),
    ] {
        filter.extend([jump(BPF_JEQ, number(call), 0, 1), end(action)]);
    }
    filter.extend([
        jump(BPF_JEQ, number(libc::SYS_sendto), 1, 0),
        end(SECCOMP_RET_ALLOW),
        // The two halves of the pointer to the address. `send` is `sendto` without one.
        load(address),
        jump(BPF_JEQ, 0, 0, 2),
        load(address + size_of::<u32>()),
        jump(BPF_JEQ, 0, 1, 0),
        end(SECCOMP_RET_USER_NOTIF),
        end(SECCOMP_RET_ALLOW),
    ]);
    Ok(filter)
}

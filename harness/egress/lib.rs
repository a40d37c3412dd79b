//! Which addresses a program and everything that it starts try to reach, and refusing them, on Linux.
//!
//! [`spawn`] starts a program behind a filter of system calls (seccomp). Each call that names an address (`connect`, `sendto` with one,
//! `sendmsg`, `sendmmsg`) waits until the [`Listener`] has read the address from the process's memory and decided. No privileges are
//! needed. The processes cannot gain any either (`no_new_privs`): `sudo` and other setuid programs do not work behind a filter.
//!
//! This finds what a program does, not what an attacker hides: a thread that changes the address after it was read is not noticed.
//!
//! This crate promises no stability: its items may change with any version. Users depend on `retake`.
//!
//! | file | contents |
//! |---|---|
//! | `attempt` | what a call tries to reach, read from the memory of its process, with `unsafe` |
//! | `filter` | the filter, as the kernel's instructions; pure |
//! | `listener` | waits for calls, and answers them: system calls that need `unsafe` |
//! | `spawn` | starts the program behind the filter, and keeps the listener: system calls that need `unsafe` |

#![cfg(target_os = "linux")]

mod attempt;
mod filter;
mod listener;
mod spawn;

pub use attempt::{Attempt, Target};
pub use listener::{Answer, Listener};
pub use spawn::{is_possible, spawn};

#[cfg(test)]
mod tests;

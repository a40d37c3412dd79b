//! Which addresses a program and everything that it starts try to reach, and refusing them, on Linux.
//!
//! [`spawn`] starts a program behind a filter of system calls (seccomp). Each call that the filter asks about waits until the
//! [`Listener`] has read the address from the process's memory and decided. No privileges are needed. The processes cannot gain any
//! either (`no_new_privs`): `sudo` and other setuid programs do not work behind a filter.
//!
//! Unless it is root's raw one, a socket sends messages to addresses of their own only if it is for datagrams. The listener makes these in the process's place and gives
//! them high numbers, so that a filter need not ask about messages of other sockets: connections cost nothing once they are open.
//!
//! This finds what a program does, not what an attacker hides: a thread that changes the address after it was read is not noticed, nor is
//! a message with an address from a socket that was brought to a low number (`dup`), came from another process, or could not be made in
//! the process's place: in a network of its own, or when its numbers are used up.
//!
//! This crate promises no stability: its items may change with any version. Users depend on `retake`.
//!
//! | file | contents |
//! |---|---|
//! | `attempt` | what a call tries to reach, read from the memory of its process, with `unsafe` |
//! | `listener` | waits for calls, and answers them: system calls that need `unsafe` |
//! | `spawn` | starts the program behind the filter, and keeps the listener: system calls that need `unsafe` |

#![cfg(target_os = "linux")]

mod attempt;
mod listener;
mod spawn;

pub use attempt::{Attempt, Target};
pub use libc::sock_filter as Instruction;
pub use listener::{Answer, Listener, SOCK_TYPE};
pub use spawn::{Filter, is_possible, spawn};

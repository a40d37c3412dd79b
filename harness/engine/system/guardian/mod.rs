//! The guardian: a process between the runner and a program, which ends the program when the runner is gone.
//!
//! It is the runner's own executable, started once more with a pipe as its standard input. Only the runner holds the other end
//! of the pipe. When the pipe closes, for whatever reason (the scenario is over, or the runner panicked, was interrupted or
//! killed), the guardian ends every descendant and removes the stage's folder.
//!
//! # Rationale
//!
//! We measured this with a system of four processes (a main process, a worker, one that ignores TERM and one in a session of its
//! own) and a runner that is killed. Ending the process group leaves all four behind, since nobody is left to do it. A
//! parent-death signal leaves three, and it also fires when the *thread* that started the system ends. A subreaper leaves none.
//!
//! | file | contents |
//! |---|---|
//! | `guarded` | the runner's side: starts a guardian, reads its messages, and closes the pipe |
//! | `order` | the messages between runner and guardian |
//! | `process` | the guardian's own `main`; finds the processes to end |
//! | `fence` | decides what the program may reach, and tells what it tries |
//! | `filter` | which system calls the fence is asked about, as the kernel's instructions; pure |
//! | `held` | which folders are in use, and which a killed guardian left |
//! | `laid_out` | fills the work folder before the program starts |

#[cfg(unix)]
mod fence;
#[cfg(target_os = "linux")]
mod filter;
mod guarded;
#[cfg(unix)]
mod held;
#[cfg(unix)]
mod laid_out;
mod order;
#[cfg(unix)]
mod process;

pub(crate) use guarded::Guarded;
#[cfg(not(unix))]
pub use guarded::take_over;
#[cfg(not(unix))]
pub(super) use guarded::works;
pub(crate) use order::{Exit, Fence, Input, Order, Program, Reached, now};
#[cfg(unix)]
pub use process::take_over;
#[cfg(unix)]
pub(super) use process::{remove, works};
#[cfg(target_os = "linux")]
pub(super) use {
    fence::is_possible as is_fence_possible,
    process::{below, listeners, sockets_of},
};

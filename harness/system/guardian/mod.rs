//! The guardian: a process between the runner and a program that ends the program when the runner is gone.
//!
//! It is the runner's own program, started anew with a pipe for its standard input that only the runner holds. When the
//! pipe closes, for whatever reason (the scenario is over, the runner panicked, was interrupted or killed), the guardian
//! ends every descendant and removes the stage's folder.
//!
//! # Rationale
//!
//! Measured with a system of a main process, a worker, one that ignores TERM and one in a session of its own, and a
//! runner that is killed: ending the process group leaves all four behind, since nobody is left to do it; a
//! parent-death signal leaves three (and it fires when the *thread* that started the system ends); a subreaper leaves
//! none.
//!
//! | file | holds |
//! |---|---|
//! | `guarded` | the runner's side: starts a guardian, hears what it tells, lets go |
//! | `order` | what one tells the other |
//! | `process` | the guardian's own `main` |
//! | `laid_out` | what lies in the work folder before the program starts |
//! | `descendants` | what it has to end |

#[cfg(unix)]
mod descendants;
mod guarded;
#[cfg(unix)]
mod laid_out;
mod order;
#[cfg(unix)]
mod process;

#[cfg(not(unix))]
pub(crate) use guarded::take_over;
pub(crate) use guarded::{Guard, Guarded};
pub(crate) use order::Exit;
#[cfg(unix)]
pub(crate) use process::take_over;

//! Systems under test: how each kind is started, reached and ended.
//!
//! | kind | where | ended by |
//! |---|---|---|
//! | router | a thread of this process | dropping it |
//! | command | a process, under a guardian | the guardian, whatever becomes of this process |
//! | URL | somebody else's process | nobody |

mod command;
#[cfg(unix)]
mod descendants;
mod folder;
mod guarded;
#[cfg(unix)]
mod guardian;
mod log;
mod order;
mod ports;
mod ready;
mod router;
mod shared;
pub(crate) mod stage;

pub(crate) use command::{CommandSystem, start_with_needed, stop_all, working_folder};
pub(crate) use folder::{Folder, remove_kept};
pub(crate) use guarded::{Guard, Guarded};
pub(crate) use log::plain;
pub(crate) use order::Exit;
pub(crate) use ports::Lock;
pub(crate) use router::{InProcess, RouterFactory, listen};
pub use router::{IntoRouter, service};
pub(crate) use shared::{SharedSpec, SharedSystem};

/// Runs this process as a guardian where it was started as one. This has to come first in a runner's `main`.
#[cfg(unix)]
pub(crate) fn take_over() -> Option<std::process::ExitCode> {
    guardian::take_over()
}

/// No process is a guardian here.
#[cfg(not(unix))]
pub(crate) fn take_over() -> Option<std::process::ExitCode> {
    None
}

//! The systems under test, and the stage on which one plays: how each kind is started, reached and ended.
//!
//! | kind | file | where | ended by |
//! |---|---|---|---|
//! | router | `router` | a thread of this process | dropping it |
//! | command | `command` | a process, under a guardian | the guardian, whatever becomes of this process |
//! | shared command | `shared` | the same, for one scenario after another | the end of the run |
//! | URL | `url` | somebody else's process | nobody |
//!
//! `launch` says which of them a scenario is played on, and what it is started from; `running` sets up a stage with it and
//! takes the stage down again. A stage has a `folder`, `values` for templates and goldens, a day (`date`), its PATH (`path`), and a
//! public face for Rust systems (`stage`). A program may have to be built (`build`), has a port of its own (`ports`), says when it
//! is `ready`, prints to a `log`, and is under a `guardian`. What a router panics by is heard by `panics`.

mod build;
mod command;
mod date;
mod folder;
mod guardian;
mod launch;
mod log;
mod panics;
mod path;
mod ports;
mod ready;
mod router;
mod running;
mod shared;
mod stage;
mod url;
mod values;

pub(crate) use command::working_folder;
pub(crate) use date::DATE_VARIABLE;
pub(crate) use folder::Folder;
pub(crate) use guardian::{Exit, Guard, Guarded, take_over};
pub(crate) use launch::{SecretValues, Systems};
#[cfg(feature = "browser")]
pub(crate) use log::Log;
pub(crate) use log::{LogOf, plain};
pub(crate) use panics::hear_panics;
pub(crate) use router::RouterFactory;
pub use router::{IntoRouter, service};
pub(crate) use running::{Ended, Running};
pub(crate) use shared::SharedSystems;
pub use stage::Stage;
pub(crate) use values::StageTools;

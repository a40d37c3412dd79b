//! The systems under test, and the stage on which a scenario runs: how each kind of system is started, reached and ended.
//!
//! | kind | file | where it runs | how it ends |
//! |---|---|---|---|
//! | router | `router` | on a thread of this process | it is dropped |
//! | command | `command` | in a process, under a guardian | the guardian ends it, even if this process is killed |
//! | shared command | `shared` | likewise, for one scenario after another | with the run |
//! | URL | `url` | in somebody else's process | Retake does not end it |
//!
//! `launch` finds the system of a scenario and what it is started from. `running` sets up a stage with that system, and takes
//! the stage down again. A stage has a `folder`, `values` for templates and goldens, a day (`date`), and a PATH (`path`);
//! `stage` is the public type through which Rust systems see it. A program may have to be built first (`build`), has a port of
//! its own (`ports`), is waited for until it is `ready`, prints to a `log`, and runs under a `guardian`, which tells what else it
//! reaches (`egress`). If it does not start,
//! `start_hints` says what may be the reason. `probe` starts a program that no suite names yet.

mod build;
mod command;
mod date;
mod egress;
mod folder;
mod guardian;
mod launch;
mod log;
mod machine;
mod path;
mod ports;
mod probe;
mod ready;
mod router;
mod running;
mod shared;
mod stage;
mod start_hints;
mod url;
mod values;

pub(crate) use command::working_folder;
pub(crate) use date::Today;
pub use date::{DATE_VARIABLE, minute};
pub use egress::{Attempt, Attempts, Egress, EgressData, Proof, allowing};
pub(crate) use folder::Folder;
pub use guardian::take_over;
pub(crate) use guardian::{Exit, Guarded, Input, Order, Program};
pub use launch::{Launch, SecretValues, Systems};
#[cfg(feature = "browser")]
pub(crate) use log::Log;
pub use log::LogOf;
pub(crate) use log::plain;
pub use machine::{host, platform, user};
pub use probe::{Probe, end_probes};
pub use router::{IntoRouter, RouterFactory, hear_panics, service};
pub use running::{Ended, Running};
pub use shared::SharedSystems;
pub use stage::Stage;
pub use start_hints::environment_beside;
pub use values::StageTools;

//! What the command and the macros use of this library. It promises no stability: it changes with any version.

/// Projects: their settings for model calls.
pub mod project {
    pub use crate::project::{OpenProject, folder_of};
}

/// What is printed, and the data of runs.
pub mod report {
    pub use crate::report::*;
}

/// One run of a project, and what it leaves.
pub mod run {
    pub use crate::run::action::{
        Action, AuditOptions, CheckOptions, ForkOptions, RecordOptions, TestOptions, Wanted, WorldsOptions, fits,
    };
    pub use crate::run::check::Asking;
    pub use crate::run::fixtures::Fixtures;
    pub use crate::run::golden::{Compared, Goldens};
    pub use crate::run::interrupt::Signals;
    pub use crate::run::policy::{Policy, may_write_fixtures};
    pub use crate::run::shard::{Shard, Times, keep_times};
    pub use crate::run::tools::{Recording, ToolsReplay};
    pub use crate::run::verdict::has_golden;
    pub use crate::run::waiting::{Waiting, WaitingKind, waiting, waiting_of};
}

/// The system under test.
pub mod system {
    pub use retake_engine::system::{Probe, end_probes, environment_beside, take_over};
}

/// Recorded tool calls.
pub mod tools {
    pub use retake_engine::tools::{Outcome, explain, openhands, take_over};
}

/// Chromium.
#[cfg(feature = "browser")]
pub mod browser {
    pub use retake_engine::browser::program;
}

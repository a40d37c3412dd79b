use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use super::handover;
use retake::__private::report::terminal;
use retake::__private::run::Action;
use retake_base::error::{Error, Result};

/// Accept goldens and fixtures that wait for a decision, each after two replays that agree
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake accept write_read_file\n  retake accept\n\n\
    A new golden waits as goldens/NAME.snap.new, and a fixture that `retake record --propose` made as \
    fixtures/NAME.json.new. If the two replays disagree, or their result is not what waits, nothing is accepted and \
    the exit code is 1. To look at the changes first: retake review")]
pub(super) struct Accept {
    /// The scenarios [default: all that wait]
    name: Vec<String>,
}

impl Accept {
    pub(super) fn run(self) -> Result<ExitCode> {
        handover::act(super::project::root()?, Action::Accept(self.name))
    }
}

/// Runs `retake accept` as a process of its own, so that it starts with a fresh runner, or starts cargo.
pub(super) fn again(root: &Path, name: &str) -> Result<bool> {
    let failed = |e: std::io::Error| Error::new(format!("failed to start `retake accept`: {e}"));
    terminal::note(format!("{name}: two replays have to agree …"));
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    let status = command.args(["accept", name]).env("RETAKE_ROOT", root).status().map_err(failed)?;
    Ok(status.success())
}

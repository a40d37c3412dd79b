use std::process::ExitCode;

use clap::Args;

use super::handover;
use retake::__private::run::Action;
use retake_base::error::Result;

/// Accept goldens and fixtures that wait for a decision, each after two replays that agree
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake accept write_read_file\n  retake accept\n\n\
    A new golden waits as goldens/NAME.snap.new, and a fixture that\n\
    `retake record --propose` made as fixtures/NAME.json.new. If the two replays\n\
    disagree, or their result is not what waits, nothing is accepted and the exit\n\
    code is 1. To look at the changes first: retake review")]
pub(super) struct Accept {
    /// The scenarios [default: all that wait]
    name: Vec<String>,
}

impl Accept {
    pub(super) fn run(self) -> Result<ExitCode> {
        handover::act(super::project::root()?, Action::Accept(self.name))
    }
}

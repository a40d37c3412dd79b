use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::run::action::{Action, to_accept};

/// Accept what waits for a decision, each after two replays that agree
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake accept write_read_file\n  retake accept\n\n\
    A golden waits as goldens/NAME.snap.new, a fixture that `retake record --propose` made as\n\
    fixtures/NAME.json.new. Where two replays do not agree, or give something else than what\n\
    waits, nothing is accepted and exit code is 1. To look at them first: retake review")]
pub(super) struct Accept {
    /// The scenarios; where absent, all that waits
    name: Vec<String>,
}

impl Accept {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        if handover::has_runner(&root) {
            return handover::run(&root, &[], to_accept(&self.name));
        }
        super::suite(root, true).act(Action::Accept(self.name))
    }
}

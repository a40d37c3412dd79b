use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::run::action::{Action, Wanted, to_test};

/// Run the scenarios: replay, capture, compare
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake test\n  retake test write_ --update\n  retake test -- --list\n\n\
    What follows `--` goes to the runner as it is: --exact, --skip, --test-threads, --format.")]
pub(super) struct Test {
    /// Only scenarios whose name contains this
    filter: Option<String>,
    /// Write goldens anew, after two replays that agree
    #[arg(long)]
    update: bool,
    /// Arguments for the runner
    #[arg(last = true)]
    runner: Vec<String>,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let args: Vec<String> = self.filter.into_iter().chain(self.runner).collect();
        if handover::has_runner(&root) {
            let update = self.update.then_some(("UPDATE_GOLDEN", "1"));
            return handover::run(&root, &args, [to_test()].into_iter().chain(update));
        }
        let code = super::suite(root, self.update).run(Ok(Action::Test(Wanted::of_scenarios(args))));
        // libtest's 101 is a failed check.
        Ok(if code == ExitCode::from(101) { ExitCode::from(1) } else { code })
    }
}

use std::process::ExitCode;

use clap::Args;

use retake::__private::report::terminal;
use retake::__private::run::waiting_of;
use retake_base::error::Result;

/// Delete goldens and fixtures that wait for a decision; the committed ones stay
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake reject write_read_file\n  retake reject\n\n\
    As long as the service's behaviour differs from the golden, the next run\n\
    proposes it again. To look at the changes first: retake review")]
pub(super) struct Reject {
    /// The scenarios [default: all that wait]
    name: Vec<String>,
}

impl Reject {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let waiting = waiting_of(&super::project::root()?, &self.name)?;
        if waiting.is_empty() {
            terminal::note("nothing waits for a decision");
        }
        for waits in waiting {
            waits.reject()?;
            terminal::note(format!("{}: rejected, {} stays as it is", waits.name, waits.shown.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

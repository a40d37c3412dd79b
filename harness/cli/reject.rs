use std::process::ExitCode;

use clap::Args;

use crate::error::Result;
use crate::report::terminal;
use crate::run::waiting::waiting_of;

/// Remove what waits for a decision; what is committed stays
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake reject write_read_file\n  retake reject\n\n\
    The next run proposes it again, as long as the service sends it. To look at it: retake review")]
pub(super) struct Reject {
    /// The scenarios; where absent, all that waits
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

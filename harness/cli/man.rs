use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man as Page;

use retake::__private::report::terminal;
use retake_base::error::{Error, Result};

/// Print the manual page, or write the pages of all subcommands to a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake man | man -l -\n  retake man --out ~/.local/share/man/man1")]
pub(super) struct Man {
    /// Write retake.1, retake-test.1 and so on to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(&self, command: clap::Command) -> Result<ExitCode> {
        let mut command = command;
        // This names each subcommand as it is typed: `retake test`.
        command.build();
        let Some(folder) = &self.out else {
            terminal::out(page(command)?.trim_end());
            return Ok(ExitCode::SUCCESS);
        };
        let subcommands = command.get_subcommands().filter(|one| !one.is_hide_set()).cloned();
        let named = subcommands.map(|one| {
            let name = format!("retake-{}", one.get_name());
            (name.clone(), one.display_name(name))
        });
        let pages: Vec<_> = named.collect();
        for (name, command) in [("retake".to_owned(), command)].into_iter().chain(pages) {
            let file = folder.join(format!("{name}.1"));
            retake_base::files::write_whole(&file, page(command)?.as_bytes())?;
            terminal::out(file.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn page(command: clap::Command) -> Result<String> {
    let mut page = Vec::new();
    let rendered = Page::new(command).render(&mut page);
    rendered.map_err(|e| Error::new(format!("failed to render the manual page: {e}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

//! The project that a subcommand works on.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, Result};
use crate::project::{OpenProject, folder_of};

/// Which project a subcommand opens that works on a fixture.
#[derive(Clone, Debug, Args)]
pub(super) struct ProjectOption {
    /// The project whose suite tells keys, callers and secrets; where absent the one that the fixture lies in
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

impl ProjectOption {
    /// The project of a fixture: the one that is named, by `RETAKE_ROOT` too, else the one that it lies in.
    pub(super) fn open(&self, fixture: &Path) -> Result<OpenProject> {
        OpenProject::of_fixture(fixture, self.named().as_deref())
    }

    /// The one project of several fixtures, which become one table.
    pub(super) fn open_for_all(&self, fixtures: &[PathBuf]) -> Result<OpenProject> {
        let [first, others @ ..] = fixtures else { return Err(Error::new("no fixture")) };
        let other = || others.iter().find(|other| folder_of(other) != folder_of(first));
        if let (None, Some(other)) = (self.named(), other()) {
            let (first, other) = (first.display(), other.display());
            return Err(Error::new(format!("{first} and {other} lie in different projects, so their keys may differ"))
                .help("name the project whose suite holds for both: --root FOLDER"));
        }
        self.open(first)
    }

    fn named(&self) -> Option<PathBuf> {
        self.root.clone().or_else(of_environment)
    }
}

/// The project's folder: `RETAKE_ROOT`, else the nearest folder upwards that holds `scenarios/`, else this one.
pub(super) fn root() -> Result<PathBuf> {
    if let Some(root) = of_environment() {
        return Ok(root);
    }
    let here = std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
    Ok(here.ancestors().find(|folder| folder.join("scenarios").is_dir()).unwrap_or(&here).to_owned())
}

fn of_environment() -> Option<PathBuf> {
    std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from)
}

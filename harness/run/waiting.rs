//! Files that wait for the user's decision: new goldens that differ from the committed ones, and fixtures recorded with
//! `--propose`. Each lies next to the file that it would replace, under the same name with `.new` appended.

use std::path::{Path, PathBuf};

use super::golden::VALUES;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;

/// A file that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What it is.
    pub kind: WaitingKind,
    /// The name of the golden or the fixture, usually also its scenario's.
    pub name: String,
    /// The file that it would replace, relative to the project's folder.
    pub shown: PathBuf,
    /// The waiting file itself.
    pub file: PathBuf,
}

/// The kind of a waiting file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingKind {
    /// A golden.
    Golden,
    /// What a golden holds that is true of one recording.
    Values,
    /// The table of a scenario's worlds.
    Worlds,
    /// A fixture.
    Fixture,
}

impl WaitingKind {
    /// All kinds: fixtures first, since goldens depend on them.
    pub const ALL: [Self; 4] = [Self::Fixture, Self::Golden, Self::Values, Self::Worlds];

    /// The folder of committed files of this kind, and how their names end.
    pub fn place(self) -> (&'static str, &'static str) {
        match self {
            WaitingKind::Fixture => ("fixtures", ".json"),
            WaitingKind::Golden => ("goldens", ".snap"),
            WaitingKind::Values => VALUES,
            WaitingKind::Worlds => ("goldens/worlds", ".snap"),
        }
    }
}

/// The files that wait in a project, kind by kind.
///
/// # Errors
/// If a folder cannot be read.
pub fn waiting(root: &Path) -> Result<Vec<Waiting>> {
    files_of(root, ".new")
}

/// The files of all kinds whose names have this after the end of a committed one.
pub(super) fn files_of(root: &Path, new: &str) -> Result<Vec<Waiting>> {
    let mut all = Vec::new();
    for kind in WaitingKind::ALL {
        let (folder, ending) = kind.place();
        for name in files::names(&root.join(folder), &format!("{ending}{new}"))? {
            let shown = Path::new(folder).join(format!("{name}{ending}"));
            let file = root.join(folder).join(format!("{name}{ending}{new}"));
            all.push(Waiting { kind, name, shown, file });
        }
    }
    Ok(all)
}

/// The waiting files with these names, or all if no name is given.
///
/// # Errors
/// If nothing waits under one of the names, with the nearest one.
pub fn waiting_of(root: &Path, names: &[String]) -> Result<Vec<Waiting>> {
    let all = waiting(root)?;
    if names.is_empty() {
        return Ok(all);
    }
    let of_name = |name: &String| all.iter().any(|waiting| waiting.name == *name);
    if let Some(name) = names.iter().find(|name| !of_name(name)) {
        let error = Error::new(format!("nothing waits for a decision on `{name}`"));
        let otherwise = format!("to see its current result: {RETAKE} test {name}");
        return Err(error.suggest_or(name, all.iter().map(|waiting| waiting.name.as_str()), otherwise));
    }
    Ok(all.into_iter().filter(|waiting| names.contains(&waiting.name)).collect())
}

impl Waiting {
    /// Deletes the waiting file. The committed one stays.
    ///
    /// # Errors
    /// If it cannot be deleted.
    pub fn reject(&self) -> Result<()> {
        files::remove(&self.file)
    }
}

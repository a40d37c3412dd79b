//! What waits for a person's decision: goldens that a run would write otherwise, and fixtures that were recorded to be
//! looked at first. Each stands beside the file whose place it would take, with `.new` behind its name.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files;
use crate::text::nearest;

/// A file that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) kind: WaitingKind,
    /// The name of the golden or the fixture, mostly its scenario's.
    pub(crate) name: String,
    /// The file whose place it would take, from the project's folder.
    pub(crate) shown: PathBuf,
    /// Itself.
    pub(crate) file: PathBuf,
}

/// What kind of file waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingKind {
    Golden,
    Fixture,
}

/// What waits in a project: fixtures first, since goldens follow from them.
///
/// # Errors
/// Where a folder cannot be read.
pub(crate) fn waiting(root: &Path) -> Result<Vec<Waiting>> {
    let in_folder = |kind, folder: &str, ending: &str| -> Result<Vec<Waiting>> {
        let names = files::names(&root.join(folder), &format!("{ending}.new"))?;
        let waits = |name: String| {
            let shown = Path::new(folder).join(format!("{name}{ending}"));
            let file = root.join(folder).join(format!("{name}{ending}.new"));
            Waiting { kind, name, shown, file }
        };
        Ok(names.into_iter().map(waits).collect())
    };
    let fixtures = in_folder(WaitingKind::Fixture, "fixtures", ".json")?;
    Ok([fixtures, in_folder(WaitingKind::Golden, "goldens", ".snap")?].concat())
}

/// Of what waits, that of these names; all where there is no name.
///
/// # Errors
/// Where nothing of a name waits, with the nearest that does.
pub(crate) fn waiting_of(root: &Path, names: &[String]) -> Result<Vec<Waiting>> {
    let all = waiting(root)?;
    if names.is_empty() {
        return Ok(all);
    }
    let of_name = |name: &String| all.iter().any(|waiting| waiting.name == *name);
    if let Some(name) = names.iter().find(|name| !of_name(name)) {
        let error = Error::new(format!("nothing waits for a decision on `{name}`"));
        return Err(match nearest(name, all.iter().map(|waiting| waiting.name.as_str())) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("to see what it gives now: retake test {name}")),
        });
    }
    Ok(all.into_iter().filter(|waiting| names.contains(&waiting.name)).collect())
}

impl Waiting {
    /// Removes it: what is committed stays.
    ///
    /// # Errors
    /// Where it cannot be removed.
    pub(crate) fn reject(&self) -> Result<()> {
        files::remove(&self.file)
    }
}

//! Opening a project: its `suite.toml` and the names of its secrets. A scenario that is wrong, or a system that is not
//! there, is not a matter of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::declared;
use crate::error::{Error, Result};
use crate::files;
use crate::key::{Aliases, Normalizer, Rules};
use crate::model::CallerRules;
use crate::scenario::{Defaults, Delays, Discovered, Drift, SCENARIOS, Suite, suite_of};
use crate::secrets::Secrets;

/// What a project says of model calls.
#[derive(Clone, Debug)]
pub(crate) struct OpenProject {
    /// The rules of its keys.
    pub(crate) rules: Arc<Rules>,
    /// Who made a call that declares no caller.
    pub(crate) callers: CallerRules,
    /// What drift weighs where no scenario says so.
    pub(crate) drift: Drift,
    /// Whether recorded pauses are kept and replayed where no scenario says so.
    pub(crate) delays: Delays,
    /// The environment variables that it declares as secrets.
    pub(crate) declared: BTreeSet<String>,
}

impl OpenProject {
    /// The project in a folder.
    ///
    /// # Errors
    /// Where its `suite.toml` is wrong.
    pub(crate) fn at(root: &Path) -> Result<OpenProject> {
        suite_of(root).map(|suite| OpenProject::of_suite(root, &suite))
    }

    /// The project in a folder whose `suite.toml` was read.
    pub(crate) fn of_suite(root: &Path, suite: &Suite) -> OpenProject {
        OpenProject::of(suite, declared::in_files(&root.join(SCENARIOS), suite))
    }

    /// The project that a fixture lies in, or is to be written into; one that says nothing, with version 1 of the key, where
    /// that is none. `named` is another one that a person named.
    ///
    /// # Errors
    /// Where the named folder is none, or the `suite.toml` is wrong.
    pub(crate) fn of_fixture(fixture: &Path, named: Option<&Path>) -> Result<OpenProject> {
        match named {
            Some(root) if !root.is_dir() => Err(files::failed("open", root, &std::io::ErrorKind::NotFound.into())
                .help("the folder of a project is the one that holds `scenarios`")),
            Some(root) => OpenProject::at(root),
            None => folder_of(fixture)
                .map_or_else(|| Ok(OpenProject::of(&Suite::default(), BTreeSet::new())), |root| OpenProject::at(&root)),
        }
    }

    /// The project whose scenarios were read.
    pub(crate) fn of_scenarios(discovered: &Discovered) -> OpenProject {
        OpenProject::of(&discovered.suite, declared::in_scenarios(discovered))
    }

    fn of(suite: &Suite, declared: BTreeSet<String>) -> OpenProject {
        let normalize = suite.normalize.iter().map(|rule| (rule.pattern.clone(), rule.replace.clone()));
        let normalizer = Normalizer::default().with(normalize);
        let rules = Rules { normalizer, aliases: Aliases::default().with(suite.aliases.clone()) };
        let callers = CallerRules::new(suite.callers.clone());
        let Defaults { drift, delays, .. } = suite.defaults;
        OpenProject { rules: Arc::new(rules), callers, drift, delays, declared }
    }

    /// What must not be written: known forms, declared variables, and what else of the environment looks like a secret.
    ///
    /// # Errors
    /// A declared value that is too short.
    pub(crate) fn secrets(&self) -> Result<Secrets> {
        let text = |os: std::ffi::OsString| os.into_string().ok();
        let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Secrets::new(&self.declared, environment).map_err(Error::new)
    }
}

/// The folder of the project that a file lies in: the nearest one upwards that holds `scenarios/`.
pub(crate) fn folder_of(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let folder = file.parent()?;
    // Without `..` and links, where it is there already.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|folder| folder.join(SCENARIOS).is_dir()).map(Path::to_owned)
}

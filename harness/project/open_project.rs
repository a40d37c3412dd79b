//! Opens a project: reads its `suite.toml` and collects the names of its secrets. A wrong scenario or a missing system is not
//! an error here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_base::error::{Error, Result};
use retake_core::key::{Aliases, Normalizer, Rules};
use retake_core::secrets::{Secrets, Suspects};
use retake_model::CallerRules;
use retake_scenario::{Defaults, Delays, Discovered, Drift, SCENARIOS, Suite, declared, suite_of};

/// The settings of a project that matter for model calls.
#[derive(Clone, Debug)]
pub struct OpenProject {
    /// The rules for keys.
    pub rules: Arc<Rules>,
    /// The rules that find the caller of a call that declares none.
    pub callers: CallerRules,
    /// The level of each kind of drift, unless a scenario overrides it.
    pub drift: Drift,
    /// Whether recorded delays are kept and replayed, unless a scenario overrides it.
    pub delays: Delays,
    /// The environment variables that the project declares as secrets.
    pub declared: BTreeSet<String>,
    /// What is done with texts that only stand where secrets do.
    suspects: Suspects,
}

impl OpenProject {
    /// Opens the project in a folder.
    ///
    /// # Errors
    /// If its `suite.toml` is wrong.
    pub fn at(root: &Path) -> Result<OpenProject> {
        suite_of(root).map(|suite| OpenProject::of_suite(root, &suite))
    }

    /// Opens the project in a folder whose `suite.toml` was already read.
    pub fn of_suite(root: &Path, suite: &Suite) -> OpenProject {
        OpenProject::of(suite, declared::in_files(&root.join(SCENARIOS), suite))
    }

    /// Opens the project that contains a fixture, or will contain it. `named` is the project's folder, if the user named one.
    /// Without any project, the settings are the defaults, with version 1 of the key.
    ///
    /// # Errors
    /// If the named folder does not exist, or the `suite.toml` is wrong.
    pub fn of_fixture(fixture: &Path, named: Option<&Path>) -> Result<OpenProject> {
        match named {
            Some(root) if !root.is_dir() => Err(Error::new("there is no such folder")
                .in_file(root)
                .help("the folder of a project is the one that contains `scenarios`")),
            Some(root) => OpenProject::at(root),
            None => folder_of(fixture)
                .map_or_else(|| Ok(OpenProject::of(&Suite::default(), BTreeSet::new())), |root| OpenProject::at(&root)),
        }
    }

    /// Opens the project whose scenarios were already read.
    pub fn of_scenarios(discovered: &Discovered) -> OpenProject {
        OpenProject::of(&discovered.suite, declared::in_scenarios(discovered))
    }

    fn of(suite: &Suite, declared: BTreeSet<String>) -> OpenProject {
        let normalize = suite.normalize.iter().map(|rule| (rule.pattern.clone(), rule.replace.clone()));
        let normalizer = Normalizer::default().with(normalize);
        let rules = Rules { normalizer, aliases: Aliases::default().with(suite.aliases.clone()) };
        let callers = CallerRules::new(suite.callers.clone());
        let Defaults { drift, delays, .. } = suite.defaults;
        OpenProject { rules: Arc::new(rules), callers, drift, delays, declared, suspects: suite.suspects }
    }

    /// Returns the secrets that must not be written: the known forms, the declared variables, and other variables of the
    /// environment that look like secrets.
    ///
    /// # Errors
    /// If the value of a declared variable is too short.
    pub fn secrets(&self) -> Result<Secrets> {
        let text = |os: std::ffi::OsString| os.into_string().ok();
        let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Secrets::new(&self.declared, environment, self.suspects).map_err(Error::new)
    }
}

/// Returns the folder of the project that contains a file: its nearest ancestor that contains `scenarios/`.
pub fn folder_of(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let folder = file.parent()?;
    // Resolves `..` and links, if the folder already exists.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|folder| folder.join(SCENARIOS).is_dir()).map(Path::to_owned)
}

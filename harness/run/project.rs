//! A project under test: its folders, its suite, its systems, and the commands that a person uses on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::json::Json;
use crate::key::{Aliases, Normalizer, Rules};
use crate::model::CallerRules;
use crate::report::terminal;
use crate::run::golden::Goldens;
use crate::scenario::{Discovered, FixtureRef, Scenario, Suite, SystemSpec, UrlSpec, discover, discover_one, is_name};
use crate::secrets::{self, Scrub, Secrets};
use crate::system::{Lock, RouterFactory, SharedSpec, SharedSystem};
use crate::text::nearest;

/// Everything that the trials of one run share.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) discovered: Discovered,
    pub(crate) rules: Arc<Rules>,
    pub(crate) callers: CallerRules,
    pub(crate) goldens: Goldens,
    pub(crate) commands: Commands,
    /// Whether this process records: a system that several scenarios share then has the real secrets.
    pub(crate) records: bool,
    routers: BTreeMap<String, RouterFactory>,
    /// What a person should know of each scenario's run, red or green.
    notes: Mutex<BTreeMap<String, Vec<String>>>,
    fixtures: Mutex<HashMap<PathBuf, Result<Arc<Fixture>>>>,
    shared: Mutex<HashMap<String, SharedSlot>>,
}

/// What a scenario is played on.
#[derive(Clone)]
pub(crate) enum Launch {
    /// A stage without a system: the scenario runs commands only.
    Nothing,
    /// A router of this process.
    Router(String, RouterFactory),
    /// A program of the stage's own.
    Command(String),
    /// A program that runs already, for one scenario after another.
    Shared(String, Arc<SharedSystem>),
    /// Somebody else's program.
    Url(String, UrlSpec),
}

/// A shared system, once the first scenario needed it; locked while one plays on it.
type SharedSlot = Arc<Mutex<Option<Result<Arc<SharedSystem>>>>>;

/// How the commands that resolve a failure are written in this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    /// The runner is a test of the user's crate.
    CargoTest,
    /// The runner is the `retake` command.
    #[cfg(feature = "cli")]
    Retake,
}

impl Commands {
    /// The command that writes a scenario's golden anew.
    pub(crate) fn update(self, name: &str) -> String {
        match self {
            Commands::CargoTest => format!("UPDATE_GOLDEN=1 cargo test --test scenarios {name}"),
            #[cfg(feature = "cli")]
            Commands::Retake => format!("retake test {name} --update"),
        }
    }
}

/// The command that records a scenario: the same in every project.
pub(crate) fn record_command(name: &str) -> String {
    format!("retake record {name}")
}

impl Project {
    /// Reads the scenarios of a project, or what holds the `only` one that is wanted.
    ///
    /// # Errors
    /// Where there is none, or the suite is wrong. A scenario that is wrong is a trial that fails.
    pub(crate) fn open(
        root: &Path,
        routers: BTreeMap<String, RouterFactory>,
        goldens: Goldens,
        commands: Commands,
        only: Option<&str>,
    ) -> Result<Project> {
        let mut discovered = only.map_or_else(|| discover(root), |name| discover_one(root, name))?;
        let registered: Vec<&str> = routers.keys().map(String::as_str).collect();
        discovered.check_systems(&registered)?;
        let rules = Arc::new(rules_of(&discovered.suite));
        let callers = CallerRules::new(discovered.suite.callers.clone());
        let root = root.to_owned();
        let (notes, fixtures, shared) = (Mutex::default(), Mutex::default(), Mutex::default());
        let records = false;
        let project =
            Project { root, discovered, rules, callers, goldens, commands, records, routers, notes, fixtures, shared };
        secrets::hide(project.secrets().unwrap_or_default().scrub().clone());
        Ok(project)
    }

    /// The environment variables that the suite and its scenarios declare as secrets, in lists or by `{{ secret.NAME }}`.
    fn declared_secrets(&self) -> BTreeSet<&str> {
        let suite = &self.discovered.suite;
        let of_systems = suite.systems.values().filter_map(|system| match system {
            SystemSpec::Command(spec) => Some(&spec.secrets),
            SystemSpec::Url(_) => None,
        });
        let of_scenarios =
            self.discovered.sound().flat_map(|scenario| scenario.secrets.iter().chain(&scenario.used_secrets));
        suite.defaults.secrets.iter().chain(of_systems.flatten()).chain(of_scenarios).map(String::as_str).collect()
    }

    /// What must not be written: known forms, declared variables, and what else of the environment looks like a secret.
    ///
    /// # Errors
    /// A declared value that is too short.
    pub(crate) fn secrets(&self) -> Result<Secrets> {
        let text = |os: std::ffi::OsString| os.into_string().ok();
        let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Secrets::new(self.declared_secrets(), environment).map_err(Error::new)
    }

    /// What goldens lose, whatever else the environment holds: known forms and declared variables.
    pub(crate) fn secrets_of_goldens(&self) -> Scrub {
        let mut scrub = Scrub::known();
        for name in self.declared_secrets() {
            scrub = scrub.with_value(name, &std::env::var(name).unwrap_or_default());
        }
        scrub
    }

    /// What templates take as `{{ secret.NAME }}`: real values for recording, what fixtures hold for replay.
    pub(crate) fn secret_values(&self, real: bool) -> Json {
        let value = |name: &str| {
            let set = if real { std::env::var(name).ok().filter(|value| !value.is_empty()) } else { None };
            Json::Str(set.unwrap_or_else(|| format!("<{name}>")))
        };
        Json::object(self.declared_secrets().into_iter().map(|name| (name, value(name))))
    }

    /// Checks before a recording that the secrets which a scenario and its systems take are there.
    ///
    /// # Errors
    /// The first variable that is not set.
    #[cfg(feature = "record")]
    pub(crate) fn check_secrets(&self, scenario: &Scenario) -> Result<()> {
        let of_systems = scenario.system.iter().flat_map(|name| self.secrets_of_system(name));
        for name in scenario.used_secrets.iter().map(String::as_str).chain(of_systems) {
            if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
                let what =
                    format!("the environment variable {name} is not set, and `{{{{ secret.{name} }}}}` needs it");
                return Err(Error::new(what).help("recording gives the system the real value; fixtures never hold it"));
            }
        }
        Ok(())
    }

    /// The suite has checked that there is no circle.
    #[cfg(feature = "record")]
    fn secrets_of_system(&self, name: &str) -> Vec<&str> {
        let Some(SystemSpec::Command(spec)) = self.discovered.suite.systems.get(name) else { return Vec::new() };
        let of_needed = spec.needs.iter().flat_map(|needed| self.secrets_of_system(needed));
        spec.secrets.iter().map(String::as_str).chain(of_needed).collect()
    }

    /// Plays on the system of a scenario, alone where there is one for several scenarios. With `fresh` a shared system
    /// is started anew: for the second run of a proof, in another process with other ports.
    ///
    /// # Errors
    /// Where there is no such system, or it cannot be started.
    pub(crate) fn with_system<T>(
        &self,
        scenario: &Scenario,
        fresh: bool,
        play: impl FnOnce(&Launch) -> Result<T>,
    ) -> Result<T> {
        let Some(name) = &scenario.system else { return play(&Launch::Nothing) };
        if let Some(factory) = self.routers.get(name) {
            return play(&Launch::Router(name.clone(), factory.clone()));
        }
        match self.discovered.suite.systems.get(name) {
            Some(SystemSpec::Command(spec)) if spec.shared && !fresh => {
                let slot = {
                    let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                    shared.entry(name.clone()).or_default().clone()
                };
                // For as long as this scenario plays: the next one waits.
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                let started = slot.get_or_insert_with(|| self.start_shared(name).map(Arc::new));
                let shared = started.clone()?;
                let played = play(&Launch::Shared(name.clone(), shared.clone()));
                if shared.is_spoilt() {
                    *slot = None;
                }
                played
            }
            Some(SystemSpec::Command(_)) => play(&Launch::Command(name.clone())),
            Some(SystemSpec::Url(spec)) => {
                let _alone = Lock::take(&format!("model-{}", spec.model.addr))?;
                play(&Launch::Url(name.clone(), spec.clone()))
            }
            None => Err(Error::new(format!("there is no system `{name}`")).in_file(&scenario.file)),
        }
    }

    /// Whether a scenario's system is attached: it was started by somebody else, and cannot be had twice.
    pub(crate) fn is_attached(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Url(_)))
    }

    /// Whether a scenario's system is one process for several scenarios.
    pub(crate) fn is_shared(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Command(spec)) if spec.shared)
    }

    fn spec_of(&self, scenario: &Scenario) -> Option<&SystemSpec> {
        self.discovered.suite.systems.get(scenario.system.as_ref()?)
    }

    fn start_shared(&self, name: &str) -> Result<SharedSystem> {
        SharedSystem::start(SharedSpec {
            name: name.to_owned(),
            suite: self.discovered.suite.systems.clone(),
            root: self.root.clone(),
            rules: self.rules.clone(),
            callers: self.callers.clone(),
            secrets: self.secret_values(self.records),
        })
    }

    /// Ends the systems that scenarios shared, and removes the folder of all stages. A call that a system makes now comes
    /// too late, and is a miss.
    pub(crate) fn end(&self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clear();
        crate::system::remove_kept();
    }

    /// Notes what a person should know of a scenario's last run.
    pub(crate) fn note(&self, scenario: &str, lines: Vec<String>) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(scenario.to_owned(), lines);
    }

    /// Says it, on stderr: stdout is libtest's, in whatever format it was asked for.
    pub(crate) fn print_notes(&self) {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let lines =
            notes.iter().flat_map(|(scenario, lines)| lines.iter().map(move |line| format!("{scenario}: {line}")));
        lines.for_each(|line| terminal::note(format!("note: {line}")));
    }

    /// The fixture file of a scenario, where it has one.
    pub(crate) fn fixture_file(&self, scenario: &Scenario) -> Option<PathBuf> {
        match &scenario.fixture {
            FixtureRef::None => None,
            FixtureRef::Named(name) => Some(self.root.join("fixtures").join(format!("{name}.json"))),
        }
    }

    /// The fixture of a scenario, read once for all that share it.
    ///
    /// # Errors
    /// Where it cannot be read; where it is missing, with the command that records it.
    pub(crate) fn fixture(&self, scenario: &Scenario) -> Result<Option<Arc<Fixture>>> {
        let Some(file) = self.fixture_file(scenario) else { return Ok(None) };
        let shown = file.strip_prefix(&self.root).unwrap_or(&file);
        if file.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(self.no_fixture(scenario, shown));
        }
        let mut fixtures = self.fixtures.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let bytes = crate::files::read_as(shown, &file)?;
            Fixture::parse(shown, &bytes, &self.rules).map(Arc::new)
        };
        let fixture = fixtures.entry(file.clone()).or_insert_with(read).clone();
        fixture.map(Some).map_err(|error| {
            let anew = format!("to record it anew: {}", record_command(&scenario.name));
            error.help(if file.is_file() { anew } else { format!("remove it; {anew}") })
        })
    }

    fn no_fixture(&self, scenario: &Scenario, file: &Path) -> Error {
        let error = Error::new(format!("scenario `{}` has no fixture: {} is not there", scenario.name, file.display()));
        let there = crate::files::names(&self.root.join("fixtures"), ".json").unwrap_or_default();
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let wanted = format!("{stem}.json");
        let all = crate::files::names(&self.root.join("fixtures"), "").unwrap_or_default();
        let near = nearest(&stem, there.iter().map(String::as_str).filter(|name| is_name(name)));
        let error = match (all.iter().find(|name| name.eq_ignore_ascii_case(&wanted)), near) {
            (Some(same), _) => error.help(format!("is fixtures/{same} meant to be {}?", file.display())),
            (None, Some(near)) => error.help(format!("did you mean fixture = \"{near}\"?")),
            (None, None) => error,
        };
        error
            .help(format!("to record it: {}", record_command(&scenario.name)))
            .help("or, if the scenario calls no model: fixture = \"none\"")
            .in_file(&scenario.file)
    }
}

/// The key rules of a suite.
pub(crate) fn rules_of(suite: &Suite) -> Rules {
    let normalize = suite.normalize.iter().map(|rule| (rule.pattern.clone(), rule.replace.clone()));
    Rules { normalizer: Normalizer::default().with(normalize), aliases: Aliases::default().with(suite.aliases.clone()) }
}

//! The systems of a project: which one a scenario is played on, and all that it is started from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::build_with_needed;
use super::folder::remove_kept;
use super::router::RouterFactory;
use super::shared::{SharedSpec, SharedSystem, SharedSystems};
use super::url;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::key::Rules;
use crate::model::{CallerRules, Mode};
use crate::scenario::{Scenario, SystemSpec, UrlSpec, needs};

/// The systems of a project, and what they are started from.
pub(crate) struct Systems {
    /// The project's folder.
    pub(crate) root: PathBuf,
    /// The systems of `suite.toml`, by name.
    pub(crate) suite: BTreeMap<String, SystemSpec>,
    /// The routers that the runner registers, by name.
    pub(crate) routers: BTreeMap<String, RouterFactory>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) callers: CallerRules,
    pub(crate) secrets: SecretValues,
    /// Those that run already.
    pub(crate) shared: SharedSystems,
}

/// What templates take as `{{ secret.NAME }}`.
#[derive(Clone, Debug)]
pub(crate) struct SecretValues {
    /// The values of the environment.
    pub(crate) real: Json,
    /// What fixtures hold in their place.
    pub(crate) named: Json,
    /// Whether this process records: a system that several scenarios share then has the real ones.
    pub(crate) records: bool,
}

/// What the stage of one scenario is set up from.
pub(crate) struct Launch<'a> {
    /// The project's folder.
    pub(super) root: &'a Path,
    pub(super) secrets: &'a SecretValues,
    pub(super) on: PlayedOn<'a>,
}

/// What a scenario is played on, by the system's name.
pub(super) enum PlayedOn<'a> {
    /// A stage without a system: the scenario runs commands only.
    Nothing,
    /// A router of this process.
    Router(&'a str, &'a RouterFactory),
    /// A program of the stage's own. It is started with `all`: itself, or what needs it and serves a page of the scenario.
    Command { name: &'a str, all: &'a str, suite: &'a BTreeMap<String, SystemSpec> },
    /// A program that runs already, for one scenario after another.
    Shared(&'a str, Arc<SharedSystem>),
    /// Somebody else's program.
    Url(&'a str, &'a UrlSpec),
}

impl Launch<'_> {
    /// Whether the stage has programs of its own.
    pub(crate) fn on_commands(&self) -> bool {
        matches!(self.on, PlayedOn::Command { .. })
    }
}

impl Systems {
    /// Plays on the system of a scenario, alone where there is one for several scenarios. With `fresh` a shared system
    /// is started anew: for the second run of a proof, in another process with other ports.
    ///
    /// # Errors
    /// Where there is no such system, or it cannot be started.
    pub(crate) fn play<T>(
        &self,
        scenario: &Scenario,
        fresh: bool,
        play: impl FnOnce(&Launch<'_>) -> Result<T>,
    ) -> Result<T> {
        let play = |on| play(&Launch { root: &self.root, secrets: &self.secrets, on });
        let Some(name) = &scenario.system else { return play(PlayedOn::Nothing) };
        if let Some(factory) = self.routers.get(name) {
            return play(PlayedOn::Router(name, factory));
        }
        let all = self.started(scenario, name);
        match self.suite.get(all) {
            Some(SystemSpec::Command(spec)) if spec.shared && !fresh => {
                self.build(all)?;
                self.shared.play(all, || self.start_shared(all), |shared| play(PlayedOn::Shared(name, shared)))
            }
            Some(SystemSpec::Command(_)) => {
                self.build(all)?;
                play(PlayedOn::Command { name, all, suite: &self.suite })
            }
            Some(SystemSpec::Url(spec)) => {
                let _alone = url::alone(spec)?;
                play(PlayedOn::Url(name, spec))
            }
            None => Err(Error::new(format!("there is no system `{name}`")).in_file(&scenario.file)),
        }
    }

    /// Whether a scenario's system is attached: it was started by somebody else, and cannot be had twice.
    pub(crate) fn is_attached(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Url(_)))
    }

    /// The system that a scenario has to itself while it plays: there is one for several, or it pins its port.
    pub(crate) fn alone<'a>(&'a self, scenario: &'a Scenario) -> Option<&'a str> {
        let name = self.started(scenario, scenario.system.as_deref()?);
        if self.is_shared(scenario) || self.is_attached(scenario) {
            return Some(name);
        }
        let pinned = |spec: &SystemSpec| matches!(spec, SystemSpec::Command(spec) if spec.port.is_some());
        let of_this = |other: &str| other == name || needs(&self.suite, name, other);
        self.suite.iter().find(|(other, spec)| pinned(spec) && of_this(other)).map(|(other, _)| other.as_str())
    }

    /// Whether a scenario's system is one process for several scenarios.
    pub(crate) fn is_shared(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Command(spec)) if spec.shared)
    }

    /// Ends the systems that scenarios shared, and removes the folder of all stages. A call that a system makes now comes
    /// too late, and is a miss.
    pub(crate) fn end(&self) {
        self.shared.end();
        remove_kept();
    }

    fn spec_of(&self, scenario: &Scenario) -> Option<&SystemSpec> {
        self.suite.get(self.started(scenario, scenario.system.as_ref()?))
    }

    /// What is started for a scenario on a system: where a page of another system is opened that needs this one, that
    /// other one.
    fn started<'a>(&'a self, scenario: &'a Scenario, name: &'a str) -> &'a str {
        let mut pages = scenario.systems_of_pages();
        pages.find(|page| *page != name && needs(&self.suite, page, name)).unwrap_or(name)
    }

    /// Builds what is to be started. A scenario's time does not run meanwhile.
    fn build(&self, name: &str) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
        runtime.block_on(build_with_needed(name, &self.suite, &self.root))
    }

    fn start_shared(&self, name: &str) -> Result<SharedSystem> {
        SharedSystem::start(SharedSpec {
            name: name.to_owned(),
            suite: self.suite.clone(),
            root: self.root.clone(),
            rules: self.rules.clone(),
            callers: self.callers.clone(),
            secrets: self.secrets.of(self.secrets.records).clone(),
        })
    }
}

impl SecretValues {
    /// What a system is given while a scenario plays on it.
    pub(super) fn given_to(&self, on: &PlayedOn<'_>, mode: &Mode) -> &Json {
        // A system that scenarios share was given what the process that started it needs.
        self.of(!matches!(mode, Mode::Replay(_)) || (self.records && matches!(on, PlayedOn::Shared(..))))
    }

    fn of(&self, real: bool) -> &Json {
        if real { &self.real } else { &self.named }
    }
}

//! The systems of a project: which one a scenario runs on, and what is needed to start it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::build_with_needed;
use super::egress::Egress;
use super::folder::remove_kept;
use super::router::RouterFactory;
use super::shared::{SharedSpec, SharedSystem, SharedSystems};
use super::url;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_model::{CallerRules, Clock, Mode, Pacing};
use retake_scenario::{ClockFrom, Egress as Level, Scenario, SystemSpec, UrlSpec, needs};
use retake_wire::fixture::Fixture;

/// The systems of a project, and what is needed to start them.
pub struct Systems {
    /// The project's folder.
    pub root: PathBuf,
    /// The systems of `suite.toml`, by name.
    pub suite: BTreeMap<String, SystemSpec>,
    /// The routers that the runner registers, by name.
    pub routers: BTreeMap<String, RouterFactory>,
    /// The rules of keys.
    pub rules: Arc<Rules>,
    /// Which caller a call belongs to.
    pub callers: CallerRules,
    /// The values that nothing may keep.
    pub secrets: SecretValues,
    /// What programs of shared systems may reach, as the suite says.
    pub egress: (Level, Vec<String>),
    /// The shared systems that are already running.
    pub shared: SharedSystems,
    /// The scenarios whose systems do not bear another clock.
    pub still: Mutex<BTreeSet<String>>,
}

/// The values of `{{ secret.NAME }}`.
#[derive(Clone, Debug)]
pub struct SecretValues {
    /// What the live servers of tools are given.
    pub real: Json,
    /// The placeholders that fixtures contain instead: `<NAME>`.
    pub named: Json,
    /// Whether this process records. If so, a system that several scenarios share gets the real values.
    pub records: bool,
}

/// What is needed to set up the stage of one scenario.
pub struct Launch<'a> {
    /// The project's folder.
    pub(super) root: &'a Path,
    pub(super) secrets: &'a SecretValues,
    pub(super) on: PlayedOn<'a>,
    /// Whether the clock of programs stays as it is in the second run of a proof.
    pub(super) keeps_clock: bool,
    /// By which clock they tell the time in a replay.
    pub(super) clock: ClockFrom,
}

/// What a scenario runs on, with the system's name.
pub(super) enum PlayedOn<'a> {
    /// A stage without a system: the scenario only runs commands.
    Nothing,
    Router(&'a str, &'a RouterFactory),
    /// A program that is started for the stage. `all` is the system to start: the program itself, or a system that needs it and
    /// serves a page of the scenario.
    Command {
        name: &'a str,
        all: &'a str,
        suite: &'a BTreeMap<String, SystemSpec>,
    },
    /// A running program that scenarios use one after another.
    Shared(&'a str, Arc<SharedSystem>),
    /// A program that somebody else started.
    Url(&'a str, &'a UrlSpec, Arc<SharedSystem>),
}

impl Launch<'_> {
    /// Whether programs are started for this stage.
    pub fn on_commands(&self) -> bool {
        matches!(self.on, PlayedOn::Command { .. })
    }
}

impl Systems {
    /// Runs `play` on the system of a scenario. With `fresh`, even a shared system is started for this run alone: the second run of a proof needs another process and other
    /// ports.
    /// Fails if there is no such system, if it cannot be started, or if `play` fails.
    pub fn play<T>(&self, scenario: &Scenario, fresh: bool, play: impl FnOnce(&Launch<'_>) -> Result<T>) -> Result<T> {
        let keeps_clock = self.keeps_clock(scenario);
        let play = |on| {
            play(&Launch { root: &self.root, secrets: &self.secrets, on, keeps_clock, clock: scenario.options.clock })
        };
        let Some(name) = &scenario.system else { return play(PlayedOn::Nothing) };
        if let Some(factory) = self.routers.get(name) {
            return play(PlayedOn::Router(name, factory));
        }
        let all = self.started(scenario, name);
        match self.suite.get(all) {
            Some(SystemSpec::Command(spec)) if spec.shared && !fresh => {
                self.build(all)?;
                let start = || SharedSystem::start(self.shared_spec(all, None), None);
                self.shared.play(all, false, start, |shared| play(PlayedOn::Shared(name, shared)))
            }
            Some(SystemSpec::Command(_)) => {
                self.build(all)?;
                play(PlayedOn::Command { name, all, suite: &self.suite })
            }
            Some(SystemSpec::Url(spec)) => {
                let start = || {
                    let attached = (spec.model.addr, url::key(name, spec)?);
                    SharedSystem::start(self.shared_spec(all, Some(attached)), Some(url::alone(spec)?))
                };
                let start = || start().map_err(|error| error.in_file(&scenario.file));
                self.shared.play(all, true, start, |shared| play(PlayedOn::Url(name, spec, shared)))
            }
            None => Err(Error::new(format!("there is no system `{name}`")).in_file(&scenario.file)),
        }
    }

    /// Whether a scenario's system is attached: somebody else started it, and there is only one.
    pub fn is_attached(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Url(_)))
    }

    /// Returns the name of the system that only one scenario at a time can use, because it is shared, attached, or has a fixed
    /// port. `None` if the scenario needs no such system: a shared one is not, where it is started `fresh` as in [`play`](Systems::play).
    /// If the scenario [`shares`](Systems::shares) its system, another one can begin while this one lingers.
    pub fn alone<'a>(&'a self, scenario: &'a Scenario, fresh: bool) -> Option<&'a str> {
        let name = self.started(scenario, scenario.system.as_deref()?);
        if self.is_attached(scenario) || self.is_shared(scenario) && !fresh {
            return Some(name);
        }
        let pinned = |spec: &SystemSpec| matches!(spec, SystemSpec::Command(spec) if spec.port.is_some());
        let of_this = |other: &str| other == name || needs(&self.suite, name, other);
        self.suite.iter().find(|(other, spec)| pinned(spec) && of_this(other)).map(|(other, _)| other.as_str())
    }

    /// Whether several scenarios share the process of a scenario's system.
    pub fn is_shared(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Command(spec)) if spec.shared)
    }

    /// Whether scenarios use the process of a scenario's system one after another.
    pub fn shares(&self, scenario: &Scenario) -> bool {
        self.is_shared(scenario) || self.is_attached(scenario)
    }

    /// The clock by which a scenario's system tells the day.
    pub fn clock(&self, scenario: &Scenario, pacing: Pacing, fixture: Option<&Fixture>) -> Clock {
        let recorded = match scenario.options.clock {
            ClockFrom::Now => None,
            ClockFrom::Recorded => fixture.and_then(|fixture| fixture.recorded),
            ClockFrom::Midday => Some(super::date::midday()),
        };
        let env = if let Some(SystemSpec::Command(spec)) = self.spec_of(scenario) { Some(&spec.env) } else { None };
        let text = std::fs::read_to_string(self.root.join(&scenario.file)).unwrap_or_default();
        super::date::clock(env, pacing, recorded).with_zones_of(&text)
    }

    /// Whether the clock of a scenario's system can be moved in the second run of a proof: that of a command, where there is the library.
    pub fn moves_clock(&self, scenario: &Scenario) -> bool {
        self.is_command(scenario) && super::date::faketime().is_some() && scenario.options.clock == ClockFrom::Now
    }

    /// Whether the clock of a scenario's system can be set to that of its recording, and is not: one that is shared has one for all.
    pub fn may_set_clock(&self, scenario: &Scenario) -> bool {
        self.moves_clock(scenario) && !self.is_shared(scenario)
    }

    /// Whether a scenario's system is a program that is started for it.
    pub fn is_command(&self, scenario: &Scenario) -> bool {
        matches!(self.spec_of(scenario), Some(SystemSpec::Command(_)))
    }

    /// Leaves the clock of a scenario's system as it is from now on. Returns whether it would be moved otherwise.
    pub fn keep_clock(&self, scenario: &Scenario) -> bool {
        self.moves_clock(scenario) && self.still.lock().insert(scenario.name.clone())
    }

    /// Whether that was asked.
    pub fn keeps_clock(&self, scenario: &Scenario) -> bool {
        self.still.lock().contains(&scenario.name)
    }

    /// Ends the shared systems, and removes the folder of all stages. A call that a system makes now is late, and a miss.
    pub fn end(&self) {
        self.shared.end();
        remove_kept();
    }

    fn spec_of(&self, scenario: &Scenario) -> Option<&SystemSpec> {
        self.suite.get(self.started(scenario, scenario.system.as_ref()?))
    }

    /// Returns the system to start for a scenario on the system `name`: if the scenario uses another system that needs this one,
    /// it is that other system.
    fn started<'a>(&'a self, scenario: &'a Scenario, name: &'a str) -> &'a str {
        scenario.other_systems().find(|other| needs(&self.suite, other, name)).unwrap_or(name)
    }

    /// Builds the system to start. This does not count towards the scenario's timeout.
    fn build(&self, name: &str) -> Result<()> {
        let runtime = retake_model::threads::runtime()?;
        runtime.block_on(build_with_needed(name, &self.suite, &self.root))
    }

    fn shared_spec(&self, name: &str, attached: Option<(SocketAddr, String)>) -> SharedSpec {
        SharedSpec {
            name: name.to_owned(),
            suite: self.suite.clone(),
            root: self.root.clone(),
            rules: self.rules.clone(),
            callers: self.callers.clone(),
            secrets: self.secrets.of(self.secrets.records).clone(),
            egress: Egress::of_level(self.egress.0, &self.egress.1, !self.secrets.records),
            attached,
        }
    }
}

impl SecretValues {
    /// Returns the values for the stage of a scenario.
    pub(super) fn given_to(&self, on: &PlayedOn<'_>, mode: &Mode) -> &Json {
        // A shared system was started with the values that fit the process as a whole.
        self.of(!matches!(mode, Mode::Replay(_)) || (self.records && matches!(on, PlayedOn::Shared(..))))
    }

    fn of(&self, real: bool) -> &Json {
        if real { &self.real } else { &self.named }
    }
}

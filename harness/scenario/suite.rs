//! What all scenarios share: the content of `scenarios/suite.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::options::{Defaults, ForkTools, NormalizeRule};
use super::read::Shared;
use super::scenario::Scenario;
use super::system::SystemSpec;
use super::tool::ToolSpec;
use retake_base::error::Place;
use retake_core::secrets::Suspects;
use retake_model::CallerRule;

/// What a model costs: the prices of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Of tokens that it reads.
    pub input: f64,
    /// Of tokens that it reads from the provider's cache.
    pub cached: f64,
    /// Of tokens that it writes.
    pub output: f64,
}

/// What all scenarios share.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The systems that are started as a command or attached by URL, by name.
    pub systems: BTreeMap<String, SystemSpec>,
    /// How to execute recorded tool calls again, by the name of the tool or server.
    pub tools: BTreeMap<String, ToolSpec>,
    /// The rules that name the caller of a call that declares none. The first rule that matches decides.
    pub callers: Vec<CallerRule>,
    /// The replacements that the key makes in addition to its built-in ones.
    pub normalize: Vec<NormalizeRule>,
    /// Other names of callers, from alias to name.
    pub aliases: BTreeMap<String, String>,
    /// The system of scenarios that name none.
    pub system: Option<String>,
    /// The place of `system` in the file.
    pub(super) system_place: Option<Place>,
    /// The steps that scenarios can begin with.
    pub(super) shared: Shared,
    /// The options of scenarios that do not set their own.
    pub defaults: Defaults,
    /// What is done with texts that only stand where secrets do.
    pub suspects: Suspects,
    pub fork_tools: ForkTools,
    /// How many days old a recording may be before that is told.
    pub max_age: Option<u16>,
    /// The command that judges the runs of a fork; empty if there is none.
    pub verify: Vec<String>,
    /// What models cost, by name.
    pub prices: BTreeMap<String, Price>,
    /// More words by which the service says that something failed.
    pub error_words: Vec<String>,
    /// The file, relative to the root. It need not exist.
    pub path: PathBuf,
}

impl Suite {
    /// Returns the tool servers that a scenario and its systems use. A router may use any, so it counts as using all.
    pub fn tools_of(&self, scenario: &Scenario) -> BTreeSet<String> {
        let mut used = scenario.used.tools.clone();
        let mut next: Vec<&str> = scenario.system.as_deref().into_iter().chain(scenario.other_systems()).collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = next.pop() {
            match self.systems.get(name) {
                _ if !seen.insert(name) => {}
                Some(SystemSpec::Command(spec)) => {
                    used.extend(spec.tools.iter().cloned());
                    next.extend(spec.needs.iter().map(String::as_str));
                }
                Some(SystemSpec::Url(_)) => {}
                None => used.extend(self.tools.keys().cloned()),
            }
        }
        used
    }
}

//! What all scenarios share: the content of `scenarios/suite.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::normalize::NormalizeRule;
use super::options::Defaults;
use super::scenario::Scenario;
use super::system::SystemSpec;
use super::tool::ToolSpec;
use crate::error::Place;
use crate::model::CallerRule;

/// What all scenarios share.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The systems that are started as a command or attached by URL, by name.
    pub systems: BTreeMap<String, SystemSpec>,
    /// What executes the calls of recorded tools, by the name of the tool or server.
    pub tools: BTreeMap<String, ToolSpec>,
    /// Who made a call that declares no caller: the first rule that fits.
    pub callers: Vec<CallerRule>,
    /// What the key replaces beyond its own rules.
    pub normalize: Vec<NormalizeRule>,
    /// Other names of callers: alias to name.
    pub aliases: BTreeMap<String, String>,
    /// The system of scenarios that name none.
    pub system: Option<String>,
    /// Where `system` stands.
    pub(super) system_place: Option<Place>,
    /// The options of scenarios that say nothing.
    pub defaults: Defaults,
    /// The file, relative to the root; it need not exist.
    pub path: PathBuf,
}

impl Suite {
    /// The tool servers that a scenario and its systems name. What a router uses is not known: all of them.
    pub(crate) fn tools_of(&self, scenario: &Scenario) -> BTreeSet<String> {
        let mut used = scenario.used_tools.clone();
        let mut next: Vec<&str> = scenario.system.as_deref().into_iter().chain(scenario.systems_of_pages()).collect();
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

//! Before the first step of a recording: whether the providers can be reached to which the scenario's system is pointed.

use std::collections::BTreeSet;

use super::begin::Begun;
use crate::report::{Failure, terminal};
use retake_model::Relay;
use retake_scenario::{Suite, SystemSpec, Template};

impl Begun<'_> {
    /// Lets the relay try the providers, without calling them. A recording that is resumed may need no provider, so it only says
    /// what it cannot reach.
    /// Fails if a provider cannot be reached, in one line.
    pub(super) fn reach(&self, relay: &Relay) -> Result<(), Failure> {
        let scenario = self.recording.scenario;
        let suite = &self.recording.project.discovered.suite;
        let named = scenario.system.iter().flat_map(|system| pointed_at(suite, system)).collect::<BTreeSet<_>>();
        let reached = |provider: &&String| named.is_empty() || named.contains(provider.as_str());
        let tried: Vec<&String> = relay.reaches().iter().filter(reached).collect();
        let failed: Vec<String> = tried.iter().filter_map(|provider| relay.tries(provider).err()).collect();
        // A system whose settings are not in the suite calls one provider or another.
        let matters = if named.is_empty() { failed.len() == tried.len() } else { true };
        let Some(first) = failed.into_iter().next().filter(|_| matters) else { return Ok(()) };
        if self.resume.as_ref().is_some_and(|resume| resume.expected().calls > 0) {
            terminal::note(format!("{}: warning: {first}", scenario.name));
            return Ok(());
        }
        Err(Failure::new(first))
    }
}

/// The providers whose addresses the templates of a system name, and of the systems that it needs; none if no template does.
fn pointed_at(suite: &Suite, system: &str) -> BTreeSet<String> {
    let Some(SystemSpec::Command(spec)) = suite.systems.get(system) else { return BTreeSet::new() };
    let own = spec.command.iter().chain(spec.env.values()).chain(spec.files.values()).chain(&spec.cwd);
    let models = own.flat_map(Template::names).filter_map(|name| name.strip_prefix("model."));
    let models = models.filter(|model| !matches!(*model, "key" | "url")).map(str::to_owned);
    models.chain(spec.needs.iter().flat_map(|needed| pointed_at(suite, needed))).collect()
}

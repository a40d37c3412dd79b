//! The secrets that a project declares, with their values from the environment: for goldens, templates and recording.

use crate::project::OpenProject;
use crate::report::terminal;
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::secrets::Scrub;
use retake_engine::system::SecretValues;
use retake_model::Relay;
use retake_scenario::{Discovered, Scenario, SystemSpec};

/// The values of `{{ secret.NAME }}` in the templates of live tools: those of the environment.
pub(super) fn real_values(project: &OpenProject) -> Json {
    let value = |name: &str| std::env::var(name).unwrap_or_else(|_| format!("<{name}>"));
    Json::object(project.declared.iter().map(|name| (name.as_str(), Json::Str(value(name)))))
}

/// What is removed from goldens: tokens of a known form, and the values of the declared variables.
pub(super) fn of_goldens(project: &OpenProject) -> Scrub {
    let mut scrub = Scrub::known();
    for name in &project.declared {
        scrub = scrub.with_value(name, &std::env::var(name).unwrap_or_default());
    }
    scrub
}

/// The values of `{{ secret.NAME }}` in templates: the real ones while recording, placeholders in a replay.
pub(super) fn values(project: &OpenProject, records: bool) -> SecretValues {
    let names = &project.declared;
    let value_of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let placeholder = |name: &str| format!("<{name}>");
    let real = |name: &String| (name.clone(), Json::Str(value_of(name).unwrap_or_else(|| placeholder(name))));
    let hidden = |name: &String| (name.clone(), Json::Str(placeholder(name)));
    SecretValues { real: Json::object(names.iter().map(real)), named: Json::object(names.iter().map(hidden)), records }
}

/// Checks before a recording that all secrets are set that the scenario and its systems use.
/// Fails if a variable is not set; the error names the first one.
pub(super) fn check(discovered: &Discovered, scenario: &Scenario) -> Result<()> {
    let of_systems = scenario.system.iter().flat_map(|name| of_system(discovered, name));
    let of_relay = Relay::from_env().map(|relay| relay.holds).unwrap_or_default();
    for name in scenario.used.secrets.iter().map(String::as_str).chain(of_systems) {
        if of_relay.iter().any(|held| held == name) {
            terminal::note(format!(
                "{}: warning: {name} is a provider's key, which only the relay has: `{{{{ secret.{name} }}}}` is <{name}> here, as in \
                 a replay. A system gets {{{{ model.key }}}} for its calls to a model",
                scenario.name
            ));
            continue;
        }
        if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
            let what = format!("the environment variable {name} is not set, and `{{{{ secret.{name} }}}}` needs it");
            return Err(Error::new(what).help("recording gives the system the real value; fixtures never contain it"));
        }
    }
    Ok(())
}

/// The secrets of a system and of the systems that it needs. Reading the suite has ruled out cycles.
fn of_system<'a>(discovered: &'a Discovered, name: &str) -> Vec<&'a str> {
    let Some(SystemSpec::Command(spec)) = discovered.suite.systems.get(name) else { return Vec::new() };
    let of_needed = spec.needs.iter().flat_map(|needed| of_system(discovered, needed));
    spec.secrets.iter().map(String::as_str).chain(of_needed).collect()
}

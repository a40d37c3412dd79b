//! The secrets that a project declares, with their values in this environment: for goldens, for templates, for recording.

#[cfg(feature = "record")]
use crate::error::{Error, Result};
use crate::json::Json;
use crate::project::OpenProject;
#[cfg(feature = "record")]
use crate::scenario::{Discovered, Scenario, SystemSpec};
use crate::secrets::Scrub;
use crate::system::SecretValues;

/// What the templates of live tools take as `{{ secret.NAME }}`: the values of the environment.
pub(crate) fn real_values(project: &OpenProject) -> Json {
    let value = |name: &str| std::env::var(name).unwrap_or_else(|_| format!("<{name}>"));
    Json::object(project.declared.iter().map(|name| (name.as_str(), Json::Str(value(name)))))
}

/// What goldens lose, whatever else the environment holds: known forms and declared variables.
pub(crate) fn of_goldens(project: &OpenProject) -> Scrub {
    let mut scrub = Scrub::known();
    for name in &project.declared {
        scrub = scrub.with_value(name, &std::env::var(name).unwrap_or_default());
    }
    scrub
}

/// What templates take as `{{ secret.NAME }}`: real values for recording, what fixtures hold for replay.
pub(crate) fn values(project: &OpenProject, records: bool) -> SecretValues {
    let names = &project.declared;
    let value_of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let placeholder = |name: &str| format!("<{name}>");
    SecretValues {
        real: Json::object(
            names.iter().map(|name| (name.as_str(), Json::Str(value_of(name).unwrap_or_else(|| placeholder(name))))),
        ),
        named: Json::object(names.iter().map(|name| (name.as_str(), Json::Str(placeholder(name))))),
        records,
    }
}

/// Checks before a recording that the secrets which a scenario and its systems take are there.
///
/// # Errors
/// The first variable that is not set.
#[cfg(feature = "record")]
pub(crate) fn check(discovered: &Discovered, scenario: &Scenario) -> Result<()> {
    let of_systems = scenario.system.iter().flat_map(|name| of_system(discovered, name));
    for name in scenario.used_secrets.iter().map(String::as_str).chain(of_systems) {
        if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
            let what = format!("the environment variable {name} is not set, and `{{{{ secret.{name} }}}}` needs it");
            return Err(Error::new(what).help("recording gives the system the real value; fixtures never hold it"));
        }
    }
    Ok(())
}

/// The suite has checked that there is no circle.
#[cfg(feature = "record")]
fn of_system<'a>(discovered: &'a Discovered, name: &str) -> Vec<&'a str> {
    let Some(SystemSpec::Command(spec)) = discovered.suite.systems.get(name) else { return Vec::new() };
    let of_needed = spec.needs.iter().flat_map(|needed| of_system(discovered, needed));
    spec.secrets.iter().map(String::as_str).chain(of_needed).collect()
}

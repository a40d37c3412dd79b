//! The secrets that a project declares, in lists or by `{{ secret.NAME }}`, with their values in this environment.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::json::Json;
#[cfg(feature = "record")]
use crate::scenario::Scenario;
use crate::scenario::{Discovered, Suite, SystemSpec};
use crate::secrets::{Scrub, Secrets};
use crate::system::SecretValues;

/// What must not be written: known forms, declared variables, and what else of the environment looks like a secret.
///
/// # Errors
/// A declared value that is too short.
pub(crate) fn of_project(discovered: &Discovered) -> Result<Secrets> {
    let text = |os: std::ffi::OsString| os.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    Secrets::new(declared(discovered), environment).map_err(Error::new)
}

/// As [`of_project`], where there may be no scenario.
///
/// # Errors
/// A declared value that is too short.
pub(crate) fn of_suite(suite: &Suite) -> Result<Secrets> {
    let text = |os: std::ffi::OsString| os.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    Secrets::new(declared_in(suite), environment).map_err(Error::new)
}

/// What the templates of live tools take as `{{ secret.NAME }}`: the values of the environment.
pub(crate) fn real_values(suite: &Suite) -> Json {
    let value = |name: &str| std::env::var(name).unwrap_or_else(|_| format!("<{name}>"));
    Json::object(declared_in(suite).map(|name| (name, Json::Str(value(name)))))
}

/// What goldens lose, whatever else the environment holds: known forms and declared variables.
pub(crate) fn of_goldens(discovered: &Discovered) -> Scrub {
    let mut scrub = Scrub::known();
    for name in declared(discovered) {
        scrub = scrub.with_value(name, &std::env::var(name).unwrap_or_default());
    }
    scrub
}

/// What templates take as `{{ secret.NAME }}`: real values for recording, what fixtures hold for replay.
pub(crate) fn values(discovered: &Discovered, records: bool) -> SecretValues {
    let names = declared(discovered);
    let value_of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let placeholder = |name: &str| format!("<{name}>");
    SecretValues {
        real: Json::object(
            names.iter().map(|name| (*name, Json::Str(value_of(name).unwrap_or_else(|| placeholder(name))))),
        ),
        named: Json::object(names.iter().map(|name| (*name, Json::Str(placeholder(name))))),
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

/// The environment variables that the suite and its scenarios declare as secrets, in lists or by `{{ secret.NAME }}`.
fn declared(discovered: &Discovered) -> BTreeSet<&str> {
    let of_scenarios = discovered.sound().flat_map(|scenario| scenario.secrets.iter().chain(&scenario.used_secrets));
    declared_in(&discovered.suite).chain(of_scenarios.map(String::as_str)).collect()
}

/// Those of the suite alone.
fn declared_in(suite: &Suite) -> impl Iterator<Item = &str> {
    let of_systems = suite.systems.values().filter_map(|system| match system {
        SystemSpec::Command(spec) => Some(&spec.secrets),
        SystemSpec::Url(_) => None,
    });
    let of_tools = suite.tools.values().flat_map(|tool| &tool.secrets);
    suite.defaults.secrets.iter().chain(of_systems.flatten()).chain(of_tools).map(String::as_str)
}

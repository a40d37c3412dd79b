//! Finds the environment variables that a project declares as secrets, in lists or by `{{ secret.NAME }}`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::discover::Discovered;
use crate::suite::Suite;
use crate::system::SystemSpec;

/// Returns the secrets that a suite and its valid scenarios declare.
pub fn in_scenarios(discovered: &Discovered) -> BTreeSet<String> {
    let of_scenarios =
        discovered.sound().flat_map(|scenario| scenario.options.secrets.iter().chain(&scenario.used.secrets));
    in_suite(&discovered.suite).into_iter().chain(of_scenarios.cloned()).collect()
}

/// Returns the secrets that a suite declares, and those that any file below `scenarios/` names. This includes scenarios that
/// are wrong: a mistake that keeps a scenario from running must not make its secrets public.
pub fn in_files(scenarios: &Path, suite: &Suite) -> BTreeSet<String> {
    let mut names = in_suite(suite);
    let mut folders = vec![scenarios.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            // Links to folders are not followed, since they could form a cycle.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml" || ending == "json") {
                // The file of a scenario, or of a body that a scenario may name. One that cannot be read declares nothing. The
                // runner cannot read it either.
                let text = retake_base::files::read(&path).unwrap_or_default();
                names.extend(named_in(&String::from_utf8_lossy(&text)));
            }
        }
    }
    names
}

fn in_suite(suite: &Suite) -> BTreeSet<String> {
    let of_systems = suite.systems.values().filter_map(|system| match system {
        SystemSpec::Command(spec) => Some(&spec.secrets),
        SystemSpec::Url(_) => None,
    });
    let of_tools = suite.tools.values().flat_map(|tool| &tool.secrets);
    suite.defaults.secrets.iter().chain(of_systems.flatten()).chain(of_tools).cloned().collect()
}

static USED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bsecret\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)").ok());
static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bsecrets\s*=\s*\[([^\]]*)\]").ok());

/// Returns the names that a text declares as secrets.
fn named_in(text: &str) -> Vec<String> {
    let first_group = |regex: &'static Option<Regex>| {
        let found = regex.iter().flat_map(|regex| regex.captures_iter(text));
        found.filter_map(|captures| Some(captures.get(1)?.as_str().to_owned())).collect::<Vec<String>>()
    };
    let listed = first_group(&LISTED);
    let listed = listed.iter().flat_map(|list| list.split([',', '"', '\'', '\n', ' ', '\t']));
    let listed = listed.filter(|name| !name.is_empty()).map(str::to_owned);
    first_group(&USED).into_iter().chain(listed).collect()
}

#[cfg(test)]
mod tests;

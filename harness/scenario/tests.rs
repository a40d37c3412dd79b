//! Tests of `scenario` as its users see it: files in, scenarios or errors out.

mod layout;
mod mistakes_in_pages;
mod mistakes_in_scenario;
mod mistakes_in_steps;
mod mistakes_in_suite;
mod mistakes_in_systems;
mod mistakes_in_templates;
mod mistakes_in_values;
mod reading;
mod schema;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Discovered, Scenario, discover};

/// The smallest scenario.
const STEP: &str = "[[step]]\nget = \"/\"\n";

/// A wrong file, the files next to it, and the expected error.
struct Mistake {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    text: &'static str,
    says: &'static str,
}

/// Makes a temporary folder with these files. A name that ends with `/` makes an empty folder.
fn tree<T: AsRef<[u8]>>(files: &[(&str, T)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    root
}

/// Returns the errors of all scenarios below a root, with the system `gateway` registered. For a scenario without an error it
/// returns the name.
fn told(root: &Path) -> String {
    let mut discovered = match discover(root) {
        Ok(discovered) => discovered,
        Err(error) => return error.to_string(),
    };
    if let Err(error) = discovered.check_systems(&["gateway"]) {
        return error.to_string();
    }
    let entry = |entry: &Result<Scenario, super::Broken>| match entry {
        Ok(scenario) => scenario.name.clone(),
        Err(broken) => format!("[{}] {}", broken.name, broken.error),
    };
    discovered.scenarios.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn assert_told(mistakes: &[Mistake], files: impl Fn(&'static str) -> Vec<(&'static str, &'static str)>) {
    for Mistake { name, files: beside, text, says } in mistakes {
        let root = tree(&[files(text), beside.to_vec()].concat());
        let told = told(root.path());
        assert_eq!(told.strip_prefix("[a] ").unwrap_or(&told), *says, "{name}");
    }
}

/// Reads these files, of which the suite has to be right.
fn read(files: &[(&str, &str)]) -> Discovered {
    discover(tree(files).path()).unwrap()
}

/// Reads a file as the only scenario, which has to be right.
fn only(text: &str) -> Scenario {
    let discovered = read(&[("scenarios/a/scenario.toml", text)]);
    match &discovered.scenarios[..] {
        [Ok(scenario)] => scenario.clone(),
        other => panic!("{other:?}"),
    }
}

//! Tests of `scenario` as its users see it: files in, scenarios or errors out.

mod layout;
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
    name: String,
    files: Vec<(String, String)>,
    text: String,
    says: String,
}

/// Mistakes in `suite.toml`, and those in `scenario.toml`, as lists: below `=== NAME` stands the wrong file, below `--- PATH` a file
/// next to it, and below `--- says` the error.
const IN_SUITES: [&str; 2] = [include_str!("tests/mistakes/suite.txt"), include_str!("tests/mistakes/systems.txt")];
const IN_SCENARIOS: [&str; 5] = [
    include_str!("tests/mistakes/pages.txt"),
    include_str!("tests/mistakes/scenario.txt"),
    include_str!("tests/mistakes/steps.txt"),
    include_str!("tests/mistakes/templates.txt"),
    include_str!("tests/mistakes/values.txt"),
];

fn mistakes(list: &str) -> Vec<Mistake> {
    let read = |mistake: &str| {
        let parts = mistake.split("\n--- ").map(|part| part.split_once('\n').unwrap_or((part, "")));
        let whole = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
        let mut files: Vec<_> = parts.map(|(name, text)| (name.to_owned(), whole(text))).collect();
        let (name, text) = files.remove(0);
        let says = files.pop().unwrap().1.trim_end().to_owned();
        Mistake { name, files, text, says }
    };
    list.strip_prefix("=== ").unwrap().split("\n=== ").map(read).collect()
}

#[test]
fn each_mistake_is_reported_with_its_place() {
    let in_suites = IN_SUITES.into_iter().flat_map(mistakes).map(|mistake| ("scenarios/suite.toml", mistake));
    let in_scenarios =
        IN_SCENARIOS.into_iter().flat_map(mistakes).map(|mistake| ("scenarios/a/scenario.toml", mistake));
    for (file, Mistake { name, files, text, says }) in in_suites.chain(in_scenarios) {
        let mut all = vec![("scenarios/a/scenario.toml", STEP), (file, &text)];
        all.extend(files.iter().map(|(file, text)| (file.as_str(), text.as_str())));
        let told = told(tree(&all).path());
        assert_eq!(told.strip_prefix("[a] ").unwrap_or(&told), says, "{name}");
    }
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

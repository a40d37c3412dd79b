//! Runs the scenarios of each field's entry, or checks that the test that the entry names exists.

use std::collections::{BTreeMap, BTreeSet};

use retake_wire::fixture::Recorded;
use serde_json::Value;

use super::{options, scenarios, steps, suites};
use crate::support::fixtures;
use crate::support::tree::Tree;

tests! { each_field_of_suite_and_scenario_has_an_effect, no_entry_names_a_field_that_does_not_exist }

/// How an entry shows that a field has an effect.
pub(super) enum Shown {
    /// Scenarios of one suite, at least one of which uses the field.
    Played {
        suite: String,
        scenarios: Vec<(String, Says)>,
        fixtures: Vec<(&'static str, Vec<Recorded>)>,
        files: Vec<(&'static str, String)>,
    },
    /// A test that fails if the field has no effect.
    By(&'static str),
}

/// The expected result of a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Green,
    /// It fails with a message that contains this text.
    Red(&'static str),
}

/// A field, and how to show its effect.
pub(super) struct Entry {
    pub(super) field: String,
    pub(super) shown: Shown,
}

impl Entry {
    /// Returns an entry with scenarios of one suite.
    pub(super) fn played(field: &str, suite: &str, scenarios: &[(&str, Says)]) -> Entry {
        let scenarios = scenarios.iter().map(|(scenario, says)| ((*scenario).to_owned(), *says)).collect();
        let shown = Shown::Played { suite: suite.to_owned(), scenarios, fixtures: Vec::new(), files: Vec::new() };
        Entry { field: field.to_owned(), shown }
    }

    /// Adds a fixture for the scenarios.
    pub(super) fn with_fixture(mut self, name: &'static str, turns: Vec<Recorded>) -> Entry {
        if let Shown::Played { fixtures, .. } = &mut self.shown {
            fixtures.push((name, turns));
        }
        self
    }

    /// Adds a file, relative to the project if the path has a folder, else to the scenario's folder.
    pub(super) fn with_file(mut self, path: &'static str, text: impl Into<String>) -> Entry {
        if let Shown::Played { files, .. } = &mut self.shown {
            files.push((path, text.into()));
        }
        self
    }

    /// Returns an entry that names a test.
    pub(super) fn by(field: &str, test: &'static str) -> Entry {
        Entry { field: field.to_owned(), shown: Shown::By(test) }
    }
}

/// Returns the fields without fields of their own. A table has an effect only through its fields.
fn leaves(fields: &[String]) -> BTreeSet<String> {
    let holds =
        |field: &str| fields.iter().any(|other| other.strip_prefix(field).is_some_and(|rest| rest.starts_with('.')));
    fields.iter().filter(|field| !holds(field)).cloned().collect()
}

/// Returns the fields of a file and of its tables, as its schema has them, each as a path from the top: `systems.*.ready.http`. A `*`
/// stands for a name that the user chooses. Cases have the fields of a scenario, and shared steps those of a step: these are not
/// listed again.
fn fields_of(schema: &str) -> Vec<String> {
    fn walk<'a>(root: &'a Value, value: &'a Value, path: &str, open: &mut Vec<&'a Value>, found: &mut Vec<String>) {
        if let Some(name) = value["$ref"].as_str() {
            let table = name.strip_prefix("#/definitions/").map_or(root, |name| &root["definitions"][name]);
            if !open.iter().any(|known| std::ptr::eq(*known, table)) {
                open.push(table);
                walk(root, table, path, open, found);
                open.pop();
            }
        }
        // A rule may say of a field that a table does not have it.
        let fields = value["properties"].as_object().into_iter().flatten().filter(|(_, inner)| inner.is_object());
        for (field, inner) in fields {
            let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
            found.push(path.clone());
            walk(root, inner, &path, open, found);
        }
        let parts = ["anyOf", "allOf"].into_iter().flat_map(|key| value[key].as_array().into_iter().flatten());
        parts.chain(value.get("items")).for_each(|part| walk(root, part, path, open, found));
        if value["additionalProperties"].is_object() {
            walk(root, &value["additionalProperties"], &format!("{path}.*"), open, found);
        }
    }
    let (root, mut found): (Value, _) = (serde_json::from_str(schema).unwrap(), Vec::new());
    walk(&root, &root, "", &mut vec![&root], &mut found);
    // An event has the fields of `after` wherever a step names one.
    let again = ["steps.*.", "case.*.", "step.last.", "step.stream.last.", "step.cancel.after."];
    found.retain(|field| !again.iter().any(|again| field.starts_with(again)));
    found
}

fn entries() -> [(Vec<String>, Vec<Entry>); 2] {
    let of_suite = suites::entries().into_iter().chain(options::of_suite()).collect();
    let of_scenario = scenarios::entries()
        .into_iter()
        .chain(options::of_scenario())
        .chain(steps::entries())
        .chain(steps::of_pages())
        .collect();
    let schema = |name| crate::support::tree::project(&format!("harness/cli/schema/{name}.schema.json"));
    [(fields_of(&schema("suite")), of_suite), (fields_of(&schema("scenario")), of_scenario)]
}

fn each_field_of_suite_and_scenario_has_an_effect() {
    let mut by_suite: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for (fields, entries) in entries() {
        for field in leaves(&fields) {
            assert!(entries.iter().any(|entry| entry.field == field), "`{field}` has no entry in tests/it/fields");
        }
        for entry in entries {
            match &entry.shown {
                Shown::Played { suite, .. } => by_suite.entry(suite.clone()).or_default().push(entry),
                Shown::By(test) => assert_is_a_test(test),
            }
        }
    }
    let wrong: Vec<String> = by_suite.iter().flat_map(|(suite, entries)| played(suite, entries)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn no_entry_names_a_field_that_does_not_exist() {
    for (fields, entries) in entries() {
        let leaves = leaves(&fields);
        let strays: Vec<_> = entries.iter().filter(|entry| !leaves.contains(&entry.field)).collect();
        assert!(strays.is_empty(), "{:?}", strays.iter().map(|entry| &entry.field).collect::<Vec<_>>());
    }
}

/// Asserts that a test with this name exists. Tests of pages only exist with the feature `browser`.
fn assert_is_a_test(name: &str) {
    let all = crate::all();
    let is_there = || all.iter().any(|(module, test, _)| format!("{module}::{test}").ends_with(name));
    assert!(is_there() || (name.starts_with("browser::") && !cfg!(feature = "browser")), "{name} is not a test");
}

/// Runs all scenarios of one suite, and returns a message for each one whose result is not the expected one.
fn played(suite: &str, entries: &[Entry]) -> Vec<String> {
    let tree = Tree::with_suite(suite);
    // Some systems run in this folder.
    tree.write("front/page.html", "<p>");
    let mut expected = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let Shown::Played { scenarios, fixtures: turns, files, .. } = &entry.shown else { continue };
        for (place, (scenario, says)) in scenarios.iter().enumerate() {
            let name = format!("s{number}-{place}");
            let system = if suite.contains("[systems.") && !scenario.starts_with("system") {
                "system = \"agent\"\n"
            } else {
                ""
            };
            tree.scenario(&name, &format!("{system}{scenario}"));
            let file =
                |path: &str| if path.contains('/') { path.to_owned() } else { format!("scenarios/{name}/{path}") };
            for (path, text) in files {
                tree.write(&file(path), text);
            }
            expected.push((name, &entry.field, *says));
        }
        for (name, turns) in turns {
            fixtures::write(&tree, name, turns.clone());
        }
    }
    let ran = tree.retake().args(&["test", "--", "--test-threads", "2"]).env("WALKED", "the-walked-value").run();
    let trials = ran.trials();
    let mut wrong = Vec::new();
    for (name, field, says) in expected {
        let trial = trials.iter().find(|(trial, _)| **trial == name || trial.starts_with(&format!("{name}.")));
        let told = match (says, trial) {
            (_, None) => format!("it did not run: {}", ran.all()),
            (Says::Green, Some((_, result))) if *result == "ok" => continue,
            (Says::Red(_), Some((_, result))) if *result == "ok" => "it passed".to_owned(),
            (Says::Red(text), Some((trial, _))) if ran.failure(trial).contains(text) => continue,
            (_, Some((trial, _))) => ran.failure(trial).to_owned(),
        };
        wrong.push(format!("{field}, {says:?} in\n{}\n{told}", tree.read(&format!("scenarios/{name}/scenario.toml"))));
    }
    wrong
}

//! Each field's entry is played, or names the test that shows what the field does.

use std::collections::{BTreeMap, BTreeSet};

use retake::internal::fixture::Recorded;
use retake::internal::scenario::{scenario_fields, suite_fields};

use super::{options, scenarios, steps, suites};
use crate::support::fixtures;
use crate::support::tree::Tree;

tests! { each_field_of_suite_and_scenario_changes_something, a_field_that_is_gone_has_no_entry_left }

/// What shows that a field does something.
pub(super) enum Shown {
    /// Scenarios of one suite, of which one at least has the field.
    Played {
        suite: String,
        scenarios: Vec<(String, Says)>,
        fixtures: Vec<(&'static str, Vec<Recorded>)>,
        files: Vec<(&'static str, String)>,
    },
    /// A test that fails without it.
    By(&'static str),
}

/// What becomes of a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Green,
    /// It fails, and says this.
    Red(&'static str),
}

/// A field with what shows it.
pub(super) struct Entry {
    pub(super) field: String,
    pub(super) shown: Shown,
}

impl Entry {
    /// Scenarios that are played on one suite.
    pub(super) fn played(field: &str, suite: &str, scenarios: &[(&str, Says)]) -> Entry {
        let scenarios = scenarios.iter().map(|(scenario, says)| ((*scenario).to_owned(), *says)).collect();
        let shown = Shown::Played { suite: suite.to_owned(), scenarios, fixtures: Vec::new(), files: Vec::new() };
        Entry { field: field.to_owned(), shown }
    }

    /// The same, with a fixture that they name.
    pub(super) fn with_fixture(mut self, name: &'static str, turns: Vec<Recorded>) -> Entry {
        if let Shown::Played { fixtures, .. } = &mut self.shown {
            fixtures.push((name, turns));
        }
        self
    }

    /// The same, with a file.
    pub(super) fn with_file(mut self, path: &'static str, text: impl Into<String>) -> Entry {
        if let Shown::Played { files, .. } = &mut self.shown {
            files.push((path, text.into()));
        }
        self
    }

    /// A test shows it.
    pub(super) fn by(field: &str, test: &'static str) -> Entry {
        Entry { field: field.to_owned(), shown: Shown::By(test) }
    }
}

/// The fields that hold no others: a table does what its fields do.
fn leaves(fields: &[String]) -> BTreeSet<String> {
    let holds =
        |field: &str| fields.iter().any(|other| other.strip_prefix(field).is_some_and(|rest| rest.starts_with('.')));
    fields.iter().filter(|field| !holds(field)).cloned().collect()
}

fn entries() -> [(Vec<String>, Vec<Entry>); 2] {
    let of_suite = suites::entries().into_iter().chain(options::of_suite()).collect();
    let of_scenario = scenarios::entries().into_iter().chain(options::of_scenario()).chain(steps::entries()).collect();
    [(suite_fields(), of_suite), (scenario_fields(), of_scenario)]
}

fn each_field_of_suite_and_scenario_changes_something() {
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

fn a_field_that_is_gone_has_no_entry_left() {
    for (fields, entries) in entries() {
        let leaves = leaves(&fields);
        let strays: Vec<_> = entries.iter().filter(|entry| !leaves.contains(&entry.field)).collect();
        assert!(strays.is_empty(), "{:?}", strays.iter().map(|entry| &entry.field).collect::<Vec<_>>());
    }
}

/// Tests of pages are there with the feature `browser`.
fn assert_is_a_test(name: &str) {
    let all = crate::all();
    let is_there = || all.iter().any(|(module, test, _)| format!("{module}::{test}").ends_with(name));
    assert!(is_there() || (name.starts_with("browser::") && !cfg!(feature = "browser")), "{name} is not a test");
}

/// Plays all scenarios of one suite at once, and says which did something else than their entries say.
fn played(suite: &str, entries: &[Entry]) -> Vec<String> {
    let tree = Tree::with_suite(suite);
    // The folder of a front end.
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
            (_, None) => format!("it was not played: {}", ran.all()),
            (Says::Green, Some((_, result))) if *result == "ok" => continue,
            (Says::Red(_), Some((_, result))) if *result == "ok" => "it is green".to_owned(),
            (Says::Red(text), Some((trial, _))) if ran.failure(trial).contains(text) => continue,
            (_, Some((trial, _))) => ran.failure(trial).to_owned(),
        };
        wrong.push(format!("{field}, {says:?} in\n{}\n{told}", tree.read(&format!("scenarios/{name}/scenario.toml"))));
    }
    wrong
}

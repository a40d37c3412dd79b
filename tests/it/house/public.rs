//! Compares what the crate exports with a committed list, so nobody makes something public by accident.

use std::collections::BTreeMap;

use super::library::{Found, Library, Module};

/// The path of the committed list.
pub(crate) const LIST: &str = "tests/it/house/public.txt";

/// Returns one message for each difference from the list. Each line of the list is a path; `#` begins a comment.
pub(crate) fn differences(library: &Library, list: &str) -> Vec<String> {
    let there = exported(library);
    let lines = list.lines().enumerate().map(|(index, line)| (line.trim(), index + 1));
    let listed: BTreeMap<&str, usize> = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).collect();
    let mut wrong = Vec::new();
    for (name, place) in &there {
        if !listed.contains_key(name.as_str()) {
            wrong.push(format!(
                "{place}: `{name}` is public, and {LIST} does not list it: make it private, or add the line `{name}` and \
                 announce it in CHANGELOG.md"
            ));
        }
    }
    for (name, line) in listed {
        if !there.contains_key(name) {
            wrong.push(format!(
                "{LIST}:{line}: `{name}` is listed, and no longer public: make it public again, or remove the line and \
                 announce that in CHANGELOG.md"
            ));
        }
    }
    wrong
}

/// Returns the paths that users can write, each with the place of its definition. Items hidden from the documentation do
/// not count as public.
fn exported(library: &Library) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    add(library, &[], "retake", &mut names);
    for module in library.modules.values() {
        for item in &module.source.items {
            if item.shown.macro_export && !item.shown.hidden {
                names.insert(format!("retake::{}!", item.name), format!("{}:{}", module.file, item.line));
            }
        }
    }
    names
}

fn add(library: &Library, at: &[String], prefix: &str, names: &mut BTreeMap<String, String>) {
    let Some(Module { file, source }) = library.modules.get(at) else { return };
    for item in source.items.iter().filter(|item| item.shown.public && !item.shown.hidden) {
        names.insert(format!("{prefix}::{}", item.name), format!("{file}:{}", item.line));
        if item.kind == "mod" {
            add(library, &[at, std::slice::from_ref(&item.name)].concat(), &format!("{prefix}::{}", item.name), names);
        }
    }
    for import in source.uses.iter().filter(|import| import.shown.public && !import.shown.hidden) {
        let place = format!("{file}:{}", import.path.line);
        names.insert(format!("{prefix}::{}", import.alias), place);
        if let Found::Module(module) = library.find(at, &import.path) {
            add(library, &module, &format!("{prefix}::{}", import.alias), names);
        }
    }
}

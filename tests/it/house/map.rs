//! The map in `lib.rs`: a table with one row for each top-level module, in the order of dependence.

use std::collections::BTreeSet;

use super::arrows::top_level_of;
use super::library::{FOLDER, Files};

/// Files that the map does not list: the map itself, the command's `main`, and what benches and tests use.
const NOT_LISTED: [&str; 3] = ["lib", "main", "internal"];

/// Returns the modules in the order of the map, each with its line in `lib.rs`. The map is the first table there.
pub(crate) fn rows(files: &Files) -> Vec<(String, usize)> {
    let lib = files.get(&format!("{FOLDER}/lib.rs")).map_or("", String::as_str);
    let lines = lib.lines().enumerate().skip_while(|(_, line)| !line.starts_with("//! |"));
    let table = lines.take_while(|(_, line)| line.starts_with("//! |"));
    let row = |(index, line): (usize, &str)| {
        let first = line.strip_prefix("//! |")?.split('|').next()?.trim();
        let module = first.trim_start_matches('[').strip_prefix('`')?.split('`').next()?;
        Some((module.trim_end_matches('/').to_owned(), index + 1))
    };
    table.filter_map(row).collect()
}

/// Returns one message for each module without a row, and for each row without a module.
pub(crate) fn differences(files: &Files) -> Vec<String> {
    let rows = rows(files);
    let named: BTreeSet<&str> = rows.iter().map(|(module, _)| module.as_str()).collect();
    let there: BTreeSet<&str> = files
        .keys()
        .filter(|file| file.starts_with(FOLDER))
        .map(|file| top_level_of(file))
        .filter(|module| !NOT_LISTED.contains(module))
        .collect();
    let mut wrong = Vec::new();
    for module in there.difference(&named) {
        wrong.push(format!(
            "{FOLDER}/{module}: the map of {FOLDER}/lib.rs has no row for this module: add one after all modules that it uses"
        ));
    }
    let mut seen = BTreeSet::new();
    for (module, line) in &rows {
        if !there.contains(module.as_str()) {
            wrong.push(format!(
                "{FOLDER}/lib.rs:{line}: the map has a row for `{module}`, and {FOLDER}/ has no such module: remove the row"
            ));
        }
        if !seen.insert(module) {
            wrong.push(format!("{FOLDER}/lib.rs:{line}: the map has two rows for `{module}`: remove one"));
        }
    }
    wrong
}

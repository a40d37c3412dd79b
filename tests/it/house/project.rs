//! Runs the check on this project.

use std::path::Path;

use super::library::{FOLDER, Files, Library};
use super::{check, map, public, walks};

tests!(
    the_map_lists_every_top_level_module_and_nothing_else,
    imports_follow_the_map_and_no_two_files_use_each_other,
    every_public_name_is_in_the_committed_list,
    the_walks_lead_through_existing_files_and_visit_each_module_once,
);

fn the_map_lists_every_top_level_module_and_nothing_else() {
    none(&map::differences(&files()));
}

fn imports_follow_the_map_and_no_two_files_use_each_other() {
    none(&check::imports(&files()));
}

fn every_public_name_is_in_the_committed_list() {
    let files = files();
    none(&public::differences(&Library::read(&files), &files[public::LIST]));
}

fn the_walks_lead_through_existing_files_and_visit_each_module_once() {
    none(&walks::faults(&files()));
}

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults in the order of the sources:\n\n{}\n", faults.len(), faults.join("\n"));
}

/// Returns all files that the check reads.
fn files() -> Files {
    let mut files = Files::new();
    for folder in [FOLDER, "tests/it/house"] {
        add_files(Path::new(env!("CARGO_MANIFEST_DIR")), folder, &mut files);
    }
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(walks::PAGE)).unwrap();
    files.insert(walks::PAGE.to_owned(), page);
    files
}

/// Adds all text files in a folder of the project and in its subfolders.
fn add_files(root: &Path, folder: &str, files: &mut Files) {
    for entry in std::fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            add_files(root, &name, files);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.insert(name, text);
        }
    }
}

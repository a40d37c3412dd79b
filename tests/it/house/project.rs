//! The check, on this project.

use std::path::Path;

use super::library::{FOLDER, Files, Library};
use super::{check, map, public, walks};

tests!(
    the_map_is_the_folder_listing,
    imports_follow_the_map_and_no_two_files_use_each_other,
    what_is_public_is_written_down,
    the_walks_lead_through_files_that_are_there_and_each_room_once,
);

fn the_map_is_the_folder_listing() {
    none(&map::differences(&files()));
}

fn imports_follow_the_map_and_no_two_files_use_each_other() {
    none(&check::imports(&files()));
}

fn what_is_public_is_written_down() {
    let files = files();
    none(&public::differences(&Library::read(&files), &files[public::LIST]));
}

fn the_walks_lead_through_files_that_are_there_and_each_room_once() {
    none(&walks::faults(&files()));
}

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults of the house:\n\n{}\n", faults.len(), faults.join("\n"));
}

/// The project's sources.
fn files() -> Files {
    let mut files = Files::new();
    for folder in [FOLDER, "tests/it/house"] {
        add_files(Path::new(env!("CARGO_MANIFEST_DIR")), folder, &mut files);
    }
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(walks::PAGE)).unwrap();
    files.insert(walks::PAGE.to_owned(), page);
    files
}

/// The texts of a folder of the project.
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

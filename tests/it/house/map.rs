//! The map in `lib.rs`: one row a room, in the order of dependence.

use std::collections::BTreeSet;

use super::arrows::room_of;
use super::library::{FOLDER, Files};

/// Files beside the rooms that are none: the map itself, the command's `main`, what benches and tests reach into.
const NO_ROOMS: [&str; 3] = ["lib", "main", "internal"];

/// The rooms in the order of the map, each with its line in `lib.rs`.
pub(crate) fn rows(files: &Files) -> Vec<(String, usize)> {
    let lib = files.get(&format!("{FOLDER}/lib.rs")).map_or("", String::as_str);
    let lines = lib.lines().enumerate().skip_while(|(_, line)| *line != "//! # The rooms").skip(1);
    let table = lines.take_while(|(_, line)| !line.starts_with("//! #"));
    let row = |(index, line): (usize, &str)| {
        let first = line.strip_prefix("//! |")?.split('|').next()?.trim();
        let room = first.trim_start_matches('[').strip_prefix('`')?.split('`').next()?;
        Some((room.trim_end_matches('/').to_owned(), index + 1))
    };
    table.filter_map(row).collect()
}

/// Rooms without a row, and rows without a room.
pub(crate) fn differences(files: &Files) -> Vec<String> {
    let rows = rows(files);
    let named: BTreeSet<&str> = rows.iter().map(|(room, _)| room.as_str()).collect();
    let there: BTreeSet<&str> = files
        .keys()
        .filter(|file| file.starts_with(FOLDER))
        .map(|file| room_of(file))
        .filter(|room| !NO_ROOMS.contains(room))
        .collect();
    let mut wrong = Vec::new();
    for room in there.difference(&named) {
        wrong.push(format!(
            "{FOLDER}/{room}: the map of {FOLDER}/lib.rs has no row for this room: add one, below all rooms that it uses"
        ));
    }
    let mut seen = BTreeSet::new();
    for (room, line) in &rows {
        if !there.contains(room.as_str()) {
            wrong.push(format!(
                "{FOLDER}/lib.rs:{line}: the map has a room `{room}`, and {FOLDER}/ has not: take the row out"
            ));
        }
        if !seen.insert(room) {
            wrong.push(format!("{FOLDER}/lib.rs:{line}: the map has the room `{room}` twice: take one row out"));
        }
    }
    wrong
}

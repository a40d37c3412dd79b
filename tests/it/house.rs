//! The order of the sources, as far as the compiler does not hold it: rooms of a crate use only rooms above them in the table of
//! its `lib.rs`, files of different folders do not use each other in a circle, no crate is heavier than its row, the tables list what there is, the walks in `tests/README.md` lead somewhere, and public names are listed.

mod direction;
mod source;
mod weight;

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

use crate::support::tree::{project, repository};
use source::CRATES;

tests!(
    a_room_uses_only_rooms_above_it,
    the_map_lists_every_crate,
    the_walks_lead_through_existing_files,
    every_public_name_is_in_the_committed_list,
    no_crate_is_heavier_than_its_row,
    no_circle_of_files_crosses_folders,
);

/// The most lines of code of each crate (no comments, no blanks, no tests), and the most KB of data files. A row is lowered with each
/// removal. It is raised only by the budget of lines that an issue names, in a commit that says so.
const WEIGHT: [(&str, usize, u64); 11] = [
    ("retake-base", 787, 0),
    ("retake-egress", 230, 0),
    ("retake-core", 14_493, 38),
    ("retake-durable", 975, 0),
    ("retake-wire", 8290, 5),
    ("retake-model", 8323, 0),
    ("retake-audit", 1214, 0),
    ("retake-scenario", 5126, 0),
    ("retake-engine", 10_637, 21),
    ("retake", 11_520, 41),
    ("retake-cli", 11_114, 210),
];

/// The crates with a table of rooms in their `lib.rs`.
const WITH_ROOMS: [&str; 2] = ["harness", "harness/core"];

fn a_room_uses_only_rooms_above_it() {
    let name = Regex::new(r"\bcrate::([a-z_]+)").unwrap();
    let mut wrong = Vec::new();
    for folder in WITH_ROOMS {
        let rooms = rows(&project(&format!("{folder}/lib.rs")));
        let declared: BTreeSet<String> = modules(&project(&format!("{folder}/lib.rs")));
        assert_eq!(rooms.iter().cloned().collect::<BTreeSet<_>>(), declared, "the table of {folder}/lib.rs");
        for (at, room) in rooms.iter().enumerate() {
            for file in files_of(&repository().join(folder), room) {
                let text = std::fs::read_to_string(&file).unwrap();
                // Tests may use what they like, and so may the documentation.
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                for used in code.flat_map(|line| name.captures_iter(line)).map(|found| found[1].to_owned()) {
                    if rooms.iter().position(|room| *room == used).is_some_and(|below| below > at) {
                        wrong.push(format!("{} uses `{used}`, which stands below `{room}`", file.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn no_crate_is_heavier_than_its_row() {
    let heavy = CRATES.iter().zip(WEIGHT).filter_map(|((folder, name), (row, lines, data))| {
        assert_eq!(*name, row, "the rows are in the order of the crates");
        let (is, kilobytes) = (weight::lines(folder), weight::data(folder));
        (is > lines || kilobytes > data)
            .then(|| format!("{name} has {is} lines and {kilobytes} KB, its row {lines} and {data}"))
    });
    let heavy: Vec<String> = heavy.collect();
    assert!(heavy.is_empty(), "remove something, before the budget of an issue raises the row:\n{}", heavy.join("\n"));
}

fn no_circle_of_files_crosses_folders() {
    let circles = |(folder, name): &(&str, &str)| -> Vec<String> {
        let circles = direction::circles(folder).into_iter();
        circles.map(|circle| format!("  {name}: {}", circle.into_iter().collect::<Vec<_>>().join(" "))).collect()
    };
    let found: Vec<String> = CRATES.iter().flat_map(circles).collect();
    assert!(found.is_empty(), "files of different folders use each other in a circle:\n{}", found.join("\n"));
}

fn the_map_lists_every_crate() {
    let manifest = project("Cargo.toml");
    let members = manifest.lines().find(|line| line.starts_with("members = ")).unwrap();
    let folders = members.split('"').filter(|part| part.starts_with("harness/"));
    let map = project("CONTRIBUTING.md");
    for folder in folders.chain(["harness"]) {
        assert!(map.contains(&format!("| `{folder}/` |")), "CONTRIBUTING.md has no row for {folder}");
    }
}

fn the_walks_lead_through_existing_files() {
    let page = project("tests/README.md");
    let steps: Vec<&str> = page.lines().filter_map(|line| line.split_once(". `")?.1.split('`').next()).collect();
    assert!(steps.len() > 40, "{} steps", steps.len());
    for file in steps {
        assert!(repository().join(file).is_file(), "tests/README.md: there is no {file}");
    }
}

/// Compares what users can name with the committed list, so that nobody makes something public by accident.
fn every_public_name_is_in_the_committed_list() {
    let mut names = BTreeSet::new();
    for (prefix, file) in [
        ("retake", "harness/lib.rs"),
        ("retake::guide", "harness/guide/mod.rs"),
        ("retake::durable", "harness/durable/lib.rs"),
    ] {
        names.extend(public_names(prefix, &project(file)));
    }
    names.insert("retake::suite!".to_owned());
    let listed = project("tests/it/public.txt");
    let listed = listed.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    assert_eq!(names, listed, "change tests/it/public.txt and announce it in CHANGELOG.md");
}

/// Returns the names that a file exports: of `pub use`, `pub mod` and, in the modules that are written out in it, what these export.
fn public_names(prefix: &str, source: &str) -> BTreeSet<String> {
    let (mut names, mut prefix, mut hidden) = (BTreeSet::new(), prefix.to_owned(), false);
    let outer = prefix.clone();
    for line in source.lines() {
        let text = line.trim();
        if let Some(used) = text.strip_prefix("pub use ").filter(|_| !hidden) {
            let list = used.trim_end_matches(';').rsplit("::").next().unwrap_or_default();
            let list = list.trim_matches(['{', '}']);
            for name in list.split(", ").map(|name| name.rsplit(" as ").next().unwrap_or(name)) {
                names.insert(format!("{prefix}::{name}"));
            }
        } else if let Some(module) = text.strip_prefix("pub mod ").filter(|_| !hidden) {
            let name = module.split([' ', ';', '{']).next().unwrap_or_default();
            names.insert(format!("{outer}::{name}"));
            if module.ends_with('{') {
                prefix = format!("{outer}::{name}");
            }
        } else if line == "}" {
            prefix.clone_from(&outer);
        }
        hidden = text == "#[doc(hidden)]";
    }
    names
}

/// Returns the first column of the table of rooms.
fn rows(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
    rows.map(str::to_owned).collect()
}

/// Returns the modules that a `lib.rs` declares.
fn modules(lib: &str) -> BTreeSet<String> {
    let declared =
        lib.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    declared.filter(|name| *name != "__private").map(str::to_owned).collect()
}

/// Returns the source files of a room, without its tests.
fn files_of(folder: &Path, room: &str) -> Vec<std::path::PathBuf> {
    let mut files = vec![folder.join(format!("{room}.rs"))];
    let mut folders = vec![folder.join(room)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.retain(|file| file.is_file());
    files
}

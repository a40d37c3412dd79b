//! Reads the list of mistakes, and checks it against the gateway's sources.

use std::collections::{BTreeMap, BTreeSet};

tests! { the_list_names_exactly_the_mistakes_in_the_gateways_sources, }

/// Returns the name and the description of each mistake, by the file in which it is made.
pub(super) fn read() -> BTreeMap<String, BTreeMap<String, String>> {
    toml::from_str(include_str!("list.toml")).unwrap()
}

fn the_list_names_exactly_the_mistakes_in_the_gateways_sources() {
    let folder = crate::support::tree::repository().join("tests/gateway/src");
    let mut made: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let Some(name) = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".rs")) else { continue };
        let text = std::fs::read_to_string(&file).unwrap();
        let uses =
            text.split("mutant!(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
        let names: BTreeSet<String> = uses.map(str::to_owned).collect();
        // `mutants.rs` only shows in its documentation how to write one.
        if name != "mutants" && !names.is_empty() {
            made.insert(name.to_owned(), names);
        }
    }
    let listed = read().into_iter().map(|(file, names)| (file, names.into_keys().collect())).collect();
    assert_eq!(made, listed);
    let all: Vec<&String> = made.values().flatten().collect();
    assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len(), "a name is used in two files");
}

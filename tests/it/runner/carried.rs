//! Projects of earlier versions are carried over by the commands in CHANGELOG.md. They are in `tests/it/data/carried`, as those
//! versions wrote them.

use std::collections::BTreeSet;

use crate::support::tree::{Tree, project};

tests! { projects_of_earlier_versions_are_carried_over_by_the_commands_in_the_changelog,
    fixtures_of_earlier_versions_are_written_anew_when_they_are_updated,
}

const VERSIONS: [&str; 2] = ["0.1", "0.2"];

/// Returns the changed files.
fn changed(tree: &Tree, change: impl FnOnce()) -> BTreeSet<String> {
    let before = tree.files();
    change();
    tree.files().into_iter().filter(|(file, text)| before.get(file) != Some(text)).map(|(file, _)| file).collect()
}

fn projects_of_earlier_versions_are_carried_over_by_the_commands_in_the_changelog() {
    let update = "UPDATE_GOLDEN=1 cargo test --test scenarios";
    assert!(project("CHANGELOG.md").contains(update), "CHANGELOG.md does not name the command");
    for version in VERSIONS {
        let tree = Tree::carried(version);
        let of = |folder: &str| -> BTreeSet<String> {
            tree.files().into_keys().filter(|file| file.starts_with(folder) && !file.contains("/.")).collect()
        };
        let (goldens, fixtures) = (of("goldens/"), of("fixtures/"));
        assert!(goldens.len() >= 3);
        let told: Vec<String> = goldens
            .iter()
            .map(|golden| {
                let name = golden.trim_start_matches("goldens/").trim_end_matches(".snap");
                format!(
                    "golden: {golden} was written by an older version of Retake; to write it anew: {update} {name}\n"
                )
            })
            .collect();
        let ran = tree.runner("gateway").run().exits(101).all();
        assert!(told.iter().all(|told| ran.contains(told)), "{version}: {ran}");
        let written = changed(&tree, || drop(tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0)));
        assert_eq!(written, &goldens | &fixtures, "{version}");
        tree.runner("gateway").env("CI", "true").run().exits(0);
    }
}

fn fixtures_of_earlier_versions_are_written_anew_when_they_are_updated() {
    for version in VERSIONS {
        let tree = Tree::carried(version);
        let fixture = "fixtures/two_callers.json";
        let old = tree.read(fixture);
        tree.runner("gateway").run();
        assert_eq!(tree.read(fixture), old, "{version}");
        tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0);
        let new = tree.read(fixture);
        assert!(
            new.contains("\"retake/2\"") && !new.contains("_hash\"") && new.len() * 3 < old.len() * 2,
            "{version}: {new}"
        );
        tree.runner("gateway").env("CI", "true").run().exits(0);
        assert_eq!(tree.read(fixture), new, "{version}");
    }
}

//! Projects of earlier versions are carried over by the commands in CHANGELOG.md. They are in `tests/it/data/carried`, as those
//! versions wrote them.

use std::collections::BTreeSet;

use crate::support::tree::{Tree, project};

tests! { projects_of_earlier_versions_are_carried_over_by_the_commands_in_the_changelog,
    no_regression_is_accepted_with_a_change_of_format,
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
        // What these goldens hold is what the service still does.
        let less = format!("{} goldens hold less than they could: {update}\n", goldens.len());
        let ran = tree.runner("gateway").env("CI", "true").run().exits(0).all();
        assert_eq!(ran.matches("less than").count(), 1, "{version}: {ran}");
        assert!(ran.contains(&less), "{version}: {ran}");
        let mut told = String::new();
        let written = changed(&tree, || told = tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0).all());
        let values = &of("fixtures/") - &fixtures;
        assert!(values.contains("fixtures/write_read_file.snap"), "{version}: {values:?}");
        assert_eq!(written, &(&goldens | &fixtures) | &values, "{version}");
        let all = format!("all {} scenarios: format only\n", goldens.len());
        assert!(told.contains(&all), "{version}: {told}");
        let ran = tree.runner("gateway").env("CI", "true").run().exits(0).all();
        assert!(!ran.contains("less than"), "{version}: {ran}");
    }
}

/// Changes of the service that goldens of both versions hold.
const REGRESSIONS: [&str; 20] = [
    "metadata_without_thread",
    "metadata_extra_key",
    "values_reversed",
    "end_payload",
    "chunk_with_model",
    "chunk_content_parts",
    "chunk_event_name",
    "title_not_shown",
    "question_not_shown",
    "results_not_shown",
    "values_without_title",
    "values_title_null",
    "values_extra_key",
    "values_event_name",
    "values_event_twice",
    "tool_result_without_status",
    "tool_result_id_key",
    "tool_result_content_lost",
    "tool_result_missing",
    "tool_result_twice",
];

fn no_regression_is_accepted_with_a_change_of_format() {
    for (nth, mistake) in REGRESSIONS.iter().enumerate() {
        let version = VERSIONS[nth % 2];
        let tree = Tree::carried(version);
        let play = || tree.runner("gateway").args(&["write_read_file"]).env("GATEWAY_MUTANT", mistake);
        let ran = play().env("CI", "true").run().all();
        assert!(ran.contains("golden: ") && !ran.contains("less than"), "{version}, {mistake}: {ran}");
        if nth % 5 > 0 {
            continue;
        }
        let ran = play().env("UPDATE_GOLDEN", "1").run().exits(0).all();
        assert!(ran.contains("golden changed\n") && !ran.contains("format only"), "{version}, {mistake}: {ran}");
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

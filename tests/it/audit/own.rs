//! How much the project's own goldens notice.

use super::printed::audited;
use crate::support::tree::{SCENARIOS, Tree, project};

tests! { nearly_all_changes_of_the_project_s_own_captures_are_noticed_at_types,
    nearly_all_changes_of_the_project_s_own_captures_are_noticed_at_values,
}

fn nearly_all_changes_of_the_project_s_own_captures_are_noticed_at_types() {
    scores_at_least("0.97", "types");
}

fn nearly_all_changes_of_the_project_s_own_captures_are_noticed_at_values() {
    scores_at_least("0.99", "values");
}

fn scores_at_least(least: &str, detail: &str) {
    let tree = Tree::of(&SCENARIOS);
    tree.write("scenarios/suite.toml", &project("scenarios/suite.toml"));
    let ran = audited(&tree, "bare", &format!("audit --detail={detail} --min-score={least}"));
    ran.exits(0).never_says("not audited");
}

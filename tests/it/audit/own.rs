//! How much the project's own goldens notice.

use super::printed::audited;
use crate::support::tree::{SCENARIOS, Tree};

tests! { goldens_of_types_notice_nearly_all_changes_of_the_projects_own_captures,
    goldens_of_values_notice_nearly_all_changes_of_the_projects_own_captures,
}

fn goldens_of_types_notice_nearly_all_changes_of_the_projects_own_captures() {
    scores_at_least("0.97", "types");
}

fn goldens_of_values_notice_nearly_all_changes_of_the_projects_own_captures() {
    scores_at_least("0.99", "values");
}

fn scores_at_least(least: &str, detail: &str) {
    let tree = Tree::with_own_suite(&SCENARIOS);
    let ran = audited(&tree, "bare", &format!("audit --detail={detail} --min-score={least}"));
    ran.exits(0).never_says("not audited");
}

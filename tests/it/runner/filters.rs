//! Which scenarios `retake test` runs.

use crate::support::program::Ran;
use crate::support::tree::{COMMAND_SUITE, Tree};

tests! { several_parts_of_names_run_what_each_fits,
    a_scenario_s_folder_runs_it_with_its_cases_and_no_namesake,
    a_filter_that_fits_none_is_a_mistake_beside_others_too,
    a_runner_that_cargo_builds_is_told_the_same,
}

fn project() -> Tree {
    let tree = Tree::with_suite(COMMAND_SUITE);
    for name in ["hello", "hello_again", "parting", "write_note"] {
        tree.write(&format!("scenarios/{name}/scenario.toml"), "fixture = \"none\"\n[[step]]\npost = \"/\"\n");
    }
    tree.write(
        "scenarios/modes/scenario.toml",
        "fixture = \"none\"\n[[step]]\npost = \"/\"\n[case.fast]\n[case.slow]\n",
    );
    tree
}

fn listed(ran: Ran) -> Vec<String> {
    let ran = ran.exits(0);
    ran.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

fn of(tree: &Tree, filters: &[&str]) -> Vec<String> {
    listed(tree.retake().arg("test").args(filters).args(&["--", "--list"]).run())
}

fn several_parts_of_names_run_what_each_fits() {
    let tree = project();
    assert_eq!(of(&tree, &["part", "write_"]), ["parting", "write_note"]);
    assert_eq!(of(&tree, &["hello"]), ["hello", "hello_again"]);
    let exact = tree.retake().args(&["test", "hello", "parting", "--", "--list", "--exact"]).run();
    assert_eq!(listed(exact), ["hello", "parting"]);
}

fn a_scenario_s_folder_runs_it_with_its_cases_and_no_namesake() {
    let tree = project();
    for path in ["scenarios/hello", "./scenarios/hello/", "scenarios/hello/scenario.toml"] {
        assert_eq!(of(&tree, &[path]), ["hello"], "{path}");
    }
    assert_eq!(of(&tree, &["scenarios/modes", "part"]), ["modes.fast", "modes.slow", "parting"]);
    assert_eq!(of(&tree, &["scenarios/"]).len(), 7, "all, and the orphans");
    let inside = tree.retake().in_folder(&tree.path("scenarios/hello")).args(&["test", ".", "--", "--list"]);
    assert_eq!(listed(inside.run()), ["hello"]);
}

fn a_filter_that_fits_none_is_a_mistake_beside_others_too() {
    let tree = project();
    let run = |filters: &[&str]| tree.retake().arg("test").args(filters).run().exits(2);
    run(&["hello", "partign"]).says(&["error: no scenario has in its name `partign`", "did you mean `parting`?"]);
    run(&["scenarios/helo"]).says(&["error: no scenario is called `helo`", "did you mean `hello`?"]);
}

fn a_runner_that_cargo_builds_is_told_the_same() {
    let tree = project();
    let told = |names: &str| {
        let runner = tree.runner("gateway").env("RETAKE_ACTION", "test-of").env("RETAKE_ACTION_NAMES", names);
        listed(runner.arg("--list").run())
    };
    assert_eq!(told("part,write_"), ["parting", "write_note"]);
    assert_eq!(told("hello/"), ["hello"]);
}

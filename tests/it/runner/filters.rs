//! Which scenarios `retake test` runs.

use retake::__private::run::{Action, Wanted};

use crate::support::program::Ran;
use crate::support::tree::{COMMAND_SUITE, Tree};

tests! { several_filters_select_every_scenario_that_one_of_them_matches,
    the_folder_of_a_scenario_selects_it_and_its_cases_and_nothing_else,
    a_filter_that_matches_nothing_is_an_error_even_if_another_one_matches,
    a_runner_that_cargo_builds_gets_the_same_filters,
    last_failed_runs_the_scenarios_that_failed_or_all_if_none_did,
    with_fail_fast_no_scenario_starts_after_one_has_failed,
    a_runner_that_no_command_started_is_told_by_the_environment,
    jobs_sets_how_many_scenarios_run_at_the_same_time,
    the_list_shows_what_each_scenario_drives_and_replays,
}

/// Returns a project with five scenarios, one of which has two cases.
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

/// Returns the names of the trials that `--list` printed.
fn listed(ran: Ran) -> Vec<String> {
    let ran = ran.exits(0);
    ran.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// Returns the trials that these filters select.
fn selected(tree: &Tree, filters: &[&str]) -> Vec<String> {
    listed(tree.retake().arg("test").args(filters).args(&["--", "--list"]).run())
}

fn several_filters_select_every_scenario_that_one_of_them_matches() {
    let tree = project();
    assert_eq!(selected(&tree, &["part", "write_"]), ["parting", "write_note"]);
    assert_eq!(selected(&tree, &["hello"]), ["hello", "hello_again"]);
    let exact = tree.retake().args(&["test", "hello", "parting", "--", "--list", "--exact"]).run();
    assert_eq!(listed(exact), ["hello", "parting"]);
}

fn the_folder_of_a_scenario_selects_it_and_its_cases_and_nothing_else() {
    let tree = project();
    for path in ["scenarios/hello", "./scenarios/hello/", "scenarios/hello/scenario.toml"] {
        assert_eq!(selected(&tree, &[path]), ["hello"], "{path}");
    }
    assert_eq!(selected(&tree, &["scenarios/modes", "part"]), ["modes.fast", "modes.slow", "parting"]);
    assert_eq!(selected(&tree, &["scenarios/"]).len(), 7, "all trials, including the check for orphans");
    let inside = tree.retake().in_folder(&tree.path("scenarios/hello")).args(&["test", ".", "--", "--list"]);
    assert_eq!(listed(inside.run()), ["hello"]);
}

fn a_filter_that_matches_nothing_is_an_error_even_if_another_one_matches() {
    let tree = project();
    let run = |filters: &[&str]| tree.retake().arg("test").args(filters).run().exits(2);
    run(&["hello", "partign"]).says(&["error: no scenario's name contains `partign`", "did you mean `parting`?"]);
    run(&["scenarios/helo"]).says(&["error: no scenario is called `helo`", "did you mean `hello`?"]);
}

fn a_runner_that_cargo_builds_gets_the_same_filters() {
    let tree = project();
    let told = |filters: &[&str]| {
        let filters = filters.iter().map(|&filter| filter.to_owned()).collect();
        let action = Action::Test(Wanted::of_scenarios(filters, Vec::new()));
        listed(tree.runner("gateway").handed_over(&action).arg("--list").run())
    };
    assert_eq!(told(&["part", "write_"]), ["parting", "write_note"]);
    assert_eq!(told(&["hello/"]), ["hello"]);
}

/// Returns a scenario whose only step is a program that ends with this exit code; it needs no system.
fn steps(exit: u8) -> String {
    format!("fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", \"echo 1; exit {exit}\"]\ngolden = false\n")
}

/// Returns a project with three scenarios, of which the first and the last fail.
fn red() -> Tree {
    let tree = Tree::empty();
    for (name, exit) in [("a_red", 3), ("b_green", 0), ("c_red", 3)] {
        tree.scenario(name, &steps(exit));
    }
    tree
}

fn last_failed_runs_the_scenarios_that_failed_or_all_if_none_did() {
    let tree = red();
    let all = ["a_red", "b_green", "c_red", "retake::no_orphans"];
    let ran = |args: &[&str]| {
        let run = tree.retake().args(&["test", "--last-failed"]).args(args).run();
        let names: Vec<String> = run.trials().keys().map(|name| (*name).to_owned()).collect();
        (names, run.stderr)
    };
    let (names, said) = ran(&[]);
    assert_eq!(names, all);
    assert!(said.contains("no scenario failed in its last run, so all of them run"), "{said}");
    assert_eq!(ran(&[]).0, ["a_red", "c_red"]);
    assert_eq!(ran(&["c_"]).0, ["c_red"]);
    tree.scenario("a_red", &steps(0));
    tree.scenario("c_red", &steps(0));
    assert_eq!(ran(&["red"]).0, ["a_red", "c_red"]);
    assert_eq!(ran(&[]).0, all);
}

fn with_fail_fast_no_scenario_starts_after_one_has_failed() {
    let tree = red();
    let run = tree.retake().args(&["test", "--fail-fast", "--jobs", "1"]).run().exits(1);
    let results = run.trials();
    assert_eq!((results["a_red"], results["c_red"]), ("FAILED", "ignored (another scenario failed)"), "{}", run.stdout);
    let run = tree.retake().args(&["test", "--jobs", "1"]).run().exits(1);
    assert_eq!(run.trials()["c_red"], "FAILED");
}

fn a_runner_that_no_command_started_is_told_by_the_environment() {
    let tree = red();
    tree.scenario("d_slow", &format!("tags = [\"slow\"]\n{}", steps(0)));
    let runner = || tree.runner("no-system").arg("--test-threads=1");
    let run = runner().env("RETAKE_FAIL_FAST", "1").run().exits(101);
    assert_eq!(run.trials()["c_red"], "ignored (another scenario failed)", "{}", run.stdout);
    assert_eq!(listed(runner().arg("--list").env("RETAKE_TAGS", "slow").run()), ["d_slow"]);
    let shards = ["1/2", "2/2"].map(|shard| listed(runner().arg("--list").env("RETAKE_SHARD", shard).run()));
    assert_eq!(shards.map(|names| names.len()).iter().sum::<usize>(), listed(runner().arg("--list").run()).len());
    runner().env("RETAKE_SHARD", "3/2").run().exits(2).says(&["`3/2` is not a shard"]);
}

fn jobs_sets_how_many_scenarios_run_at_the_same_time() {
    let tree = red();
    for args in [["--jobs", "2"], ["-j", "1"]] {
        tree.retake().arg("test").args(&args).run().exits(1).says(&["test result: FAILED. 2 passed; 2 failed"]);
    }
    tree.retake().args(&["test", "--jobs", "0"]).run().exits(2).says(&["invalid value '0' for '--jobs <N>'"]);
}

fn the_list_shows_what_each_scenario_drives_and_replays() {
    let tree = Tree::with_suite(COMMAND_SUITE);
    tree.scenario("chat", "[[step]]\nget = \"/\"\ngolden = true\n");
    tree.write("goldens/chat.snap", "");
    crate::support::fixtures::write(&tree, "chat", vec![crate::support::fixtures::turn(None, "a", "b")]);
    tree.scenario("alone", &steps(0));
    tree.scenario("again", "fixture = \"chat\"\n[[step]]\nget = \"/\"\ngolden = true\n");
    let run = tree.retake().arg("list").run().exits(0);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows,
        [
            vec!["scenario", "kind", "system", "fixture", "golden", "last", "run"],
            vec!["again", "requests", "agent", "1", "turn", "of", "chat", "golden", "missing", "-"],
            vec!["alone", "command", "line", "-", "no", "model", "no", "golden", "-"],
            vec!["chat", "requests", "agent", "1", "turn", "golden", "-"],
        ]
    );
    tree.retake().args(&["test", "alone"]).run();
    tree.retake().args(&["list", "alone"]).run().exits(0).says(&["no golden  passed in "]);
    tree.scenario("chat", "[[step]]\nget = \"/\"\n[[stp]]\n");
    tree.scenario("lost", "[[step]]\nget = \"/\"\ngolden = true\n");
    let run = tree.retake().args(&["list", "chat", "lost", "--json"]).run().exits(1);
    let rows: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(rows[0]["error"].as_str().unwrap().contains("scenarios/chat/scenario.toml:3:"), "{rows}");
    assert_eq!(
        (&rows[1]["name"], &rows[1]["system_kind"], &rows[1]["golden"]),
        (&"lost".into(), &"command".into(), &false.into())
    );
    assert!(rows[1]["error"].as_str().unwrap().contains("retake record lost"), "{rows}");
    tree.retake()
        .args(&["list", "chta"])
        .run()
        .exits(2)
        .says(&["no scenario's name contains `chta`", "did you mean `chat`?"]);
}

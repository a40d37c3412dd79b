//! Which scenarios `retake test` runs.

use crate::support::program::Ran;
use crate::support::tree::{COMMAND_SUITE, Tree};

tests! { several_parts_of_names_run_what_each_fits,
    a_scenario_s_folder_runs_it_with_its_cases_and_no_namesake,
    a_filter_that_fits_none_is_a_mistake_beside_others_too,
    a_runner_that_cargo_builds_is_told_the_same,
    those_that_failed_last_run_alone_and_all_where_none_did,
    nothing_begins_any_more_once_one_has_failed_where_that_is_asked_for,
    how_many_play_at_a_time_is_said_in_a_word,
    a_list_tells_what_each_scenario_drives_and_replays,
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
    run(&["hello", "partign"]).says(&["error: no scenario's name contains `partign`", "did you mean `parting`?"]);
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

/// Steps that need no system: one that goes well, and one that does not.
fn steps(exit: u8) -> String {
    format!("fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", \"echo 1; exit {exit}\"]\ngolden = false\n")
}

/// Three scenarios, of which the first and the last fail.
fn red() -> Tree {
    let tree = Tree::empty();
    for (name, exit) in [("a_red", 3), ("b_green", 0), ("c_red", 3)] {
        tree.scenario(name, &steps(exit));
    }
    tree
}

fn those_that_failed_last_run_alone_and_all_where_none_did() {
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

fn nothing_begins_any_more_once_one_has_failed_where_that_is_asked_for() {
    let tree = red();
    let run = tree.retake().args(&["test", "--fail-fast", "--jobs", "1"]).run().exits(1);
    let results = run.trials();
    assert_eq!((results["a_red"], results["c_red"]), ("FAILED", "ignored (another scenario failed)"), "{}", run.stdout);
    let run = tree.retake().args(&["test", "--jobs", "1"]).run().exits(1);
    assert_eq!(run.trials()["c_red"], "FAILED");
}

fn how_many_play_at_a_time_is_said_in_a_word() {
    let tree = red();
    for args in [["--jobs", "2"], ["-j", "1"]] {
        tree.retake().arg("test").args(&args).run().exits(1).says(&["test result: FAILED. 2 passed; 2 failed"]);
    }
    tree.retake().args(&["test", "--jobs", "0"]).run().exits(2).says(&["invalid value '0' for '--jobs <N>'"]);
}

fn a_list_tells_what_each_scenario_drives_and_replays() {
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
            vec!["again", "requests", "agent", "1", "turn", "of", "chat", "golden", "missing"],
            vec!["alone", "command", "line", "-", "no", "model", "no", "golden"],
            vec!["chat", "requests", "agent", "1", "turn", "golden"],
        ]
    );
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

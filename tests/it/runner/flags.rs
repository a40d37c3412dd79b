//! The runner's flags mean what they mean in libtest, and no mode of the runner changes the names of trials.

use std::collections::BTreeSet;

use retake::__private::run::{Action, Wanted};
use serde_json::Value;

use crate::runner::discovery::asking;
use crate::support::fixtures::{self, turn};
use crate::support::program::Program;
use crate::support::tree::{COMMAND_SUITE, SCENARIOS, Tree};

tests! { the_list_is_the_same_in_every_mode,
    the_command_lists_the_same_names,
    filters_select_what_they_select_in_libtest,
    an_unknown_flag_is_wrong_use,
    a_filter_that_leaves_no_trial_is_an_error_if_it_is_meant_for_scenarios_only,
    an_action_of_another_version_is_refused_with_the_line_for_cargo_toml,
    with_json_standard_output_contains_nothing_else,
    ten_that_fail_alike_are_one_group_with_one_recording,
    one_thread_and_sixteen_give_the_same_results,
    sixty_four_concurrent_scenarios_each_get_their_own_answers,
    each_trial_gives_its_own_result_in_a_process_of_its_own,
}

/// Returns the names of all trials, as `--list` prints them.
fn names() -> Vec<String> {
    SCENARIOS.iter().copied().chain(["retake::no_orphans"]).map(|name| format!("{name}: test")).collect()
}

fn the_list_is_the_same_in_every_mode() {
    let tree = Tree::of(&SCENARIOS);
    // Listing runs nothing, so a wrong golden does not matter.
    tree.replace("goldens/two_callers.snap", "critic     string", "critic     number");
    let before = tree.files();
    let modes: [fn(Program) -> Program; 7] = [
        |runner| runner,
        |runner| runner.env("CI", "true"),
        |runner| runner.env("UPDATE_GOLDEN", "1"),
        |runner| runner.args(&["--format", "terse"]),
        |runner| runner.args(&["--test-threads", "16"]),
        |runner| runner.env("NEXTEST", "1").args(&["--format", "terse"]),
        |runner| runner.arg("--nocapture"),
    ];
    for (number, mode) in modes.into_iter().enumerate() {
        let run = mode(tree.runner("gateway").arg("--list")).run().exits(0);
        let listed: Vec<&str> = run.stdout.lines().filter(|line| line.ends_with(": test")).collect();
        assert_eq!(listed, names(), "mode {number}");
    }
    let ignored = tree.runner("gateway").args(&["--list", "--ignored"]).run().exits(0);
    assert!(!ignored.stdout.contains(": test"), "{}", ignored.stdout);
    assert_eq!(tree.files(), before);
}

fn a_filter_that_leaves_no_trial_is_an_error_if_it_is_meant_for_scenarios_only() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", COMMAND_SUITE);
    tree.scenario("hello", "fixture = \"none\"\n[[step]]\nget = \"/\"\ngolden = false\n");
    let none = ["--ignored", "--skip=e", "--bench"];
    for flag in none {
        let run = tree.retake().args(&["test", "--", flag]).run().exits(2);
        run.says(&[&format!("error: nothing was tested: no scenario matches `{flag}`")]);
    }
    // `RETAKE_ACTION` is set when the `retake` command starts the runner of a Rust project. Without it, `cargo test` starts
    // the runner, and the filter may be meant for another test binary of the crate.
    let runner = || tree.runner("no-system").arg("hallo");
    let test = Action::Test(Wanted::of_scenarios(Vec::new(), Vec::new()));
    runner().handed_over(&test).run().exits(2).says(&["no scenario's name contains `hallo`", "`hello`?"]);
    runner().run().exits(0);
    let ignored = tree.runner("no-system").arg("--ignored").handed_over(&test).run();
    ignored.exits(2).says(&["nothing was tested"]);
}

fn an_action_of_another_version_is_refused_with_the_line_for_cargo_toml() {
    let tree = Tree::empty();
    let handed = |action: &str| tree.runner("no-system").env("RETAKE_ACTION", action).run().exits(2);
    handed(r#"{"version": "9.1", "action": {"juggle": []}}"#).says(&[
        "error: the `retake` command is of version 9.1, and this runner of ",
        "in Cargo.toml, below [dev-dependencies]: retake = \"9.1\"",
    ]);
    // As commands before handed it over.
    handed("audit --all").says(&["this runner cannot do that", "differ in version"]);
}

/// The command finds what the runner finds, although it cannot drive the gateway, which is a router.
fn the_command_lists_the_same_names() {
    let tree = Tree::of(&SCENARIOS);
    tree.write("scenarios/suite.toml", COMMAND_SUITE);
    let run = tree.retake().args(&["test", "--", "--list"]).run().exits(0);
    let listed: Vec<&str> = run.stdout.lines().filter(|line| line.ends_with(": test")).collect();
    assert_eq!(listed, names());
}

fn filters_select_what_they_select_in_libtest() {
    let tree = Tree::of(&["parallel_tools", "two_callers", "write_read_file"]);
    let cases: [(&[&str], &[&str]); 7] = [
        (&["two"], &["two_callers"]),
        (&["_"], &["parallel_tools", "retake::no_orphans", "two_callers", "write_read_file"]),
        (&["two_callers", "--exact"], &["two_callers"]),
        (&["two", "--exact"], &[]),
        (&["--skip", "two", "--skip", "parallel"], &["retake::no_orphans", "write_read_file"]),
        (&["_", "--skip", "retake::"], &["parallel_tools", "two_callers", "write_read_file"]),
        (&["nothing_has_this_name"], &[]),
    ];
    for (args, wanted) in cases {
        let run = tree.runner("gateway").args(args).run().exits(0);
        assert_eq!(run.trials(), wanted.iter().map(|name| (*name, "ok")).collect(), "{args:?}");
    }
}

fn an_unknown_flag_is_wrong_use() {
    let tree = Tree::of(&["two_callers"]);
    tree.runner("gateway").arg("--no-such-flag").run().exits(2).says(&["unexpected argument '--no-such-flag' found"]);
}

fn with_json_standard_output_contains_nothing_else() {
    let tree = Tree::of(&["two_callers", "write_read_file"]);
    tree.replace("goldens/two_callers.snap", "critic     string", "critic     number");
    let run = tree.runner("gateway").args(&["--format", "json", "-Zunstable-options"]).run().exits(101);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    let done = lines.iter().filter(|line| line["type"] == "test" && line["event"] != "started");
    let done: BTreeSet<(&str, &str)> =
        done.map(|line| (line["name"].as_str().unwrap(), line["event"].as_str().unwrap())).collect();
    let wanted = [("retake::no_orphans", "ok"), ("two_callers", "failed"), ("write_read_file", "ok")];
    assert_eq!(done, wanted.into());
    assert!(run.stdout.contains("golden: "), "{}", run.stdout);
}

fn one_thread_and_sixteen_give_the_same_results() {
    let tree = Tree::of(&SCENARIOS);
    let before = tree.files();
    let mut wanted: Vec<(&str, &str)> = SCENARIOS.iter().map(|name| (*name, "ok")).collect();
    wanted.push(("retake::no_orphans", "ok"));
    for threads in ["1", "16"] {
        let run = tree.runner("gateway").args(&["--test-threads", threads]).run().exits(0);
        // If more than ten trials ran, the slowest ones are named. Nothing else is printed there.
        assert!(run.stderr.starts_with("slowest: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
        run.trials_are(&wanted);
    }
    assert_eq!(tree.files(), before);
}

/// All scenarios ask the same question, and each has its own fixture with its own answer.
fn sixty_four_concurrent_scenarios_each_get_their_own_answers() {
    let tree = Tree::empty();
    let names: Vec<String> = (0..64).map(|i| format!("s{i:02}")).collect();
    for name in &names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &(asking("Who?") + "[golden]\nshow = [\"/text\"]\n"));
        fixtures::write(&tree, name, vec![turn(None, "\"Who?\"", &format!("I am {name}"))]);
    }
    let threads = ["--test-threads", "64"];
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").args(&threads).run().exits(0);
    for name in &names {
        let golden = tree.read(&format!("goldens/{name}.snap"));
        assert!(golden.contains(&format!("/text = \"I am {name}\"")), "{golden}");
    }
    let before = tree.files();
    for _ in 0..3 {
        tree.runner("oddities").args(&threads).run().exits(0);
    }
    assert_eq!(tree.files(), before);
}

/// Each trial runs in its own process, as under nextest.
fn each_trial_gives_its_own_result_in_a_process_of_its_own() {
    let tree = Tree::of(&["two_callers", "write_read_file"]);
    tree.replace("goldens/two_callers.snap", "critic     string", "critic     number");
    for (name, code) in [("two_callers", 101), ("write_read_file", 0), ("retake::no_orphans", 0)] {
        tree.runner("gateway").args(&[name, "--exact", "--nocapture"]).run().exits(code);
    }
}

fn ten_that_fail_alike_are_one_group_with_one_recording() {
    let tree = Tree::with_suite("");
    fixtures::write(&tree, "shared", vec![turn(None, "\"Hello\"", "Hi")]);
    for name in 'a'..='j' {
        tree.scenario(&name.to_string(), &format!("fixture = \"shared\"\n{}", asking("Good-bye")));
    }
    let commands = "if the change is intended:\n    npx retake record a\n";
    for threads in ["1", "16"] {
        let run =
            || tree.runner("oddities").args(&["--test-threads", threads]).env("RETAKE_CALLED", "npx retake").run();
        let run =
            run().exits(101).says(&["10 scenarios failed, for one cause:\n  a, b, c, d, e, f, g, h, i, j: ", commands]);
        assert_eq!(run.stdout.matches("the same as `").count(), 9, "{}", run.stdout);
    }
    // Without the recording, the cause is that of all.
    tree.remove("fixtures/shared.json");
    let run = tree.runner("oddities").run().exits(101);
    run.says(&["a, b, c, d, e, f, g, h, i, j: the scenario has no fixture: fixtures/shared.json does not exist"])
        .says(&["to record what has no recording:\n    retake record a\n"]);
    // Programs that read the output look at each test by itself.
    let json = tree.runner("oddities").args(&["--format", "json", "-Z", "unstable-options"]).run().exits(101);
    assert_eq!(json.stdout.matches("to record it: retake record ").count(), 10, "{}", json.stdout);
}

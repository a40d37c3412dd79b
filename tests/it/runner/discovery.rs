//! Which trials the runner finds, and what it reports when scenarios, fixtures and goldens do not fit together.

use crate::support::fixtures::{self, turn};
use crate::support::tree::{SCENARIOS, Tree};

tests! { a_project_without_scenarios_is_an_error_that_names_the_command_to_run,
    a_root_may_be_relative,
    a_broken_scenario_fails_with_file_line_and_column_and_the_others_run,
    a_broken_suite_stops_the_whole_run,
    a_scenario_without_a_fixture_names_the_command_that_records_it,
    fixtures_and_goldens_without_a_scenario_are_named,
    a_project_can_have_a_router_and_a_command_as_systems,
    files_that_a_broken_scenario_may_own_are_not_orphans,
    each_case_is_a_trial_with_its_own_fixture_and_golden,
    scenarios_that_share_a_fixture_each_get_all_of_its_turns,
    a_process_for_one_trial_reads_only_its_own_scenario,
    a_seeded_scenario_needs_no_fixture,
    an_option_that_names_nothing_suggests_the_nearest_name,
    an_unknown_system_is_reported_with_the_nearest_name,
    these_tests_know_all_of_the_projects_own_scenarios,
}

/// Returns a scenario that asks the service `oddities` one question.
pub(crate) fn asking(question: &str) -> String {
    format!(
        "[[step]]\npost = \"/ask\"\njson = \"{question}\"\nheaders = {{ content-type = \"text/plain\" }}\n\
         stream = {{ last = \"end\" }}\n"
    )
}

/// Returns a project with the scenario `greeting`, which passes.
pub(crate) fn greeting() -> Tree {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    tree.write("scenarios/greeting/scenario.toml", &asking("Hello"));
    fixtures::write(&tree, "greeting", vec![turn(None, "\"Hello\"", "Good morning")]);
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0);
    tree
}

fn a_project_without_scenarios_is_an_error_that_names_the_command_to_run() {
    let tree = Tree::empty();
    tree.runner("gateway").run().exits(2).says(&["error: there is no folder `scenarios`", "`retake init` writes"]);
    tree.write("scenarios/suite.toml", "");
    tree.runner("gateway").run().exits(2).says(&["error: there is no scenario in `scenarios`", "`retake new NAME`"]);
    tree.runner("gateway").env("RETAKE_ROOT", tree.path("gone")).run().exits(2).says(&["gone: ", "no such file"]);
}

fn a_root_may_be_relative() {
    let tree = Tree::of(&["two_callers"]);
    let runner = tree.runner("gateway").in_folder(&tree.path("scenarios")).env("RETAKE_ROOT", "..");
    runner.run().exits(0).trials_are(&[("two_callers", "ok"), ("retake::no_orphans", "ok")]);
}

fn a_broken_scenario_fails_with_file_line_and_column_and_the_others_run() {
    let tree = Tree::of(&["two_callers", "write_read_file"]);
    tree.replace("scenarios/two_callers/scenario.toml", "name    = \"review\"", "nmae    = \"review\"");
    let run = tree
        .runner("gateway")
        .run()
        .exits(101)
        .says(&["scenarios/two_callers/scenario.toml:17:1: unknown field `nmae`", "did you mean `name`?"]);
    run.trials_are(&[("two_callers", "FAILED"), ("write_read_file", "ok"), ("retake::no_orphans", "ok")]);
}

fn a_broken_suite_stops_the_whole_run() {
    let tree = Tree::of(&["two_callers"]);
    tree.write("scenarios/suite.toml", "setle = \"1s\"\n");
    tree.runner("gateway")
        .run()
        .exits(2)
        .says(&["error: scenarios/suite.toml:1:1: unknown field `setle`", "did you mean `settle`?"]);
}

fn a_scenario_without_a_fixture_names_the_command_that_records_it() {
    let tree = Tree::of(&["two_callers"]);
    tree.remove("fixtures/two_callers.json");
    tree.write("fixtures/two_caller.json", "{}");
    tree.runner("gateway").arg("two_callers").run().exits(101).says(&[
        "the scenario has no fixture: fixtures/two_callers.json does not exist",
        "did you mean fixture = \"two_caller\"?",
        "to record it: retake record two_callers",
        "or, if the scenario calls no model: fixture = \"none\"",
    ]);
}

fn fixtures_and_goldens_without_a_scenario_are_named() {
    let tree = Tree::of(&["two_callers"]);
    tree.write("fixtures/old.json", "{}");
    tree.write("goldens/older.snap", "");
    tree.write("goldens/oldest.snap.new", "");
    // A pending golden and the journal of a recording are not orphans.
    tree.write("goldens/two_callers.snap.new", "");
    tree.write("fixtures/.journal/old.jsonl", "");
    let run = tree.runner("gateway").run().exits(101).says(&[
        "orphans: 3 files without a scenario\n",
        "  fixtures/old.json\n  goldens/older.snap\n  goldens/oldest.snap.new\n",
        "if nothing needs them:\n    git rm fixtures/old.json goldens/older.snap\n    rm goldens/oldest.snap.new\n",
    ]);
    run.trials_are(&[("two_callers", "ok"), ("retake::no_orphans", "FAILED")]);
    // A filtered run does not check for orphans.
    tree.runner("gateway").arg("two_callers").run().exits(0);
}

fn files_that_a_broken_scenario_may_own_are_not_orphans() {
    let tree = Tree::of(&["two_callers", "write_read_file"]);
    tree.write("scenarios/two_callers/scenario.toml", "[[step]\n");
    tree.write("goldens/two_callers.flash.snap", "");
    let run = tree.runner("gateway").run().exits(101);
    run.trials_are(&[("two_callers", "FAILED"), ("write_read_file", "ok"), ("retake::no_orphans", "ok")]);
}

fn each_case_is_a_trial_with_its_own_fixture_and_golden() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    let cases =
        "[vars]\nwho = \"nobody\"\n\n[case.ada]\nvars = { who = \"Ada\" }\n\n[case.bob]\nvars = { who = \"Bob\" }\n";
    tree.write("scenarios/greet/scenario.toml", &format!("{cases}{}", asking("I am {{ who }}")));
    for (name, who) in [("greet.ada", "Ada"), ("greet.bob", "Bob")] {
        fixtures::write(&tree, name, vec![turn(None, &format!("\"I am {who}\""), "Hello")]);
    }
    let trials = [("greet.ada", "ok"), ("greet.bob", "ok"), ("retake::no_orphans", "ok")];
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0).trials_are(&trials);
    assert!(tree.has("goldens/greet.ada.snap") && tree.has("goldens/greet.bob.snap"));
    tree.runner("oddities").run().exits(0).trials_are(&trials);
    tree.remove("fixtures/greet.bob.json");
    tree.runner("oddities").run().exits(101).says(&["to record it: retake record greet.bob"]);
}

fn scenarios_that_share_a_fixture_each_get_all_of_its_turns() {
    let tree = greeting();
    tree.write("scenarios/again/scenario.toml", &format!("fixture = \"greeting\"\n{}", asking("Hello")));
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0);
    tree.runner("oddities").args(&["--test-threads", "2"]).run().exits(0).trials_are(&[
        ("again", "ok"),
        ("greeting", "ok"),
        ("retake::no_orphans", "ok"),
    ]);
}

/// nextest starts a process for each trial. With a thousand scenarios, reading all of them would take longer than the trial.
fn a_process_for_one_trial_reads_only_its_own_scenario() {
    let tree = greeting();
    tree.write("scenarios/again/scenario.toml", &format!("fixture = \"greeting\"\n{}", asking("Hello")));
    let cases = format!("fixture = \"greeting\"\n[case.a]\n[case.b]\n{}", asking("Hello"));
    tree.write("scenarios/cased/scenario.toml", &cases);
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run();
    let one = |name: &str| tree.runner("oddities").env("NEXTEST", "1").args(&["--exact", name]).run();
    one("greeting").exits(0).says(&["1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out"]);
    one("cased.b").exits(0).says(&["1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out"]);
    one("retake::no_orphans").exits(0).says(&["1 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out"]);
    one("unheard-of").exits(0).says(&["0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out"]);
}

fn a_seeded_scenario_needs_no_fixture() {
    let tree = Tree::empty();
    tree.write("scenarios/seeded/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n");
    tree.runner("oddities").run().exits(0).trials_are(&[("seeded", "ok"), ("retake::no_orphans", "ok")]);
}

fn an_unknown_system_is_reported_with_the_nearest_name() {
    let tree = greeting();
    let text = tree.read("scenarios/greeting/scenario.toml");
    tree.write("scenarios/greeting/scenario.toml", &format!("system = \"odities\"\n{text}"));
    tree.runner("oddities")
        .run()
        .exits(101)
        .says(&["scenarios/greeting/scenario.toml:1:10: there is no system `odities`", "did you mean `oddities`?"]);
    tree.runner("no-system").run().exits(2).says(&["error: there is no system to test", "[systems.NAME]"]);
}

fn these_tests_know_all_of_the_projects_own_scenarios() {
    let tree = Tree::with_own_suite(&SCENARIOS);
    let scenarios = std::fs::read_dir(crate::support::tree::repository().join("scenarios")).unwrap();
    let mut names: Vec<String> = scenarios
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Scenarios with pages need a browser and the feature `browser`. Those of worlds replay fixtures of others.
        .filter(|name| name != "suite.toml" && !name.starts_with("page_") && !name.starts_with("worlds_of_"))
        .collect();
    names.sort();
    assert_eq!(names, SCENARIOS);
    let mut wanted: Vec<(&str, &str)> = SCENARIOS.iter().map(|name| (*name, "ok")).collect();
    wanted.push(("retake::no_orphans", "ok"));
    tree.runner("bare").run().exits(0).trials_are(&wanted);
}

fn a_project_can_have_a_router_and_a_command_as_systems() {
    let tree = Tree::of(&["write_read_file"]);
    let command = format!("[{:?}, \"serve\", \"fixtures/write_read_file.json\"", env!("CARGO_BIN_EXE_retake"));
    tree.write(
        "scenarios/suite.toml",
        &format!(
            "settle = \"100ms\"\n[systems.model]\n\
             command = {command}, \"--addr\", \"127.0.0.1:{{{{ port }}}}\", \"--key\", \"k\"]\n\
             ready = {{ line = '\"url\"' }}\n"
        ),
    );
    let steps = "[[step]]\nget = \"/v1/models\"\nheaders = { Authorization = \"Bearer k\" }\ngolden = true\n";
    tree.write("scenarios/models/scenario.toml", &format!("fixture = \"none\"\nsystem = \"model\"\n{steps}"));
    let unclear = tree.runner("gateway").arg("write_read_file").run().exits(101);
    unclear.says(&["does not say which system it is for", "one of `gateway`, `model`"]);
    let router = tree.read("scenarios/write_read_file/scenario.toml");
    tree.write("scenarios/write_read_file/scenario.toml", &format!("system = \"gateway\"\n{router}"));
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").arg("models").run().exits(0);
    assert!(tree.read("goldens/models.snap").contains("GET /v1/models\n200 application/json"));
    let both = [("models", "ok"), ("retake::no_orphans", "ok"), ("write_read_file", "ok")];
    tree.runner("gateway").run().exits(0).trials_are(&both);
    // A failure of one of them does not affect the other.
    tree.replace("scenarios/suite.toml", "\"--key\", \"k\"", "\"--key\", \"other\"");
    let both = [("models", "FAILED"), ("retake::no_orphans", "ok"), ("write_read_file", "ok")];
    tree.runner("gateway").run().trials_are(&both).exits(101).says(&["found 401"]);
}

fn an_option_that_names_nothing_suggests_the_nearest_name() {
    let file = "scenarios/two_callers/scenario.toml";
    for (from, to, says) in [
        (
            "[golden]\n",
            "[golden]\nunordered = [\"bodi\"]\n",
            "`unordered` in [golden] names `bodi`, but no event of this run has that name\n  did you mean `body`?",
        ),
        (
            "description",
            "unused = [\"subagent:critics\"]\ndescription",
            "`unused` names `subagent:critics`, which is not the caller of any recorded turn or rule\n  did you mean `subagent:critic`?",
        ),
    ] {
        let tree = Tree::of(&["two_callers"]);
        tree.replace(file, from, to);
        let run = tree.runner("gateway").run().exits(101).says(&[&format!("{file}: {says}")]);
        run.trials_are(&[("two_callers", "FAILED"), ("retake::no_orphans", "ok")]);
    }
    // A name in the suite has to match in at least one scenario.
    let tree = Tree::of(&["two_callers", "write_read_file"]);
    for (name, exits) in [("subagent:critic", 0), ("subagent:critik", 101)] {
        tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\nunused = [\"{name}\"]\n"));
        let run = tree.runner("gateway").run().exits(exits);
        run.trials_are(&[
            ("two_callers", "ok"),
            ("write_read_file", "ok"),
            ("retake::no_orphans", if exits == 0 { "ok" } else { "FAILED" }),
        ]);
    }
}

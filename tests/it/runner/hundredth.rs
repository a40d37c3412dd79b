//! What a suite of many scenarios needs: shared steps, tags, scenarios that are skipped or run again, and shards.

use std::collections::BTreeSet;

use crate::support::fixtures;
use crate::support::tree::Tree;
use crate::systems::described::{READY, system};

tests! { shared_steps_come_first_and_stay_out_of_the_golden,
    a_failing_shared_step_is_named_with_its_place_in_the_suite,
    a_scenario_that_is_skipped_says_why_and_tags_choose_scenarios,
    a_scenario_that_is_green_only_at_the_second_try_is_told_as_flaky_in_all_reports,
    nothing_is_tried_again_after_a_miss,
    a_recording_that_is_too_old_is_told_and_fails_nothing,
    five_scenarios_over_one_to_eight_shards_run_once_each,
    a_scenario_that_no_shard_ran_is_an_error_when_reports_are_merged,
    the_urls_of_systems_are_values_of_a_scenario,
}

/// Returns a step that runs a shell command and expects no particular output.
fn sh(command: &str) -> String {
    format!("[[step]]\nrun = [\"sh\", \"-c\", \"{command}; echo 1\"]\ngolden = false\n")
}

/// Returns a scenario that calls no model.
fn quiet(head: &str, steps: &str) -> String {
    format!("fixture = \"none\"\n{head}\n{steps}")
}

fn shared() -> Tree {
    let steps = "before = [\"login\"]\n[[steps.login]]\npost = \"/echo\"\njson = { token = \"t-1\" }\nstream = false\n\
                 capture = { token = \"json:/type\" }\n[[steps.login]]\nget = \"/numbers\"\nstream = { last = \"last\" }\n";
    let tree = Tree::with_suite(&format!("{steps}{}", system("agent", "", READY)));
    let own =
        "[[step]]\npost = \"/echo\"\njson = { with = \"{{ token }}\" }\ngolden = true\n[golden]\ndetail = \"values\"\n";
    tree.scenario("own", &quiet("", own));
    tree.scenario("off", &quiet("before = []", "[[step]]\nget = \"/count\"\ngolden = true\n"));
    tree
}

fn shared_steps_come_first_and_stay_out_of_the_golden() {
    let tree = shared();
    tree.retake().args(&["test", "--update"]).run().exits(0);
    let own = tree.read("goldens/own.snap");
    assert!(own.contains("<token>") && !own.contains("/numbers"), "{own}");
    assert!(!tree.read("goldens/off.snap").contains("/echo"));
    tree.replace(
        "scenarios/suite.toml",
        "stream = { last = \"last\" }\n",
        "stream = { last = \"last\" }\ngolden = true\n",
    );
    tree.retake().args(&["test", "own"]).run().exits(1).says(&["+ GET /numbers"]);
}

fn a_failing_shared_step_is_named_with_its_place_in_the_suite() {
    let tree = shared();
    tree.replace("scenarios/suite.toml", "\"/numbers\"", "\"/nowhere\"");
    let run = tree.retake().args(&["test", "own"]).run().exits(1);
    run.says(&["scenarios/suite.toml:8:1: failed to take step 2 `login` (GET /nowhere): ", "found 404"]);
}

fn a_scenario_that_is_skipped_says_why_and_tags_choose_scenarios() {
    let tree = Tree::with_suite("");
    tree.scenario("late", &quiet("skip = \"waits for issue 12\"", &sh("exit 1")));
    tree.scenario("slow", &quiet("tags = [\"slow\", \"nightly\"]", &sh("true")));
    tree.scenario("fast", &quiet("", &sh("true")));
    tree.write(".retake/runs/late.json", "{}");
    let reports = ["test", "--report", "junit", "--report", "html", "--report", "markdown"];
    let run = tree.retake().args(&reports).run().exits(0).says(&["note: late: ignored: waits for issue 12"]);
    assert_eq!(run.trials()["late"], "ignored");
    let late: serde_json::Value = serde_json::from_str(&tree.read(".retake/runs/late.json")).unwrap();
    assert_eq!((&late["result"], &late["notes"][0]), (&"skipped".into(), &"ignored: waits for issue 12".into()));
    let junit = tree.read(".retake/junit.xml");
    assert!(junit.contains("skipped=\"1\"") && junit.contains("waits for issue 12"), "{junit}");
    let page = tree.read(".retake/report.html");
    assert!(page.contains("1 skipped") && page.contains("All 2 scenarios passed"));
    assert!(tree.read(".retake/report.md").contains("| `late` | ignored: waits for issue 12 |"));
    tree.retake().args(&["explain", "late"]).run().exits(0).says(&["late: ignored: waits for issue 12"]);
    assert!(!tree.read(".retake/shard-times").contains("late"));
    assert_eq!(tree.retake().args(&["test", "--", "--ignored"]).run().exits(1).trials()["late"], "FAILED");
    let ran = |args: &[&str]| -> BTreeSet<String> {
        let run = tree.retake().arg("test").args(args).run().exits(0);
        run.trials().into_iter().filter(|(_, how)| *how == "ok").map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(ran(&["--tag", "slow"]), BTreeSet::from(["slow".to_owned()]));
    assert_eq!(ran(&["--tag", "!slow"]), BTreeSet::from(["fast".to_owned(), "retake::no_orphans".to_owned()]));
    let unknown = tree.retake().args(&["test", "--tag", "nightli"]).run().exits(2);
    unknown.says(&["no scenario has the tag `nightli`", "did you mean `nightly`?"]);
}

fn a_scenario_that_is_green_only_at_the_second_try_is_told_as_flaky_in_all_reports() {
    let tree = Tree::with_suite("");
    let once = sh("test -e {{ root }}/tried || { touch {{ root }}/tried; exit 3; }");
    tree.scenario("shaky", &quiet("retries = 1", &once));
    tree.scenario("firm", &quiet("retries = 1", &sh("true")));
    let run = tree.retake().args(&["test", "--report", "junit", "--report", "html", "--report", "markdown"]).run();
    run.exits(0).says(&["note: shaky: flaky: green only at try 2; before that: ", "found 3"]);
    let data = |name: &str| {
        serde_json::from_str::<serde_json::Value>(&tree.read(&format!(".retake/runs/{name}.json"))).unwrap()
    };
    let shaky = data("shaky");
    assert_eq!((&shaky["result"], &shaky["flaky"]["tries"]), (&"passed".into(), &2.into()), "{shaky}");
    assert!(shaky["flaky"]["failures"][0].as_str().unwrap().contains("found 3"), "{shaky}");
    assert!(data("firm")["flaky"].is_null());
    let junit = tree.read(".retake/junit.xml");
    assert_eq!(junit.matches("<flakyFailure").count(), 1, "{junit}");
    assert!(tree.read(".retake/report.html").contains("<span class=\"badge bad\">1 flaky</span>"));
    assert!(tree.read(".retake/report.md").contains("| flaky scenario |"));
    tree.retake().args(&["explain", "shaky"]).run().exits(0).says(&["shaky: passed, but FLAKY,", "found 3"]);
    // Without another try it fails.
    tree.remove("tried");
    tree.scenario("shaky", &quiet("", &once));
    tree.retake().args(&["test", "shaky"]).run().exits(1);
    // A scenario that fails at each try says so.
    tree.scenario("shaky", &quiet("retries = 2", &sh("exit 4")));
    tree.retake().args(&["test", "shaky"]).run().exits(1).says(&["try 1 failed too: ", "try 2 failed too: "]);
}

fn nothing_is_tried_again_after_a_miss() {
    let tree = Tree::with_suite(&format!("retries = 3\n{}", system("agent", "", READY)));
    let asks = "[[step]]\npost = \"/model\"\njson = { messages = [{ role = \"user\", content = \"hi\" }] }\n";
    tree.scenario("asks", &quiet("", &format!("{}{asks}", sh("echo 1 >> {{ root }}/tries"))));
    tree.scenario("fails", &quiet("", &sh("echo 1 >> {{ root }}/failed; exit 1")));
    tree.retake().arg("test").run().exits(1);
    assert_eq!(tree.read("tries"), "1\n");
    assert_eq!(tree.read("failed"), "1\n".repeat(4));
}

fn a_recording_that_is_too_old_is_told_and_fails_nothing() {
    let suite = |most: &str| format!("{most}\n{}", system("agent", "", READY));
    let tree = Tree::with_suite(&suite("max_age = \"90d\""));
    let asks = "[[step]]\npost = \"/model\"\nheaders = { x-retake-caller = \"a\" }\n\
                json = { messages = [{ role = \"user\", content = \"hi\" }] }\n";
    for name in ["old", "young"] {
        tree.scenario(name, asks);
        fixtures::write(&tree, name, vec![fixtures::turn(Some("a"), "hi", "Hello.")]);
    }
    let recorded = |name: &str, when: time::OffsetDateTime| {
        let mut fixture: serde_json::Value =
            serde_json::from_str(&tree.read(&format!("fixtures/{name}.json"))).unwrap();
        fixture["recorded"] = format!("{}T00:00+00:00", when.date()).into();
        tree.write(&format!("fixtures/{name}.json"), &fixture.to_string());
    };
    let now = time::OffsetDateTime::now_utc();
    recorded("old", now - time::Duration::days(91));
    recorded("young", now - time::Duration::days(89));
    let told = "note: old: recorded 91 days ago, longer than `max_age`; to record it again: retake record old";
    let run = tree.retake().args(&["test", "--report", "markdown"]).run().exits(0).says(&[told]);
    assert!(!run.all().contains("young: recorded"), "{}", run.all());
    let report = tree.read(".retake/report.md");
    assert!(report.contains("Older than `max_age`: `old`, 91 days.\n"), "{report}");
    tree.write("scenarios/suite.toml", &suite("max_age = \"91d\""));
    let run = tree.retake().arg("test").run().exits(0);
    assert!(!run.all().contains("max_age"), "{}", run.all());
    tree.write("scenarios/suite.toml", &suite("max_age = \"3 months\""));
    tree.retake().arg("test").run().exits(2).says(&["`3 months` is no number of days, as in \"90d\""]);
}

/// Returns a project of five scenarios that take different times.
fn five() -> Tree {
    let tree = Tree::with_suite("");
    for name in ["a", "b", "c", "d", "e"] {
        tree.scenario(name, &quiet("", &sh("true")));
    }
    let times = "{\"a\": 500, \"b\": 400, \"c\": 300, \"d\": 200, \"e\": 100}";
    tree.write(".retake/shard-times", times);
    tree
}

fn five_scenarios_over_one_to_eight_shards_run_once_each() {
    let tree = five();
    for of in 1..=8 {
        let mut ran: Vec<String> = Vec::new();
        for shard in 1..=of {
            let run = tree.retake().args(&["test", "--shard", &format!("{shard}/{of}")]).run().exits(0);
            let empty = run.trials().is_empty();
            assert_eq!(empty, shard > 5, "{shard}/{of}: {}", run.all());
            ran.extend(run.trials().into_keys().map(str::to_owned));
        }
        ran.sort();
        assert_eq!(ran, ["a", "b", "c", "d", "e", "retake::no_orphans"], "{of}");
    }
    // What a sharded run took does not change the shards of the next one.
    assert!(tree.read(".retake/shard-times").contains("500"));
    tree.retake().arg("test").run().exits(0);
    assert!(!tree.read(".retake/shard-times").contains("500"));
    tree.retake().args(&["test", "--shard", "6/5"]).run().exits(2).says(&["`6/5` is not a shard"]);
}

fn a_scenario_that_no_shard_ran_is_an_error_when_reports_are_merged() {
    let jobs: Vec<Tree> = (1..=6).map(|_| five()).collect();
    let folders: Vec<String> = jobs.iter().map(|job| job.path(".retake").to_str().unwrap().to_owned()).collect();
    for (job, number) in jobs.iter().zip(1..) {
        job.retake().args(&["test", "--shard", &format!("{number}/6")]).run().exits(0);
    }
    let merge = |folders: &[String]| {
        let here = five();
        here.retake()
            .args(&["report", "merge", "--form", "junit"])
            .args(&folders.iter().map(String::as_str).collect::<Vec<_>>())
            .run()
    };
    let whole = merge(&folders).exits(0);
    assert!(whole.stdout.contains("tests=\"6\"") || whole.stdout.contains("tests=\"5\""), "{}", whole.stdout);
    merge(&folders[1..]).exits(2).says(&["no job ran a", ".retake/shard-times"]);
}

fn the_urls_of_systems_are_values_of_a_scenario() {
    let needs = format!("{READY}\nneeds = [\"back\"]");
    let suite = format!("system = \"front\"\n{}{}", system("front", "", &needs), system("back", "", READY));
    let tree = Tree::with_suite(&suite);
    let asks = |name: &str| {
        quiet("", &sh(&format!("case {{{{ systems.{name} }}}} in http://127.0.0.1:*) :;; *) exit 3;; esac")))
    };
    tree.scenario("own", &asks("front"));
    tree.scenario("needed", &asks("back"));
    tree.scenario("needing", &format!("system = \"back\"\n{}", asks("front")));
    tree.retake().arg("test").run().exits(0);
    tree.scenario("own", &asks("frnt"));
    let run = tree.retake().args(&["test", "own"]).run().exits(1);
    run.says(&["this scenario uses the system `frnt`, but", "did you mean `front`?"]);
}

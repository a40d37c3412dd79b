//! What a golden holds of a service's answers besides their names, keys and types: its own words, the forms of times, headers, and
//! that a stream comes while the service works.

use crate::support::tree::{Tree, undated};

tests! {
    a_word_of_the_service_under_any_key_is_held,
    a_time_that_loses_its_zone_is_noticed,
    each_mistake_that_only_a_browser_or_a_patient_client_would_see_is_noticed,
    events_that_are_all_called_the_same_get_a_proposal_for_their_names,
    what_a_scenario_is_answered_is_held_although_it_captures_nothing,
    a_golden_of_an_older_format_is_compared_in_what_it_held,
    a_golden_of_another_day_is_compared_by_its_day,
    a_system_that_is_told_the_day_may_say_it,
    what_happened_to_a_text_in_pieces_is_told,
    a_damaged_golden_is_named_with_line_and_column,
}

/// What a service sends of a task.
const TASK: &str = r#"{"result": {"kind": "task", "id": "t", "status": {"state": "submitted"}}}
{"result": {"kind": "status-update", "status": {"state": "working", "timestamp": "2026-11-22T10:00:00.25Z"}, "final": false}}
{"result": {"kind": "artifact-update", "artifact": {"parts": [{"text": "It rains."}]}}}
{"result": {"kind": "status-update", "status": {"state": "completed", "timestamp": "2026-11-22T10:00:01Z"}, "final": true}}
"#;
/// The key of a golden's header that says which version wrote it.
const FORMAT: &str = "description: retake golden 3\n";

/// Returns a project with a scenario whose events are in a file, and its golden.
fn task() -> Tree {
    let tree = Tree::empty();
    tree.write("task.jsonl", TASK);
    tree.scenario("task", "fixture = \"none\"\n[[step]]\nrun = [\"cat\", \"{{ root }}/task.jsonl\"]\n");
    tree.retake().args(&["test", "--update"]).run().green();
    tree.retake().arg("test").run().green();
    tree
}

fn a_word_of_the_service_under_any_key_is_held() {
    let tree = task();
    tree.write("task.jsonl", &TASK.replace("completed", "failed"));
    let golden = tree.read("goldens/task.snap");
    assert!(golden.contains("state      \"completed\" | \"submitted\" | \"working\"\n"), "{golden}");
    let shape = "the event `message` has a different shape: `/result/status/state`";
    tree.retake().arg("test").run().red(&[shape, "\"failed\""]);
    // Not a word at all.
    tree.write("task.jsonl", &TASK.replace("completed", "done at last"));
    tree.retake().arg("test").run().red(&[shape]);
    // What is left loose is not held.
    tree.write("task.jsonl", TASK);
    let scenario = tree.read("scenarios/task/scenario.toml");
    tree.scenario("task", &format!("{scenario}[golden]\nloose = [\"message:/result/status/state\"]\n"));
    tree.retake().args(&["test", "--update"]).run().green();
    tree.write("task.jsonl", &TASK.replace("completed", "failed"));
    tree.retake().arg("test").run().green();
}

fn a_time_that_loses_its_zone_is_noticed() {
    let tree = task();
    tree.write("task.jsonl", &TASK.replace("10:00:01Z", "10:00:01"));
    tree.retake().arg("test").run().red(&["`/result/status/timestamp`", "yyyy-mm-ddThh:mm:ss"]);
}

fn each_mistake_that_only_a_browser_or_a_patient_client_would_see_is_noticed() {
    let tree = Tree::with_own_suite(&["several_turns"]);
    let scenario = tree.read("scenarios/several_turns/scenario.toml");
    tree.write("scenarios/several_turns/scenario.toml", &format!("timeout = \"16s\"\n{scenario}"));
    let play = |mistake: &str| tree.runner("bare").env("GATEWAY_MUTANT", mistake).env("CI", "1").run();
    play("none").exits(0);
    for (mistake, cause) in [
        ("cookie_of_scripts", "`set-cookie: session` of the answer to `POST /api/auth/register` lost `httponly`"),
        (
            "cookie_of_all_sites",
            "`set-cookie: csrf_token` of the answer to `POST /api/auth/register` lost `samesite=Lax`",
        ),
        ("stream_cached", "`cache-control` of the answer to"),
        ("stream_at_once", "text of the answer comes only when the model has ended (turn 1)"),
        ("times_without_zone", "`/created_at` is `yyyy-mm-ddThh:mm:ss.f`, not `yyyy-mm-ddThh:mm:ss.fZ now`"),
        ("times_of_the_zone", "`/created_at` is `yyyy-mm-ddThh:mm:ss.f+hh:mm now`, not `yyyy-mm-ddThh:mm:ss.fZ now`"),
    ] {
        play(mistake).exits(101).says(&[cause]);
    }
}

fn events_that_are_all_called_the_same_get_a_proposal_for_their_names() {
    let tree = task();
    let option = "event_name = \"/result/kind\"";
    let ran = tree.retake().args(&["test", "--update"]).run().exits(0);
    assert!(ran.stderr.contains(option), "{}", ran.stderr);
    let scenario = tree.read("scenarios/task/scenario.toml");
    tree.scenario("task", &format!("{scenario}[golden]\n{option}\n"));
    let ran = tree.retake().args(&["test", "--update"]).run().exits(0);
    assert!(!ran.stderr.contains(option), "{}", ran.stderr);
    tree.write("task.jsonl", &TASK.replace("artifact-update", "artifact"));
    tree.retake().arg("test").run().red(&["the event `artifact-update` is now called `artifact`"]);
}

fn what_a_scenario_is_answered_is_held_although_it_captures_nothing() {
    let tree = Tree::with_own_suite(&["history"]);
    let post =
        "[[step]]\npost = \"/api/threads\"\nheaders = { X-CSRF-Token = \"{{ csrf }}\" }\njson = {}\nstatus = 201\n";
    tree.scenario("listed", &format!("fixture = \"none\"\n{post}[[step]]\nget = \"/api/threads\"\n"));
    let play =
        |mistake: &str| tree.runner("bare").args(&["listed"]).env("GATEWAY_MUTANT", mistake).env("CI", "1").run();
    // As in a project of an older version.
    play("created_without_time").exits(0).says(&["note: listed: no golden holds what the service sends: "]);
    tree.runner("bare").args(&["listed"]).env("UPDATE_GOLDEN", "1").run().exits(0);
    let golden = tree.read("goldens/listed.snap");
    assert!(golden.contains("GET /api/threads\n200 application/json\n\n(beside)  [2]\n"), "{golden}");
    play("none").exits(0).never_says("holds less");
    play("created_without_time")
        .exits(101)
        .says(&["the body of `POST /api/threads` has a different shape: `/created_at` is gone"]);
}

fn a_golden_of_an_older_format_is_compared_in_what_it_held() {
    let tree = task();
    let golden = tree.read("goldens/task.snap");
    // As 0.2 wrote it, without words under other keys and forms of times.
    let older = golden
        .replace(FORMAT, "")
        .replace("\"completed\" | \"submitted\" | \"working\"", "string")
        .replace("yyyy-mm-ddThh:mm:ss.fZ", "string");
    let write_older = || {
        tree.write("goldens/task.snap", &older);
        tree.remove("fixtures/task.snap");
    };
    write_older();
    let less = "1 golden holds less than it could: retake test --update\n";
    tree.retake().arg("test").run().exits(0).says(&[less]);
    tree.retake().arg("audit").run().exits(0);
    // What it did not hold may change, what it held may not.
    tree.write("task.jsonl", &TASK.replace("\"submitted\"", "\"queued\""));
    tree.retake().arg("test").run().exits(0).says(&[less]);
    tree.write("task.jsonl", &TASK.replace("\"final\": true", "\"final\": 1"));
    let shape =
        "golden: the event `message` has a different shape: `/result/final` is `boolean | number`, not `boolean`";
    let ran = tree.retake().arg("test").run();
    ran.red(&[shape]);
    assert_eq!(ran.failure("task").lines().next(), Some(shape));
    tree.retake().arg("audit").run().exits(1).says(&["its events differ from its golden"]);
    tree.retake().args(&["test", "--update"]).run().exits(0).says(&["task: golden changed\n"]);
    tree.write("task.jsonl", TASK);
    write_older();
    tree.retake().args(&["test", "--update"]).run().exits(0).says(&["task: format only\n"]);
    assert_eq!(undated(&tree.read("goldens/task.snap")), undated(&golden));
    tree.retake().arg("test").run().green();
    tree.replace("goldens/task.snap", FORMAT, "description: retake golden 9\n");
    tree.retake().arg("test").run().red(&["goldens/task.snap was written by a newer version of Retake"]);
}

fn a_damaged_golden_is_named_with_line_and_column() {
    let tree = task();
    let golden = tree.read("goldens/task.snap");
    tree.replace("goldens/task.snap", "message\n  result", "message\n     result");
    let line = golden.lines().position(|line| line == "message").unwrap() + 2;
    let place = format!("goldens/task.snap:{line}:6: this line is indented by 5 spaces, expected an even number");
    tree.retake().arg("test").run().red(&[&place, "to rewrite it:\n    retake test task --update"]);
    tree.retake().args(&["test", "--update"]).run().green();
    assert_eq!(undated(&tree.read("goldens/task.snap")), undated(&golden));
}

fn a_golden_of_another_day_is_compared_by_its_day() {
    let tree = task();
    let day = |date: &str, words: &str, state: &str| {
        let started = format!("\"started\": \"{words}\", \"state\": \"{state}\"");
        tree.write("task.jsonl", &TASK.replace("\"state\": \"submitted\"", &started));
        tree.retake().env("RETAKE_DATE", date)
    };
    let golden = || tree.read("goldens/task.snap");
    day("2026-11-24", "Tuesday", "submitted").args(&["test", "--update"]).run().green();
    let (of_tuesday, values) = (golden(), tree.read("fixtures/task.snap"));
    assert!(of_tuesday.starts_with("---\ndescription: retake golden 3\ninfo:\n  written: 2026-11-24T"), "{of_tuesday}");
    assert!(of_tuesday.contains("started?   \"Tuesday\"\n"), "{of_tuesday}");
    day("2026-12-02", "Wednesday", "submitted").arg("test").run().green();
    // A day that stays is never looked at.
    day("2026-12-02", "Tuesday", "submitted").arg("test").run().green();
    let other =
        "the event `message` has a different shape: `/result/status/started` is `\"Friday\"`, not `\"Tuesday\"`";
    day("2026-12-02", "Friday", "submitted").arg("test").run().red(&[other]);
    // Nothing else than what is changed is told.
    let ran = day("2026-12-02", "Wednesday", "queued").arg("test").run();
    ran.red(&["`/result/status/state`", "\"queued\""]);
    assert!(!ran.failure("task").contains("Wednesday"), "{}", ran.failure("task"));
    // What waits is what was sent, and is accepted on yet another day.
    assert!(tree.read("goldens/task.snap.new").contains("\"Wednesday\""));
    day("2026-12-03", "Thursday", "queued").args(&["accept", "task"]).run().exits(0).says(&["task: accepted"]);
    assert!(golden().contains("  written: 2026-12-03T") && golden().contains("\"Thursday\""), "{}", golden());
    tree.write("goldens/task.snap", &of_tuesday);
    tree.write("fixtures/task.snap", &values);
    day("2026-12-02", "Wednesday", "submitted").args(&["test", "--update"]).run().green();
    assert_eq!(golden(), of_tuesday);
    day("2026-12-02", "Wednesday", "queued")
        .args(&["test", "--update"])
        .run()
        .exits(0)
        .says(&["task: golden changed\n"]);
    assert!(golden().contains("  written: 2026-12-02T") && golden().contains("\"Wednesday\""), "{}", golden());
}

fn a_system_that_is_told_the_day_may_say_it() {
    let tree = Tree::empty();
    let say = "printf '{\"started\": \"%s\"}\\n' $(LC_ALL=C date -d $RETAKE_DATE +%A)";
    let say = retake_core::json::Json::from(say).print(retake_core::json::Layout::Compact);
    tree.scenario("task", &format!("fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", {say}]\n"));
    let test = |date: &str| tree.retake().env("RETAKE_DATE", date).arg("test");
    test("2026-11-24").arg("--update").run().green();
    assert!(tree.read("goldens/task.snap").contains("started    \"Tuesday\"\n"), "{}", tree.read("goldens/task.snap"));
    test("2026-12-02").run().green();
    test("2026-12-02").arg("--update").run().green();
    assert!(tree.read("goldens/task.snap").contains("started    \"Tuesday\"\n"));
}

fn what_happened_to_a_text_in_pieces_is_told() {
    let text =
        "It rains all day long in the old town, and there is nobody outside but us, so let us go to the caf\u{e9} now";
    let pieces = |text: &str, times: usize| -> String {
        let piece =
            |word: &str| format!("{{\"type\": \"delta\", \"id\": \"m1\", \"delta\": \"{word}\"}}\n").repeat(times);
        text.split_inclusive(' ').map(piece).collect()
    };
    let value = |number: usize| format!("{{\"type\": \"value\", \"n\": {number}}}\n");
    let tree = Tree::empty();
    let step = "[[step]]\nrun = [\"cat\", \"{{ root }}/task.jsonl\"]\n[golden]\ncollapse = [\"delta\"]\n";
    tree.scenario("task", &format!("fixture = \"none\"\n{step}"));
    tree.write("task.jsonl", &[value(1), pieces(text, 1), value(2)].concat());
    tree.retake().args(&["test", "--update"]).run().green();
    for (lines, first) in [
        (
            [value(1), pieces(&text.replace('\u{e9}', "e\u{301}"), 1), value(2)],
            "the text at `/delta` in another Unicode form: NFD, U+0065 U+0301 in place of NFC, U+00E9",
        ),
        ([value(1), pieces(text, 2), value(2)], "each piece of `/delta` comes twice"),
        (
            [value(1), value(2), pieces(text, 1)],
            "came in a different place: after `value` (2 of 2), not after `value` (1 of 2)",
        ),
    ] {
        tree.write("task.jsonl", &lines.concat());
        let ran = tree.retake().arg("test").run();
        ran.red(&[first]);
        assert!(ran.failure("task").lines().next().is_some_and(|line| line.contains(first)), "{}", ran.failure("task"));
    }
}

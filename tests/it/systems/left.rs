//! Model calls whose clients disconnect, and model calls that come after the last step.

use super::described::{READY, system};
use super::provider::record;
use crate::support::tree::Tree;
use std::time::{Duration, Instant};

tests!(
    a_call_whose_client_disconnects_is_recorded_and_replayed,
    a_client_that_does_not_disconnect_in_replay_is_explained_at_the_time_limit,
    a_service_that_looks_only_at_the_next_piece_whether_its_client_is_there_replays,
    a_service_that_goes_on_with_a_call_that_it_cancelled_fails,
    a_step_can_wait_for_the_model_call_of_a_caller,
    a_call_that_the_recording_did_not_wait_for_is_named,
    a_call_without_a_caller_keeps_the_caller_of_the_old_fixture,
    using_a_missing_note_of_the_fixture_is_an_error_before_the_first_step,
    recording_notes_the_prompt_and_the_context,
    after_a_miss_nothing_waits_for_what_cannot_come,
    after_a_failed_part_nothing_waits_for_the_other_parts,
);

/// A scenario that disconnects from a stream midway, so the system disconnects from the model.
const LEAVES: &str = "[[step]]\npost = \"/relay\"\ncancel = { after = \"piece\" }\n[golden]\ncollapse = [\"piece\"]\n";

fn tree(scenario: &str) -> Tree {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("a", scenario);
    tree
}

fn a_call_whose_client_disconnects_is_recorded_and_replayed() {
    let tree = tree(LEAVES);
    record(&tree, &["a"]).green();
    assert!(tree.read("fixtures/a.json").contains("\"open\": true"), "{}", tree.read("fixtures/a.json"));
    tree.retake().args(&["test"]).run().green();
}

fn a_client_that_does_not_disconnect_in_replay_is_explained_at_the_time_limit() {
    let tree = tree(LEAVES);
    record(&tree, &["a"]).green();
    tree.scenario("a", "timeout = \"5s\"\n[[step]]\npost = \"/relay\"\nstream = { last = \"end\" }\n");
    tree.retake().args(&["test", "a"]).run().red(&[
        "the scenario took longer than 5s",
        "the service goes on with a model call that it cancelled while it was recorded: it is held open",
    ]);
}

fn a_service_that_looks_only_at_the_next_piece_whether_its_client_is_there_replays() {
    let tree = tree(LEAVES);
    record(&tree, &["a"]).green();
    tree.write("scenarios/suite.toml", &system("agent", "READS_ON = \"looks\"", READY));
    tree.retake().args(&["test"]).run().green();
}

fn a_service_that_goes_on_with_a_call_that_it_cancelled_fails() {
    let tree = tree(LEAVES);
    record(&tree, &["a"]).green();
    tree.write("scenarios/suite.toml", &system("agent", "READS_ON = \"on\"", READY));
    tree.scenario("a", &format!("timeout = \"5s\"\n{LEAVES}"));
    tree.retake().args(&["test"]).run().red(&[
        "the service goes on with a model call that it cancelled while it was recorded: turn 1",
        "the end of that answer was not recorded; if the service may wait for it: retake record a",
    ]);
}

/// A scenario whose system calls the model as `suggest_agent` long after its last step.
const SUGGESTS: &str = "settle = \"0ms\"\nlinger = \"0ms\"\n[[step]]\npost = \"/chat\"\njson = { message = \"hi\" }\n\
    stream = { last = \"end\" }\n[[step]]\npost = \"/suggest/700\"\n";

fn a_step_can_wait_for_the_model_call_of_a_caller() {
    let awaits = format!("{SUGGESTS}await = {{ caller = \"suggest_agent\" }}\n");
    let tree = tree(&awaits);
    record(&tree, &["a"]).green();
    assert!(tree.read("fixtures/a.json").contains("\"caller\": \"suggest_agent\""));
    tree.retake().args(&["test"]).run().green();
    let again = "[[step]]\nget = \"/health\"\nawait = { caller = \"suggest_agent\" }\n";
    tree.scenario("a", &format!("timeout = \"5s\"\n{awaits}{again}"));
    tree.retake().args(&["test"]).run().red(&["no model call of `suggest_agent` came: step 3 (GET /health)"]);
    tree.scenario("a", &awaits.replace("\"suggest_agent\"", "\"sugest_agent\""));
    tree.retake().args(&["test"]).run().red(&[
        "`await` names `sugest_agent`, which is not the caller of any recorded turn or rule\n  did you mean `suggest_agent`?",
    ]);
    tree.scenario("a", &awaits.replace("\"suggest_agent\"", "\" \""));
    tree.retake().args(&["test"]).run().red(&["`await` names no caller"]);
}

fn a_call_that_the_recording_did_not_wait_for_is_named() {
    let chat = "[[step]]\npost = \"/chat\"\njson = { message = \"hi\" }\nstream = { last = \"end\" }\n";
    let caller = "[[callers]]\nname = \"memory\"\nwhen = { message = \"^say nothing\" }\n";
    let asks = system("agent", "ASKS_AT_THE_END = \"in vain\"", READY);
    let tree = Tree::with_suite(&format!("{asks}{caller}"));
    tree.scenario("a", chat);
    record(&tree, &["a"]).tells(&[
        "POST /v1/chat/completions of `memory`: the answer is incomplete: ",
        "if the recording did not wait for it, a step can: await = { caller = \"memory\" }",
    ]);
}

fn a_call_without_a_caller_keeps_the_caller_of_the_old_fixture() {
    let chat = "[[step]]\npost = \"/chat\"\njson = { message = \"hi\" }\nstream = { last = \"end\" }\n";
    let tree = tree(chat);
    record(&tree, &["a"]).green();
    let old = tree.read("fixtures/a.json");
    assert!(!old.contains("\"caller\""));
    // An import or a person may have added the caller.
    let mut fixture: serde_json::Value = serde_json::from_str(&old).unwrap();
    let turn = fixture["turns"][0].as_object_mut().unwrap();
    turn.insert("caller".into(), "helper".into());
    tree.write("fixtures/a.json", &fixture.to_string());
    record(&tree, &["a"]).green();
    assert!(tree.read("fixtures/a.json").contains("\"caller\": \"helper\""), "{}", tree.read("fixtures/a.json"));
}

fn using_a_missing_note_of_the_fixture_is_an_error_before_the_first_step() {
    let steps =
        "[[step]]\npost = \"/crash\"\n[[step]]\npost = \"/chat\"\njson = { message = \"{{ fixture.prompt }}\" }\n";
    let tree = tree(&format!("fixture = \"none\"\n{steps}"));
    let ran = tree.retake().args(&["test"]).run();
    ran.red(&[
        "scenario.toml:6:",
        "`fixture.prompt` is not defined",
        "recording stores the vars `prompt` and `context`",
    ]);
    assert!(!ran.all().contains("going down"), "{}", ran.all());
}

fn recording_notes_the_prompt_and_the_context() {
    let vars = "[vars]\nprompt = \"hi\"\ncontext = { mode = \"fast\", steps = 3 }\n";
    let chat = "[[step]]\npost = \"/chat\"\njson = { message = \"{{ prompt }}\" }\nstream = { last = \"end\" }\n";
    let tree = tree(&format!("{vars}{chat}"));
    record(&tree, &["a"]).green();
    let fixture: serde_json::Value = serde_json::from_str(&tree.read("fixtures/a.json")).unwrap();
    assert_eq!(fixture["prompt"], "hi");
    assert_eq!(fixture["context"], serde_json::json!({"mode": "fast", "steps": 3}));
    // Another scenario that uses this fixture reads both from it.
    let shared = chat
        .replace("prompt }}", "fixture.prompt }}")
        .replace("stream", "headers = { x-steps = \"{{ fixture.context.steps }}\" }\nstream");
    tree.scenario("b", &format!("fixture = \"a\"\n{shared}"));
    tree.retake().args(&["test", "b", "--update"]).run().green();
}

/// A timeout that a run does not reach which waits for nothing in vain.
const LONG: &str = "timeout = \"120s\"\nlinger = \"0ms\"\n";

fn after_a_miss_nothing_waits_for_what_cannot_come() {
    let chat = "[[step]]\npost = \"/chat\"\njson = { message = \"hi\" }\nstream = { last = \"end\" }\n";
    let other = chat.replace("hi", "ho");
    let tree = tree(&format!("{LONG}{chat}"));
    record(&tree, &["a"]).green();
    let cases = [
        ("get = \"/numbers\"\nstream = { last = \"end\" }", "the event `end` did not come: step 2 (GET /numbers)"),
        (
            "get = \"/job\"\nwait = { json = \"/status\", is = \"failed\" }",
            "/status did not become \"failed\", but is \"done\": step 2 (GET /job)",
        ),
        ("post = \"/hang\"", "no answer came: step 2 (POST /hang)"),
        ("listen = \"/events\"\nstream = { last = \"bye\" }", "the event `bye` did not come: step 2 (listen /events)"),
        ("run = [\"sleep\", \"100\"]", "the command did not end: step 2 (run sleep 100)"),
    ];
    for (step, lacks) in cases {
        tree.scenario("a", &format!("{LONG}{other}[[step]]\n{step}\n"));
        let began = Instant::now();
        let ran = tree.retake().args(&["test", "a"]).run();
        ran.red(&["miss: ", "after that: ", lacks]);
        let miss = ran.all().find("replay miss: ").unwrap();
        assert!(miss < ran.all().find(lacks).unwrap(), "{}", ran.all());
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

fn after_a_failed_part_nothing_waits_for_the_other_parts() {
    let parts = "[[step]]\ntogether = [{ post = \"/hang\" }, { get = \"/nowhere\" }]\n";
    let tree = tree(&format!("{LONG}fixture = \"none\"\n{parts}"));
    let began = Instant::now();
    tree.retake().args(&["test", "a"]).run().red(&[
        "expected a status of 200 to 299, found 404",
        "no answer came: step 1 (together POST /hang, GET /nowhere)",
    ]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

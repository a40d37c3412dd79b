//! The project that a fixture lies in: its suite holds for whatever replays or records the fixture, wherever it is started.

use std::path::Path;

use serde_json::{Value, json};

use crate::record::recording::counting_provider;
use crate::replay::serve::Serving;
use crate::support::loopback::{chat, send};
use crate::support::program::{Program, retake};
use crate::support::tree::Tree;

tests! { serve_answers_by_the_suite_of_the_fixture_s_project,
    a_replay_model_of_a_plain_test_does_too,
    another_project_is_named_by_root,
    drift_that_the_suite_fails_fails_serve_and_a_replay_model,
    what_is_wrong_with_a_scenario_stops_no_serve_and_a_wrong_suite_does,
    a_fixture_is_imported_and_keyed_by_the_project_that_it_is_written_into,
}

const SUITE: &str = r#"
[[normalize]]
pattern = 'order-\d+'
replace = "<ORDER>"

[[callers]]
name = "titles"
when = { message = "^A title" }

[aliases]
boss = "lead_agent"
"#;

/// A project with a recording of two callers who sent the same, of which one is told by a rule.
fn recorded(suite: &str) -> Tree {
    let tree = Tree::with_suite(suite);
    tree.scenario("idle", "[[step]]\nrun = [\"true\"]\nstream = { last = \"end\" }\n");
    let provider = counting_provider();
    let proxy = ["proxy", "--upstream", &provider.openai(), "--out", "fixtures/orders.json", "--key", "ours"];
    let mut proxy = Serving::start(tree.retake().args(&proxy));
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    for (caller, text) in [(Some("boss"), "Where is order-12?"), (None, "A title for order-12")] {
        let headers = [("authorization", "Bearer ours"), ("x-retake-caller", caller.unwrap_or_default())];
        assert_eq!(send(&url, &headers, Some(&chat(&asked(text), false))).status, 200);
    }
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/orders.json")).unwrap();
    let callers = [&fixture["turns"][0]["caller"], &fixture["turns"][1]["caller"]];
    assert_eq!(callers, ["lead_agent", "titles"]);
    tree
}

fn asked(text: &str) -> Value {
    json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": text }])
}

/// The command, started in a folder of no project.
fn elsewhere(fixture: &Path) -> Program {
    retake().in_folder(Path::new("/")).arg("serve").arg(fixture)
}

/// Asks as the recording did, with other numbers and by another name.
fn asks_alike(serving: &Serving) -> [u16; 2] {
    let lead = serving.ask(&[("x-retake-caller", "lead_agent")], &asked("Where is order-77?"), false);
    [lead.status, serving.ask(&[], &asked("A title for order-99"), false).status]
}

fn serve_answers_by_the_suite_of_the_fixture_s_project() {
    let tree = recorded(SUITE);
    let mut serving = Serving::start(elsewhere(&tree.path("fixtures/orders.json")));
    assert_eq!(asks_alike(&serving), [200, 200]);
    let (code, said) = serving.end_and_read("-INT");
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

fn a_replay_model_of_a_plain_test_does_too() {
    let tree = recorded(SUITE);
    let fixture = tree.path("fixtures/orders.json");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let model = runtime.block_on(retake::ReplayModel::start(&fixture)).unwrap();
    let (url, key) = (format!("{}/chat/completions", model.urls().openai), format!("Bearer {}", model.key()));
    let title = send(&url, &[("authorization", &key)], Some(&chat(&asked("A title for order-99"), false)));
    assert_eq!(title.status, 200, "{}", title.body);
    model.verify();
    let replay = retake::Replay::open(&fixture).unwrap();
    let message = retake::Message::new("human", "Where is order-5?");
    assert!(replay.answer(&[message], Some("boss")).is_ok());
}

fn another_project_is_named_by_root() {
    let tree = recorded(SUITE);
    let alone = Tree::empty();
    alone.write("orders.json", &tree.read("fixtures/orders.json"));
    let file = alone.path("orders.json");
    let other = recorded(SUITE);
    for (program, statuses) in [
        (elsewhere(&file), [404, 404]),
        (elsewhere(&file).arg("--root").arg(tree.root()), [200, 200]),
        (elsewhere(&file).env("RETAKE_ROOT", tree.root()), [200, 200]),
    ] {
        assert_eq!(asks_alike(&Serving::start(program)), statuses);
    }
    let model = retake::ReplayModel::of(&file).root(tree.root()).replay().unwrap();
    assert!(model.answer(&[retake::Message::new("human", "Where is order-5?")], Some("boss")).is_ok());
    elsewhere(&file)
        .arg(other.path("fixtures/orders.json"))
        .run()
        .exits(2)
        .says(&["are in different projects", "--root"]);
    elsewhere(&file).args(&["--root", "gone"]).run().exits(2).says(&["gone: there is no such folder"]);
}

fn drift_that_the_suite_fails_fails_serve_and_a_replay_model() {
    let tree = recorded(&format!("drift = {{ prompt = \"fail\" }}\n{SUITE}"));
    let fixture = tree.path("fixtures/orders.json");
    let mut serving = Serving::start(elsewhere(&fixture));
    let call =
        json!([{ "role": "system", "content": "Be terse." }, { "role": "user", "content": "A title for order-1" }]);
    assert_eq!(serving.ask(&[], &call, false).status, 200);
    let (code, said) = serving.end_and_read("-INT");
    let told = "drift: prompt changed in the call by `titles`, turns[1]: \"brief.\" → \"terse.\"";
    assert_eq!((code, said), (Some(1), format!("error: {told}\n")));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let model = runtime.block_on(retake::ReplayModel::start(&fixture)).unwrap();
    let (url, key) = (format!("{}/chat/completions", model.urls().openai), format!("Bearer {}", model.key()));
    assert_eq!(send(&url, &[("authorization", &key)], Some(&chat(&call, false))).status, 200);
    let verified = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.verify())).unwrap_err();
    assert_eq!(verified.downcast_ref::<String>().map(String::as_str), Some(told));
}

fn what_is_wrong_with_a_scenario_stops_no_serve_and_a_wrong_suite_does() {
    let tree = recorded(SUITE);
    tree.scenario("broken", "nonsense = [");
    tree.scenario("of_a_router", "system = \"nowhere\"\n[[step]]\npost = \"/\"\n");
    let serving = Serving::start(elsewhere(&tree.path("fixtures/orders.json")));
    assert_eq!(asks_alike(&serving), [200, 200]);
    tree.write("scenarios/suite.toml", "normalise = []\n");
    let refused = elsewhere(&tree.path("fixtures/orders.json")).run().exits(2);
    refused.says(&["scenarios/suite.toml:1:1: ", "did you mean `normalize`?"]);
}

fn a_fixture_is_imported_and_keyed_by_the_project_that_it_is_written_into() {
    let tree = recorded(SUITE);
    let away = |args: &[&str]| retake().in_folder(Path::new("/")).args(args).run();
    let path = |file: &str| tree.path(file).to_str().unwrap().to_owned();
    let keys = |file: &str| {
        let fixture: Value = serde_json::from_str(&tree.read(file)).unwrap();
        fixture["turns"].as_array().unwrap().iter().map(|turn| turn["input_hash"].clone()).collect::<Vec<_>>()
    };
    let recorded = keys("fixtures/orders.json");
    away(&["import", "journal", &path("fixtures/.journal/orders.jsonl"), "--out", &path("fixtures/again.json")])
        .green();
    assert_eq!(keys("fixtures/again.json"), recorded);
    let unchanged = away(&["key", "--write", &path("fixtures/again.json")]);
    unchanged.exits(0).says(&["unchanged, every key fits its call"]);
    // And what `key` prints is what a fixture of the project holds.
    tree.write(
        "calls.jsonl",
        &json!({ "caller": "boss", "messages": [{ "type": "human", "data": { "content": "Where is order-3?" } }] })
            .to_string(),
    );
    let printed = away(&["key", &path("calls.jsonl")]).exits(0);
    assert!(printed.stdout.contains(recorded[0].as_str().unwrap()), "{}", printed.stdout);
}

//! A fixture belongs to the project that it is in: whatever replays or records it uses that project's suite, no matter where
//! it is started.

use std::path::Path;

use serde_json::{Value, json};

use crate::record::recording::counting_provider;
use crate::replay::serve::Serving;
use crate::support::loopback::{chat, send};
use crate::support::program::{Program, retake};
use crate::support::tree::Tree;

tests! { serve_uses_the_suite_of_the_project_that_contains_the_fixture,
    a_replay_model_in_a_plain_test_uses_it_too,
    root_selects_another_project,
    drift_that_the_suite_sets_to_fail_fails_serve_and_a_replay_model,
    a_broken_scenario_does_not_stop_serve_but_a_broken_suite_does,
    import_and_key_use_the_rules_of_the_project_that_contains_the_fixture,
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

/// Returns a project with a recording of two callers: one declares itself, the other is recognized by a rule.
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

/// Returns the messages of a call: a system prompt, and this text from the user.
fn asked(text: &str) -> Value {
    json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": text }])
}

/// Returns `retake serve`, to be started in a folder outside any project.
fn elsewhere(fixture: &Path) -> Program {
    retake().in_folder(Path::new("/")).arg("serve").arg(fixture)
}

/// Makes the recorded calls with other order numbers, and with the alias's target as the caller.
fn asks_alike(serving: &Serving) -> [u16; 2] {
    let lead = serving.ask(&[("x-retake-caller", "lead_agent")], &asked("Where is order-77?"), false);
    [lead.status, serving.ask(&[], &asked("A title for order-99"), false).status]
}

fn serve_uses_the_suite_of_the_project_that_contains_the_fixture() {
    let tree = recorded(SUITE);
    let mut serving = Serving::start(elsewhere(&tree.path("fixtures/orders.json")));
    assert_eq!(asks_alike(&serving), [200, 200]);
    let (code, said) = serving.end_and_read("-INT");
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

fn a_replay_model_in_a_plain_test_uses_it_too() {
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

fn root_selects_another_project() {
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

fn drift_that_the_suite_sets_to_fail_fails_serve_and_a_replay_model() {
    let tree = recorded(&format!("drift = {{ prompt = \"fail\" }}\n{SUITE}"));
    let fixture = tree.path("fixtures/orders.json");
    let mut serving = Serving::start(elsewhere(&fixture));
    let call =
        json!([{ "role": "system", "content": "Be terse." }, { "role": "user", "content": "A title for order-1" }]);
    assert_eq!(serving.ask(&[], &call, false).status, 200);
    let (code, said) = serving.end_and_read("-INT");
    let told = "drift: prompt changed in the call by `titles`, turn 2: \"brief.\" → \"terse.\"";
    assert_eq!((code, said), (Some(1), format!("error: {told}\n")));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let model = runtime.block_on(retake::ReplayModel::start(&fixture)).unwrap();
    let (url, key) = (format!("{}/chat/completions", model.urls().openai), format!("Bearer {}", model.key()));
    assert_eq!(send(&url, &[("authorization", &key)], Some(&chat(&call, false))).status, 200);
    let verified = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| model.verify())).unwrap_err();
    assert_eq!(verified.downcast_ref::<String>().map(String::as_str), Some(told));
}

fn a_broken_scenario_does_not_stop_serve_but_a_broken_suite_does() {
    let tree = recorded(SUITE);
    tree.scenario("broken", "nonsense = [");
    tree.scenario("of_a_router", "system = \"nowhere\"\n[[step]]\npost = \"/\"\n");
    let serving = Serving::start(elsewhere(&tree.path("fixtures/orders.json")));
    assert_eq!(asks_alike(&serving), [200, 200]);
    tree.write("scenarios/suite.toml", "normalise = []\n");
    let refused = elsewhere(&tree.path("fixtures/orders.json")).run().exits(2);
    refused.says(&["scenarios/suite.toml:1:1: ", "did you mean `normalize`?"]);
}

fn import_and_key_use_the_rules_of_the_project_that_contains_the_fixture() {
    let tree = recorded(SUITE);
    let away = |args: &[&str]| retake().in_folder(Path::new("/")).args(args).run();
    let path = |file: &str| tree.path(file).to_str().unwrap().to_owned();
    let keys = |file: &str| {
        let fixture: Value = serde_json::from_str(&tree.read(file)).unwrap();
        fixture["turns"].as_array().unwrap().iter().map(|turn| turn["input"].clone()).collect::<Vec<_>>()
    };
    let recorded = keys("fixtures/orders.json");
    away(&["import", "journal", &path("fixtures/.journal/orders.jsonl"), "--out", &path("fixtures/again.json")])
        .green();
    assert_eq!(keys("fixtures/again.json"), recorded);
    let unchanged = away(&["key", "--write", &path("fixtures/again.json")]);
    unchanged.exits(0).says(&["unchanged, nothing in it is older"]);
    // `retake key` prints the same key for calls that the rules make the same.
    let key = |order: u32, caller: &str| {
        let said = format!("Where is order-{order}?");
        let call = json!({ "caller": caller, "messages": [{ "type": "human", "data": { "content": said } }] });
        tree.write("calls.jsonl", &call.to_string());
        away(&["key", &path("calls.jsonl")]).exits(0).stdout
    };
    assert_eq!(key(3, "boss"), key(4, "lead_agent"));
}

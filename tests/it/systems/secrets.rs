//! Secrets that a system has to hold, and errors of a provider that a scenario wants to keep.

use super::described::{CHAT, READY, system};
use super::provider::{record, record_with};
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests!(
    recording_gives_the_real_value_and_stores_its_name,
    steps_have_secrets_too,
    what_is_not_set_and_what_is_not_declared_stop_the_recording,
    a_provider_s_error_is_a_turn_where_the_scenario_says_so,
);

const VALUE: &str = "r3al/value+of \"stripe\"";

/// The suite of a system that holds a secret and tells it to its model.
fn suite(fields: &str) -> String {
    system("agent", r#"STRIPE = "{{ secret.STRIPE }}""#, &format!("{READY}\n{fields}"))
}

/// A scenario that pins what the model said.
fn chat(message: &str) -> String {
    CHAT.replace("\"hello\"", message) + "[golden]\nshow = [\"/answer\"]\n"
}

#[track_caller]
fn nowhere(tree: &Tree, ran: &Ran) {
    for form in ["r3al", "r3al%2Fvalue", "cjNhbC92YWx1"] {
        assert!(!ran.all().contains(form), "{form}: {}", ran.all());
        for (file, text) in tree.files() {
            assert!(!text.contains(form), "{form} is in {file}:\n{text}");
        }
    }
}

fn recording_gives_the_real_value_and_stores_its_name() {
    for fields in ["", "shared = true\n"] {
        let tree = Tree::with_suite(&suite(fields));
        tree.scenario("chat", &chat("\"hello\""));
        let recorded = record_with(&tree, &["chat"], &[("STRIPE", VALUE)]);
        recorded.green();
        recorded.tells(&["chat: small: 1 call, 1 tokens in, 2 out", "chat: 1 turn recorded to fixtures/chat.json"]);
        nowhere(&tree, &recorded);
        let fixture = tree.read("fixtures/chat.json");
        assert!(fixture.contains("hello with <STRIPE>") && fixture.contains("\"env:STRIPE\""), "{fixture}");
        let golden = tree.read("goldens/chat.snap");
        assert!(golden.contains("you said: hello with <STRIPE>"), "{golden}");
        // Without the value, and with it, as on the machine that recorded.
        tree.retake().args(&["test"]).run().green();
        let ran = tree.retake().args(&["test"]).env("STRIPE", VALUE).run();
        ran.green();
        // A failure tells no secret either.
        tree.scenario("chat", &chat("\"goodbye\""));
        let ran = tree.retake().args(&["test"]).env("STRIPE", VALUE).run();
        ran.red(&["replay miss", "goodbye with <STRIPE>"]);
        nowhere(&tree, &ran);
    }
}

fn steps_have_secrets_too() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"log in with {{ secret.STRIPE }}\""));
    let recorded = record_with(&tree, &["chat"], &[("STRIPE", VALUE)]);
    recorded.green();
    nowhere(&tree, &recorded);
    assert!(tree.read("goldens/chat.snap").contains("you said: log in with <STRIPE>"));
    tree.retake().args(&["test"]).run().green();
}

fn what_is_not_set_and_what_is_not_declared_stop_the_recording() {
    let tree = Tree::with_suite(&suite(""));
    tree.scenario("chat", &chat("\"hello\""));
    let missing = record_with(&tree, &["chat"], &[]);
    missing
        .red(&["chat: not recorded: the environment variable STRIPE is not set, and `{{ secret.STRIPE }}` needs it"]);
    let short = record_with(&tree, &["chat"], &[("STRIPE", "abc")]);
    short.red(&["the value of STRIPE has 3 characters: a secret needs at least 6 to be told from other text"]);
    // The system reads it where nobody looked.
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"use t0ken-of-a-deploy\""));
    let token = [("DEPLOY_TOKEN", "t0ken-of-a-deploy")];
    let stopped = record_with(&tree, &["chat"], &token);
    stopped.red(&["DEPLOY_TOKEN, which looks like a secret", "scenarios/suite.toml: secrets = [\"DEPLOY_TOKEN\"]"]);
    assert!(!stopped.all().contains(token[0].1), "{}", stopped.all());
    let journal = tree.read("fixtures/.journal/chat.jsonl");
    assert!(journal.is_empty(), "{journal}");
    // With the line that it names, it is recorded.
    tree.write("scenarios/suite.toml", &format!("secrets = [\"DEPLOY_TOKEN\"]\n{}", system("agent", "", READY)));
    record_with(&tree, &["chat"], &token).green();
    assert!(tree.read("fixtures/chat.json").contains("use <DEPLOY_TOKEN>"));
}

fn a_provider_s_error_is_a_turn_where_the_scenario_says_so() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"too much\""));
    record(&tree, &["chat"]).red(&[
        "chat: not recorded: the provider failed: ",
        "status 429",
        "record = { errors = true } in scenario.toml",
    ]);
    tree.scenario("chat", &format!("record = {{ errors = true }}\n{}", chat("\"too much\"")));
    record(&tree, &["chat"]).green();
    assert!(tree.read("goldens/chat.snap").contains("sorry: slow down"));
    assert!(tree.read("fixtures/chat.json").contains("\"status\": 429"));
    tree.retake().args(&["test"]).run().green();
}

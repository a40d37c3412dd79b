//! Secrets that a system needs, and provider errors that a scenario wants to keep.

use super::described::{CHAT, READY, system};
use super::provider::{record, record_with};
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests!(
    recording_passes_the_real_value_to_the_system_and_stores_only_its_name,
    steps_can_use_secrets_too,
    a_secret_that_is_not_set_or_not_declared_stops_the_recording,
    a_providers_error_becomes_a_turn_if_the_scenario_says_so,
);

const VALUE: &str = "r3al/value+of \"stripe\"";

/// Returns a suite whose system has a secret and sends it to its model.
fn suite(fields: &str) -> String {
    system("agent", r#"STRIPE = "{{ secret.STRIPE }}""#, &format!("{READY}\n{fields}"))
}

/// Returns a scenario whose golden contains the model's answer.
fn chat(message: &str) -> String {
    CHAT.replace("\"hello\"", message) + "[golden]\nshow = [\"/answer\"]\n"
}

/// Asserts that the secret is in no file and in nothing that was printed, in any encoding.
#[track_caller]
fn nowhere(tree: &Tree, ran: &Ran) {
    for form in ["r3al", "r3al%2Fvalue", "cjNhbC92YWx1"] {
        assert!(!ran.all().contains(form), "{form}: {}", ran.all());
        for (file, text) in tree.files() {
            assert!(!text.contains(form), "{form} is in {file}:\n{text}");
        }
    }
}

fn recording_passes_the_real_value_to_the_system_and_stores_only_its_name() {
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
        // It passes without the value, and with it, as on the machine that recorded.
        tree.retake().args(&["test"]).run().green();
        let ran = tree.retake().args(&["test"]).env("STRIPE", VALUE).run();
        ran.green();
        // A failure does not reveal the secret either.
        tree.scenario("chat", &chat("\"goodbye\""));
        let ran = tree.retake().args(&["test"]).env("STRIPE", VALUE).run();
        ran.red(&["replay miss", "goodbye with <STRIPE>"]);
        nowhere(&tree, &ran);
    }
}

fn steps_can_use_secrets_too() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"log in with {{ secret.STRIPE }}\""));
    let recorded = record_with(&tree, &["chat"], &[("STRIPE", VALUE)]);
    recorded.green();
    nowhere(&tree, &recorded);
    assert!(tree.read("goldens/chat.snap").contains("you said: log in with <STRIPE>"));
    tree.retake().args(&["test"]).run().green();
}

fn a_secret_that_is_not_set_or_not_declared_stops_the_recording() {
    let tree = Tree::with_suite(&suite(""));
    tree.scenario("chat", &chat("\"hello\""));
    let missing = record_with(&tree, &["chat"], &[]);
    missing
        .red(&["chat: not recorded: the environment variable STRIPE is not set, and `{{ secret.STRIPE }}` needs it"]);
    let short = record_with(&tree, &["chat"], &[("STRIPE", "abc")]);
    short.red(&["the value of STRIPE has 3 characters: a secret needs at least 6 to be told from other text"]);
    // The system sends a secret that is not declared.
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"use t0ken-of-a-deploy\""));
    let token = [("DEPLOY_TOKEN", "t0ken-of-a-deploy")];
    let stopped = record_with(&tree, &["chat"], &token);
    stopped.red(&["DEPLOY_TOKEN, which looks like a secret", "scenarios/suite.toml: secrets = [\"DEPLOY_TOKEN\"]"]);
    assert!(!stopped.all().contains(token[0].1), "{}", stopped.all());
    let journal = tree.read("fixtures/.journal/chat.jsonl");
    assert!(journal.is_empty(), "{journal}");
    // With the line that the error names, recording works.
    tree.write("scenarios/suite.toml", &format!("secrets = [\"DEPLOY_TOKEN\"]\n{}", system("agent", "", READY)));
    record_with(&tree, &["chat"], &token).green();
    assert!(tree.read("fixtures/chat.json").contains("use <DEPLOY_TOKEN>"));
}

fn a_providers_error_becomes_a_turn_if_the_scenario_says_so() {
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

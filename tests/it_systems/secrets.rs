//! Secrets that a system has to hold, and errors of a provider that a scenario wants to keep.

use crate::tree::{CHAT, READY, Ran, Tree, system};

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
        assert!(!ran.text.contains(form), "{form}: {}", ran.text);
        for (file, text) in tree.files() {
            assert!(!text.contains(form), "{form} is in {}:\n{text}", file.display());
        }
    }
}

#[test]
fn recording_gives_the_real_value_and_stores_its_name() {
    for fields in ["", "shared = true\n"] {
        let tree = Tree::new(&suite(fields));
        tree.scenario("chat", &chat("\"hello\""));
        let recorded = tree.record_with(&["chat"], &[("STRIPE", VALUE)]);
        recorded.green();
        recorded.says(&["chat: small: 1 call, 1 tokens in, 2 out", "chat: 1 turn recorded to fixtures/chat.json"]);
        nowhere(&tree, &recorded);
        let fixture = tree.read("fixtures/chat.json");
        assert!(fixture.contains("hello with <STRIPE>") && fixture.contains("\"env:STRIPE\""), "{fixture}");
        let golden = tree.read("goldens/chat.snap");
        assert!(golden.contains("you said: hello with <STRIPE>"), "{golden}");
        // Without the value, and with it, as on the machine that recorded.
        tree.retake(&["test"]).green();
        let ran = Ran::of(tree.command(&["test"]).env("STRIPE", VALUE).output().unwrap());
        ran.green();
        // A failure tells no secret either.
        tree.scenario("chat", &chat("\"goodbye\""));
        let ran = Ran::of(tree.command(&["test"]).env("STRIPE", VALUE).output().unwrap());
        ran.red(&["replay miss", "goodbye with <STRIPE>"]);
        nowhere(&tree, &ran);
    }
}

#[test]
fn steps_have_secrets_too() {
    let tree = Tree::new(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"log in with {{ secret.STRIPE }}\""));
    let recorded = tree.record_with(&["chat"], &[("STRIPE", VALUE)]);
    recorded.green();
    nowhere(&tree, &recorded);
    assert!(tree.read("goldens/chat.snap").contains("you said: log in with <STRIPE>"));
    tree.retake(&["test"]).green();
}

#[test]
fn what_is_not_set_and_what_is_not_declared_stop_the_recording() {
    let tree = Tree::new(&suite(""));
    tree.scenario("chat", &chat("\"hello\""));
    let missing = tree.record_with(&["chat"], &[]);
    missing
        .red(&["chat: not recorded: the environment variable STRIPE is not set, and `{{ secret.STRIPE }}` needs it"]);
    let short = tree.record_with(&["chat"], &[("STRIPE", "abc")]);
    short.red(&["the value of STRIPE has 3 characters: below 6 a secret is not told from other text"]);
    // The system reads it where nobody looked.
    let tree = Tree::new(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"use t0ken-of-a-deploy\""));
    let token = [("DEPLOY_TOKEN", "t0ken-of-a-deploy")];
    let stopped = tree.record_with(&["chat"], &token);
    stopped.red(&["DEPLOY_TOKEN, which looks like a secret", "scenarios/suite.toml: secrets = [\"DEPLOY_TOKEN\"]"]);
    assert!(!stopped.text.contains(token[0].1), "{}", stopped.text);
    let journal = tree.read("fixtures/.journal/chat.jsonl");
    assert!(journal.is_empty(), "{journal}");
    // With the line that it names, it is recorded.
    tree.write("scenarios/suite.toml", &format!("secrets = [\"DEPLOY_TOKEN\"]\n{}", system("agent", "", READY)));
    tree.record_with(&["chat"], &token).green();
    assert!(tree.read("fixtures/chat.json").contains("use <DEPLOY_TOKEN>"));
}

#[test]
fn a_provider_s_error_is_a_turn_where_the_scenario_says_so() {
    let tree = Tree::new(&system("agent", "", READY));
    tree.scenario("chat", &chat("\"too much\""));
    tree.record(&["chat"]).red(&["chat: not recorded: no model call became a turn"]);
    tree.scenario("chat", &format!("record = {{ errors = true }}\n{}", chat("\"too much\"")));
    tree.record(&["chat"]).green();
    assert!(tree.read("goldens/chat.snap").contains("sorry: slow down"));
    assert!(tree.read("fixtures/chat.json").contains("\"status\": 429"));
    tree.retake(&["test"]).green();
}

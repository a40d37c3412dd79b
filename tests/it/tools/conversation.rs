//! Doubles of servers that say more than their answers: notifications, requests to the agent, and subscriptions.

use serde_json::Value;

use super::{agent, client, talking};
use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! {
    what_a_server_on_standard_input_says_is_recorded_and_said_again,
    what_a_server_over_http_says_is_recorded_and_said_again,
    a_server_of_2026_07_28_is_recorded_and_replayed,
    an_agent_that_answers_the_server_differently_is_noted,
    an_agent_that_does_not_answer_the_server_is_named_when_time_is_up,
}

fn tree(server: &str, env: &str) -> Tree {
    let tree = Tree::empty();
    let suite = format!("settle = \"100ms\"\ntimeout = \"30s\"\n[tools.booking]\nmcp = {{ {server} }}\n");
    tree.write("scenarios/suite.toml", &suite);
    let program = std::env::current_exe().unwrap();
    let scenario = format!(
        "[[step]]\nrun = [{:?}, {:?}]\nenv = {{ TOOLS = \"{{{{ tools.booking }}}}\", OPENAI_BASE_URL = \"{{{{ model.openai }}}}\", \
         OPENAI_API_KEY = \"{{{{ model.key }}}}\"{env} }}\nstream = {{ last = \"answer\" }}\n[golden]\nshow = [\"/text\"]\n",
        program.to_str().unwrap(),
        client::AGENT
    );
    tree.write("scenarios/book/scenario.toml", &scenario);
    tree
}

fn stdio() -> String {
    format!("command = [{:?}, {:?}]", std::env::current_exe().unwrap().to_str().unwrap(), talking::SERVER)
}

fn record(tree: &Tree) {
    let provider = agent::provider();
    let recording = tree.retake().args(&["record", "book"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    recording.run().exits(0).says(&["book: 1 turn recorded to fixtures/book.json, two replays agree"]);
}

/// Returns the recorded exchange of a method.
fn exchange(tree: &Tree, method: &str) -> Value {
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/book.json")).unwrap();
    let exchanges = fixture["tools"]["booking"].as_array().unwrap();
    exchanges.iter().find(|exchange| exchange["method"] == method).unwrap().clone()
}

/// Checks what the agent printed: each of these lines of the golden, in order.
fn printed(tree: &Tree, lines: &[&str]) {
    let golden = tree.read("goldens/book.snap");
    let mut rest = golden.as_str();
    for line in lines {
        let (_, after) = rest.split_once(line).unwrap_or_else(|| panic!("`{line}` does not follow in\n{golden}"));
        rest = after;
    }
}

const HEARD: [&str; 10] = [
    "notifications/progress",
    "/text = \"own token: true\"",
    "notifications/message",
    "/text = \"looking\"",
    "elicitation/create",
    "/text = \"Sure?\"",
    "changed",
    "/text = \"subscription null\"",
    "answer",
    "/text = \"booked: accept\"",
];

fn check_sessions(tree: &Tree) {
    printed(tree, &HEARD);
    let call = exchange(tree, "tools/call");
    let said: Vec<&Value> = call["messages"].as_array().unwrap().iter().map(|message| &message["method"]).collect();
    assert_eq!(said, ["notifications/progress", "notifications/message", "elicitation/create"]);
    assert_eq!(call["messages"][2]["result"]["action"], "accept");
    assert_eq!(call["then"][0]["method"], "notifications/tools/list_changed");
    assert!(!tree.read("fixtures/book.json").contains("token-"));
}

fn what_a_server_on_standard_input_says_is_recorded_and_said_again() {
    let tree = tree(&stdio(), "");
    record(&tree);
    check_sessions(&tree);
    tree.write(
        "scenarios/suite.toml",
        "settle = \"100ms\"\n[tools.booking]\nmcp = { command = [\"no-such-server\"] }\n",
    );
    tree.retake().arg("test").run().exits(0).says(&["test book ", "ok"]);
    tree.retake().args(&["show", "book"]).run().exits(0).says(&["sent", "elicitation/create", "agent", "accept"]);
}

fn what_a_server_over_http_says_is_recorded_and_said_again() {
    let server: Service = talking::serve_with_sessions();
    let tree = tree(&format!("url = {:?}", server.openai()), "");
    record(&tree);
    check_sessions(&tree);
    drop(server);
    tree.retake().arg("test").run().exits(0).says(&["test book ", "ok"]);
}

fn a_server_of_2026_07_28_is_recorded_and_replayed() {
    let server: Service = talking::serve_without_sessions();
    let tree = tree(&format!("url = {:?}", server.openai()), ", VERSION = \"2026-07-28\"");
    record(&tree);
    drop(server);
    printed(&tree, &["elicitation/create", "changed", "/text = \"subscription 2\"", "answer", "\"booked: accept\""]);
    assert_eq!(exchange(&tree, "server/discover")["result"]["supportedVersions"][0], "2026-07-28");
    assert_eq!(exchange(&tree, "prompts/list")["status"], 404);
    tree.retake().arg("test").run().exits(0).says(&["test book ", "ok"]);
    // The id of a subscription belongs to the agent.
    tree.replace("scenarios/book/scenario.toml", "VERSION =", "SUBSCRIPTION = \"mine\", VERSION =");
    tree.retake().arg("test").run().exits(1).says(&["subscription \\\"mine\\\""]);
}

fn an_agent_that_answers_the_server_differently_is_noted() {
    let tree = tree(&stdio(), "");
    record(&tree);
    tree.replace("scenarios/book/scenario.toml", "TOOLS =", "REPLY = \"decline\", TOOLS =");
    tree.retake().arg("test").run().exits(0).says(&[
        "drift: `booking`: the agent answered the server's `elicitation/create` differently at /action: \"accept\" → \"decline\"",
    ]);
}

fn an_agent_that_does_not_answer_the_server_is_named_when_time_is_up() {
    let tree = tree(&stdio(), ", REPLY = \"nothing\"");
    let provider = agent::provider();
    tree.replace("scenarios/suite.toml", "30s", "3s");
    let recording = tree.retake().args(&["record", "book"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    recording.run().exits(1).says(&["the server `booking` asked the agent `elicitation/create`, which did not answer"]);
}

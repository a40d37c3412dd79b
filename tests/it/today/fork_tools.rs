//! Tools in a fork: doubles while the arguments are recorded, real servers where the suite allows them.

use axum::Router;
use axum::routing::post;
use serde_json::{Value, json};

use crate::support::loopback::Service;
use crate::support::tree::Tree;
use crate::tools::doubles::{record, stdio, tree};

tests! {
    recorded_arguments_are_answered_by_the_double,
    a_run_ends_where_a_tool_is_asked_for_something_else,
    the_real_server_answers_where_the_suite_allows_it,
}

/// A provider whose model asks its tool for this line. It answers with what the tool says.
fn provider(line: u8) -> Service {
    let answer = move |body: String| async move {
        let request: Value = serde_json::from_str(&body).unwrap();
        let last = request["messages"].as_array().unwrap().last().unwrap().clone();
        let message = if last["role"] == "user" {
            let function = json!({"name": "read", "arguments": json!({ "line": line }).to_string()});
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": function}]})
        } else {
            json!({"role": "assistant", "content": format!("It says: {}", last["content"].as_str().unwrap())})
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let body = json!({"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]});
        ([("content-type", "application/json")], body.to_string())
    };
    Service::start(Router::new().route("/v1/chat/completions", post(answer)))
}

/// Forks the recording from its first turn, and returns the row of its run, the exit code and what was printed.
fn fork(tree: &Tree, line: u8) -> (Value, i32, String) {
    let provider = provider(line);
    let command = tree.retake().args(&["fork", "ask", "--from", "1", "--json"]);
    let ran = command.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run();
    let table: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.all()));
    (table["runs"]["1"].clone(), ran.code.unwrap(), ran.all())
}

fn recorded_arguments_are_answered_by_the_double() {
    let tree = tree(&stdio());
    record(&tree);
    // Nobody reads the file any more.
    tree.write("note.txt", "changed");
    let (row, code, all) = fork(&tree, 1);
    assert_eq!((code, &row["golden"], &row["tools"]), (0, &json!([]), &json!(["read"])), "{all}");
}

fn a_run_ends_where_a_tool_is_asked_for_something_else() {
    let tree = tree(&stdio());
    record(&tree);
    let (row, code, all) = fork(&tree, 2);
    let why = row["ended"].as_str().unwrap_or_default();
    assert!(
        code == 1
            && why.contains("server `files`: `tools/call` of `read` has a different `/arguments/line` than recorded"),
        "{all}"
    );
    assert!(why.contains("fork = { tools = \"live\" }"), "{all}");
    // The model was not asked any more.
    assert_eq!(row["calls"], 1, "{all}");
    tree.retake().args(&["fork", "accept", "ask-1.1"]).run().exits(2).says(&["did not reach its end"]);
}

fn the_real_server_answers_where_the_suite_allows_it() {
    let tree = tree(&stdio());
    record(&tree);
    let suite = format!("fork = {{ tools = \"live\" }}\n{}", tree.read("scenarios/suite.toml"));
    tree.write("scenarios/suite.toml", &suite);
    tree.write("note.txt", "today");
    // What is recorded still comes from the recording.
    let (row, code, all) = fork(&tree, 1);
    assert_eq!((code, &row["golden"]), (0, &json!([])), "{all}");
    let (row, code, all) = fork(&tree, 2);
    assert_eq!((code, &row["calls"]), (0, &json!(2)), "{all}");
    assert!(row["golden"][0].as_str().is_some(), "{all}");
    let id = "ask-2.1";
    tree.retake().args(&["fork", "accept", id]).run().exits(0).says(&["two replays agree"]);
    assert!(tree.read("fixtures/ask.json").contains("It says: today"));
    tree.remove("note.txt");
    tree.retake().arg("test").run().exits(0);
}

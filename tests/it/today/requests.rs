//! `retake check FIXTURE --requests FILE`: the requests of a cassette are sent again.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! { the_requests_of_a_cassette_are_compared_with_their_turns, a_request_without_a_turn_could_not_be_checked }

fn answer(more: &Value) -> Value {
    let message = json!({ "role": "assistant", "content": "Paris" });
    let mut answer = json!({ "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    answer
}

fn cassette(asked: &str) -> Value {
    let interaction = |uri: &str, body: Value| {
        json!({ "request": { "method": "POST", "uri": uri, "headers": {}, "parsed_body": body },
            "response": { "status": { "code": 200 }, "headers": { "content-type": ["application/json"] },
                "parsed_body": answer(&json!({ "seed": 1 })) } })
    };
    let chat = json!({ "model": "m", "messages": [{ "role": "user", "content": asked }] });
    // Other services speak the same API below another path.
    json!({ "version": 1, "interactions": [interaction("https://api.other.com/openai/v1/chat/completions", chat)] })
}

fn provider() -> Service {
    Service::start(Router::new().route(
        "/v1/chat/completions",
        axum::routing::post(async || {
            ([(CONTENT_TYPE, "application/json")], answer(&json!({ "extra": true, "id": "c2" })).to_string())
        }),
    ))
}

fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write("a.yaml", &cassette("The capital of France?").to_string());
    tree.retake().args(&["import", "vcr", "a.yaml", "--out", "a.json"]).run().exits(0);
    tree
}

fn the_requests_of_a_cassette_are_compared_with_their_turns() {
    let (tree, provider) = (tree(), provider());
    let check = tree.retake().args(&["check", "a.json", "--requests", "a.yaml"]);
    let ran = check.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(1);
    ran.says(&[
        "drift: openai-chat: /seed is no longer sent (recorded: number)",
        "note: openai-chat: /extra is new (boolean)",
    ]);
}

fn a_request_without_a_turn_could_not_be_checked() {
    let (tree, provider) = (tree(), provider());
    tree.write("b.yaml", &cassette("The capital of Spain?").to_string());
    let check = tree.retake().args(&["check", "a.json", "--requests", "b.yaml"]);
    let ran = check.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(2);
    ran.says(&[
        "interaction 1 (line 1): POST https://api.other.com/openai/v1/chat/completions: no turn answers this request",
    ]);
    let mut failed = cassette("The capital of Spain?");
    failed["interactions"][0]["response"]["status"]["code"] = json!(429);
    tree.write("c.yaml", &failed.to_string());
    let check = tree.retake().args(&["check", "a.json", "--requests", "c.yaml"]);
    let ran = check.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(2);
    ran.says(&["no turn answers this request, whose answer failed; `retake import … --errors` makes a turn of it"]);
}

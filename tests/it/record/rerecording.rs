//! Scenarios that are recorded again, and fixtures written by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::header::CONTENT_TYPE;

use crate::support::loopback::Service;
use crate::support::tree::Tree;
use crate::systems::described::{CHAT, READY, system};

tests! { a_recording_with_the_same_answers_leaves_the_fixture_unchanged,
    a_fixture_written_by_hand_is_replayed_and_stays_as_it_is,
}

/// Starts a provider that always gives the same answer, but each time with another id, time and usage.
fn provider(says: &'static str) -> Service {
    let calls = Arc::new(AtomicUsize::new(0));
    Service::start(Router::new().fallback(async move || {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("chatcmpl-{says}-{number}");
        let usage = serde_json::json!({ "prompt_tokens": number, "completion_tokens": 1, "total_tokens": number + 1 });
        let message = serde_json::json!({ "role": "assistant", "content": says });
        let choice = serde_json::json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let answer = serde_json::json!({ "id": id, "object": "chat.completion", "created": number, "model": "m",
            "choices": [choice], "usage": usage });
        ([(CONTENT_TYPE, "application/json")], answer.to_string())
    }))
}

fn chat() -> Tree {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    tree
}

fn a_recording_with_the_same_answers_leaves_the_fixture_unchanged() {
    let tree = chat();
    let record =
        |from: &Service| tree.retake().args(&["record", "chat"]).env("RETAKE_UPSTREAM_OPENAI", from.openai()).run();
    let (says, says_more) = (provider("yes"), provider("yes and no"));
    record(&says).green();
    let first = tree.read("fixtures/chat.json");
    assert!(first.contains("chatcmpl-yes-1"), "{first}");
    record(&says).green();
    assert_eq!(tree.read("fixtures/chat.json"), first);
    record(&says_more).green();
    assert!(tree.read("fixtures/chat.json").contains("chatcmpl-yes and no-1"));
}

fn a_fixture_written_by_hand_is_replayed_and_stays_as_it_is() {
    let tree = chat();
    let fixture = "fixtures/chat.json";
    tree.write(
        fixture,
        r#"{ "format": "retake/2", "turns": [ {
          "input": { "messages": [ { "type": "human", "content": "hello" } ] },
          "output": { "blocks": [ { "type": "text", "text": "hello to you" } ] } } ] }"#,
    );
    let written = tree.read(fixture);
    tree.retake().args(&["test", "--update"]).run().green();
    tree.retake().arg("test").run().green();
    assert_eq!(tree.read(fixture), written);
    tree.retake().args(&["show", "chat"]).run().exits(0).says(&["human         hello", "→ ai          hello to you"]);
    // A different word is a different conversation.
    tree.write(fixture, &written.replace("\"content\": \"hello\"", "\"content\": \"good bye\""));
    tree.retake().arg("test").run().red(&["good bye"]);
}

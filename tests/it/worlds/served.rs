//! `retake serve --world` and `--worlds`, for tests that start their own service.

use serde_json::json;

use crate::replay::serve::Serving;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, chat, send};
use crate::support::program::retake;
use crate::support::tree::Tree;

tests! { a_served_fixture_can_fail_once, a_call_can_ask_for_its_fault, a_fault_that_does_not_exist_is_refused }

fn fixture() -> Tree {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![turn(None, "hello", "Good morning!")]);
    tree
}

/// Sends the recorded call, which asks for a world if one is given.
fn ask(serving: &Serving, world: &str) -> Reply {
    let url = format!("{}/chat/completions", serving.ready("openai"));
    let key = format!("Bearer {}", serving.ready("key"));
    let headers = [("authorization", key.as_str()), ("x-retake-world", world)];
    let body = chat(&json!([{ "role": "user", "content": "hello" }]), false);
    send(&url, if world.is_empty() { &headers[..1] } else { &headers }, Some(&body))
}

fn a_served_fixture_can_fail_once() {
    let tree = fixture();
    let serve = retake().arg("serve").arg(tree.path("fixtures/greeting.json")).args(&["--world", "turn1/rate-limit"]);
    let mut serving = Serving::start(serve);
    let refused = ask(&serving, "");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.body.contains("rate_limit_exceeded"));
    assert!(ask(&serving, "").body.contains("Good morning!"));
    let (code, said) = serving.end_and_read("-TERM");
    assert_eq!(code, Some(0), "{said}");
}

fn a_call_can_ask_for_its_fault() {
    let tree = fixture();
    let serve = |more: &str| {
        let serve = retake().arg("serve").arg(tree.path("fixtures/greeting.json"));
        Serving::start(if more.is_empty() { serve } else { serve.arg(more) })
    };
    let serving = serve("--worlds");
    assert_eq!(ask(&serving, "overloaded").status, 503);
    assert_eq!(ask(&serving, "turn2/overloaded").status, 200);
    let serving = serve("--worlds");
    assert_eq!(ask(&serving, "error-500").status, 500);
    assert_eq!(ask(&serving, "").status, 200);
    // Without the option, nobody can ask for a fault.
    assert_eq!(ask(&serve(""), "overloaded").status, 200);
}

fn a_fault_that_does_not_exist_is_refused() {
    let tree = fixture();
    let serve = retake().arg("serve").arg(tree.path("fixtures/greeting.json")).args(&["--world", "turn1/ratelimit"]);
    serve.run().exits(2).says(&["rate-limit", "cut-clean"]);
}

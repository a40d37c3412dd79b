//! `retake proxy`: the recorder without a runner.

use axum::Router;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::replay::serve::Serving;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Service, chat, send};
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { a_proxy_in_front_of_a_replay_records_the_same_fixture,
    a_proxy_that_is_killed_leaves_each_complete_answer_in_its_journal,
    calls_that_become_no_turn_are_reported_and_nothing_is_written,
    what_is_no_answer_of_its_api_is_a_turn_with_errors,
    a_websocket_and_grpc_are_refused_with_one_line_each,
    a_proxy_that_records_no_turn_keeps_the_old_fixture,
    a_second_proxy_does_not_replace_the_fixture_of_the_first,
    a_proxy_refuses_to_start_in_ci_or_without_a_url,
    a_proxy_requires_its_key,
}

/// Returns a proxy that passes calls on to this address.
pub(crate) fn proxy(tree: &Tree, upstream: &str) -> Program {
    tree.retake().args(&["proxy", "--upstream", upstream, "--out", "fixtures/out.json", "--key", "ours"])
}

fn ask(proxy: &Serving, text: &str, stream: bool) -> crate::support::loopback::Reply {
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    send(&url, &[("authorization", "Bearer ours")], Some(&chat(&json!([{ "role": "user", "content": text }]), stream)))
}

/// Starts a provider that answers each question and reports a fixed usage.
fn answering() -> Service {
    Service::start(Router::new().fallback(async |body: String| {
        let call: Value = serde_json::from_str(&body).unwrap();
        let asked = call["messages"][0]["content"].as_str().unwrap();
        let message = json!({ "role": "assistant", "content": format!("you said: {asked}") });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": 602, "completion_tokens": 44 });
        json!({ "id": "c", "model": "gpt-4o-mini", "choices": [choice], "usage": usage }).to_string()
    }))
}

fn a_proxy_in_front_of_a_replay_records_the_same_fixture() {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![turn(None, "Hello", "Good morning"), turn(None, "Bye", "So long")]);
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    for (upstream, stream) in [("url", false), ("openai", false), ("openai", true)] {
        let serving = Serving::of(&tree.path("fixtures/greeting.json"));
        let program = proxy(&tree, serving.ready(upstream)).env("OPENAI_API_KEY", serving.ready("key"));
        let program = program.env("RETAKE_UPSTREAM_OPENAI", serving.ready(upstream)).arg("--replace");
        let mut proxy = Serving::start(program);
        let keys: Vec<&String> = proxy.ready.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["anthropic", "bedrock", "gemini", "key", "ollama", "openai", "url"]);
        for (hears, says) in [("Hello", "morning"), ("Bye", "long")] {
            let reply = ask(&proxy, hears, stream);
            assert!(reply.status == 200 && reply.body.contains(says), "{}", reply.body);
        }
        let (code, said) = proxy.end_and_read("-INT");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("2 turns recorded to fixtures/out.json, 0 left out"), "{said}");
        let [made, original] = ["out", "greeting"].map(|name| {
            let fixture: Value = serde_json::from_str(&tree.read(&format!("fixtures/{name}.json"))).unwrap();
            let keys = |turn: &Value| turn["input"].clone();
            fixture["turns"].as_array().unwrap().iter().map(keys).collect::<Vec<_>>()
        });
        assert_eq!(made, original);
        // The recorded fixture replays exactly the bytes that the client got.
        let again = Serving::of(&tree.path("fixtures/out.json"));
        for hears in ["Hello", "Bye"] {
            let asked = again.ask(&[], &json!([{ "role": "user", "content": hears }]), stream);
            let live = Serving::of(&tree.path("fixtures/greeting.json"));
            assert_eq!(asked.body, live.ask(&[], &json!([{ "role": "user", "content": hears }]), stream).body);
        }
    }
    drop(serving);
}

fn a_proxy_that_is_killed_leaves_each_complete_answer_in_its_journal() {
    let provider = answering();
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    for n in 0..5 {
        assert_eq!(ask(&proxy, &format!("question {n}"), false).status, 200);
    }
    assert_eq!(proxy.end("-KILL").code(), None);
    assert!(!tree.has("fixtures/out.json"));
    let import = ["import", "journal", "fixtures/.journal/out.jsonl", "--out", "fixtures/out.json"];
    tree.retake().args(&import).run().exits(0).says(&["5 turns written to fixtures/out.json, 0 left out"]);
}

fn calls_that_become_no_turn_are_reported_and_nothing_is_written() {
    let provider = Service::start(Router::new().fallback(async || (StatusCode::UNAUTHORIZED, "no such key")));
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    assert_eq!(ask(&proxy, "Hello", false).status, 401);
    let (code, said) = proxy.end_and_read("-TERM");
    assert_eq!(code, Some(1), "{said}");
    let left_out = "left out: fixtures/.journal/out.jsonl:1: the answer: status 401: the provider's error: no such key";
    assert!(said.contains(left_out), "{said}");
    assert!(said.contains("error: no turns: 1 left out, nothing was written"), "{said}");
    assert!(said.contains("gpt-4o-mini: 1 call, tokens not reported"), "{said}");
    assert!(!tree.has("fixtures/out.json") && tree.has("fixtures/.journal/out.jsonl"));
}

fn what_is_no_answer_of_its_api_is_a_turn_with_errors() {
    let frames = "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Go\"}}]}\n\n";
    for (kind, body) in [("text/event-stream", frames), ("application/json", "null")] {
        let provider =
            Service::start(Router::new().fallback(async move || ([(axum::http::header::CONTENT_TYPE, kind)], body)));
        let tree = Tree::empty();
        let mut proxy = Serving::start(proxy(&tree, &provider.openai()).arg("--errors"));
        let live = ask(&proxy, "Hello", true);
        let (code, said) = proxy.end_and_read("-TERM");
        assert!(code == Some(0) && said.contains("1 turn recorded"), "{said}");
        let replayed = Serving::of(&tree.path("fixtures/out.json"));
        let replayed = replayed.ask(&[], &json!([{ "role": "user", "content": "Hello" }]), true);
        assert_eq!((replayed.status, &replayed.body), (200, &live.body), "{kind}");
    }
}

fn a_websocket_and_grpc_are_refused_with_one_line_each() {
    let provider = answering();
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    assert_eq!(ask(&proxy, "Hello", false).status, 200);
    for header in [("upgrade", "websocket"), ("content-type", "application/grpc")] {
        for _ in 0..3 {
            let url = format!("{}/realtime", proxy.ready("openai"));
            let refused = send(&url, &[("authorization", "Bearer ours"), header], None);
            assert!(refused.status == 400 && refused.body.contains("spoken"), "{}", refused.body);
        }
    }
    let (code, said) = proxy.end_and_read("-TERM");
    assert!(said.contains("1 turn recorded"), "{code:?} {said}");
    for line in [
        "it opens a WebSocket, over which neither Responses nor realtime is spoken: only HTTP is",
        "it is a call of gRPC, which is not spoken: only HTTP with JSON is",
    ] {
        assert_eq!(said.matches(line).count(), 1, "{said}");
    }
}

fn a_proxy_that_records_no_turn_keeps_the_old_fixture() {
    let tree = Tree::empty();
    fixtures::write(&tree, "out", vec![turn(None, "Hello", "Good morning")]);
    let before = tree.read("fixtures/out.json");
    // No server listens at this address.
    let mut proxy = Serving::start(proxy(&tree, "http://127.0.0.1:1").arg("--replace"));
    assert_eq!(ask(&proxy, "Hello", false).status, 502);
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the provider at http://127.0.0.1:1 cannot be reached: "), "{said}");
    assert_eq!(tree.read("fixtures/out.json"), before);
    let provider = answering();
    let mut proxy = Serving::start(self::proxy(&tree, &provider.openai()).arg("--replace"));
    for _ in 0..3 {
        assert_eq!(ask(&proxy, "Hello", false).status, 200);
    }
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("gpt-4o-mini: 3 calls, 1,806 tokens in, 132 out"), "{said}");
    assert_ne!(tree.read("fixtures/out.json"), before);
}

fn a_second_proxy_does_not_replace_the_fixture_of_the_first() {
    let provider = answering();
    let tree = Tree::empty();
    let mut first = Serving::start(proxy(&tree, &provider.openai()));
    assert_eq!(ask(&first, "Hello", false).status, 200);
    // While the first one records.
    let refused = proxy(&tree, &provider.openai()).run().exits(2);
    refused.says(&["another recording is writing this journal"]);
    assert_eq!(first.end_and_read("-INT").0, Some(0));
    let before = tree.files();
    // And after it.
    proxy(&tree, &provider.openai()).run().exits(2).says(&[
        "error: fixtures/out.json already exists, and its turns would be lost",
        "to keep it, record to another file: --out FILE",
        "to replace it: add --replace",
    ]);
    assert_eq!(tree.files(), before);
    let mut second = Serving::start(proxy(&tree, &provider.openai()).arg("--replace"));
    assert_eq!(ask(&second, "Bye", false).status, 200);
    assert_eq!(second.end_and_read("-INT").0, Some(0));
    let fixture = tree.read("fixtures/out.json");
    assert!(fixture.contains("you said: Bye") && !fixture.contains("you said: Hello"), "{fixture}");
}

fn a_proxy_refuses_to_start_in_ci_or_without_a_url() {
    let tree = Tree::empty();
    proxy(&tree, "http://127.0.0.1:1").env("CI", "1").run().exits(2).says(&["error: recording with CI set"]);
    proxy(&tree, "127.0.0.1:1")
        .run()
        .exits(2)
        .says(&["error: failed to read --upstream: \"127.0.0.1:1\" is not a URL"]);
    tree.write("a.jsonl", "");
    let import = tree.retake().args(&["import", "journal", "a.jsonl", "--out", "fixtures/out.json"]).env("CI", "true");
    import.run().exits(2).says(&["error: importing with CI set: fixtures are never written in CI"]);
    tree.remove("a.jsonl");
    assert!(tree.files().is_empty());
}

fn a_proxy_requires_its_key() {
    let provider = answering();
    let tree = Tree::empty();
    let proxy = Serving::start(proxy(&tree, &provider.openai()));
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let call = chat(&json!([{ "role": "user", "content": "Hello" }]), false);
    assert_eq!(send(&url, &[("authorization", "Bearer theirs")], Some(&call)).status, 401);
    assert_eq!(proxy.ready("key"), "ours");
}

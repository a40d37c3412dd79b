//! The providers' keys stay in the command: nothing that comes back from a provider has one, and nothing that is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::record::rounds::{Provider, agent, scenario};
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, chat, send};
use crate::support::tree::Tree;

tests! {
    a_key_that_an_answer_echoes_reaches_neither_the_client_nor_a_file,
    a_key_that_an_answer_spells_in_pieces_reaches_no_file,
    a_call_with_an_undeclared_key_is_not_sent,
    a_declared_key_in_a_call_is_stored_as_its_name,
    a_template_with_a_providers_key_gets_its_placeholder_and_a_warning,
}

/// The value of a key.
pub(crate) const VALUE: &str = "k3y-of-a-provider-zebra-quartz";

pub(crate) fn completion(text: &str) -> String {
    let message = json!({ "role": "assistant", "content": text });
    json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] })
        .to_string()
}

/// Starts a provider that repeats the key with which it was called, in the way that the question names.
fn echoing() -> Service {
    Service::start(Router::new().fallback(async |headers: HeaderMap, body: String| {
        let key = headers[AUTHORIZATION].to_str().unwrap().strip_prefix("Bearer ").unwrap().to_owned();
        let call: Value = serde_json::from_str(&body).unwrap();
        let asked = call["messages"][0]["content"].as_str().unwrap();
        echo(asked, &key)
    }))
}

fn echo(asked: &str, key: &str) -> Response {
    let json = [(CONTENT_TYPE, "application/json")];
    let delta = |text: &str| {
        let choice = json!({ "index": 0, "delta": { "content": text } });
        format!("data: {}\n\n", json!({ "id": "c", "model": "m", "choices": [choice] }))
    };
    let stream = |chunks: Vec<String>| {
        let end = json!({ "id": "c", "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        let all = chunks.into_iter().chain([format!("data: {end}\n\ndata: [DONE]\n\n")]);
        // Each one arrives by itself.
        let all = futures_util::stream::iter(all).then(async |chunk| {
            tokio::task::yield_now().await;
            Ok::<_, std::convert::Infallible>(chunk)
        });
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(all)).into_response()
    };
    match asked {
        "error" => (
            StatusCode::UNAUTHORIZED,
            json,
            json!({ "error": { "message": format!("no such key: {key}") } }).to_string(),
        )
            .into_response(),
        "stream" => stream(vec![delta("it is "), delta(key)]),
        "cut stream" => {
            let whole = delta(&format!("it is {key}, I think"));
            let at = whole.find(key).unwrap() + 7;
            stream(vec![whole[..at].to_owned(), whole[at..].to_owned()])
        }
        "pieces" => stream(vec![delta("it is "), delta(&key[..9]), delta(&key[9..])]),
        _ => (json, completion(&format!("it is {key}"))).into_response(),
    }
}

fn a_key_that_an_answer_echoes_reaches_neither_the_client_nor_a_file() {
    let provider = echoing();
    let tree = Tree::empty();
    let program = proxy(&tree, &provider.openai()).arg("--errors").env("OPENAI_API_KEY", VALUE);
    let mut proxy = Serving::start(program.env("RETAKE_UPSTREAM_OPENAI", provider.openai()));
    for asked in ["json", "error", "stream", "cut stream"] {
        let body = chat(&json!([{ "role": "user", "content": asked }]), asked.contains("stream"));
        let url = format!("{}/chat/completions", proxy.ready("openai"));
        let reply = send(&url, &[("authorization", "Bearer ours")], Some(&body));
        assert!(!reply.body.contains("zebra") && reply.body.contains("<OPENAI_API_KEY>"), "{asked}: {}", reply.body);
    }
    let (code, said) = proxy.end_and_read("-INT");
    assert!(code == Some(0) && said.contains("4 turns recorded"), "{said}");
    assert!(tree.files().values().all(|text| !text.contains("zebra")));
}

/// No byte sequence of the answer is the key, but its text is, once a client has joined it. The runner that records does not know
/// the key, so the relay looks through what it writes.
fn a_key_that_an_answer_spells_in_pieces_reaches_no_file() {
    let provider = echoing();
    let tree = with_prompt("", "pieces");
    let recorder = tree.recorder("rounds", "record", "work").env("OPENAI_API_KEY", VALUE);
    let ran = recorder.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run();
    let journal = tree.read("fixtures/.journal/work.jsonl");
    assert!(journal.contains("<OPENAI_API_KEY>") && journal.contains("env:OPENAI_API_KEY"), "{}\n{journal}", ran.all());
    for (file, text) in tree.files() {
        assert!(!text.contains(&VALUE[9..]) && !text.contains(&VALUE[..9]), "{file}: {text}");
    }
}

fn with_prompt(suite: &str, prompt: &str) -> Tree {
    let tree = Tree::with_suite(&format!("settle = \"100ms\"\n{suite}"));
    let mut agent = agent("lead", 1);
    agent["rounds"][0]["prompt"] = json!(prompt);
    tree.scenario("work", &scenario(&agent));
    tree
}

fn a_call_with_an_undeclared_key_is_not_sent() {
    let provider = Provider::start();
    let tree = with_prompt("", &format!("use {VALUE}"));
    let recorder = tree.recorder("rounds", "record", "work").env("ANTHROPIC_API_KEY", VALUE);
    let ran = recorder.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(1);
    ran.says(&[
        "contains the value of the environment variable ANTHROPIC_API_KEY",
        "secrets = [\"ANTHROPIC_API_KEY\"]",
    ])
    .never_says("zebra");
    assert_eq!(provider.take().len(), 0);
    let journal = tree.read("fixtures/.journal/work.jsonl");
    assert!(!journal.contains("zebra") && journal.contains("<ANTHROPIC_API_KEY>"), "{journal}");
}

fn a_declared_key_in_a_call_is_stored_as_its_name() {
    let provider = Provider::start();
    let tree = with_prompt("secrets = [\"ANTHROPIC_API_KEY\"]\n", &format!("use {VALUE}"));
    let recorder = tree.recorder("rounds", "record", "work").env("ANTHROPIC_API_KEY", VALUE);
    recorder.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().says(&["work: "]);
    assert!(provider.take()[0]["messages"].to_string().contains(VALUE), "the provider gets what the system sent");
    for (file, text) in tree.files() {
        assert!(file.starts_with("scenarios/") || !text.contains("zebra"), "{file}: {text}");
    }
    assert!(tree.read("fixtures/.journal/work.jsonl").contains("use <ANTHROPIC_API_KEY>"));
}

/// Even if a suite declares it: a system has no use for it, since its calls go to the model server.
fn a_template_with_a_providers_key_gets_its_placeholder_and_a_warning() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let provider = Service::start(Router::new().fallback(async move |headers: HeaderMap| {
        assert_eq!(headers[AUTHORIZATION], format!("Bearer {VALUE}"));
        counted.fetch_add(1, Ordering::Relaxed);
        ([(CONTENT_TYPE, "application/json")], completion("hello"))
    }));
    let tree = crate::runner::discovery::greeting();
    let step = crate::runner::discovery::asking("Hello {{ secret.OPENAI_API_KEY }}");
    tree.write("scenarios/hello/scenario.toml", &step);
    let recorder = tree.recorder("oddities", "record", "hello").env("OPENAI_API_KEY", VALUE);
    let ran = recorder.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0);
    ran.says(&["hello: warning: OPENAI_API_KEY is a provider's key, which only the relay has", "{{ model.key }}"]);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let fixture = tree.read("fixtures/hello.json");
    assert!(fixture.contains("Hello <OPENAI_API_KEY>"), "{fixture}");
    tree.runner("oddities").run().exits(0);
}

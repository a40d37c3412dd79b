//! What `retake check` says where it could not check.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use futures_util::StreamExt as _;

use super::checks::check;
use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! {
    a_provider_that_is_busy_or_leaves_could_not_be_checked,
    drift_wins_over_what_could_not_be_checked,
    limits_end_a_check_before_they_are_exceeded,
    without_a_provider_nothing_is_checked,
}

const NAME: &str = "write_read_file";

type Failure = fn(Response<Body>) -> Response<Body>;

/// The scripted provider, which answers from its third call on with `failure`.
fn failing(failure: Failure) -> Service {
    let calls = Arc::new(AtomicUsize::new(0));
    let map = move |response: Response<Body>| {
        let fails = calls.fetch_add(1, Ordering::Relaxed) >= 2;
        async move { if fails { failure(response) } else { response } }
    };
    Service::start(
        Router::new().fallback_service(gateway::provider::provider()).layer(axum::middleware::map_response(map)),
    )
}

fn with(status: u16, body: &str) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_owned())).unwrap()
}

/// The beginning of a stream, and then nothing more, either cleanly or with an error of the connection.
fn cut(response: Response<Body>, cleanly: bool) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    parts.headers.remove("content-length");
    let end = futures_util::stream::iter((!cleanly).then(|| Err(axum::Error::new(std::io::Error::other("gone")))));
    Response::from_parts(parts, Body::from_stream(body.into_data_stream().take(2).chain(end)))
}

fn a_provider_that_is_busy_or_leaves_could_not_be_checked() {
    let failures: [(&str, Failure); 7] = [
        ("status 429", |_| with(429, r#"{"error": {"message": "slow down", "type": "requests"}}"#)),
        ("status 400", |_| with(400, r#"{"error": {"message": "out", "code": "insufficient_quota"}}"#)),
        ("status 503", |_| with(503, "busy")),
        ("status 401", |_| with(401, r#"{"error": {"message": "no key"}}"#)),
        ("credit balance", |_| with(400, r#"{"error": {"message": "Your credit balance is too low"}}"#)),
        (" closed ", |response| cut(response, false)),
        ("broke off", |response| cut(response, true)),
    ];
    for (said, failure) in failures {
        let (provider, tree) = (failing(failure), Tree::of(&[NAME]));
        let ran = check(&tree, &provider.openai(), NAME, "").run().exits(2);
        ran.says(&["not checked completely (4 calls", "  not checked: turn 3 of `lead_agent`: ", said])
            .never_says("drift:");
    }
}

fn drift_wins_over_what_could_not_be_checked() {
    // From the third call on the stream reports an error; before, it is as recorded. The refusal of a model is drift.
    let error = |_| with(200, r#"{"error": {"message": "overloaded"}}"#);
    let (provider, tree) = (failing(error), Tree::of(&[NAME]));
    check(&tree, &provider.openai(), NAME, "").run().exits(2).says(&["reported an error"]);
    let gone = |_| with(StatusCode::NOT_FOUND.as_u16(), r#"{"error": {"message": "the model was retired"}}"#);
    let (provider, tree) = (failing(gone), Tree::of(&[NAME]));
    let ran = check(&tree, &provider.openai(), NAME, " --max-calls=3").run().exits(1);
    ran.says(&["status: recorded 200, today 404", "the limit is reached: --max-calls 3"]);
}

fn limits_end_a_check_before_they_are_exceeded() {
    let (provider, tree) = (Service::provider(), Tree::of(&[NAME]));
    let ran = check(&tree, &provider.openai(), NAME, " --max-calls=3").run().exits(2);
    ran.says(&["write_read_file: not checked completely (3 calls", "the limit is reached: --max-calls 3"]);
    check(&tree, &provider.openai(), NAME, " --max-tokens=1").run().exits(2).says(&["(0 calls", "--max-tokens 1"]);
}

fn without_a_provider_nothing_is_checked() {
    let tree = Tree::of(&[NAME]);
    tree.recorder("gateway", "check", NAME).run().exits(2).says(&["none is configured", "OPENAI_API_KEY"]);
    // Nobody listens on this port.
    let ran = check(&tree, "http://127.0.0.1:1/v1", NAME, "").run().exits(2);
    ran.says(&["not checked completely (4 calls, 0 tokens)", "cannot be reached"]);
}

//! A page that asks the model some time after everything else, as for suggestions.

use axum::Router;
use axum::response::Html;
use axum::routing::{get, post};
use retake::Stage;
use serde_json::json;

use crate::support::loopback::{Service, chat, client};
use crate::support::tree::Tree;

tests!(a_call_that_a_page_makes_later_is_kept_and_the_settle_for_it_is_proposed);

const PAGE: &str = r#"<!doctype html><main><h1>A page</h1><p id="said">nothing yet</p></main><script>
setTimeout(() => fetch("/suggest", { method: "POST" }), 6000);</script>"#;

/// Serves the page, and what it asks after six seconds: a browser that gets little processor has shown the heading by then.
pub(crate) fn router(stage: &Stage) -> Router {
    let (url, key) = (format!("{}/chat/completions", stage.model().openai), stage.key().to_owned());
    let suggest = async move || {
        let call = chat(&json!([{ "role": "user", "content": "What could be asked next?" }]), false);
        let request = client().post(url).bearer_auth(key).header("content-type", "application/json");
        request.body(call.to_string()).send().await.unwrap().text().await.unwrap()
    };
    Router::new().route("/page", get(async || Html(PAGE))).route("/suggest", post(suggest))
}

fn a_call_that_a_page_makes_later_is_kept_and_the_settle_for_it_is_proposed() {
    let message = json!({ "role": "assistant", "content": "Why is the sky blue?" });
    let answer =
        json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    let provider = Service::start(Router::new().fallback(async move || axum::Json(answer)));
    let tree = Tree::with_suite("");
    let step = "[[step]]\nbrowser = \"/page\"\ndo = [{ see = \"role:heading A page\" }]\n";
    tree.scenario("suggests", step);
    let record = |more: &str| {
        let runner = tree
            .recorder("later", &format!("record{more}"), "suggests")
            .env("OPENAI_API_KEY", "the-provider-s-0wn-key");
        runner.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run()
    };
    let ran = record("").exits(1).says(&["a page asked the model", "after everything else, and `settle` is 100ms"]);
    assert!(!tree.has("fixtures/suggests.json"), "{}", ran.all());
    let said = ran.all();
    let proposed = said.lines().find(|line| line.trim().starts_with("settle = ")).unwrap();
    tree.scenario("suggests", &format!("{proposed}\n{step}"));
    record(" --resume").exits(0).says(&["1 turn recorded to fixtures/suggests.json, two replays agree"]);
    tree.runner("later").run().green();
}

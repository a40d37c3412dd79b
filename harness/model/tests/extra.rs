//! What no other check covers is noted where it changes, by its name, and tells no turns apart.

use std::sync::Arc;

use axum::{Router, routing::any};

use super::recorder::{Recording, provider, run};
use crate::*;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";
const GEMINI: &str = "/v1beta/models/m:generateContent";
const OLLAMA: &str = "/api/chat";

/// For each API, a call and its answer.
fn of_api(path: &str) -> (&'static str, &'static str) {
    match path {
        CHAT => (
            r#"{"model":"m","seed":1,"temperature":0.5,"user":"u-1","metadata":{"team":"red","caller":"a"},"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}"#,
            r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#,
        ),
        RESPONSES => (
            r#"{"model":"m","instructions":"s","prompt_cache_key":"k-1","safety_identifier":"i-1","input":[{"role":"user","content":"q"}]}"#,
            r#"{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}]}"#,
        ),
        MESSAGES => (
            r#"{"model":"m","max_tokens":9,"metadata":{"user_id":"u-1"},"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"p","cache_control":{"type":"ephemeral","ttl":"5m"}},{"type":"text","text":"q"}]}]}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#,
        ),
        GEMINI => (
            r#"{"systemInstruction":{"parts":[{"text":"s"}]},"labels":{"team":"red"},"contents":[{"role":"user","parts":[{"text":"q"}]}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#,
        ),
        _ => (
            r#"{"model":"m","stream":false,"keep_alive":"5m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}"#,
            r#"{"message":{"role":"assistant","content":"a"},"done":true,"done_reason":"stop"}"#,
        ),
    }
}

/// A call: its path, the headers, what is replaced in its body, and the replacement.
struct Sent<'a>(&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

async fn ask(server: &ModelServer, Sent(path, headers, was, is): &Sent<'_>) {
    let body = of_api(path).0;
    assert!(body.contains(was), "{was}");
    let request = reqwest::Client::new().post(format!("{}{path}", server.urls().url)).bearer_auth(server.key());
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.body(body.replacen(was, is, 1)).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text().await.unwrap());
}

/// Records a call, replays another one, and returns what is noted.
async fn noted(recorded: Sent<'_>, called: Sent<'_>, keeps: bool) -> Vec<String> {
    let drift = drift(recorded, called, keeps).await;
    drift.iter().map(|drift| format!("{} {}", drift.check, drift.in_short())).collect()
}

async fn drift(recorded: Sent<'_>, called: Sent<'_>, keeps: bool) -> Vec<DriftOf> {
    let answer = of_api(recorded.0).1;
    let router = Router::new().fallback(any(move || async move { ([("content-type", "application/json")], answer) }));
    let recording = Recording::of(provider(router).await, false, &[]).await;
    ask(&recording.server, &recorded).await;
    recording.settled().await;
    let mut text = recording.made().fixture.print();
    if !keeps {
        // As versions without this check wrote it.
        let mut fixture: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(fixture["texts"].as_object_mut().unwrap().remove("extra").is_some(), "{text}");
        text = fixture.to_string();
    }
    let fixture = Fixture::parse("f.json".as_ref(), text.as_bytes(), &Rules::default()).unwrap();
    let replay = Arc::new(Replay::new(Arc::new(fixture), Arc::default(), Scope::new("a")));
    let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
    ask(&server, &called).await;
    server.seat().drift().into_iter().map(|(_, drift)| drift).collect()
}

#[test]
fn what_is_sent_beside_a_call_is_noted_by_its_name() {
    let versions = [("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-1")];
    let again = [("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-1"), ("anthropic-beta", "b-2")];
    let later = [("anthropic-version", "2024-01-01"), ("anthropic-beta", "a-1")];
    let (no, some): (&[_], &[_]) = (&[], &versions);
    let marked = r#","cache_control":{"type":"ephemeral"}"#;
    let moved =
        r#"[{"type":"text","text":"p"},{"type":"text","text":"q","cache_control":{"type":"ephemeral","ttl":"5m"}}]"#;
    let unmoved =
        r#"[{"type":"text","text":"p","cache_control":{"type":"ephemeral","ttl":"5m"}},{"type":"text","text":"q"}]"#;
    let last = r#"{"role":"user","content":"q"},{"role":"system","content":"s"}"#;
    let first = r#"{"role":"system","content":"s"},{"role":"user","content":"q"}"#;
    let here = r#""instructions":"s","prompt_cache_key":"k-1","safety_identifier":"i-1","input":["#;
    let item = r#""prompt_cache_key":"k-1","safety_identifier":"i-1","input":[{"role":"developer","content":"s"},"#;
    let cases: [(&str, &[_], &[_], &str, &str, &str); 19] = [
        (CHAT, no, no, r#""user":"u-1","#, "", "extra `/user`: \"u-1\" → absent"),
        (CHAT, no, no, "red", "blue", "extra `/metadata/team`: \"red\" → \"blue\""),
        (CHAT, no, no, r#""seed""#, r#""store":true,"seed""#, "settings `/store`: absent → \"true\""),
        (CHAT, no, no, "0.5", "0.9", "settings `/temperature`: \"0.5\" → \"0.9\""),
        (CHAT, no, no, "system", "developer", "extra `/messages/0/role`: \"system\" → \"developer\""),
        (CHAT, no, no, first, last, "extra `/messages/0/role`: \"system\" → absent"),
        (RESPONSES, no, no, here, item, "extra `/messages/0/role`: absent → \"developer\""),
        (RESPONSES, no, no, "k-1", "k-2", "extra `/prompt_cache_key`: \"k-1\" → \"k-2\""),
        (RESPONSES, no, no, "i-1", "i-2", "extra `/safety_identifier`: \"i-1\" → \"i-2\""),
        (MESSAGES, some, some, "u-1", "u-2", "extra `/metadata/user_id`: \"u-1\" → \"u-2\""),
        (MESSAGES, some, some, marked, "", "extra `/messages/0/content/0/cache_control/type`: \"ephemeral\" → absent"),
        (
            MESSAGES,
            some,
            some,
            unmoved,
            moved,
            "extra `/messages/1/content/0/cache_control/ttl`: \"5m\" → absent; `/messages/1/content/0/cache_control/type`: ",
        ),
        (MESSAGES, some, some, "5m", "1h", "extra `/messages/1/content/0/cache_control/ttl`: \"5m\" → \"1h\""),
        (MESSAGES, some, &later, "q", "q", "extra `/headers/anthropic-version`: \"2023-06-01\" → \"2024-01-01\""),
        (MESSAGES, some, &versions[..1], "q", "q", "extra `/headers/anthropic-beta`: \"a-1\" → absent"),
        (MESSAGES, some, &again, "q", "q", "extra `/headers/anthropic-beta`: \"a-1\" → \"a-1, b-2\""),
        (GEMINI, no, no, "red", "blue", "settings `/labels/team`: \"red\" → \"blue\""),
        (OLLAMA, no, no, "5m", "1h", "extra `/keep_alive`: \"5m\" → \"1h\""),
        (OLLAMA, no, no, first, last, "extra `/messages/0/role`: \"system\" → absent"),
    ];
    run(async {
        for (path, before, now, was, is, expected) in cases {
            let said = noted(Sent(path, before, "q", "q"), Sent(path, now, was, is), true).await;
            assert!(said.len() == 1 && said[0].starts_with(expected), "{path}, {is}: {said:?}\n{expected}");
            let unchanged = noted(Sent(path, now, was, is), Sent(path, now, was, is), true).await;
            assert_eq!(unchanged, [""; 0], "{path}, {is}");
            // A recording that does not know it fits anything.
            if expected.starts_with("extra") {
                let old = noted(Sent(path, before, "q", "q"), Sent(path, now, was, is), false).await;
                assert_eq!(old, [""; 0], "{path}, {is}");
            }
        }
    });
}

#[test]
fn what_a_provider_refuses_is_told_unless_the_recording_has_it() {
    let version: (&[_], &[_]) = (&[("anthropic-version", "2023-06-01")], &[]);
    let gone = (r#""max_tokens":9,"#, "");
    let text = (r#""temperature":0.5"#, r#""temperature":"0.5""#);
    let number = (r#""model":"m","max_tokens":9"#, r#""model":"m","max_tokens":"9""#);
    let refused = |why: &str| vec![format!("the provider refuses this call: {why}")];
    run(async {
        for (path, before, now, (was, is), expected) in [
            (MESSAGES, version.0, version.0, gone, refused("`max_tokens` is missing")),
            (MESSAGES, version.0, version.1, ("q", "q"), refused("`anthropic-version` is missing")),
            (MESSAGES, version.0, version.0, number, refused("`max_tokens` is a string, not a number")),
            (CHAT, version.1, version.1, text, refused("`temperature` is a string, not a number")),
            (CHAT, version.1, version.1, (r#","temperature":0.5"#, ""), vec![]),
            (MESSAGES, version.1, version.0, ("q", "q"), vec![]),
            (GEMINI, version.1, version.1, (r#""labels":{"team":"red"}"#, r#""labels":{"team":7}"#), vec![]),
        ] {
            let drift = drift(Sent(path, before, "q", "q"), Sent(path, now, was, is), true).await;
            let told: Vec<_> = drift.iter().filter_map(|of| Some(of.breakage.as_ref()?.to_string())).collect();
            assert_eq!(told, expected, "{path} {was}");
        }
    });
}

//! Requests with methods other than POST, requests that clients make in addition to their calls, and pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use axum::response::IntoResponse as _;
use axum::{Router, routing};
use futures_util::StreamExt as _;

use super::recorder::{Recording, provider, run};
use super::{on_a_server, post, turn};
use crate::*;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// Sends a request, with the key in the header if there is one, and returns the status and the body.
async fn send(server: &ModelServer, method: Method, path: &str, key: Option<&str>) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.request(method, format!("{}{path}", server.urls().url));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// Starts a server that replays a recording, after writing the fixture as text and reading it back.
async fn replaying(recording: &Recording, delays: bool) -> (ModelServer, Arc<Replay>) {
    let made = recording.made();
    assert_eq!(made.left_out, [""; 0]);
    let rules = Arc::new(Rules::default());
    let text = made.fixture.print();
    let fixture = Fixture::parse("f".as_ref(), text.as_bytes(), &rules).unwrap();
    assert_eq!(fixture.print(), text);
    let mut replay = Replay::new(Arc::new(fixture), rules, Scope::new("a"));
    replay.delays = delays;
    let replay = Arc::new(replay);
    (ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await.unwrap(), replay)
}

/// A provider with a background response, which is completed at the fourth poll, and with a file.
fn with_background() -> Router {
    let polls = Arc::new(AtomicUsize::new(0));
    let poll = move || {
        let status = ["queued", "queued", "in_progress"].get(polls.fetch_add(1, Ordering::Relaxed));
        async move { axum::Json(serde_json::json!({"id": "resp_1", "status": status.unwrap_or(&"completed")})) }
    };
    let file = |method: Method, query: axum::extract::RawQuery| async move {
        axum::Json(serde_json::json!({"method": method.as_str(), "query": query.0})).into_response()
    };
    Router::new().route("/v1/responses/resp_1", routing::get(poll)).route("/v1/files/f", routing::any(file))
}

#[test]
fn requests_other_than_post_are_recorded_and_replayed_by_method_path_and_query() {
    run(async {
        let recording = Recording::of(provider(with_background()).await, false, &[]).await;
        let asked = [
            (Method::GET, "/v1/files/f?limit=1&after=a"),
            (Method::GET, "/v1/files/f?after=b"),
            (Method::PUT, "/v1/files/f"),
            (Method::DELETE, "/v1/files/f"),
            (Method::HEAD, "/v1/files/f"),
        ];
        let mut live = Vec::new();
        for (method, path) in &asked {
            live.push(send(&recording.server, method.clone(), path, Some(recording.server.key())).await);
        }
        assert!(live[..4].iter().all(|(status, body)| *status == 200 && body.contains("method")), "{live:?}");
        let (server, replay) = replaying(&recording, false).await;
        assert!(!replay.all_served());
        for ((method, path), live) in asked.iter().zip(&live) {
            assert_eq!(send(&server, method.clone(), path, Some(server.key())).await, *live, "{method} {path}");
        }
        // The query is in a different order, and holds the key.
        let same = format!("/v1/files/f?after=a&key={}&limit=1", server.key());
        assert_eq!(send(&server, Method::GET, &same, None).await, live[0]);
        let (status, body) = send(&server, Method::GET, "/v1/files/f?after=c", Some(server.key())).await;
        assert!(status == 404 && body.contains("`GET /v1/files/f`"), "{body}");
        assert!(replay.all_served());
        assert_eq!(
            send(&server, Method::DELETE, "/v1/files/f", Some(server.key())).await.0,
            404,
            "only one was recorded"
        );
    });
}

#[test]
fn a_client_may_poll_more_or_less_often_than_recorded() {
    run(async {
        let recording = Recording::of(provider(with_background()).await, false, &[]).await;
        let poll = async |server: &ModelServer| {
            let body = send(server, Method::GET, "/v1/responses/resp_1", Some(server.key())).await.1;
            Json::parse(body.as_bytes()).unwrap().str_of("status").unwrap().to_owned()
        };
        for status in ["queued", "queued", "in_progress", "completed"] {
            assert_eq!(poll(&recording.server).await, status);
        }
        let (server, replay) = replaying(&recording, false).await;
        assert_eq!(replay.fixture().table.turns().len(), 3, "equal neighbours are one turn");
        // A client does not have to poll at all.
        assert!(replay.all_served());
        assert_eq!(replay.unused(), [0; 0]);
        for status in ["queued", "in_progress", "completed", "completed", "completed"] {
            assert_eq!(poll(&server).await, status);
        }
        assert!(replay.scope().misses().is_empty());
    });
}

#[test]
fn an_upload_is_found_in_recordings_of_today_and_of_before_each_field_was_read() {
    run(async {
        let upload = |id: &str, boundary: &str| {
            let head =
                format!("--{boundary}\r\ncontent-disposition: form-data; name=\"f\"; filename=\"{id}.png\"\r\n\r\n");
            [head.as_bytes(), &[0xff, 0], format!("\r\n--{boundary}--").as_bytes()].concat()
        };
        let router =
            Router::new().route("/v1/files", routing::post(async || axum::Json(serde_json::json!({"id": "f"}))));
        let recording = Recording::of(provider(router).await, false, &[]).await;
        let sent = async |server: &ModelServer, body: Vec<u8>| {
            let request = reqwest::Client::new().post(format!("{}/v1/files", server.urls().url));
            request.bearer_auth(server.key()).body(body).send().await.unwrap().status().as_u16()
        };
        let (one, other) = ("3f2504e0-4f89-41d3-9a0c-0305e82c3301", "00000000-4f89-41d3-9a0c-0305e82c3301");
        assert_eq!(sent(&recording.server, upload(one, "a1")).await, 200);
        recording.settled().await;
        let (server, _) = replaying(&recording, false).await;
        assert_eq!(sent(&server, upload(other, "b2")).await, 200);
        // A journal of 0.2 has the whole body.
        let journal = recording.journal();
        let request = journal.split_once("\"request\":").unwrap().1.split_once(",\"response\"").unwrap().0;
        let whole = retake_wire::request_body_before(&upload(one, "c3")).unwrap();
        let journal = journal.replace(request, &whole.print(retake_core::json::Layout::Compact));
        std::fs::write(&recording.journal, journal).unwrap();
        let (server, replay) = replaying(&recording, false).await;
        assert_eq!(sent(&server, upload(one, "d4")).await, 200);
        assert!(replay.all_served());
        assert_eq!(sent(&server, upload(other, "d4")).await, 404);
    });
}

/// A list of files that changes when one of them is deleted.
fn with_list() -> Router {
    let left = Arc::new(AtomicUsize::new(2));
    let deleting = left.clone();
    let list = move || {
        let left = left.load(Ordering::Relaxed);
        async move { axum::Json(serde_json::json!({"left": left})) }
    };
    let delete = move || {
        deleting.fetch_sub(1, Ordering::Relaxed);
        async { axum::Json(serde_json::Value::Null) }
    };
    Router::new().route("/v1/files", routing::get(list)).route("/v1/files/f", routing::delete(delete))
}

#[test]
fn a_read_is_answered_as_after_the_same_number_of_other_calls() {
    run(async {
        let recording = Recording::of(provider(with_list()).await, false, &[]).await;
        let ask = async |server: &ModelServer, calls: &str| {
            let mut got = Vec::new();
            for call in calls.chars() {
                let (method, path) =
                    if call == 'r' { (Method::GET, "/v1/files") } else { (Method::DELETE, "/v1/files/f") };
                got.push(send(server, method, path, Some(server.key())).await.1);
            }
            got.retain(|body| body != "null");
            got.iter().map(|body| body.trim_matches(|c: char| !c.is_ascii_digit()).to_owned()).collect::<String>()
        };
        assert_eq!(ask(&recording.server, "rrdrdr").await, "2210");
        recording.settled().await;
        for (calls, answers) in
            [("rrdrdr", "2210"), ("rdrdr", "210"), ("rrrrdrrdrr", "22221100"), ("ddr", "0"), ("rdd", "2"), ("dr", "1")]
        {
            let (server, replay) = replaying(&recording, false).await;
            assert_eq!(ask(&server, calls).await, answers, "{calls}");
            assert!(replay.scope().misses().is_empty());
            assert_eq!(replay.unused().len(), 2 - calls.matches('d').count(), "{calls}");
        }
    });
}

/// The first answer after another call equals the last one before it, but a different one follows.
#[test]
fn equal_answers_before_and_after_another_call_are_two_turns_if_a_different_one_follows() {
    run(async {
        let answers = Arc::new(AtomicUsize::new(0));
        let next = move || {
            let state = ["a", "a", "a", "b", "b"].get(answers.fetch_add(1, Ordering::Relaxed));
            async move { axum::Json(serde_json::json!({"state": state})) }
        };
        let router = Router::new()
            .route("/v1/jobs/1", routing::get(next))
            .route("/v1/jobs", routing::post(async || axum::Json(serde_json::json!({}))));
        let recording = Recording::of(provider(router).await, false, &[]).await;
        let ask = async |server: &ModelServer| {
            let mut got = Vec::new();
            for method in [Method::GET, Method::GET, Method::POST, Method::GET, Method::GET, Method::POST, Method::GET]
            {
                let path = if method == Method::GET { "/v1/jobs/1" } else { "/v1/jobs" };
                got.push(send(server, method, path, Some(server.key())).await.1);
            }
            got
        };
        let live = ask(&recording.server).await;
        recording.settled().await;
        let (server, replay) = replaying(&recording, false).await;
        assert_eq!(replay.fixture().table.turns().len(), 5, "the last read equals the one before it");
        assert_eq!(ask(&server).await, live);
    });
}

#[test]
fn requests_in_addition_to_calls_are_answered_without_a_recording() {
    on_a_server(vec![turn(None, "", "q", "1")], async |server, replay| {
        for (method, path, says) in
            [(Method::HEAD, "/", ""), (Method::GET, "/api/version", "version"), (Method::GET, "/v1/models", "\"m\"")]
        {
            let (status, body) = send(server, method.clone(), path, Some(server.key())).await;
            assert!(status == 200 && body.contains(says), "{method} {path}: {status} {body}");
        }
        // Ollama's clients have no key. What a fixture holds is sent only to clients with the key.
        assert_eq!(send(server, Method::HEAD, "/", None).await.0, 200);
        assert!(replay.scope().misses().is_empty());
        assert_eq!(send(server, Method::GET, "/v1/models", None).await.0, 401);
    });
}

#[test]
fn a_recorded_list_of_models_is_replayed() {
    run(async {
        let list =
            Router::new().route("/v1/models", routing::get(async || axum::Json(serde_json::json!({"data": [1]}))));
        let recording = Recording::of(provider(list).await, false, &[]).await;
        let live = send(&recording.server, Method::GET, "/v1/models", Some(recording.server.key())).await;
        assert_eq!(live, (200, r#"{"data":[1]}"#.to_owned()));
        let (server, replay) = replaying(&recording, false).await;
        assert!(replay.all_served());
        assert_eq!(send(&server, Method::GET, "/v1/models", Some(server.key())).await, live);
    });
}

#[test]
fn a_server_that_records_refuses_a_key_in_the_query_from_a_page_of_another_server() {
    run(async {
        let recording = Recording::of(provider(Router::new().fallback(|| async { "{}" })).await, true, &[]).await;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let server = &recording.server;
        let url = format!("{}/v1/embeddings?key={}", server.urls().url, server.key());
        for (header, value, status) in [
            ("origin", "https://page.example".to_owned(), StatusCode::UNAUTHORIZED),
            ("sec-fetch-site", "cross-site".to_owned(), StatusCode::UNAUTHORIZED),
            ("origin", server.urls().url, StatusCode::OK),
            ("accept", "*/*".to_owned(), StatusCode::OK),
        ] {
            let sent = client.post(&url).header(header, &value).body("{}").send().await.unwrap();
            assert_eq!(sent.status(), status, "{header}: {value}");
        }
    });
}

const CALL: &str = r#"{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}"#;
const FRAMES: [&str; 2] = [
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n",
];

#[test]
fn pauses_of_a_stream_are_recorded_and_replayed_on_request() {
    const PAUSE: Duration = Duration::from_millis(60);
    run(async {
        let slow = Router::new().fallback(|| async {
            let frames = futures_util::stream::iter(FRAMES).enumerate().then(async |(nth, frame)| {
                // This is the pause that is recorded.
                tokio::time::sleep(if nth == 0 { Duration::ZERO } else { PAUSE }).await;
                Ok::<_, std::io::Error>(frame)
            });
            ([("content-type", "text/event-stream")], axum::body::Body::from_stream(frames))
        });
        let recording = Recording::keeping_delays(provider(slow).await).await;
        let live = post(&recording.server, "/v1/chat/completions", recording.server.key(), CALL).await;
        let text = recording.made().fixture.print();
        let delays = text.lines().find(|line| line.contains("\"delays\"")).unwrap();
        let last: u64 = delays.trim_end_matches([',', '"']).rsplit(' ').next().unwrap().parse().unwrap();
        assert!(last >= 50, "{delays}");
        let (server, _) = replaying(&recording, true).await;
        let began = Instant::now();
        assert_eq!(post(&server, "/v1/chat/completions", server.key(), CALL).await, live);
        assert!(began.elapsed() >= Duration::from_millis(last), "{:?}", began.elapsed());
    });
}

/// The provider says nothing at all before the answer begins, as while a model reads its prompt.
#[test]
fn the_time_until_an_answer_begins_is_recorded_and_replayed_on_request() {
    const PAUSE: Duration = Duration::from_millis(60);
    const WHOLE: &str = r#"{"id":"c","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    run(async {
        let slow = Router::new().fallback(|body: String| async move {
            tokio::time::sleep(PAUSE).await; // This is the pause that is recorded.
            if body.contains("\"stream\": true") {
                ([("content-type", "text/event-stream")], FRAMES.concat())
            } else {
                ([("content-type", "application/json")], WHOLE.to_owned())
            }
        });
        let recording = Recording::keeping_delays(provider(slow).await).await;
        let calls = [CALL.to_owned(), CALL.replace("true", "false").replace("hi", "whole")];
        for call in &calls {
            post(&recording.server, "/v1/chat/completions", recording.server.key(), call).await;
        }
        let text = recording.made().fixture.print();
        let delays = text.lines().filter_map(|line| line.trim().strip_prefix("\"delays\": \""));
        let delays: Vec<&str> = delays.map(|rest| rest.trim_end_matches([',', '"'])).collect();
        let [stream, whole] = delays[..] else { panic!("{text}") };
        let first = |delays: &str| delays.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert!(stream.ends_with(" 0") && first(stream) >= 50 && first(whole) >= 50, "{delays:?}");
        // A stream answers a call for a whole body, and the other way round, after the same time.
        let other_form = [calls[0].replace("true", "false"), calls[1].replace("false", "true")];
        for (call, recorded) in calls.iter().chain(&other_form).zip([stream, whole, stream, whole]) {
            let (server, _) = replaying(&recording, true).await;
            let began = Instant::now();
            assert_eq!(post(&server, "/v1/chat/completions", server.key(), call).await.0, 200);
            assert!(began.elapsed() >= Duration::from_millis(first(recorded)), "{call}: {:?}", began.elapsed());
        }
    });
}

#[test]
fn pauses_are_left_out_by_default() {
    run(async {
        let quick = Router::new().fallback(|| async { ([("content-type", "text/event-stream")], FRAMES.concat()) });
        let recording = Recording::of(provider(quick).await, false, &[]).await;
        post(&recording.server, "/v1/chat/completions", recording.server.key(), CALL).await;
        let text = recording.made().fixture.print();
        // Adds a pause of an hour by hand.
        let text = text.replace("\"frames\"", "\"delays\": \"0 3600000\", \"frames\"");
        let rules = Arc::new(Rules::default());
        let fixture = Fixture::parse("f".as_ref(), text.as_bytes(), &rules).unwrap();
        let replay = Arc::new(Replay::new(Arc::new(fixture), rules, Scope::new("a")));
        let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
        assert_eq!(post(&server, "/v1/chat/completions", server.key(), CALL).await.0, 200);
    });
}

#[test]
fn a_rule_names_the_same_caller_when_recording_and_in_replay() {
    run(async {
        // The second request refers to the first answer instead of repeating it. So it lacks the message that the rule looks at.
        let rule = || CallerRule {
            name: "planner".to_owned(),
            when: When { message: Some(regex::Regex::new("^plan").unwrap()), ..When::default() },
        };
        let options = || ServerOptions { callers: CallerRules::new(vec![rule()]), ..ServerOptions::default() };
        let asked = Arc::new(AtomicUsize::new(0));
        let answers = Router::new().fallback(move || {
            let id = asked.fetch_add(1, Ordering::Relaxed);
            let call = serde_json::json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"});
            let body = serde_json::json!({"id": format!("resp_{id}"), "status": "completed", "output": [call]});
            async move { axum::Json(body) }
        });
        let recording = Recording::with(provider(answers).await, false, &[], options()).await;
        let requests = [
            r#"{"model": "m", "input": "plan it"}"#,
            r#"{"model": "m", "previous_response_id": "resp_0", "input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]}"#,
        ];
        let mut live = Vec::new();
        for request in requests {
            live.push(post(&recording.server, "/v1/responses", recording.server.key(), request).await);
        }
        let made = recording.made().fixture;
        let callers: Vec<_> = made.table.turns().iter().map(|turn| turn.caller.as_deref()).collect();
        assert_eq!(callers, [Some("planner"); 2]);
        let replay = Arc::new(Replay::new(Arc::new(made), Arc::default(), Scope::new("a")));
        let server = ModelServer::start(Mode::Replay(replay), options()).await.unwrap();
        for (request, live) in requests.into_iter().zip(live) {
            assert_eq!(post(&server, "/v1/responses", server.key(), request).await, live);
        }
    });
}

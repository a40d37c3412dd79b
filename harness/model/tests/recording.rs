//! A recorder between a client and a fake provider, which behaves as real providers do.

use std::sync::Arc;

use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use axum::{Router, routing::any};
use futures_util::StreamExt as _;

use super::post;
use super::recorder::{Recording, provider, run};
use crate::*;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// For each API, the path and the body of a call.
pub(super) const CALLS: [(&str, &str); 5] = [
    ("/v1/chat/completions", r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#),
    ("/v1/responses", r#"{"model":"m","stream":true,"input":"hi"}"#),
    ("/v1/messages", r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#),
    ("/v1beta/models/m:streamGenerateContent?alt=sse", r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
    ("/api/chat", r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#),
];

/// For each API, the content type of a stream, its beginning, and an error that may follow.
pub(super) const STREAMS: [(&str, &str, &str); 5] = [
    (
        "text/event-stream",
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
    ),
    (
        "text/event-stream",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"a\"}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"message\":\"overloaded\"}\n\n",
    ),
    (
        "text/event-stream",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded\"}}\n\n",
    ),
    (
        "text/event-stream",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n",
        "data: {\"error\":{\"code\":503,\"message\":\"overloaded\"}}\n\n",
    ),
    (
        "application/x-ndjson",
        "{\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"done\":false}\n",
        "{\"error\":\"overloaded\"}\n",
    ),
];

/// Tries each way in which an answer can end early, over each API.
#[test]
fn an_answer_that_ends_early_is_in_the_journal_but_not_a_turn() {
    run(async {
        for ((path, call), (kind, begins, fails)) in CALLS.into_iter().zip(STREAMS) {
            let ways: [(&str, Router); 4] = [
                (
                    "the answer: ",
                    Router::new().fallback(any(move || async move { ([("content-type", kind)], begins) })),
                ),
                ("the provider's error: overloaded", {
                    let body = format!("{begins}{fails}");
                    Router::new().fallback(any(move || async move { ([("content-type", kind)], body) }))
                }),
                ("status 529: the provider's error: ", {
                    let status = StatusCode::from_u16(529).unwrap();
                    Router::new().fallback(any(move || async move { (status, "{\"error\":{\"message\":\"no\"}}") }))
                }),
                ("the answer is incomplete: the provider left before the end", {
                    Router::new().fallback(any(move || async move {
                        let broken = futures_util::stream::iter([Ok(begins), Err(std::io::Error::other("gone"))]);
                        // The first chunk has to be sent before the connection breaks.
                        let broken = broken.then(async |item| {
                            tokio::task::yield_now().await;
                            item
                        });
                        ([("content-type", kind)], HttpBody::from_stream(broken)).into_response()
                    }))
                }),
            ];
            for (reason, router, errors) in
                ways.into_iter().flat_map(|(reason, router)| [(reason, router.clone(), false), (reason, router, true)])
            {
                let recording = Recording::of(provider(router).await, errors, &[]).await;
                let url = format!("{}{path}", recording.server.urls().url);
                let sent = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(call).send().await;
                let live = sent.unwrap();
                let live = (live.status(), live.bytes().await);
                recording.settled().await;
                let made = recording.made();
                // What came whole and is no answer becomes a turn if errors are recorded. An answer that broke off never does.
                if errors && !reason.contains("incomplete") {
                    assert_eq!(
                        (made.fixture.table.turns().len(), &made.left_out[..]),
                        (1, &[][..]),
                        "{path}: {reason}"
                    );
                    let replay = Arc::new(Replay::new(Arc::new(made.fixture), Arc::default(), Scope::new("a")));
                    let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
                    let url = format!("{}{path}", server.urls().url);
                    let sent = reqwest::Client::new().post(url).bearer_auth(server.key()).body(call).send().await;
                    let sent = sent.unwrap();
                    assert_eq!((sent.status(), sent.bytes().await.unwrap()), (live.0, live.1.unwrap()), "{path}");
                    continue;
                }
                assert_eq!(made.fixture.table.turns().len(), 0, "{path}: {reason}");
                assert_eq!(made.left_out.len(), 1, "{path}: {:?}", made.left_out);
                assert!(made.left_out[0].contains(reason), "{path}: {:?}", made.left_out);
            }
        }
    });
}

/// The order of keys and the spelling of numbers show in the system's own stream. When they were not kept, recordings were
/// reported as unstable.
#[test]
fn a_json_answer_is_replayed_in_the_order_and_spelling_of_the_provider() {
    run(async {
        let call = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
        let answer = |content: &str| {
            format!(
                r#"{{"object": "chat.completion", "id": "c", "choices": [{{"message": {{"role": "assistant", "content": {content}}},
                    "logprobs": -1.50E-3, "index": 0, "finish_reason": "stop"}}], "created": 1.0e9, "big": 12345678901234567890123}}"#
            )
        };
        let spelled = answer(r#""caf\u00e9 \/""#);
        let with_secret = answer(r#""it is sk-proj-abcdefghijklmnop1234""#);
        let twice = spelled.replacen('{', r#"{"created": 7, "#, 1);
        let half = answer(r#""cut: \ud83d""#);
        let without_space =
            |text: &str| text.replace(['\n'], "").replace("  ", "").replace("\": ", "\":").replace(", \"", ",\"");
        for (sent, expected) in [
            (&spelled, without_space(&spelled)),
            (&with_secret, without_space(&with_secret).replace("sk-proj-abcdefghijklmnop1234", "<OPENAI_KEY>")),
            // Readable JSON cannot represent these two, so they are kept as text.
            (&twice, twice.clone()),
            (&half, half.clone()),
        ] {
            let body = sent.clone();
            let router =
                Router::new().fallback(any(move || async move { ([("content-type", "application/json")], body) }));
            let recording = Recording::of(provider(router).await, false, &[]).await;
            post(&recording.server, "/v1/chat/completions", recording.server.key(), call).await;
            recording.settled().await;
            let made = recording.made();
            assert_eq!(made.left_out, [""; 0]);
            let written = made.fixture.print();
            let read = Fixture::parse("f.json".as_ref(), written.as_bytes(), &Rules::default()).unwrap();
            assert_eq!(read.print(), written);
            let replay = Arc::new(Replay::new(Arc::new(read), Arc::default(), Scope::new("a")));
            let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
            let (_, _, replayed) = post(&server, "/v1/chat/completions", server.key(), call).await;
            assert_eq!(replayed, expected);
        }
    });
}

#[test]
fn a_compressed_request_is_read_while_recording_and_in_replay() {
    run(async {
        let (path, body) = CALLS[0];
        // One frame of zstd with one block that is not compressed.
        let length = u8::try_from(body.len()).unwrap();
        let block = (u32::from(length) << 3 | 1).to_le_bytes();
        let packed = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length], &block[..3], body.as_bytes()].concat();
        let sent = |server: &ModelServer, coding: &str, body: Vec<u8>| {
            let url = format!("{}{path}", server.urls().url);
            let request = reqwest::Client::new().post(url).bearer_auth(server.key());
            request.header("content-encoding", coding).body(body).send()
        };
        let (asked, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let router = Router::new().fallback(any(move |headers: axum::http::HeaderMap, body: String| async move {
            asked.send((headers.contains_key("content-encoding"), body)).unwrap();
            ([("content-type", STREAMS[0].0)], format!("{}{}", STREAMS[0].1, ENDS[0]))
        }));
        let recording = Recording::of(provider(router).await, false, &[]).await;
        let live = sent(&recording.server, "zstd", packed.clone()).await.unwrap().text().await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), (false, body.to_owned()), "the provider gets it as it was meant");
        recording.settled().await;
        let replay = Arc::new(Replay::new(Arc::new(recording.made().fixture), Arc::default(), Scope::new("a")));
        let server = ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await.unwrap();
        assert_eq!(sent(&server, "zstd", packed).await.unwrap().text().await.unwrap(), live);
        let refused = sent(&server, "snappy", body.into()).await.unwrap().text().await.unwrap();
        assert!(
            refused.contains("its body is compressed as `snappy`, but only gzip, deflate, br and zstd"),
            "{refused}"
        );
    });
}

/// How each API's stream ends.
pub(super) const ENDS: [&str; 5] = [
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}]}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"STOP\"}]}\n\n",
    "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
];

/// The provider keeps the connection open after the last frame. The client leaves at that frame, as SDKs do, or waits for the
/// end.
#[test]
fn a_complete_stream_is_a_turn_even_if_its_connection_stays_open() {
    run(async {
        for (((path, call), (kind, begins, _)), end) in CALLS.into_iter().zip(STREAMS).zip(ENDS) {
            for leaves in [true, false] {
                let body = format!("{begins}{end}");
                let router = Router::new().fallback(any(move || async move {
                    let all = futures_util::stream::iter([Ok::<_, std::io::Error>(body)]);
                    ([("content-type", kind)], HttpBody::from_stream(all.chain(futures_util::stream::pending())))
                }));
                let recording = Recording::of(provider(router).await, false, &[]).await;
                let url = format!("{}{path}", recording.server.urls().url);
                let asked = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(call).send();
                let mut answer = asked.await.unwrap();
                let mut got = String::new();
                while let Some(chunk) = answer.chunk().await.unwrap() {
                    got.push_str(std::str::from_utf8(&chunk).unwrap());
                    if leaves && got.ends_with(end) {
                        break;
                    }
                }
                // The turn is on disk before the client gets the last frame.
                assert_eq!((recording.made().fixture.table.turns().len(), got.ends_with(end)), (1, true), "{path}");
                drop(answer);
                recording.settled().await;
                assert_eq!(recording.made().left_out, [""; 0], "{path}");
            }
        }
    });
}

/// A text that quotes the last frame does not end the answer, even if the model pauses after it.
#[test]
fn text_that_looks_like_the_last_frame_does_not_end_the_answer() {
    run(async {
        let quoted = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"message_stop\"}}\n\n";
        let rest =
            format!("event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n{}", ENDS[2]);
        let all = format!("{}{quoted}{rest}", STREAMS[2].1);
        let router = Router::new().fallback(any(move || async move {
            let parts = futures_util::stream::iter([format!("{}{quoted}", STREAMS[2].1), rest]).enumerate();
            let parts = parts.then(async |(number, part)| {
                tokio::time::sleep(std::time::Duration::from_millis(400 * number as u64)).await;
                Ok::<_, std::io::Error>(part)
            });
            ([("content-type", STREAMS[2].0)], HttpBody::from_stream(parts))
        }));
        let recording = Recording::of(provider(router).await, false, &[]).await;
        let (status, _, body) = post(&recording.server, CALLS[2].0, recording.server.key(), CALLS[2].1).await;
        assert_eq!((status, body), (200, all));
        assert_eq!(recording.made().fixture.table.turns().len(), 1);
    });
}

/// A provider that refuses the first call as busy, and answers the second.
async fn busy_once() -> Relay {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let asked = Arc::new(asked);
    let answer = r#"{"id":"c","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1200,"completion_tokens":7}}"#;
    provider(Router::new().fallback(any(move || {
        let first = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        async move {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", "application/json".parse().unwrap());
            if first {
                headers.insert("retry-after", "7".parse().unwrap());
                let body = "{\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\"}}";
                return (StatusCode::TOO_MANY_REQUESTS, headers, body);
            }
            (StatusCode::OK, headers, answer)
        }
    })))
    .await
}

/// While recording, an SDK waits as long as the provider asks it to, and the provider learns whose account is used.
#[test]
fn headers_about_retries_and_accounts_are_passed_on_and_not_stored() {
    run(async {
        let router = Router::new().fallback(any(|headers: HeaderMap| async move {
            let account =
                ["openai-organization", "openai-project"].map(|name| headers[name].to_str().unwrap().to_owned());
            let told =
                [("retry-after", "7"), ("retry-after-ms", "7000"), ("x-should-retry", "true"), ("set-cookie", "a=b")];
            (StatusCode::TOO_MANY_REQUESTS, told, account.join(" of "))
        }));
        let recording = Recording::of(provider(router).await, true, &[]).await;
        let url = format!("{}{}", recording.server.urls().url, CALLS[0].0);
        let asked = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(CALLS[0].1);
        let asked = asked.header("openai-organization", "org-1").header("openai-project", "proj-2");
        let answer = asked.send().await.unwrap();
        let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let got = ["retry-after", "retry-after-ms", "x-should-retry", "set-cookie"].map(header);
        assert_eq!(got, [Some("7".into()), Some("7000".into()), Some("true".into()), None]);
        assert_eq!(answer.text().await.unwrap(), "org-1 of proj-2");
        recording.settled().await;
        assert!(!recording.journal().contains("7000"), "{}", recording.journal());
    });
}

/// They are no answer, but cost something.
#[test]
fn the_tokens_of_embeddings_count() {
    run(async {
        const ANSWER: &str =
            r#"{"object": "list", "model": "e", "data": [], "usage": {"prompt_tokens": 75, "total_tokens": 75}}"#;
        let router = Router::new().fallback(any(|| async { ([("content-type", "application/json")], ANSWER) }));
        let recording = Recording::of(provider(router).await, false, &[]).await;
        let call = r#"{"model": "e", "input": ["one", "two"]}"#;
        post(&recording.server, "/v1/embeddings", recording.server.key(), call).await;
        recording.settled().await;
        assert_eq!(recording.recorder.tally().models["e"].tokens.input, 75);
    });
}

#[test]
fn errors_are_turns_if_a_scenario_asks_for_it() {
    run(async {
        let call = CALLS[0].1.replace("\"stream\":true,", "");
        for errors in [false, true] {
            let recording = Recording::of(busy_once().await, errors, &[]).await;
            let mut live = Vec::new();
            for calls in 0..2 {
                // A call that failed and then succeeded does not fail the recording.
                let failed = if calls == 1 && !errors { recording.made().failed.len() } else { 1 };
                assert_eq!(failed, 1);
                live.push(post(&recording.server, CALLS[0].0, recording.server.key(), &call).await);
            }
            assert_eq!([live[0].0, live[1].0], [429, 200]);
            let tally = recording.recorder.tally();
            assert_eq!((tally.calls, tally.models["m-1"].tokens.input, tally.models["m"].calls), (2, 1200, 1));
            let made = recording.made();
            assert_eq!(made.failed, [""; 0]);
            if !errors {
                assert_eq!((made.fixture.table.turns().len(), made.left_out.len()), (1, 1));
                assert!(made.left_out[0].contains("status 429: the provider's error: slow down"));
                continue;
            }
            assert_eq!(made.left_out, [""; 0]);
            // The fixture is printed and parsed again, so what is replayed is what was written.
            let rules = Arc::new(Rules::default());
            let fixture =
                retake_wire::fixture::Fixture::parse("f".as_ref(), made.fixture.print().as_bytes(), &rules).unwrap();
            let replay = Arc::new(Replay::new(Arc::new(fixture), rules, Scope::new("a")));
            let server = ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await.unwrap();
            for live in live {
                let (status, headers, body) = post(&server, CALLS[0].0, server.key(), &call).await;
                let json = |text: &str| retake_core::json::Json::parse(text.as_bytes()).unwrap();
                assert_eq!((status, json(&body)), (live.0, json(&live.2)));
                assert_eq!(headers, None, "an SDK may try again, as it did with the provider");
            }
            assert!(replay.all_served());
        }
    });
}

#[test]
fn an_undeclared_secret_in_a_call_stops_the_recording_before_it_is_sent() {
    run(async {
        let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = asked.clone();
        let router = Router::new().fallback(any(move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async { "{}" }
        }));
        let environment = [("STRIPE", "declared-value"), ("DEPLOY_TOKEN", "t0ken-of-a-deploy")];
        let recording = Recording::of(provider(router).await, false, &environment).await;
        let ask = async |text: &str| {
            let call = CALLS[0].1.replace("hi", text);
            post(&recording.server, CALLS[0].0, recording.server.key(), &call).await
        };
        assert_eq!(ask("it is declared-value").await.0, 200);
        let (status, _, body) = ask("it is t0ken-of-a-deploy").await;
        assert!(status == 400 && body.contains("secrets = [\\\"DEPLOY_TOKEN\\\"]"), "{body}");
        // No further call is sent, so nothing more is paid for.
        assert_eq!(ask("harmless").await.0, 400);
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
        let troubles = recording.recorder.troubles();
        assert_eq!(troubles.len(), 1);
        assert!(troubles[0].contains("secrets = [\"DEPLOY_TOKEN\"]"), "{troubles:?}");
        let journal = recording.journal();
        assert!(journal.contains("<STRIPE>") && journal.contains("env:STRIPE"), "{journal}");
        assert!(!journal.contains("declared-value") && !journal.contains("t0ken-of-a-deploy"), "{journal}");
    });
}

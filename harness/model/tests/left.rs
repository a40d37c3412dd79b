//! Answers that their client leaves while they are recorded.

use std::sync::Arc;

use axum::body::Body as HttpBody;
use axum::{Router, routing::any};
use futures_util::StreamExt as _;

use super::recorder::{Recording, provider, run};
use super::recording::{CALLS, ENDS, STREAMS};
use crate::*;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

#[test]
fn a_client_that_leaves_ends_its_call_and_the_journal_has_a_line() {
    run(async {
        // The provider begins an answer that never ends, or does not even begin one.
        for (begins, reason) in
            [(true, "the client left before the end"), (false, "the client left before the answer began")]
        {
            let (came, arrived) = tokio::sync::oneshot::channel();
            let came = Arc::new(std::sync::Mutex::new(Some(came)));
            let router = Router::new().fallback(any(move || async move {
                let _ = came.lock().unwrap().take().unwrap().send(());
                if !begins {
                    std::future::pending::<()>().await;
                }
                let first = futures_util::stream::iter([Ok::<_, std::io::Error>(STREAMS[0].1)]);
                ([("content-type", STREAMS[0].0)], HttpBody::from_stream(first.chain(futures_util::stream::pending())))
            }));
            let recording = Recording::of(provider(router).await, true, &[]).await;
            let url = format!("{}{}", recording.server.urls().url, CALLS[0].0);
            let asking = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(CALLS[0].1).send();
            let (got, first_chunk) = tokio::sync::oneshot::channel();
            let asking = tokio::spawn(async move {
                let mut answer = asking.await.unwrap();
                answer.chunk().await.unwrap();
                got.send(()).unwrap();
                std::future::pending::<()>().await;
            });
            arrived.await.unwrap();
            if begins {
                first_chunk.await.unwrap();
            }
            asking.abort();
            let _ = asking.await;
            recording.settled().await;
            let made = recording.made();
            let turns = made.fixture.table.turns();
            // If the answer had begun, the client has everything that it wanted.
            let open = turns.iter().filter(|turn| turn.wire.as_ref().is_some_and(|wire| wire.response.is_open()));
            assert_eq!((turns.len(), open.count()), if begins { (1, 1) } else { (0, 0) });
            assert!(begins || made.left_out[0].contains(reason), "{:?}", made.left_out);
            assert!(std::fs::read_to_string(&recording.journal).unwrap().contains(reason));
            assert_eq!(recording.recorder.tally().in_flight, 0);
        }
    });
}

/// What ends with the recording leaves its answers, too; continued from them, they would never end.
#[test]
fn an_answer_that_is_left_because_the_recording_ends_is_no_turn() {
    run(async {
        for begins in [true, false] {
            let (came, mut arrived) = tokio::sync::mpsc::channel(1);
            let router = Router::new().fallback(any(move || async move {
                came.send(()).await.unwrap();
                if !begins {
                    std::future::pending::<()>().await;
                }
                let first = futures_util::stream::iter([Ok::<_, std::io::Error>(STREAMS[0].1)]);
                let body = HttpBody::from_stream(first.chain(futures_util::stream::pending()));
                ([("content-type", STREAMS[0].0)], body)
            }));
            let recording = Recording::of(provider(router).await, true, &[]).await;
            let url = format!("{}{}", recording.server.urls().url, CALLS[0].0);
            let ask = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(CALLS[0].1).send();
            let ends = || Mode::Record(recording.recorder.clone()).ends();
            let asked = tokio::spawn(ask);
            arrived.recv().await.unwrap();
            if begins {
                let mut answer = asked.await.unwrap().unwrap();
                answer.chunk().await.unwrap();
                ends();
            } else {
                ends();
                asked.abort();
            }
            recording.settled().await;
            assert!(recording.journal().contains(r#""cut_by":"recording""#), "{}", recording.journal());
            assert_eq!(recording.made().fixture.table.turns().len(), 0);
        }
    });
}

/// A user stops an answer and asks for it again in the same words, before the answer began or in the middle of it.
#[test]
fn a_call_that_its_client_left_and_made_again_has_both_answers() {
    run(async {
        for begins in [true, false] {
            let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let (came, mut arrived) = tokio::sync::mpsc::channel(2);
            let router = Router::new().fallback(any(move || async move {
                came.send(()).await.unwrap();
                let again = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
                if !begins && !again {
                    std::future::pending::<()>().await;
                }
                let rest = if again {
                    futures_util::stream::iter([Ok::<_, std::io::Error>(ENDS[0])]).boxed()
                } else {
                    futures_util::stream::pending().boxed()
                };
                let first = futures_util::stream::iter([Ok(STREAMS[0].1)]);
                ([("content-type", STREAMS[0].0)], HttpBody::from_stream(first.chain(rest)))
            }));
            let recording = Recording::of(provider(router).await, true, &[]).await;
            let ask = |server: &ModelServer| {
                let url = format!("{}{}", server.urls().url, CALLS[0].0);
                reqwest::Client::new().post(url).bearer_auth(server.key()).body(CALLS[0].1).send()
            };
            let left = tokio::spawn(ask(&recording.server));
            arrived.recv().await.unwrap();
            if begins {
                assert_eq!(left.await.unwrap().unwrap().chunk().await.unwrap().unwrap(), STREAMS[0].1);
            } else {
                left.abort();
                let _ = left.await;
            }
            recording.settled().await;
            let whole = ask(&recording.server).await.unwrap().bytes().await.unwrap();
            recording.settled().await;
            let text = recording.made().fixture.print();
            let fixture = Fixture::parse("f.json".as_ref(), text.as_bytes(), &Rules::default()).unwrap();
            let open = |turn: &retake_wire::fixture::Turn| turn.wire.as_ref().unwrap().response.is_open();
            assert_eq!(fixture.table.turns().iter().map(open).collect::<Vec<_>>(), [true, false]);
            let replay = Arc::new(Replay::new(Arc::new(fixture), Arc::default(), Scope::new("a")));
            let server = ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await.unwrap();
            let mut held = ask(&server).await.unwrap();
            if begins {
                assert_eq!(held.chunk().await.unwrap().unwrap(), STREAMS[0].1);
            }
            assert_eq!(ask(&server).await.unwrap().bytes().await.unwrap(), whole);
            assert!(replay.all_served());
        }
    });
}

/// A client that has read the status of an answer, and leaves, asks again or goes on: it has its answer.
#[test]
fn an_answer_whose_body_its_client_does_not_read_is_recorded_whole() {
    run(async {
        let error = (429, r#"{"error":{"message":"slow down"}}"#);
        let answer =
            r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#;
        for ((status, body), comes) in [(error, true), ((200, answer), true), (error, false)] {
            let (left, leaves) = tokio::sync::oneshot::channel();
            let leaves = Arc::new(std::sync::Mutex::new(Some(leaves)));
            let router = Router::new().fallback(any(move || async move {
                let leaves = leaves.lock().unwrap().take().unwrap();
                let (begin, end) = body.split_at(9);
                let rest = futures_util::stream::once(async move {
                    leaves.await.unwrap();
                    if comes { Ok(end) } else { std::future::pending().await }
                });
                let first = futures_util::stream::iter([Ok::<_, std::io::Error>(begin)]);
                let status = axum::http::StatusCode::from_u16(status).unwrap();
                (status, [("content-type", "application/json")], HttpBody::from_stream(first.chain(rest)))
            }));
            let recording = Recording::of(provider(router).await, true, &[]).await;
            let url = format!("{}{}", recording.server.urls().url, CALLS[0].0);
            let call = CALLS[0].1.replace("true", "false");
            let asked = reqwest::Client::new().post(url).bearer_auth(recording.server.key()).body(call).send();
            assert_eq!(asked.await.unwrap().status(), status);
            left.send(()).unwrap();
            recording.settled().await;
            let journal = recording.journal();
            assert_eq!(journal.contains("the client left before the end"), !comes, "{journal}");
        }
    });
}

/// Its client asked again because it failed, so the two do not overlap, although the body of the first ends after the second came.
#[test]
fn a_call_that_failed_and_was_made_again_overlaps_nothing() {
    run(async {
        let answer =
            r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#;
        let (again, answered) = tokio::sync::oneshot::channel::<()>();
        let answered = Arc::new(std::sync::Mutex::new(Some(answered)));
        let router = Router::new().fallback(any(move || async move {
            let first = answered.lock().unwrap().take();
            let status = if first.is_some() { 429 } else { 200 };
            let body = futures_util::stream::once(async move {
                let Some(first) = first else { return Ok::<_, std::io::Error>(answer) };
                first.await.unwrap();
                Ok(r#"{"error":{"message":"slow down"}}"#)
            });
            let status = axum::http::StatusCode::from_u16(status).unwrap();
            (status, [("content-type", "application/json")], HttpBody::from_stream(body))
        }));
        let recording = Recording::of(provider(router).await, true, &[]).await;
        let url = format!("{}{}", recording.server.urls().url, CALLS[0].0);
        let call = CALLS[0].1.replace("true", "false");
        let ask = || reqwest::Client::new().post(&url).bearer_auth(recording.server.key()).body(call.clone()).send();
        let failed = ask().await.unwrap();
        assert_eq!((failed.status().as_u16(), ask().await.unwrap().status().as_u16()), (429, 200));
        again.send(()).unwrap();
        drop(failed);
        recording.settled().await;
        let made = recording.made();
        assert_eq!((made.fixture.table.turns().len(), made.warnings), (2, Vec::<String>::new()));
    });
}

//! What a request has to say before its body is read, and how much of bodies is in memory at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::http::Request;

use super::recorder::run;
use super::{on_a_server, replay_of, turn};
use crate::*;

const CALL: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "q"}]}"#;

/// The pieces of bodies: how many bytes of them were taken, and how many are in memory.
#[derive(Debug, Default)]
struct Taken {
    all: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A piece of a body, which counts as long as anybody holds it.
struct Piece(Arc<Taken>, Vec<u8>);

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.1
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.0.now.fetch_sub(self.1.len(), Ordering::Relaxed);
    }
}

const MB: usize = 1 << 20;

/// A body of so many pieces of 1 MB, which then ends, or stays open.
fn body(taken: &Arc<Taken>, pieces: usize, ends: bool) -> Body {
    let taken = taken.clone();
    let stream = futures_util::stream::unfold(0, move |sent| {
        let taken = taken.clone();
        async move {
            if sent == pieces && !ends {
                std::future::pending::<()>().await;
            }
            if sent == pieces {
                return None;
            }
            tokio::task::yield_now().await;
            taken.all.fetch_add(MB, Ordering::Relaxed);
            let now = taken.now.fetch_add(MB, Ordering::Relaxed) + MB;
            taken.most.fetch_max(now, Ordering::Relaxed);
            let piece = Bytes::from_owner(Piece(taken, vec![b' '; MB]));
            Some((Ok::<_, std::convert::Infallible>(piece), sent + 1))
        }
    });
    Body::from_stream(stream)
}

fn request(key: Option<&str>, body: Body) -> Request<Body> {
    let request = Request::post("/v1/chat/completions");
    let request = key.into_iter().fold(request, |request, key| request.header("x-api-key", key));
    request.body(body).unwrap()
}

#[test]
fn of_a_body_without_the_key_nothing_is_kept() {
    on_a_server(vec![turn(None, "", "q", "1")], async |server, replay| {
        for key in [None, Some(""), Some("wrong")] {
            let taken = Arc::new(Taken::default());
            let all = (0..64).map(|_| server.answer(request(key, body(&taken, 200, true))));
            for answer in futures_util::future::join_all(all).await {
                assert_eq!(answer.status(), 401);
            }
            let count = |of: &AtomicUsize| of.load(Ordering::Relaxed) / MB;
            assert!(count(&taken.most) <= 64, "{} MB at a time", count(&taken.most));
            assert!(count(&taken.all) <= 64 * 17, "{} MB in all", count(&taken.all));
        }
        // A key that is wrong was meant for something; none at all is the call of somebody else.
        assert_eq!(replay.scope().misses().len(), 64);
        assert!(
            server.seat().flaws().iter().all(|flaw| flaw.kind == FlawKind::Refused)
                && !server.seat().flaws().is_empty()
        );
        assert_eq!(server.answer(request(Some(server.key()), CALL.into())).await.status(), 200);
    });
}

#[test]
fn large_bodies_with_the_key_are_read_as_far_as_there_is_room() {
    run(async {
        let server = ModelServer::start(Mode::Replay(Arc::new(replay_of(vec![]))), ServerOptions::default());
        let server = Arc::new(server.await.unwrap());
        let taken: Vec<_> = (0..64).map(|_| Arc::new(Taken::default())).collect();
        let mut under_way = Vec::new();
        for taken in &taken {
            let (server, body) = (server.clone(), body(taken, 3, false));
            under_way.push(tokio::spawn(async move {
                server.answer(request(Some(server.key()), body)).await;
            }));
        }
        // Each task gets its turn many times, so each goes as far as it can.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let whole = taken.iter().filter(|taken| taken.all.load(Ordering::Relaxed) == 3 * MB);
        assert_eq!(whole.count(), 2, "nobody said how large they are, so each has the room of the largest");
        let small = server.answer(request(Some(server.key()), CALL.into())).await;
        assert_eq!(small.status(), 404, "small ones go past");
        under_way.iter().for_each(tokio::task::JoinHandle::abort);
    });
}

#[test]
fn a_slow_body_without_the_key_does_not_keep_a_scenario_from_settling() {
    run(async {
        let server = ModelServer::start(Mode::Replay(Arc::new(replay_of(vec![]))), ServerOptions::default());
        let server = Arc::new(server.await.unwrap());
        let taken = Arc::new(Taken::default());
        let (asked, body) = (server.clone(), body(&taken, 1, false));
        let slow = tokio::spawn(async move { drop(asked.answer(request(None, body)).await) });
        while taken.all.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.activity().in_flight(), 0);
        slow.abort();
    });
}

#[test]
fn a_browser_is_asked_for_its_page_and_a_container_is_not() {
    on_a_server(vec![turn(None, "", "q", "1"); 9], async |server, replay| {
        let asked = async |key: bool, headers: &[(&str, &str)]| {
            let request =
                headers.iter().fold(request(key.then(|| server.key()), CALL.into()), |mut request, (name, value)| {
                    let name = axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap();
                    request.headers_mut().insert(name, value.parse().unwrap());
                    request
                });
            server.answer(request).await.status().as_u16()
        };
        let (own, docker) = (("host", "127.0.0.1:8080"), ("host", "host.docker.internal:8080"));
        for headers in [
            &[docker][..],
            // Node says so of each request.
            &[docker, ("sec-fetch-mode", "cors")],
            &[own, ("origin", "http://127.0.0.1:8080")],
            &[own, ("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")],
            &[("host", "[::1]:8080"), ("origin", "http://[::1]:9"), ("sec-fetch-dest", "empty")],
        ] {
            assert_eq!(asked(true, headers).await, 200, "{headers:?}");
            assert_eq!(asked(false, headers).await, 401, "{headers:?}");
        }
        for headers in [
            &[docker, ("origin", "http://host.docker.internal:8080")][..],
            &[("host", "evil.example"), ("origin", "http://evil.example")],
            &[("host", "evil.example"), ("sec-fetch-site", "same-origin")],
            &[own, ("origin", "https://evil.example")],
            &[own, ("origin", "http://127.0.0.1.evil.example")],
            &[own, ("origin", "null")],
            &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "image")],
        ] {
            assert_eq!(asked(true, headers).await, 401, "{headers:?}");
            assert_eq!(asked(false, headers).await, 401, "{headers:?}");
        }
        assert!(replay.scope().misses().is_empty());
    });
}

#[test]
fn the_key_is_the_whole_key() {
    for (one, other, same) in
        [("", "", true), ("a", "a", true), ("a", "b", false), ("a", "aa", false), ("é", "e", false)]
    {
        assert_eq!(is_same_key(one, other), same);
    }
}

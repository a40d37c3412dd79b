//! The model server against a bare axum route that parses and keys the same body and sends the same bytes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use retake::axum::{self, Router, routing::post};
use retake::json::Json;
use retake::key::Rules;
use retake::model::{Mode, ModelServer, Replay, Scope, ServerOptions};
use retake::wire::{self, Api};

use crate::fixture::of_turns;
use crate::table::Table;

/// Requests of one measurement, over so many connections.
const REQUESTS: usize = 20_000;
const CONNECTIONS: usize = 32;

/// Runs a server on a thread of its own, its one worker, and gives its address and key.
fn on_a_worker(
    start: impl AsyncFnOnce() -> (SocketAddr, String, Box<dyn std::any::Any>) + Send + 'static,
) -> (SocketAddr, String) {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (address, key, _server) = start().await;
            send.send((address, key)).unwrap();
            std::future::pending::<()>().await;
        });
    });
    receive.recv().unwrap()
}

fn replaying(turns: usize, answer: &'static str) -> (SocketAddr, String) {
    on_a_worker(async move || {
        let fixture = Arc::new(of_turns(turns.max(REQUESTS * 2), REQUESTS * 2, answer));
        let replay = Arc::new(Replay::new(fixture, Arc::new(Rules::default()), Scope::new("bench")));
        let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
        (server.address(), server.key().to_owned(), Box::new(server) as Box<dyn std::any::Any>)
    })
}

fn bare(answer: &'static str) -> (SocketAddr, String) {
    on_a_worker(async move || {
        let turn = of_turns(1, 1, answer);
        let recorded = turn.table.turns()[0].wire.clone().unwrap().response;
        let wire::Body::Json(body) = recorded.body else { panic!("recorded as JSON") };
        let body = body.bytes();
        let rules = Rules::default();
        let route = post(async move |request: Bytes| {
            let json = Json::parse(&request).unwrap();
            let call = wire::decode(Api::OpenAiChat, "/v1/chat/completions", &json, &wire::Known::default()).unwrap();
            std::hint::black_box(rules.key(&rules.canonical(&call.messages), Some("lead_agent")));
            ([(CONTENT_TYPE, "application/json")], body.clone())
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/chat/completions", route)).await });
        (address, "none".to_owned(), Box::new(()) as Box<dyn std::any::Any>)
    })
}

/// Sends requests over kept connections, each waiting for its answer, and gives the time and each latency.
fn load((address, key): &(SocketAddr, String), body: &str) -> (Duration, Vec<Duration>) {
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nx-retake-caller: lead_agent\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let start = Instant::now();
    let latencies = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                scope.spawn(|| {
                    let mut stream = TcpStream::connect(address).unwrap();
                    stream.set_nodelay(true).unwrap();
                    let mut buffer = vec![0; 256 * 1024];
                    (0..REQUESTS / CONNECTIONS)
                        .map(|_| {
                            let sent = Instant::now();
                            stream.write_all(request.as_bytes()).unwrap();
                            read_answer(&mut stream, &mut buffer);
                            sent.elapsed()
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    (start.elapsed(), latencies)
}

fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).unwrap();
        assert!(read > 0, "the server closed the connection");
        filled += read;
        let Some(end) = buffer[..filled].windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&buffer[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..filled]));
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if filled >= end + 4 + length.parse::<usize>().unwrap() {
            return;
        }
    }
}

fn call(filler: usize) -> String {
    let system = "word ".repeat(filler / 5);
    format!(
        r#"{{"model": "m", "messages": [{{"role": "system", "content": "{system}"}}, {{"role": "user", "content": "the same question"}}]}}"#
    )
}

pub fn measure(table: &mut Table) {
    let answer = "a short answer";
    for (name, body) in [("2 KB", call(1900)), ("50 KB", call(50_000))] {
        let (ours, theirs) = (replaying(0, answer), bare(answer));
        // In turn, so that a machine whose speed drifts is fair to both.
        let (theirs_1, _) = load(&theirs, &body);
        let (time, mut latencies) = load(&ours, &body);
        let (theirs_2, _) = load(&theirs, &body);
        let (time, bare) = (time.as_secs_f64(), theirs_1.min(theirs_2).as_secs_f64());
        latencies.sort();
        let p99 = latencies[latencies.len() * 99 / 100];
        let figure = format!("{:.0} req/s, p99 {:.1} ms", REQUESTS as f64 / time, p99.as_secs_f64() * 1e3);
        let against = format!("bare route that parses and keys it, {:.0} req/s", REQUESTS as f64 / bare);
        table.row(&format!("model server, JSON, {name}"), figure, &against, format!("{:.2} of its rate", bare / time));
    }
    let body = call(1900);
    let (few, many) = (replaying(0, answer), replaying(140_000, answer));
    let (few, _) = load(&few, &body);
    let (many, _) = load(&many, &body);
    let figure = format!("{:.0} req/s", REQUESTS as f64 / many.as_secs_f64());
    let ratio = format!("{:.2} of its rate", few.as_secs_f64() / many.as_secs_f64());
    table.row("model server, 100,000 other turns", figure, "no other turn", ratio);
}

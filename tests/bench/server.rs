//! Benchmark of the model server, compared with a bare axum route that parses the same body, computes its key and sends the same
//! bytes.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::serve::ListenerExt as _;
use retake::axum::{self, Router, routing::post};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_model::{Mode, ModelServer, Replay, Scope, ServerOptions};
use retake_wire::{self as wire, Api};

use crate::fixture::{Turns, of_turns, read_answer};
use crate::table::{Paired, Table};

/// Rounds of requests. In each, first Retake is measured and then the other server.
const ROUNDS: usize = 7;
/// The number of requests in a round.
pub const REQUESTS: usize = 6400;
/// The user message of each request.
pub const QUESTION: &str = "the same question";
const CONNECTIONS: usize = 32;

/// Runs a server on its own thread, which is its only worker. Returns its address and key.
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

/// The turns that a server serves, and the request that is sent to it.
#[derive(Clone)]
pub struct Load {
    prompt: String,
    answer: String,
    stream: bool,
    /// The number of turns that answer other questions.
    others: usize,
}

impl Load {
    pub fn of(prompt_bytes: usize, answer_words: usize, stream: bool) -> Load {
        let words = |count: usize| "word ".repeat(count);
        Load { prompt: words(prompt_bytes / 5), answer: words(answer_words), stream, others: 0 }
    }

    fn turns(&self, same: usize) -> Turns<'_> {
        let Load { prompt, answer, stream, others } = self;
        Turns { count: same + others, same, answer, prompt, stream: *stream }
    }

    pub fn request(&self) -> String {
        format!(
            r#"{{"model": "m", "stream": {}, "messages": [{{"role": "system", "content": "{}"}}, {{"role": "user", "content": "{QUESTION}"}}]}}"#,
            self.stream, self.prompt
        )
    }

    pub fn answer(&self) -> &str {
        &self.answer
    }
}

pub fn replaying(load: Load) -> (SocketAddr, String) {
    on_a_worker(async move || {
        let fixture = Arc::new(of_turns(load.turns(REQUESTS * ROUNDS)));
        let replay = Arc::new(Replay::new(fixture, Arc::new(Rules::default()), Scope::new("bench")));
        let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
        (server.address(), server.key().to_owned(), Box::new(server) as Box<dyn std::any::Any>)
    })
}

pub fn bare(load: Load) -> (SocketAddr, String) {
    on_a_worker(async move || {
        let turn = of_turns(load.turns(1));
        let recorded = turn.table.turns()[0].wire.clone().unwrap().response;
        let content_type = HeaderValue::from_str(&recorded.content_type).unwrap();
        let pieces: Vec<Bytes> = match recorded.body {
            wire::Body::Json(body) => vec![body.bytes()],
            wire::Body::Frames(frames) => frames.bytes().collect(),
            other => panic!("{other:?} is neither JSON nor a stream"),
        };
        let rules = Rules::default();
        let route = post(async move |request: Bytes| {
            let json = Json::parse(&request).unwrap();
            let call = wire::decode(Api::OpenAiChat, "/v1/chat/completions", &json, &wire::Known::default()).unwrap();
            std::hint::black_box(rules.key(&rules.canonical(call.into_messages()), Some("lead_agent")));
            let body = match &pieces[..] {
                [whole] => Body::from(whole.clone()),
                _ => Body::from_stream(futures_util::stream::iter(pieces.clone().into_iter().map(Ok::<_, Infallible>))),
            };
            ([(CONTENT_TYPE, content_type.clone())], body)
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // As in the model server: otherwise each piece of a stream would wait for an acknowledgement.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/chat/completions", route)).await });
        (address, "none".to_owned(), Box::new(()) as Box<dyn std::any::Any>)
    })
}

/// Returns the bytes of a whole HTTP request.
pub fn http_request(key: &str, body: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nx-retake-caller: lead_agent\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends the requests of one round over persistent connections. On each connection a request waits for the answer to the one
/// before. Returns the total time and the latency of each request.
pub fn load((address, key): &(SocketAddr, String), body: &str) -> (Duration, Vec<Duration>) {
    let request = http_request(key, body);
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

pub fn measure(table: &mut Table) {
    let loads = [
        ("JSON, 2 KB", Load::of(1900, 3, false)),
        ("JSON, 50 KB", Load::of(50_000, 3, false)),
        ("SSE of 10 frames, 2 KB", Load::of(1900, 9, true)),
        ("SSE of 200 frames, 50 KB", Load::of(50_000, 199, true)),
    ];
    for (name, asked) in loads {
        let (ours, theirs, body) = (replaying(asked.clone()), bare(asked.clone()), asked.request());
        let mut latencies = Vec::new();
        let ours = || {
            let (time, more) = load(&ours, &body);
            latencies.extend(more);
            time
        };
        let paired = Paired::of(ROUNDS, ours, || load(&theirs, &body).0);
        latencies.sort();
        let p99 = latencies[latencies.len() * 99 / 100];
        let figure =
            format!("{:.0} req/s, p99 {:.1} ms", REQUESTS as f64 / paired.ours.as_secs_f64(), p99.as_secs_f64() * 1e3);
        let against =
            format!("bare route that parses and keys it, {:.0} req/s", REQUESTS as f64 / paired.theirs.as_secs_f64());
        table.row(
            &format!("model server, {name}"),
            figure,
            &against,
            format!("{:.2} times its rate", 1.0 / paired.ratio),
        );
    }
    let few = Load::of(1900, 3, false);
    let many = Load { others: 100_000, ..few.clone() };
    let body = few.request();
    let (few, many) = (replaying(few), replaying(many));
    let paired = Paired::of(ROUNDS, || load(&many, &body).0, || load(&few, &body).0);
    let figure = format!("{:.0} req/s", REQUESTS as f64 / paired.ours.as_secs_f64());
    let ratio = format!("{:.2} times its rate", 1.0 / paired.ratio);
    table.row("model server, 100,000 other turns", figure, "no other turn", ratio);
}

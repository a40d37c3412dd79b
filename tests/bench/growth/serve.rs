//! Serving the calls of one run, each of which repeats the conversation so far, and calls of several sizes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use retake_core::key::Rules;
use retake_model::{Clock, Mode, ModelServer, Replay, Scope, ServerOptions, keep_the_last};
use retake_wire::fixture::Fixture;
use retake_wire::{self as wire, Api};
use time::{Date, Month};

use crate::load::{chained, said};
use crate::rows::{Cost, Rows, cost_of, count, thread_cpu};
use crate::{COUNTED, fixture};

const PATH: &str = "/v1/chat/completions";

/// A model server on a thread of its own, which answers how much processor time it took so far.
struct Server {
    stream: TcpStream,
    key: String,
    cpu: mpsc::Receiver<Duration>,
    ask: tokio::sync::mpsc::UnboundedSender<()>,
    received: Vec<u8>,
}

impl Server {
    fn start(fixture: Fixture, repeat: bool) -> Server {
        Server::on(fixture, repeat, Clock::default())
    }

    fn on(fixture: Fixture, repeat: bool, clock: Clock) -> Server {
        let (ready, is_ready) = mpsc::channel();
        let (ask, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let (tell, cpu) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let replay = Replay::new(Arc::new(fixture), Arc::new(Rules::default()), Scope::new("bench"));
                let replay = Arc::new(replay.with_repeat(repeat).by(clock));
                let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
                ready.send((server.address(), server.key().to_owned())).unwrap();
                while asked.recv().await.is_some() {
                    tell.send(thread_cpu()).unwrap();
                }
            });
        });
        let (address, key) = is_ready.recv().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Server { stream, key, cpu, ask, received: vec![0; 64 * 1024] }
    }

    fn cpu(&self) -> Duration {
        self.ask.send(()).unwrap();
        self.cpu.recv().unwrap()
    }

    fn call(&mut self, body: &str) {
        let mut head = [0_u8; 256];
        let mut rest = &mut head[..];
        let key = &self.key;
        write!(
            rest,
            "POST {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        let length = 256 - rest.len();
        self.stream.write_all(&head[..length]).unwrap();
        self.stream.write_all(body.as_bytes()).unwrap();
        crate::fixture::read_answer(&mut self.stream, &mut self.received);
    }
}

/// Calls `each` with the body of each call of a run. All bodies are made in one buffer, so that making them allocates nothing.
fn bodies(calls: usize, mut each: impl FnMut(&str)) -> usize {
    let mut body = String::with_capacity(calls * 2048 + 4096);
    body.push_str(r#"{"model": "m", "messages": [{"role": "system", "content": "Be brief."}"#);
    let mut total = 0;
    for round in 0..calls {
        let [question, answer] = said(round);
        let _ = write!(body, r#", {{"role": "user", "content": "{question}"}}"#);
        let length = body.len();
        body.push_str("]}");
        each(&body);
        total += body.len();
        body.truncate(length);
        let _ = write!(body, r#", {{"role": "assistant", "content": "{answer}"}}"#);
    }
    total
}

fn run(calls: usize) -> Cost {
    let fixture = Fixture::parse(Path::new("bench.json"), chained(calls).as_bytes(), &Rules::default()).unwrap();
    served(calls, Server::start(fixture, false), str::to_owned)
}

/// A run on another day than the recording, in which each message says the day: each call needs the second look.
fn run_on_another_day(calls: usize) -> Cost {
    // As what was carried over from an older format is stored: the built-in rules have been applied.
    let text = chained(calls).replace("2026-11-21T10:00:00Z", "<TS>").replace("fox jumps", "Tuesday 24 November");
    let mut fixture = Fixture::parse(Path::new("bench.json"), text.as_bytes(), &Rules::default()).unwrap();
    fixture.recorded = "2026-11-24T12:00+00:00".parse().ok();
    let day = Date::from_calendar_date(2026, Month::November, 26).ok();
    let server = Server::on(fixture, false, Clock { day, ..Clock::default() });
    served(calls, server, |body| body.replace("fox jumps", "Thursday 26 November"))
}

fn served(calls: usize, mut server: Server, as_sent: impl Fn(&str) -> String) -> Cost {
    let (before, cpu) = (COUNTED.stats(), server.cpu());
    let size = bodies(calls, |body| server.call(&as_sent(body)));
    let (cpu, after) = (server.cpu().saturating_sub(cpu), COUNTED.stats());
    let allocations = after.allocations + after.reallocations - before.allocations - before.reallocations;
    Cost { size, cpu, allocations, bytes: after.bytes_allocated - before.bytes_allocated }
}

/// A call of some size: messages of 1,000 bytes, with tool calls and their results.
fn call_of(bytes: usize) -> String {
    let mut body = r#"{"model": "m", "messages": [{"role": "user", "content": "begin"}"#.to_owned();
    let mut round = 0;
    while body.len() < bytes {
        let text = "word ".repeat(150.min((bytes - body.len()) / 5));
        let _ = write!(
            body,
            r#", {{"role": "assistant", "content": "{round}", "tool_calls": [{{"id": "c{round}", "type": "function",
            "function": {{"name": "read", "arguments": "{{\"path\": \"notes/{round}.txt\"}}"}}}}]}},
            {{"role": "tool", "tool_call_id": "c{round}", "content": "{text}"}}"#
        );
        round += 1;
    }
    body + "]}"
}

pub fn measure(rows: &mut Rows) {
    rows.costs("serve a run, by the bytes of its 50, 200, 800 calls", [50, 200, 800].map(run), true);
    // By calls, since what the second look walks is each message once, however often it is sent again.
    let days = [50, 100, 200].map(|calls| run_on_another_day(calls).allocations as f64);
    rows.add("serve N calls on another day: allocations", [50, 100, 200], days, count, true);
    let by_calls = [50, 200, 800].map(|calls| (calls, run(calls).allocations as f64));
    let sizes = by_calls.map(|(calls, _)| calls);
    rows.add("serve a run of N calls: allocations", sizes, by_calls.map(|(_, allocations)| allocations), count, true);
    let rules = Rules::default();
    let before = |calls: usize| {
        let mut sum = Cost::default();
        sum.size = bodies(calls, |body| {
            let cost = cost_of(0, || {
                let json = wire::chat_body(body.as_bytes()).unwrap();
                let call = wire::decode(Api::OpenAiChat, PATH, &json, &wire::Known::default()).unwrap();
                rules.hash_of_whole(&rules.canonical(call.into_messages()))
            });
            sum.cpu += cost.cpu;
            sum.allocations += cost.allocations;
            sum.bytes += cost.bytes;
        });
        sum
    };
    rows.compare(|rows| rows.costs("its keys, as before", [50, 200, 800].map(before), false));
    let size = |bytes: usize| {
        let body = call_of(bytes);
        let target = wire::Target { method: "POST", path: PATH };
        let read = || {
            let histories = wire::Histories::default();
            let read = histories.read(Api::OpenAiChat, target, body.as_bytes(), &rules.normalizer).unwrap();
            read.1.hash()
        };
        let best = (0..20).map(|_| cost_of(body.len(), read)).min_by_key(|cost| cost.cpu);
        best.unwrap()
    };
    rows.costs("read a call of 2, 50, 800 KB and hash it", [2_000, 50_000, 800_000].map(size), true);
    let whole = |bytes: usize| {
        let body = call_of(bytes);
        let read = || {
            let json = wire::chat_body(body.as_bytes()).unwrap();
            let call = wire::decode(Api::OpenAiChat, PATH, &json, &wire::Known::default()).unwrap();
            rules.hash_of_whole(&rules.canonical(call.into_messages()))
        };
        (0..20).map(|_| cost_of(body.len(), read)).min_by_key(|cost| cost.cpu).unwrap()
    };
    rows.compare(|rows| rows.costs("the same, as before", [2_000, 50_000, 800_000].map(whole), false));
    remembered(rows);
}

/// What a server that runs for long remembers of its calls.
fn remembered(rows: &mut Rows) {
    keep_the_last(1_000);
    let turns = fixture::Turns { count: 1, same: 1, answer: "an answer", prompt: "", stream: false };
    let mut server = Server::start(fixture::of_turns(turns), true);
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "the same question"}]}"#;
    let live = || {
        let stats = COUNTED.stats();
        stats.bytes_allocated as f64 - stats.bytes_deallocated as f64
    };
    let mut calls = 0;
    let kept = [2_000, 10_000, 50_000].map(|count| {
        while calls < count {
            server.call(body);
            calls += 1;
        }
        live()
    });
    rows.add("memory after N calls of `serve --repeat`, in bytes", [2_000, 10_000, 50_000], kept, count, true);
}

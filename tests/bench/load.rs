//! Many sessions at once on `retake serve --delays`: how late frames come, what memory the server takes, and whether its report is
//! right. The number of sessions and seconds can be set, for machines that are busy.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use retake_core::conversation::Message;
use retake_core::json::Json;
use retake_core::key::{CheckTexts, Rules};
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{Api, Response, decode_response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::table::{Table, memory_of};

const QUESTION: &str = "the same question";
/// The frames of an answer, each with one token, and how fast they are sent.
const TOKENS: u32 = 60;
const FIRST: Duration = Duration::from_millis(400);
const PER_SECOND: u32 = 30;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Writes a fixture with three turns of one conversation, which each session is served in this order.
fn fixture(file: &Path) {
    let rules = Rules::default();
    let checks = CheckTexts::new(&rules.normalizer, "", &Json::Null, "m", &Json::object::<String>([]));
    let chunk = |turn: usize, rest: &str| {
        format!(
            "data: {{\"id\":\"c{turn}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",{rest}}}\n\n"
        )
    };
    let turn = |turn: usize| {
        let word = |at| {
            format!(
                "\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word {turn}.{at} \"}},\"finish_reason\":null}}]"
            )
        };
        let end = format!(
            "\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":1,\"completion_tokens\":{TOKENS},\"total_tokens\":{}}}",
            TOKENS + 1
        );
        let frames = (0..TOKENS).map(word).chain([end]).map(|rest| chunk(turn, &rest));
        let response = Response::stream(frames.chain(["data: [DONE]\n\n".to_owned()]).collect());
        Recorded {
            request: None,
            caller: Some("lead_agent".to_owned()),
            conversation: rules.canonical(vec![Message::new("human", QUESTION)]),
            texts: Some(checks.clone().0),
            output: decode_response(Api::OpenAiChat, &response).unwrap(),
            wire: Some(Wire::of(Api::OpenAiChat, response)),
        }
    };
    Fixture::of_turns(file, BTreeMap::new(), (0..3).map(turn).collect(), &rules).write(file).unwrap();
}

struct Server {
    child: Child,
    address: String,
    key: String,
}

impl Server {
    fn start(file: &Path, report: &Path) -> Server {
        let delays = format!("ttft={}ms,tps={PER_SECOND}", FIRST.as_millis());
        let mut child = Command::new(env!("CARGO_BIN_EXE_retake"))
            .arg("serve")
            .arg(file)
            .args(["--repeat", "--delays", &delays, "--session-by", "header:x-session", "--report"])
            .arg(report)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = Json::parse(line.as_bytes()).unwrap();
        let text = |name: &str| ready.str_of(name).unwrap().to_owned();
        Server { child, address: text("url").replace("http://", ""), key: text("key") }
    }

    fn memory(&self) -> usize {
        memory_of(&self.child.id().to_string(), "VmRSS:")
    }

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(b"GET /__retake/metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    fn end(mut self) {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        self.child.wait().unwrap();
    }
}

/// What the sessions saw: how late the first and the last byte of each answer came, and how many answers were the wrong ones.
#[derive(Default)]
struct Seen {
    late: Vec<Duration>,
    wrong: usize,
}

/// Calls again and again until the time is up, as one session.
async fn session(server: (&str, &str), number: u64, sessions: u64, until: Instant) -> Seen {
    // The sessions do not begin all at once.
    let spread = Duration::from_secs(3).mul_f64(number as f64 / sessions as f64);
    tokio::time::sleep(spread).await;
    let body =
        format!("{{\"model\":\"m\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"{QUESTION}\"}}]}}");
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nx-retake-caller: lead_agent\r\n\
         x-session: {number}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.1,
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(server.0).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut seen, mut buffer) = (Seen::default(), vec![0; 64 * 1024]);
    for call in 0.. {
        if Instant::now() >= until {
            break;
        }
        stream.write_all(request.as_bytes()).await.unwrap();
        let sent = Instant::now();
        let mut filled = 0;
        while !buffer[..filled].ends_with(b"\r\n0\r\n\r\n") {
            let read = stream.read(&mut buffer[filled..]).await.unwrap();
            assert!(read > 0, "the server closed the connection");
            if filled == 0 {
                seen.late.push(sent.elapsed().saturating_sub(FIRST));
            }
            filled += read;
        }
        let whole = FIRST + Duration::from_secs(1) * TOKENS / PER_SECOND;
        seen.late.push(sent.elapsed().saturating_sub(whole));
        let first = format!("word {}.0 ", call % 3);
        if !buffer[..filled].windows(first.len()).any(|window| window == first.as_bytes()) {
            seen.wrong += 1;
        }
    }
    seen
}

/// The value of a sample in Prometheus' text.
fn sample(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

pub fn measure(table: &mut Table) {
    let (sessions, seconds) = (setting("RETAKE_BENCH_SESSIONS", 2_000), setting("RETAKE_BENCH_SECONDS", 60));
    let folder = tempfile::tempdir().unwrap();
    let (file, report) = (folder.path().join("load.json"), folder.path().join("report.json"));
    fixture(&file);
    let server = Server::start(&file, &report);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let until = Instant::now() + Duration::from_secs(seconds);
    let (seen, early) = runtime.block_on(async {
        let all = (0..sessions).map(|number| session((&server.address, &server.key), number, sessions, until));
        let early = async {
            tokio::time::sleep(Duration::from_secs(seconds) / 3).await;
            server.memory()
        };
        tokio::join!(join_all(all), early)
    });
    let (late, metrics) = (server.memory(), server.metrics());
    server.end();

    let mut seen_late: Vec<Duration> = seen.iter().flat_map(|seen| seen.late.iter().copied()).collect();
    seen_late.sort();
    let calls = seen_late.len() as u64 / 2;
    let percent = |part: usize| seen_late[(seen_late.len() - 1) * part / 100].as_secs_f64() * 1e3;
    let bucket = |bound: &str| sample(&metrics, &format!("retake_frame_lateness_seconds_bucket{{le=\"{bound}\"}}"));
    let frames = bucket("+Inf");
    let share = bucket("0.005") as f64 / frames.max(1) as f64 * 100.0;
    table.row(
        &format!("{sessions} sessions at once for {seconds} s, {} frames a second", frames / seconds),
        format!("{share:.2} % of the frames at most 5 ms late"),
        "as its clients see first and last bytes",
        format!("p50 {:.1} ms, p99 {:.1} ms late", percent(50), percent(99)),
    );
    let kilobytes = |bytes: usize| format!("{} KB", bytes / 1000);
    table.row(
        "memory of that server",
        format!("{} at the end", kilobytes(late)),
        &format!("after a third of the time, {}", kilobytes(early)),
        format!("{:.2} times that, {} a session", late as f64 / early as f64, kilobytes(late / seen.len())),
    );
    let report = Json::parse(&std::fs::read(&report).unwrap()).unwrap();
    let listed = report.get("served").and_then(Json::as_array).map_or(0, <[Json]>::len) as u64;
    let earlier = report.pointer("/earlier/served").and_then(Json::as_u64).unwrap_or_default();
    let counted = sample(&metrics, "retake_calls_total{api=\"openai-chat\",outcome=\"served\"}");
    let wrong: usize = seen.iter().map(|seen| seen.wrong).sum();
    table.row(
        "calls in the report of that server",
        format!("{} ({counted} in its metrics)", listed + earlier),
        &format!("the calls that were made, {calls}"),
        format!("{} apart, {wrong} answered out of order", (listed + earlier).abs_diff(calls)),
    );
}

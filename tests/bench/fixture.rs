//! Benchmark of loading a fixture with 100,000 turns.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use retake_core::conversation::{Answer, Block, Finish, Message};
use retake_core::json::Json;
use retake_core::key::{CheckTexts, Rules};
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{Api, Response};

use crate::table::{Table, fastest, peak_memory};

/// The turns of a fixture.
pub struct Turns<'a> {
    /// The number of turns.
    pub count: usize,
    /// How many of them, from the first, answer the same question. Each of the others answers a different question.
    pub same: usize,
    /// The answer of each turn.
    pub answer: &'a str,
    /// The system prompt of each call.
    pub prompt: &'a str,
    /// Whether the answers were recorded as streams, with one frame for each word.
    pub stream: bool,
}

/// Returns a fixture with these turns.
pub fn of_turns(Turns { count, same, answer, prompt, stream }: Turns) -> Fixture {
    let rules = Rules::default();
    let settings = Json::object::<String>([]);
    let checks = CheckTexts::new(&rules.normalizer, prompt, &Json::Null, "m", &settings);
    let turn = |i: usize| {
        let question = if i < same { "the same question".to_owned() } else { format!("question number {i}") };
        let body = format!(
            r#"{{"id": "chatcmpl-{i}", "object": "chat.completion", "created": 1, "model": "m", "choices": [{{"index": 0,
                "message": {{"role": "assistant", "content": "{answer}"}}, "finish_reason": "stop"}}]}}"#
        );
        let frames = answer.split_inclusive(' ').map(|word| {
            format!(
                "data: {{\"id\":\"chatcmpl-{i}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
                 \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n"
            )
        });
        let response = if stream {
            Response::stream(frames.chain(["data: [DONE]\n\n".to_owned()]).collect())
        } else {
            Response::json(200, Json::parse(body.as_bytes()).unwrap())
        };
        Recorded {
            request: None,
            caller: Some("lead_agent".to_owned()),
            conversation: rules.canonical(vec![Message::new("human", question)]),
            texts: Some(checks.clone().0),
            output: Answer {
                id: Some(format!("chatcmpl-{i}")),
                blocks: vec![Block::Text(answer.to_owned())],
                model: Some("m".to_owned()),
                finish: Some(Finish::Stop),
                ..Answer::default()
            },
            wire: Some(Wire::of(Api::OpenAiChat, response)),
        }
    };
    Fixture::of_turns(Path::new("bench.json"), BTreeMap::new(), (0..count).map(turn).collect(), &rules)
}

/// Reads one whole response, whether it has a content length or is chunked.
pub fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).unwrap();
        assert!(read > 0, "the server closed the connection");
        filled += read;
        let Some(end) = buffer[..filled].windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&buffer[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..filled]));
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let length =
            head.lines().filter_map(header).find_map(|(name, value)| (name == "content-length").then_some(value));
        let whole = match length {
            Some(length) => filled >= end + 4 + length.parse::<usize>().unwrap(),
            None => buffer[..filled].ends_with(b"\r\n0\r\n\r\n"),
        };
        if whole {
            return;
        }
    }
}

/// The variable that makes a process load the fixture that it names and print its peak memory.
pub const LOADED: &str = "RETAKE_BENCH_LOADED";

/// Loads a fixture. Prints how much the peak memory grew, in bytes.
pub fn load(file: &Path) {
    let before = peak_memory();
    let fixture = Fixture::read(file, &Rules::default()).unwrap();
    println!("{}", peak_memory() - before);
    drop(fixture);
}

pub fn measure(table: &mut Table) {
    let text =
        of_turns(Turns { count: 100_000, same: 0, answer: &"word ".repeat(10), prompt: "Be brief.", stream: false })
            .print();
    let bytes = text.len();
    let rules = Rules::default();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.json");
    std::fs::write(&file, text).unwrap();
    let plain = fastest(2, || {
        black_box(serde_json::from_slice::<serde_json::Value>(&std::fs::read(&file).unwrap()).unwrap());
    });
    let load = fastest(2, || drop(black_box(Fixture::read(&file, &rules).unwrap())));
    // In its own process, because memory that was freed earlier would hide how much is needed.
    let peak = Command::new(std::env::current_exe().unwrap()).env(LOADED, &file).output().unwrap();
    let peak: usize = String::from_utf8(peak.stdout).unwrap().trim().parse().unwrap();
    let what = format!("load a fixture of 100,000 turns, {} MB", bytes / 1_000_000);
    let against = format!("serde_json into a Value, {:.2} s", plain.as_secs_f64());
    let ratio = format!("{:.2} times its time", load.as_secs_f64() / plain.as_secs_f64());
    table.row(&what, format!("{:.2} s", load.as_secs_f64()), &against, ratio);
    let figure = format!("{} MB at the peak", peak / 1_000_000);
    table.row("memory of that load", figure, "the file", format!("{:.1} times its size", peak as f64 / bytes as f64));
}

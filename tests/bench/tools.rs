//! Benchmark of executing 10,000 recorded tool calls again.

use std::process::Command;
use std::time::Instant;

use retake::ToolReplay;
use serde_json::{Value, json};

use crate::table::{Table, memory_of, peak_memory};

/// The variable that makes a process execute the calls and print its time and memory.
pub const REPLAYS: &str = "RETAKE_BENCH_REPLAYS";
const ACTIONS: usize = 10_000;

fn events() -> Vec<Value> {
    let text = "word ".repeat(40);
    let pair = |i: usize| {
        let (id, call) = (format!("a{i}"), format!("c{i}"));
        [
            json!({"kind": "ActionEvent", "id": id, "source": "agent", "tool_name": "say", "tool_call_id": call,
                "llm_response_id": format!("r{i}"), "thought": [], "action": {"kind": "SayAction", "text": text}}),
            json!({"kind": "ObservationEvent", "id": format!("o{i}"), "source": "environment", "tool_name": "say",
                "tool_call_id": call, "action_id": id,
                "observation": {"kind": "SayObservation", "content": [{"type": "text", "text": text}], "is_error": false}}),
        ]
    };
    (0..ACTIONS).flat_map(pair).collect()
}

/// Executes the calls. Prints the seconds that they took, how much the peak memory grew after the first call, and the memory at
/// the end, both in bytes.
pub fn replay() {
    let folder = tempfile::tempdir().unwrap();
    let events = events();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = first.clone();
    let replay = ToolReplay::new().events(events).logs_in(folder.path()).tool("say", move |args| {
        let order = std::sync::atomic::Ordering::Relaxed;
        if seen.load(order) == 0 {
            seen.store(peak_memory(), order);
        }
        async move { Ok(args["text"].clone()) }
    });
    let start = Instant::now();
    let run = runtime.block_on(replay.run()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!((run.executed(), run.drifted()), (ACTIONS, 0));
    let first = first.load(std::sync::atomic::Ordering::Relaxed);
    println!("{seconds} {} {}", peak_memory() - first, memory_of("self", "VmRSS:"));
}

pub fn measure(table: &mut Table) {
    let ran = Command::new(std::env::current_exe().unwrap()).env(REPLAYS, "1").output().unwrap();
    let ran = String::from_utf8(ran.stdout).unwrap();
    let figures: Vec<f64> = ran.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    let figure = format!("{:.2} s", figures[0]);
    table.row(
        "execute 10,000 recorded actions by a closure",
        figure,
        "the limit, 2 s",
        format!("{:.2} times the limit", figures[0] / 2.0),
    );
    let figure = format!("{:.1} MB", figures[1] / 1e6);
    table.row(
        "memory that it took beyond its first action",
        figure,
        "flat",
        format!("{:.0} MB held then", figures[2] / 1e6),
    );
}

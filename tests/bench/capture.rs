//! Benchmarks of reading event streams and making the text of their goldens.

use std::hint::black_box;
use std::process::Command;

use retake_core::events::{AfterLast, Capture, Captured, Event, ShapeOptions, golden};

use crate::table::{Table, fastest, peak_memory, rate};

const BLOCK: &str = "event: values\ndata: {\"messages\": [{\"type\": \"ai\", \"content\": \"hello there\", \"usage\": {\"in\": 1}}], \"title\": \"a title\"}\n\n";

/// The size of a long stream, in bytes.
const FIFTY: usize = 50_000_000;

/// The variable that makes a process capture a long stream and print its peak memory.
pub const CAPTURES: &str = "RETAKE_BENCH_CAPTURES";

/// Captures a long stream, of which only one chunk is in memory at a time, and makes its golden. Prints how much the peak memory
/// grew, in bytes.
pub fn capture_fifty() {
    let chunk = BLOCK.repeat(100);
    let before = peak_memory();
    let mut capture = Capture::new();
    let mut events: Vec<Event> = Vec::new();
    for _ in 0..FIFTY / chunk.len() {
        events.extend(capture.push(chunk.as_bytes()));
    }
    events.extend(capture.finish());
    black_box(golden(&[captured(events)], &ShapeOptions::default(), &str::to_owned));
    println!("{}", peak_memory() - before);
}

fn captured(events: Vec<Event>) -> Captured {
    let content_type = "text/event-stream".to_owned();
    Captured {
        request: "GET /".to_owned(),
        status: retake_core::events::Status::Http(200),
        content_type,
        events,
        after: AfterLast::default(),
        tree: None,
        delivery: retake_core::events::Delivery::default(),
    }
}

fn read(body: &[u8]) -> Vec<Event> {
    let mut capture = Capture::new();
    let mut events: Vec<Event> = body.chunks(16 * 1024).flat_map(|chunk| capture.push(chunk)).collect();
    events.extend(capture.finish());
    events
}

pub fn measure(table: &mut Table) {
    let (few, many) = (BLOCK.repeat(20_000), BLOCK.repeat(200_000));
    let fifty = BLOCK.repeat(FIFTY / BLOCK.len());
    let small = fastest(3, || drop(black_box(read(few.as_bytes()))));
    for (what, body) in [("200,000 events", &many), ("50 MB of events", &fifty)] {
        let time = fastest(2, || drop(black_box(read(body.as_bytes()))));
        let per_byte = (time.as_secs_f64() / body.len() as f64) / (small.as_secs_f64() / few.len() as f64);
        let figure = format!("{:.2} s, {:.0} MB/s", time.as_secs_f64(), rate(body.len(), time));
        table.row(
            &format!("capture {what}"),
            figure,
            "20,000 events",
            format!("{per_byte:.2} times its time per byte"),
        );
    }
    let line = format!("data: {{\"text\": \"{}\"}}\n\n", "x".repeat(10_000_000));
    let time = fastest(2, || drop(black_box(read(line.as_bytes()))));
    let figure = format!("{:.2} s, {:.0} MB/s", time.as_secs_f64(), rate(line.len(), time));
    let per_byte = (time.as_secs_f64() / line.len() as f64) / (small.as_secs_f64() / few.len() as f64);
    table.row("capture one event of 10 MB", figure, "20,000 events", format!("{per_byte:.2} times its time per byte"));

    // In its own process, because memory that was freed earlier would hide how much is needed.
    let peak = Command::new(std::env::current_exe().unwrap()).env(CAPTURES, "1").output().unwrap();
    let peak: usize = String::from_utf8(peak.stdout).unwrap().trim().parse().unwrap();
    let figure = format!("{} MB at the peak", peak / 1_000_000);
    let ratio = format!("{:.1} times its size", peak as f64 / FIFTY as f64);
    table.row("memory of 50 MB of events and their golden", figure, "the stream", ratio);

    let options = ShapeOptions::default();
    let (few, many) = ([captured(read(few.as_bytes()))], [captured(read(many.as_bytes()))]);
    let small = fastest(3, || drop(black_box(golden(&few, &options, &str::to_owned))));
    let large = fastest(2, || drop(black_box(golden(&many, &options, &str::to_owned))));
    let ratio = format!("{:.1} times its time", large.as_secs_f64() / small.as_secs_f64());
    table.row("golden of 200,000 events", format!("{:.2} s", large.as_secs_f64()), "20,000 events", ratio);
}

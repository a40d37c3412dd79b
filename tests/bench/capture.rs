//! Reading event streams, and writing and comparing their goldens.

use std::hint::black_box;

use retake::events::{Capture, Captured, Event, ShapeOptions, golden};

use crate::table::{Table, fastest, rate};

fn read(body: &[u8]) -> Vec<Event> {
    let mut capture = Capture::new();
    let mut events: Vec<Event> = body.chunks(16 * 1024).flat_map(|chunk| capture.push(chunk)).collect();
    events.extend(capture.finish());
    events
}

pub fn measure(table: &mut Table) {
    let block = "event: values\ndata: {\"messages\": [{\"type\": \"ai\", \"content\": \"hello there\", \"usage\": {\"in\": 1}}], \"title\": \"a title\"}\n\n";
    let few = block.repeat(20_000);
    let many = block.repeat(200_000);
    let fifty = block.repeat(50_000_000 / block.len());
    let small = fastest(3, || drop(black_box(read(few.as_bytes()))));
    for (what, body) in [("200,000 events", &many), ("50 MB of events", &fifty)] {
        let time = fastest(2, || drop(black_box(read(body.as_bytes()))));
        let per_byte = (time.as_secs_f64() / body.len() as f64) / (small.as_secs_f64() / few.len() as f64);
        let figure = format!("{:.2} s, {:.0} MB/s", time.as_secs_f64(), rate(body.len(), time));
        table.row(&format!("capture {what}"), figure, "20,000 events", format!("{per_byte:.2} of its time a byte"));
    }
    let line = format!("data: {{\"text\": \"{}\"}}\n\n", "x".repeat(10_000_000));
    let time = fastest(2, || drop(black_box(read(line.as_bytes()))));
    let figure = format!("{:.2} s, {:.0} MB/s", time.as_secs_f64(), rate(line.len(), time));
    let per_byte = (time.as_secs_f64() / line.len() as f64) / (small.as_secs_f64() / few.len() as f64);
    table.row("capture one event of 10 MB", figure, "20,000 events", format!("{per_byte:.2} of its time a byte"));

    let of = |events: Vec<Event>| Captured {
        request: "GET /".to_owned(),
        status: retake::events::Status::Http(200),
        content_type: "text/event-stream".to_owned(),
        events,
    };
    let options = ShapeOptions::default();
    let (few, many) = ([of(read(few.as_bytes()))], [of(read(many.as_bytes()))]);
    let small = fastest(3, || drop(black_box(golden(&few, &options, &str::to_owned))));
    let large = fastest(2, || drop(black_box(golden(&many, &options, &str::to_owned))));
    let ratio = format!("{:.1} times its time", large.as_secs_f64() / small.as_secs_f64());
    table.row("golden of 200,000 events", format!("{:.2} s", large.as_secs_f64()), "20,000 events", ratio);
}

//! The memory of a server with many open connections, compared with a bare route. Each server runs in its own process, which
//! does nothing else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::fixture::read_answer;
use crate::server::{Load, bare, http_request, replaying};
use crate::table::{Table, memory_of};

/// The variable that makes a process serve: `retake` or `bare`, a space, and the size of a prompt in bytes.
pub const SERVED: &str = "RETAKE_BENCH_CONNECTIONS";

/// The numbers of connections that are opened in turn, and the number of calls that each connection then makes.
const OPEN: [usize; 3] = [10, 100, 1000];
const CALLS: usize = 10;

fn load(prompt_bytes: usize) -> Load {
    Load::of(prompt_bytes, 3, false)
}

/// Serves until standard input is closed.
pub fn serve(what: &str) {
    let (which, prompt_bytes) = what.split_once(' ').unwrap();
    let load = load(prompt_bytes.parse().unwrap());
    let (address, key) = if which == "bare" { bare(load) } else { replaying(load) };
    println!("{address} {key}");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Returns the server's memory in bytes with each number of connections open, and after one more round of calls on all of them.
fn memory(which: &str, prompt_bytes: usize) -> (Vec<usize>, usize) {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .env(SERVED, format!("{which} {prompt_bytes}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, key) = line.trim().split_once(' ').unwrap();
    let request = http_request(key, &load(prompt_bytes).request());
    let mut buffer = vec![0; 64 * 1024];
    let mut connections: Vec<TcpStream> = Vec::new();
    let mut call = |connections: &mut [TcpStream]| {
        for _ in 0..CALLS {
            for stream in &mut *connections {
                stream.write_all(request.as_bytes()).unwrap();
                read_answer(stream, &mut buffer);
            }
        }
        memory_of(&server.id().to_string(), "VmRSS:")
    };
    let open = OPEN.map(|count| {
        connections.resize_with(count, || TcpStream::connect(address).unwrap());
        call(&mut connections)
    });
    let after = call(&mut connections);
    drop(server.stdin.take());
    server.wait().unwrap();
    (open.into(), after)
}

pub fn measure(table: &mut Table) {
    for (name, prompt_bytes) in [("2 KB", 1900), ("50 KB", 50_000)] {
        let kilobytes = |open: &[usize]| -> Vec<f64> {
            let steps = open.windows(2).zip(OPEN.windows(2));
            steps
                .map(|(bytes, count)| bytes[1].saturating_sub(bytes[0]) as f64 / (count[1] - count[0]) as f64 / 1e3)
                .collect()
        };
        let ((bare, _), (ours, after)) = (memory("bare", prompt_bytes), memory("retake", prompt_bytes));
        let (bare, each) = (kilobytes(&bare), kilobytes(&ours));
        let figure = format!("{:.1} KB from 10 to 100, {:.1} KB from 100 to 1,000", each[0], each[1]);
        let against = format!("a bare route's, {:.1} KB and {:.1} KB", bare[0], bare[1]);
        table.row(
            &format!("memory of a connection, {name}"),
            figure,
            &against,
            format!("{:.2} times its memory", each[1] / bare[1]),
        );
        let last = OPEN[OPEN.len() - 1];
        let more = after.saturating_sub(ours[ours.len() - 1]) as f64;
        table.row(
            &format!("memory of {} more calls on {last} connections, {name}", last * CALLS),
            format!("{:.0} KB", more / 1e3),
            "the entries of the calls in the registry",
            format!("{:.0} bytes a call", more / (last * CALLS) as f64),
        );
    }
}

//! A system that breaks HTTP: a process of its own, one answer a path, written to the socket as it stands here.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;

/// The variable that makes this binary that system, and holds its port.
pub(crate) const PORT: &str = "RETAKE_IT_RAW";

const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

/// Answers until it is ended.
pub(crate) fn serve(port: &str) -> ExitCode {
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
    for stream in listener.incoming() {
        std::thread::spawn(move || {
            // The client may leave at any time: that is no concern of this system's.
            let _ = answer(stream.unwrap());
        });
    }
    ExitCode::SUCCESS
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?).lines();
    let first = request.next().unwrap_or_else(|| Ok(String::new()))?;
    for line in request.by_ref() {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let mut say = |bytes: &[u8]| stream.write_all(bytes);
    let closed = |body: &str| format!("{SSE}connection: close\r\n\r\n{body}");
    match path {
        "/ready" => say(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        "/nothing" => Ok(()),
        "/other-protocol" => say(b"220 mail.example.com ESMTP\r\n"),
        "/half-a-head" => say(b"HTTP/1.1 200 OK\r\ncontent-ty"),
        "/wrong-length" => say(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n"),
        "/two-lengths" => say(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
        "/wrong-chunk" => say(format!("{SSE}transfer-encoding: chunked\r\n\r\nZZ\r\n").as_bytes()),
        "/midway" => {
            say(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"half\": ")
        }
        "/midway-of-a-stream" => {
            say(format!("{SSE}transfer-encoding: chunked\r\n\r\n").as_bytes())?;
            say(b"17\r\nevent: tick\ndata: {}\n\n\r\n")
        }
        "/headers-for-ever" => {
            say(b"HTTP/1.1 200 OK\r\n")?;
            for_ever(|| say(b"x-more: of the same\r\n"))
        }
        "/header-of-10-mb" => say(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(10_000_000)).as_bytes()),
        "/line-for-ever" => {
            say(closed("data: ").as_bytes())?;
            let line = [b'x'; 1 << 14];
            for_ever(|| say(&line))
        }
        "/event-for-ever" => {
            say(closed("").as_bytes())?;
            let lines = "data: 0123456789\n".repeat(4000);
            for_ever(|| say(lines.as_bytes()))
        }
        "/body-for-ever" => {
            say(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n")?;
            let line = [b'x'; 1 << 14];
            for_ever(|| say(&line))
        }
        "/slow-for-ever" => {
            say(closed("").as_bytes())?;
            for_ever(|| {
                std::thread::park_timeout(std::time::Duration::from_millis(20));
                say(b":\n")
            })
        }
        "/latin-1" => {
            say(closed("event: tick\ndata: {\"a\": \"caf").as_bytes())?;
            say(b"\xe9\"}\n\n")
        }
        "/latin-1-json" => {
            say(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"a\": \"caf\xe9\"}")
        }
        "/page" => {
            say(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<!doctype html>\n<p>Log in")
        }
        "/gzip" => {
            say(format!("{SSE}content-encoding: gzip\r\nconnection: close\r\n\r\n").as_bytes())?;
            say(b"\x1f\x8b\x08\0\0\0\0\0")
        }
        "/to-itself" => say(b"HTTP/1.1 302 Found\r\nlocation: /to-itself\r\ncontent-length: 0\r\n\r\n"),
        "/to-another" => say(b"HTTP/1.1 307 Moved\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n"),
        _ => say(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
    }
}

/// Until the client leaves.
fn for_ever(mut say: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
    loop {
        say()?;
    }
}

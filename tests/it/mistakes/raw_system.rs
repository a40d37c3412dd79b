//! A system that breaks HTTP. It is a separate process, and writes one answer for each path directly to the socket.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;

/// The variable that makes this binary that system. Its value is the port.
pub(crate) const PORT: &str = "RETAKE_IT_RAW";

const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

/// The `main` of the system. It runs until it is killed.
pub(crate) fn serve(port: &str) -> ExitCode {
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
    for stream in listener.incoming() {
        std::thread::spawn(move || {
            // The client may disconnect at any time, which is not an error here.
            let _ = answer(stream.unwrap());
        });
    }
    ExitCode::SUCCESS
}

#[expect(clippy::too_many_lines, reason = "one arm for each answer")]
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    request.read_line(&mut first)?;
    let mut line = first.clone();
    while !matches!(&*line, "" | "\r\n") {
        line.clear();
        request.read_line(&mut line)?;
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let mut say = |bytes: &[u8]| stream.write_all(bytes);
    let closed = |body: &str| format!("{SSE}connection: close\r\n\r\n{body}");
    match path {
        "/ready" | "/said-7" => say(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
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
        "/headers-forever" => {
            say(b"HTTP/1.1 200 OK\r\n")?;
            until_client_leaves(|| say(b"x-more: of the same\r\n"))
        }
        "/200-headers" => say(format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(200)).as_bytes()),
        "/header-of-1-mb" => say(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1_000_000)).as_bytes()),
        "/header-of-10-mb" => say(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(10_000_000)).as_bytes()),
        "/line-forever" => {
            say(closed("data: ").as_bytes())?;
            let line = [b'x'; 1 << 14];
            until_client_leaves(|| say(&line))
        }
        "/event-forever" => {
            say(closed("").as_bytes())?;
            let lines = "data: 0123456789\n".repeat(4000);
            until_client_leaves(|| say(lines.as_bytes()))
        }
        "/body-forever" => {
            say(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n")?;
            let line = [b'x'; 1 << 14];
            until_client_leaves(|| say(&line))
        }
        "/comments-forever" => {
            say(closed("event: tick\ndata: {}\n\n").as_bytes())?;
            let comments = ":\n".repeat(8000);
            until_client_leaves(|| say(comments.as_bytes()))
        }
        "/slow-forever" => {
            say(closed("").as_bytes())?;
            until_client_leaves(|| {
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
        "/half-a-character" => {
            say(closed("event: tick\ndata: {}\n\nevent: end\ndata: caf").as_bytes())?;
            say(b"\xc3")
        }
        "/length-that-is-short" => {
            say(format!("{SSE}content-length: 30\r\n\r\nevent: tick\ndata: {{}}\n\nevent: end\ndata: {{}}\n\n")
                .as_bytes())
        }
        "/length-that-is-long" => {
            say(format!("{SSE}content-length: 300\r\n\r\nevent: tick\ndata: {{}}\n\n").as_bytes())
        }
        // The request's body is not read until the client has its answer and disconnects.
        "/early" => {
            say(b"HTTP/1.1 413 Too Large\r\ncontent-length: 9\r\n\r\ntoo large")?;
            let mut rest = [0];
            while request.get_ref().peek(&mut rest)? > 0 {
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
            Ok(())
        }
        // The response ends when the process exits.
        "/leave" => {
            say(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            #[expect(clippy::print_stdout, reason = "its last words")]
            {
                println!("the disk is full");
            }
            #[expect(clippy::disallowed_methods, reason = "a system that ends when it should not")]
            std::process::exit(3)
        }
        // The following responses are unusual but valid.
        "/cr-only" => say(closed("event: tick\rdata: {\"n\": 7}\r\revent: end\rdata\r\r").as_bytes()),
        "/bom" => say(closed("\u{feff}event: tick\ndata: {\"n\": 7}\n\nevent: end\n\n").as_bytes()),
        "/retry" => say(closed("retry: 10\n\nretry: no\nevent: tick\ndata: {\"n\": 7}\n\nevent: end\n\n").as_bytes()),
        "/http-1.0" => say(b"HTTP/1.0 200 OK\r\n\r\nevent: tick\ndata: {\"n\": 7}\n\nevent: end\ndata: null\n\n"),
        "/100000-lines" => {
            let lines = "data: 0,\n".repeat(100_000);
            say(closed(&format!("event: tick\ndata: {{\"l\": [\n{lines}data: 0], \"n\": 7}}\n\nevent: end\n\n"))
                .as_bytes())
        }
        "/trailing" => {
            say(closed("event: tick\ndata: {\"n\": 7}\n\nevent: end\ndata: 1\n\nevent: more\ndata: ").as_bytes())?;
            until_client_leaves(|| say(b"more than asked for\n"))
        }
        "/a-byte-at-a-time" => "event: tick\ndata: {\"é\": 1, \"n\": 7}\n\nevent: end\ndata: 1\n\n"
            .bytes()
            .try_fold(say(format!("{SSE}transfer-encoding: chunked\r\n\r\n").as_bytes())?, |(), byte| {
                say(&[b'1', b'\r', b'\n', byte, b'\r', b'\n'])
            })
            .and_then(|()| say(b"0\r\n\r\n")),
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

/// Repeats until the client disconnects.
fn until_client_leaves(mut say: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
    loop {
        say()?;
    }
}

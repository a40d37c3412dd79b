//! Comparison with other replay servers for models, if they are installed: the same question over the same number of connections,
//! in the same run.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{self, Load, QUESTION, REQUESTS};
use crate::table::{Paired, Table};

/// Another replay server: its program on `PATH`, a fixture with one answer, and its arguments for a port.
struct Peer {
    program: &'static str,
    fixture: (&'static str, fn(&str) -> String),
    arguments: fn(port: &str) -> Vec<&str>,
}

const PEERS: [Peer; 2] = [
    Peer {
        program: "llmposter",
        fixture: ("fixtures.yaml", |answer| {
            format!(
                "fixtures:\n  - match:\n      user_message: {QUESTION}\n    response:\n      content: \"{answer}\"\n"
            )
        }),
        arguments: |port| vec!["--fixtures", "fixtures.yaml", "--port", port],
    },
    Peer {
        program: "llmock",
        fixture: ("fixtures.json", |answer| {
            format!(
                r#"{{"fixtures": [{{"match": {{"userMessage": "{QUESTION}"}}, "response": {{"content": "{answer}"}}}}]}}"#
            )
        }),
        arguments: |port| vec!["--fixtures", "fixtures.json", "--log-level", "silent", "--port", port],
    },
];

/// Rounds of requests. In each, first Retake is measured and then the peer.
const ROUNDS: usize = 3;

pub fn measure(table: &mut Table) {
    for peer in PEERS {
        for (name, asked) in
            [("JSON, 2 KB", Load::of(1900, 3, false)), ("SSE of 10 frames, 2 KB", Load::of(1900, 9, true))]
        {
            let folder = tempfile::tempdir().unwrap();
            let Some(running) = Running::start(&peer, folder.path(), asked.answer()) else {
                eprintln!("{} is not installed, so it is not measured", peer.program);
                break;
            };
            let (ours, theirs, body) =
                (server::replaying(asked.clone()), (running.address, "none".to_owned()), asked.request());
            let paired = Paired::of(ROUNDS, || server::load(&ours, &body).0, || server::load(&theirs, &body).0);
            let figure = format!("{:.0} req/s", REQUESTS as f64 / paired.ours.as_secs_f64());
            let against = format!("{}, {:.0} req/s", peer.program, REQUESTS as f64 / paired.theirs.as_secs_f64());
            table.row(
                &format!("model server, {name}"),
                figure,
                &against,
                format!("{:.1} times its rate", 1.0 / paired.ratio),
            );
        }
    }
}

struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    /// Starts the program and waits until it listens. `None` if it is not installed.
    fn start(peer: &Peer, folder: &Path, answer: &str) -> Option<Running> {
        let (file, fixture) = peer.fixture;
        std::fs::write(folder.join(file), fixture(answer)).unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = address.port().to_string();
        let mut command = Command::new(peer.program);
        command.args((peer.arguments)(&port)).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        let running = Running { child: command.spawn().ok()?, address };
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "{} does not listen on its port", peer.program);
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

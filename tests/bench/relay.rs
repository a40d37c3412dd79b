//! How much later the frames of an answer arrive if the recorder and its relay pass them on, and if the provider sends them itself.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use retake::axum::body::Body;
use retake::axum::response::IntoResponse as _;
use retake::axum::serve::ListenerExt as _;
use retake::axum::{self, Router};

use crate::table::Table;

/// The clock of the provider and of the clients, which are threads of this process.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// For each measurement: the calls at once, the frames of each answer, and the pause between two frames.
const LOADS: [(usize, usize, Duration); 2] =
    [(1, 200, Duration::from_millis(4)), (200, 20, Duration::from_millis(100))];

/// Starts a provider that writes into each frame when it sends it.
fn provider() -> SocketAddr {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap()).unwrap();
            let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
            axum::serve(listener, Router::new().fallback(answer)).await.unwrap();
        });
    });
    receive.recv().unwrap()
}

async fn answer(body: String) -> axum::response::Response {
    let call: serde_json::Value = serde_json::from_str(&body).unwrap();
    let number = |name: &str| call["metadata"][name].as_str().unwrap().parse::<u64>().unwrap();
    let (frames, pause) = (number("frames"), Duration::from_millis(number("pause")));
    let frames = futures_util::stream::unfold(0, move |at| async move {
        if at > frames {
            return None;
        }
        tokio::time::sleep(pause).await;
        if at == frames {
            let end = r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
            return Some((Ok(format!("data: {end}\n\ndata: [DONE]\n\n")), at + 1));
        }
        let now = BEGAN.elapsed().as_nanos();
        let frame =
            format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"@{now}@\"}}}}]}}\n\n");
        Some((Ok::<_, std::convert::Infallible>(frame), at + 1))
    });
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

/// Makes calls at once. Returns the delays in milliseconds, sorted: of first frames, and of all. The last frame is not among them,
/// since the recorder holds it until the call is on disk.
fn delays(base: &str, (calls, frames, pause): (usize, usize, Duration)) -> [Vec<f64>; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let apart = pause / u32::try_from(calls).unwrap();
    let (frames, pause) = (frames.to_string(), pause.as_millis().to_string());
    let all = runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let call = async |number: usize| {
            // Under way at once, but no two send their frames at the same moment.
            tokio::time::sleep(apart * u32::try_from(number).unwrap()).await;
            let body = serde_json::json!({ "model": "m", "stream": true, "metadata": { "frames": frames, "pause": pause },
                "messages": [{ "role": "user", "content": format!("call {number}") }] });
            let request = client.post(format!("{base}/v1/chat/completions")).bearer_auth("ours");
            let mut answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
            let mut delays = Vec::new();
            while let Some(chunk) = answer.chunk().await.unwrap() {
                let now = BEGAN.elapsed().as_nanos();
                let text = String::from_utf8_lossy(&chunk).into_owned();
                let sent = text.split('@').skip(1).step_by(2).map(|sent| sent.parse::<u128>().unwrap());
                delays.extend(sent.map(|sent| (now - sent) as f64 / 1e6));
            }
            delays
        };
        join_all((0..calls).map(call)).await
    });
    let sorted = |mut delays: Vec<f64>| {
        delays.sort_by(f64::total_cmp);
        delays
    };
    let first = all.iter().map(|delays| delays[0]).collect();
    [sorted(first), sorted(all.concat())]
}

fn in_words([first, all]: &[Vec<f64>; 2]) -> String {
    let at = |delays: &[f64], part: usize| delays[(delays.len() - 1) * part / 100];
    format!("first byte {:.2} ms, frames p50 {:.2} ms, p99 {:.2} ms", at(first, 50), at(all, 50), at(all, 99))
}

pub fn measure(table: &mut Table) {
    LazyLock::force(&BEGAN);
    let provider = format!("http://{}", provider());
    let folder = tempfile::tempdir().unwrap();
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_retake"))
        .args(["proxy", "--key", "ours", "--upstream", &provider, "--out"])
        .arg(folder.path().join("out.json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env_remove("CI")
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
    let through = ready["url"].as_str().unwrap();
    for load in LOADS {
        delays(through, load);
        let (direct, relayed) = (delays(&provider, load), delays(through, load));
        let late = |delays: &[f64]| delays.iter().filter(|delay| **delay > 2.0).count();
        let name = if load.0 == 1 { "one call".to_owned() } else { format!("{} calls at once", load.0) };
        table.row(
            &format!("a stream through recorder and relay, {name}"),
            in_words(&relayed),
            &format!("the provider's own, {}", in_words(&direct)),
            format!(
                "{} of {} frames later than 2 ms, {} of them directly",
                late(&relayed[1]),
                relayed[1].len(),
                late(&direct[1])
            ),
        );
    }
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}

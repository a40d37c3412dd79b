//! Running scenarios: all of a project, one by name, and many on a system that somebody else started.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use retake::axum::{Router, response::IntoResponse, routing::post};

use crate::rows::{Rows, seconds};
use crate::suite::{children_cpu, run, runner_on, tree};

pub fn measure(rows: &mut Rows) {
    let sizes = [100, 300, 1000];
    let (mut cpu, mut wall) = ([0.0; 3], [0.0; 3]);
    let mut alone = [0.0; 3];
    for (at, size) in sizes.into_iter().enumerate() {
        let root = tempfile::tempdir().unwrap();
        tree(root.path(), size);
        run(root.path(), true);
        let (before, start) = (children_cpu(), Instant::now());
        run(root.path(), false);
        (wall[at], cpu[at]) = (start.elapsed().as_secs_f64(), children_cpu() - before);
        alone[at] = by_name(root.path());
    }
    rows.add("run N scenarios: CPU", sizes, cpu, seconds, false);
    rows.add("run N scenarios: time", sizes, wall, seconds, false);
    rows.add("run one scenario of N by its name: CPU", sizes, alone, seconds, false);
    attached(rows);
}

/// Returns the processor time of one scenario in its own process, as nextest starts it.
fn by_name(root: &Path) -> f64 {
    const TIMES: usize = 20;
    let before = children_cpu();
    for _ in 0..TIMES {
        let mut command = runner_on(root);
        command.env("NEXTEST", "1").args(["--exact", "s0050", "--nocapture"]);
        assert!(command.status().unwrap().success());
    }
    (children_cpu() - before) / TIMES as f64
}

/// Scenarios on a system that somebody else started, each with a question of its own.
fn attached(rows: &mut Rows) {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = free();
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = service.local_addr().unwrap();
    service.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let ask = post(async move |question: String| {
                let call = format!(r#"{{"model": "m", "messages": [{{"role": "user", "content": {question}}}]}}"#);
                let url = format!("http://{model}/v1/chat/completions");
                let answer =
                    client.post(&url).bearer_auth("key").body(call).send().await.unwrap().text().await.unwrap();
                (answer.contains("choices")).to_string().into_response()
            });
            let listener = tokio::net::TcpListener::from_std(service).unwrap();
            retake::axum::serve(listener, Router::new().route("/ask", ask)).await.unwrap();
        });
    });
    let sizes = [40, 100, 300];
    let (mut cpu, mut wall) = ([0.0; 3], [0.0; 3]);
    for (at, size) in sizes.into_iter().enumerate() {
        let root = tempfile::tempdir().unwrap();
        for scenario in 0..size {
            let folder = root.path().join(format!("scenarios/s{scenario:04}"));
            fs::create_dir_all(&folder).unwrap();
            let text = format!("[[step]]\npost = \"/ask\"\njson = \"question {scenario}\"\ngolden = false\n");
            fs::write(folder.join("scenario.toml"), text).unwrap();
            let fixture = format!(
                r#"{{"format": "retake/1", "turns": [{{"input": {{"messages": [{{"type": "human", "content": "question {scenario}"}}]}},
                    "output": {{"blocks": [{{"type": "text", "text": "an answer"}}]}}}}]}}"#
            );
            fs::create_dir_all(root.path().join("fixtures")).unwrap();
            fs::write(root.path().join(format!("fixtures/s{scenario:04}.json")), fixture).unwrap();
        }
        let suite = format!(
            "system = \"attached\"\n[systems.attached]\nurl = \"http://{address}\"\nmodel = {{ addr = \"{model}\", key_env = \"MODEL_KEY\" }}\n"
        );
        fs::write(root.path().join("scenarios/suite.toml"), suite).unwrap();
        let (before, start) = (children_cpu(), Instant::now());
        let output = runner_on(root.path()).env("MODEL_KEY", "key").stdout(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        (wall[at], cpu[at]) = (start.elapsed().as_secs_f64(), children_cpu() - before);
    }
    rows.add("run N scenarios on an attached system: time", sizes, wall, seconds, false);
    rows.add("run N scenarios on an attached system: CPU", sizes, cpu, seconds, false);
}

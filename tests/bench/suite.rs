//! Benchmark of a thousand copies of one scenario on a minimal router, in this build and in a debug build.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

use retake::__private::run::{Action, WorldsOptions};
use retake::axum::{Router, response::IntoResponse, routing::post};

use crate::fixture::{Turns, of_turns};
use crate::table::Table;

const SCENARIOS: usize = 1000;

/// The runner that is measured. This program starts itself again as the runner, with the project's root in the environment.
pub fn runner() -> ExitCode {
    retake::Suite::new("/").router("minimal", async |stage| minimal(&stage)).main()
}

/// A service that makes one model call and streams three events.
fn minimal(stage: &retake::Stage) -> Router {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        // A system that only calls loopback does not need the machine's certificates.
        let client = reqwest::Client::builder().no_proxy();
        client.pool_max_idle_per_host(0).build().unwrap()
    });
    let (url, key) = (format!("{}/chat/completions", stage.model().openai), stage.key().to_owned());
    let call = r#"{"model": "m", "messages": [{"role": "user", "content": "the same question"}]}"#;
    Router::new().route(
        "/run",
        post(async move || {
            let answer = CLIENT.post(&url).bearer_auth(&key).body(call).send().await.unwrap().text().await.unwrap();
            let body =
                format!("event: start\ndata: {{}}\n\nevent: answer\ndata: {answer}\n\nevent: end\ndata: null\n\n");
            ([("content-type", "text/event-stream")], body).into_response()
        }),
    )
}

/// Writes the project with its scenarios and their one fixture.
pub fn tree(root: &Path, scenarios: usize) {
    for i in 0..scenarios {
        let folder = root.join(format!("scenarios/s{i:04}"));
        fs::create_dir_all(&folder).unwrap();
        let text = "fixture = \"one\"\n[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n";
        fs::write(folder.join("scenario.toml"), text).unwrap();
    }
    fs::create_dir_all(root.join("fixtures")).unwrap();
    fs::write(
        root.join("fixtures/one.json"),
        of_turns(Turns { count: 1, same: 1, answer: "an answer", prompt: "", stream: false }).print(),
    )
    .unwrap();
}

/// Returns the processor time of child processes that have ended, in seconds; 0 if the operating system does not report it.
pub fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat.rsplit(") ").next().unwrap_or("").split(' ').filter_map(|f| f.parse().ok()).collect();
    // Counted after the name: cutime and cstime are the 13th and 14th number, in hundredths of a second.
    fields.get(12).zip(fields.get(13)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}

pub fn runner_on(root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env_remove("CI").env("RETAKE_BENCH_RUNNER", "1").env("RETAKE_ROOT", root).stdout(Stdio::null());
    command
}

pub fn run(root: &Path, update: bool) {
    let mut command = runner_on(root);
    if update {
        command.env("UPDATE_GOLDEN", "1");
    }
    assert!(command.status().unwrap().success(), "the scenarios are green");
}

/// Returns the processor time in milliseconds of one scenario in its own process, as nextest starts it, and that of a process of
/// the same program that does nothing.
fn alone(root: &Path) -> (f64, f64) {
    const TIMES: usize = 50;
    let each = |start: &dyn Fn(usize) -> Command| {
        let before = children_cpu();
        (0..TIMES).for_each(|i| assert!(start(i).status().unwrap().success()));
        (children_cpu() - before) * 1e3 / TIMES as f64
    };
    let scenario = each(&|i| {
        let mut command = runner_on(root);
        command.env("NEXTEST", "1").args(["--exact", &format!("s{:04}", i * SCENARIOS / TIMES), "--nocapture"]);
        command
    });
    let nothing = each(&|_| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        // There is no part with this name, so nothing is measured.
        command.arg("nothing").stdout(Stdio::null());
        command
    });
    (scenario, nothing)
}

/// Runs all worlds of ten scenarios. Returns how many there are, and the seconds and the processor time that they take.
fn worlds(root: &Path) -> (usize, f64, f64) {
    let (before, start) = (children_cpu(), Instant::now());
    let mut command = runner_on(root);
    let options = WorldsOptions { world: Some("all".to_owned()), json: true, ..WorldsOptions::default() };
    command.envs([Action::Worlds(vec!["s000".to_owned()], options).variable()]);
    let output = command.stdout(Stdio::piped()).output().unwrap();
    let count = String::from_utf8_lossy(&output.stdout).matches("\"verdict\"").count();
    assert!(count > 0, "{}", String::from_utf8_lossy(&output.stderr));
    (count, start.elapsed().as_secs_f64(), children_cpu() - before)
}

pub fn measure(table: &mut Table) {
    let root = tempfile::tempdir().unwrap();
    tree(root.path(), SCENARIOS);
    run(root.path(), true);
    let (cpu, start) = (children_cpu(), Instant::now());
    run(root.path(), false);
    let (time, cpu) = (start.elapsed().as_secs_f64(), children_cpu() - cpu);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let figure = format!("{time:.1} s");
    let each = format!("{:.1} ms of CPU per scenario", cpu * 1e3 / SCENARIOS as f64);
    table.row(&format!("{SCENARIOS} scenarios, {build} build"), figure, "one scenario", each);
    let (count, seconds, of_worlds) = worlds(root.path());
    let per_world = of_worlds / count as f64;
    table.row(
        &format!("{count} worlds of 10 scenarios, {build} build"),
        format!("{:.0} worlds/s, {:.1} ms of CPU each", count as f64 / seconds, per_world * 1e3),
        "one scenario",
        format!("{:.1} times its CPU time", per_world / (cpu / SCENARIOS as f64)),
    );
    let (scenario, nothing) = alone(root.path());
    let what = format!("one scenario in its own process, as under nextest, {build} build");
    let against = format!("a process that does nothing, {nothing:.1} ms");
    table.row(
        &what,
        format!("{scenario:.1} ms of CPU"),
        &against,
        format!("{:.1} times its CPU time", scenario / nothing),
    );
    if !cfg!(debug_assertions) {
        let mut debug = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        let args = ["bench", "--quiet", "--profile", "dev", "--bench", "figures", "--", "suite"];
        let output = debug.args(args).stderr(Stdio::inherit()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in text.lines().filter(|line| line.contains("debug build")) {
            let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
            if let [what, figure, against, ratio] = cells[..] {
                table.row(what, figure.to_owned(), against, ratio.to_owned());
            }
        }
    }
}

//! Helpers to measure time and memory, and the table of figures.

use std::time::{Duration, Instant};

/// The figures so far.
#[derive(Default)]
pub struct Table(Vec<[String; 4]>);

impl Table {
    /// Adds a row: what was measured, the figure, what it is compared with, and the ratio or bound.
    pub fn row(&mut self, what: &str, figure: String, against: &str, ratio: String) {
        eprintln!("{what}: {figure} ({against}: {ratio})");
        self.0.push([what.to_owned(), figure, against.to_owned(), ratio]);
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the machine and the table as Markdown.
    pub fn text(&self) -> String {
        let rows = self
            .0
            .iter()
            .map(|[what, figure, against, ratio]| format!("| {what} | {figure} | {against} | {ratio} |\n"));
        let rows: String = rows.collect();
        format!(
            "# Figures\n\n`cargo bench -p retake-cli --bench figures -- --write` on {}.\n\n| what | figure | against | ratio |\n|---|---|---|---|\n{rows}",
            machine()
        )
    }
}

/// Returns the time of the fastest of several runs, which is closest to that on an idle machine.
pub fn fastest(runs: usize, mut run: impl FnMut()) -> Duration {
    run();
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// The times of two programs that run in turn, so that a machine whose speed varies affects both equally.
pub struct Paired {
    /// The fastest run of each.
    pub ours: Duration,
    pub theirs: Duration,
    /// The median over all rounds of `ours` divided by `theirs`.
    pub ratio: f64,
}

impl Paired {
    pub fn of(rounds: usize, mut ours: impl FnMut() -> Duration, mut theirs: impl FnMut() -> Duration) -> Paired {
        let pairs: Vec<(Duration, Duration)> = (0..rounds).map(|_| (ours(), theirs())).collect();
        let mut ratios: Vec<f64> =
            pairs.iter().map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        Paired {
            ours: pairs.iter().map(|pair| pair.0).min().unwrap_or_default(),
            theirs: pairs.iter().map(|pair| pair.1).min().unwrap_or_default(),
            ratio: ratios[rounds / 2],
        }
    }
}

/// Describes the processors, the operating system and the compiler.
fn machine() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field =
        |name: &str| cpuinfo.lines().find(|l| l.starts_with(name)).and_then(|l| Some(l.split_once(": ")?.1.to_owned()));
    let sha = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "sha_ni"));
    let compiler = std::process::Command::new("rustc").arg("--version").output();
    let compiler = compiler.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    format!(
        "{} × {} ({} SHA instructions), {}, {compiler}",
        std::thread::available_parallelism().map_or(1, usize::from),
        field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        if sha { "with" } else { "without" },
        std::env::consts::OS,
    )
}

/// Returns megabytes per second.
pub fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// Returns the peak memory of this process in bytes; 0 if the operating system does not report it.
pub fn peak_memory() -> usize {
    memory_of("self", "VmHWM:")
}

/// Returns the memory of a process in bytes: its peak (`VmHWM:`) or its current size (`VmRSS:`); 0 if the operating system does
/// not report it.
pub fn memory_of(process: &str, what: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<usize>().ok()).map_or(0, |kb| kb * 1024)
}

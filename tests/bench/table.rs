//! Measuring and the table of figures.

use std::time::{Duration, Instant};

/// The figures so far.
#[derive(Default)]
pub struct Table(Vec<[String; 4]>);

impl Table {
    /// Adds a line: what was measured, the figure, what it stands against, and the ratio or bound.
    pub fn row(&mut self, what: &str, figure: String, against: &str, ratio: String) {
        eprintln!("{what}: {figure} ({against}: {ratio})");
        self.0.push([what.to_owned(), figure, against.to_owned(), ratio]);
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The machine and the table, as Markdown.
    pub fn text(&self) -> String {
        let rows = self
            .0
            .iter()
            .map(|[what, figure, against, ratio]| format!("| {what} | {figure} | {against} | {ratio} |\n"));
        let rows: String = rows.collect();
        format!(
            "# Figures\n\n`cargo bench -- --write` on {}.\n\n| what | figure | against | ratio |\n|---|---|---|---|\n{rows}",
            machine()
        )
    }
}

/// The shortest of several runs: what the code takes where nothing else uses the machine.
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

/// What two runs take that are done in turn, so that a machine whose speed drifts is fair to both.
pub struct Paired {
    /// The shortest of the one's, and of the other's.
    pub ours: Duration,
    pub theirs: Duration,
    /// The median of how many times as long as the other the one took, round by round.
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

/// The processor, how many of them, and the compiler.
fn machine() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field =
        |name: &str| told.lines().find(|l| l.starts_with(name)).and_then(|l| Some(l.split_once(": ")?.1.to_owned()));
    let sha = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "sha_ni"));
    let compiler = std::process::Command::new("rustc").arg("--version").output();
    let compiler = compiler.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_owned()).unwrap_or_default();
    format!(
        "{} × {} ({} SHA instructions), {}, {compiler}",
        std::thread::available_parallelism().map_or(1, usize::from),
        field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        if sha { "with" } else { "without" },
        std::env::consts::OS,
    )
}

/// Megabytes a second.
pub fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// The most memory that this process has had, in bytes; 0 where the system does not tell.
pub fn peak_memory() -> usize {
    memory_of("self", "VmHWM:")
}

/// What the system says of the memory of a process, `VmHWM:` or `VmRSS:`, in bytes; 0 where it does not tell.
pub fn memory_of(process: &str, what: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<usize>().ok()).map_or(0, |kb| kb * 1024)
}

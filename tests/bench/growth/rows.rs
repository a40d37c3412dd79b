//! The table of costs at three sizes.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::COUNTED;

/// The exponent of a count above which this fails.
const LIMIT: f64 = 1.2;

/// The rows so far.
pub struct Rows {
    /// Whether rows that cannot fail are left out.
    counts: bool,
    lines: Vec<String>,
    failed: Vec<String>,
}

/// What one measurement cost.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    /// The size of the input, by which cost may grow.
    pub size: usize,
    /// Processor time.
    pub cpu: Duration,
    /// Allocations, and how many bytes they took.
    pub allocations: usize,
    pub bytes: usize,
}

impl Rows {
    pub fn new(counts: bool) -> Rows {
        Rows { counts, lines: Vec::new(), failed: Vec::new() }
    }

    /// Measures rows that cannot fail, if they are wanted.
    pub fn compare(&mut self, measure: impl FnOnce(&mut Rows)) {
        if !self.counts {
            measure(self);
        }
    }

    /// Adds a row of a count or a time: what it is, the sizes, and the value at each.
    pub fn add(&mut self, what: &str, sizes: [usize; 3], values: [f64; 3], shown: fn(f64) -> String, fails: bool) {
        let between = |at: usize| {
            let (more, larger) = (values[at + 1] / values[at], sizes[at + 1] as f64 / sizes[at] as f64);
            if values[at] > 0.0 && values[at + 1] > 0.0 { more.ln() / larger.ln() } else { 0.0 }
        };
        let exponents = [between(0), between(1)];
        let cells: Vec<String> =
            sizes.iter().zip(values).map(|(size, value)| format!("{size}: {}", shown(value))).collect();
        let line = format!("| {what} | {} | {:.2}, {:.2} |", cells.join(" | "), exponents[0], exponents[1]);
        eprintln!("{line}");
        self.lines.push(line);
        if fails && exponents[1] > LIMIT {
            self.failed.push(format!("{what}: the exponent is {:.2}, and at most {LIMIT} is allowed", exponents[1]));
        }
    }

    /// Adds the rows of costs: processor time, and if they count, allocations and their bytes.
    pub fn costs(&mut self, what: &str, costs: [Cost; 3], counted: bool) {
        let sizes = costs.map(|cost| cost.size);
        self.add(&format!("{what}: CPU"), sizes, costs.map(|cost| cost.cpu.as_secs_f64()), seconds, false);
        self.add(&format!("{what}: allocations"), sizes, costs.map(|cost| cost.allocations as f64), count, counted);
        self.add(&format!("{what}: bytes allocated"), sizes, costs.map(|cost| cost.bytes as f64), count, counted);
    }

    /// Prints the table, and what failed.
    pub fn print(&self) -> ExitCode {
        println!("| what | small | medium | large | exponents |\n|---|---|---|---|---|");
        for line in &self.lines {
            println!("{line}");
        }
        for failed in &self.failed {
            eprintln!("error: {failed}");
        }
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Measures what a function costs on this thread. Other threads should not allocate meanwhile.
pub fn cost_of<T>(size: usize, run: impl FnOnce() -> T) -> Cost {
    let (before, began) = (COUNTED.stats(), thread_cpu());
    std::hint::black_box(run());
    let (cpu, after) = (thread_cpu().saturating_sub(began), COUNTED.stats());
    Cost {
        size,
        cpu,
        allocations: after.allocations + after.reallocations - before.allocations - before.reallocations,
        bytes: after.bytes_allocated - before.bytes_allocated,
    }
}

/// The processor time of this thread; the time of the clock if the operating system does not report it.
pub fn thread_cpu() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

pub fn seconds(value: f64) -> String {
    format!("{value:.4} s")
}

pub fn count(value: f64) -> String {
    format!("{value:.0}")
}

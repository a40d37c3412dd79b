//! How cost grows with size: `cargo bench -p retake-cli --bench growth`. Each row is measured at three sizes, with the exponent between them: 1 means
//! that twice the size costs twice as much. What can be counted is counted (allocations, and the bytes that they take), since
//! times depend on the machine; an exponent of a count above 1.2 fails. Times are those of the processor.
//!
//! The rows "as before" take the way that was taken before conversations were hashed message by message. `… -- counts`
//! leaves them out, and all rows that are only times.

#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program for developers, which may stop at the first surprise; it shares some files with the other benchmarks"
)]

#[path = "../fixture.rs"]
mod fixture;
mod load;
mod rows;
mod runner;
mod serve;
#[path = "../suite.rs"]
mod suite;
#[path = "../table.rs"]
mod table;
mod traces;

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use rows::Rows;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Measures one part and adds its rows.
type Measure = fn(&mut Rows);

fn main() -> ExitCode {
    // Some rows start this program again as another process. A variable then says what that process does.
    if std::env::var_os("RETAKE_BENCH_RUNNER").is_some() {
        return suite::runner();
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let counts = wanted.iter().any(|wanted| wanted == "counts");
    let mut rows = Rows::new(counts);
    let parts: [(&str, Measure); 4] =
        [("load", load::measure), ("serve", serve::measure), ("traces", traces::measure), ("runner", runner::measure)];
    for (name, measure) in parts {
        let named = |wanted: &String| wanted == name || wanted == "growth" || (counts && name != "runner");
        if wanted.is_empty() || wanted.iter().any(named) {
            measure(&mut rows);
        }
    }
    rows.print()
}

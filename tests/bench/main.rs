//! The figures of the core: `cargo bench`. Each stands beside something measured in the same run, since machines differ and
//! are shared. The table at the end is `tests/bench/figures.md`, which `cargo bench -- --write` writes.
//!
//! `cargo bench -- key server` runs the named parts only. `peers` measures other servers, where they are in `PATH`.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program for developers, which may stop at the first surprise"
)]

mod capture;
mod connections;
mod conversations;
mod fixture;
mod golden;
mod key;
mod peers;
mod server;
mod suite;
mod table;
mod tools;

use std::process::ExitCode;

use table::Table;

/// Adds the figures of one part.
type Measure = fn(&mut Table);

fn main() -> ExitCode {
    // What the suite's part starts as another process: 1,000 scenarios on a minimal router.
    if std::env::var_os("RETAKE_BENCH_RUNNER").is_some() {
        return suite::runner();
    }
    if let Some(file) = std::env::var_os(fixture::LOADED) {
        fixture::load(file.as_ref());
        return ExitCode::SUCCESS;
    }
    if let Ok(what) = std::env::var(connections::SERVED) {
        connections::serve(&what);
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(capture::CAPTURES).is_some() {
        capture::capture_fifty();
        return ExitCode::SUCCESS;
    }
    if let Some(folder) = std::env::var_os(golden::COMPARES) {
        golden::compare(folder.as_ref());
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(tools::REPLAYS).is_some() {
        tools::replay();
        return ExitCode::SUCCESS;
    }
    let write = std::env::args().any(|arg| arg == "--write");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut table = Table::default();
    let parts: [(&str, Measure); 9] = [
        ("key", key::measure),
        ("fixture", fixture::measure),
        ("server", server::measure),
        ("peers", peers::measure),
        ("connections", connections::measure),
        ("capture", capture::measure),
        ("golden", golden::measure),
        ("suite", suite::measure),
        ("tools", tools::measure),
    ];
    for (name, measure) in parts {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure(&mut table);
        }
    }
    if table.is_empty() {
        return ExitCode::SUCCESS;
    }
    let text = table.text();
    println!("{text}");
    if write {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bench/figures.md"), text).unwrap();
    }
    ExitCode::SUCCESS
}

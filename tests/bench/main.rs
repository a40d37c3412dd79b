//! The benchmarks of the core: `cargo bench -p retake-cli --bench figures`. Each figure is compared with something that is measured in the same run, since
//! machines differ and are shared. `… -- --write` writes the table to `tests/bench/figures.md`.
//!
//! `… -- key server` runs only the named parts. `peers` measures other replay servers, if they are on `PATH`.

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
mod load;
mod peers;
mod relay;
mod server;
mod suite;
mod table;
mod tools;

use std::process::ExitCode;

use table::Table;

/// Measures one part and adds its figures to the table.
type Measure = fn(&mut Table);

fn main() -> ExitCode {
    // Several parts start this program again as another process. A variable then says what that process does.
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
    if std::env::var_os(tools::REPLAYS).is_some() {
        tools::replay();
        return ExitCode::SUCCESS;
    }
    let write = std::env::args().any(|arg| arg == "--write");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut table = Table::default();
    let parts: [(&str, Measure); 11] = [
        ("key", key::measure),
        ("fixture", fixture::measure),
        ("server", server::measure),
        ("peers", peers::measure),
        ("connections", connections::measure),
        ("load", load::measure),
        ("relay", relay::measure),
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
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/bench/figures.md"), text).unwrap();
    }
    ExitCode::SUCCESS
}

//! The figures of the core: `cargo bench`. Each stands beside something measured in the same run, since machines differ and
//! are shared; the table at the end is what the README quotes.
//!
//! `cargo bench -- key server` runs the named parts only.

mod capture;
mod conversations;
mod fixture;
mod key;
mod server;
mod suite;
mod table;

use table::Table;

fn main() {
    // What the suite's part starts as another process: 1,000 scenarios on a minimal router.
    if std::env::var_os("RETAKE_BENCH_RUNNER").is_some() {
        std::process::exit(suite::runner());
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut table = Table::default();
    let parts: [(&str, fn(&mut Table)); 5] = [
        ("key", key::measure),
        ("fixture", fixture::measure),
        ("server", server::measure),
        ("capture", capture::measure),
        ("suite", suite::measure),
    ];
    for (name, measure) in parts {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure(&mut table);
        }
    }
    table.print();
}

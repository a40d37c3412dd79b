//! Benchmarks of writing, comparing and diffing large goldens.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use retake::__private::report::unified;
use retake::__private::run::{Compared, Goldens, Policy};

use crate::table::Table;

/// Returns texts of goldens with their names. The other texts are compared with the first one.
fn texts() -> [(&'static str, String); 3] {
    let lines = |count: usize| {
        (0..count).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "values    {{messages[1], n}}\n          /n = {n}");
            text
        })
    };
    let line = format!("values    {{text}}\n          /text = \"{}\"\n", "text ".repeat(2_000_000));
    [("20,000 events", lines(20_000)), ("200,000 events", lines(200_000)), ("one event of 10 MB", line)]
}

/// Writes each golden, or compares it with an equal text, with one that differs in the middle and with one that differs
/// everywhere. Returns what was done and how many seconds it took.
fn compare(folder: &Path, policy: Policy) -> Vec<(String, f64)> {
    // A golden names the scenario file that it belongs to, and that file must exist.
    let input = folder.join("scenarios/one/scenario.toml");
    std::fs::create_dir_all(input.parent().unwrap()).unwrap();
    std::fs::write(&input, "").unwrap();
    let goldens = Goldens::new(folder.join("goldens"), policy);
    let time = |how: &str, what: &str, text: &str| {
        let start = Instant::now();
        let compared = goldens.compare(&what.replace(' ', "-"), text, &input, false).unwrap();
        if let Compared::Differs(old) = compared {
            assert!(unified(&old, text).lines().count() < 50);
        }
        (format!("{how} golden of {what}"), start.elapsed().as_secs_f64())
    };
    let steps = texts().into_iter().flat_map(|(what, text)| {
        if policy == Policy::Overwrite {
            return vec![time("write the", what, &text)];
        }
        let (before, after) = text.split_at(text.len() / 2);
        let all_over = text.replace("values", "value").replace("text", "texts");
        vec![
            time("compare an equal", what, &text),
            time("compare and diff, in the middle, a", what, &format!("{before}<changed>{after}")),
            time("compare and diff, all over, a", what, &all_over),
        ]
    });
    steps.collect()
}

pub fn measure(table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    for policy in [Policy::Overwrite, Policy::Propose] {
        let steps = compare(folder.path(), policy);
        let (small, others) = steps.split_at(steps.len() / 3);
        for ((what, time), (_, small)) in others.iter().zip(small.iter().cycle()) {
            let ratio = format!("{:.1} times its time", time / small);
            table.row(what, format!("{:.0} ms", time * 1e3), "20,000 events", ratio);
        }
    }
}

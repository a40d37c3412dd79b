//! Benchmarks of writing, comparing and diffing large goldens.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use retake::__private::report::unified;
use retake::__private::run::{Compared, Goldens, Policy, environment, silence_comparisons};

use crate::table::Table;

/// The variable that makes a process write or compare goldens in the folder that it names. It needs its own process because insta
/// reads its environment only once.
pub const COMPARES: &str = "RETAKE_BENCH_COMPARES";

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

/// Writes the goldens if there are none. Otherwise compares each with an equal text, with one that differs in the middle and
/// with one that differs everywhere. Prints how many seconds each step took.
pub fn compare(folder: &Path) {
    let (writes, input) = (!folder.join("goldens").exists(), folder.join("scenario.toml"));
    // A golden names the scenario file that it belongs to, and that file must exist.
    std::fs::write(&input, "").unwrap();
    let policy = if writes { Policy::Overwrite } else { Policy::Propose };
    silence_comparisons();
    let goldens = Goldens::new(folder.join("goldens"), policy, retake::assert_golden!());
    for (what, text) in texts() {
        let time = |how: &str, text: &str| {
            let start = Instant::now();
            let compared = goldens.compare(&what.replace(' ', "-"), text, &input).unwrap();
            if let Compared::Differs(old) = compared {
                assert!(unified(&old, text).lines().count() < 50);
            }
            println!("{how} golden of {what}\t{}", start.elapsed().as_secs_f64());
        };
        if writes {
            time("write the", &text);
            continue;
        }
        let (before, after) = text.split_at(text.len() / 2);
        time("compare an equal", &text);
        time("compare and diff, in the middle, a", &format!("{before}<changed>{after}"));
        time("compare and diff, all over, a", &text.replace("values", "value").replace("text", "texts"));
    }
}

pub fn measure(table: &mut Table) {
    let folder = tempfile::tempdir().unwrap();
    for policy in [Policy::Overwrite, Policy::Propose] {
        let mut comparing = Command::new(std::env::current_exe().unwrap());
        comparing
            .current_dir(folder.path())
            .env(COMPARES, folder.path())
            .env_remove("CI")
            .envs(environment(policy, folder.path()));
        let printed = comparing.output().unwrap();
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let printed = String::from_utf8(printed.stdout).unwrap();
        let time = |line: &'_ str| line.split_once('\t').unwrap().1.parse::<f64>().unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        let (small, others) = lines.split_at(lines.len() / 3);
        for (line, small) in others.iter().zip(small.iter().cycle()) {
            let (time, small) = (time(line), time(small));
            let ratio = format!("{:.1} times its time", time / small);
            let what = line.split('\t').next().unwrap_or_default();
            table.row(what, format!("{:.0} ms", time * 1e3), "20,000 events", ratio);
        }
    }
}

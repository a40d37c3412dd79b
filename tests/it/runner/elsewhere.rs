//! Repeats the same run, each time in a different environment: time zone, locale, temporary folder and day.

use std::path::{Path, PathBuf};

use crate::support::program::Program;
use crate::support::tree::{SCENARIOS, Tree};

tests! { many_runs_in_a_row_all_pass, }

/// Time zones in the POSIX form, which works without a time zone database.
const ZONES: [&str; 5] = ["UTC0", "<+14>-14", "<-11>11", "<+0545>-5:45", "NST3:30NDT"];
const LOCALES: [&str; 4] = ["C", "C.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP"];
const FOLDERS: [&str; 3] = ["tmp", "a blank and an ü", "a/folder/that/is/deep/enough/to/have/a/long/path"];
/// Days in the form of libfaketime: today, some others, and some that begin seconds before a date or a count rolls over.
const DAYS: [&str; 7] =
    ["+0", "+40d", "-400d", "+11y", "@2028-02-29 23:59:58", "@2027-12-31 23:59:58", "@2001-09-09 01:46:39"];

/// Runs all scenarios 5 times, or as often as `RETAKE_RUNS_IN_A_ROW` says. The longest one is left out: nothing in it is
/// concurrent, and `.ci/run` repeats it in another step.
fn many_runs_in_a_row_all_pass() {
    let runs = std::env::var("RETAKE_RUNS_IN_A_ROW").ok().and_then(|runs| runs.parse().ok()).unwrap_or(5);
    let names: Vec<&str> = SCENARIOS.into_iter().filter(|name| *name != "long_history").collect();
    let tree = Tree::of(&names);
    let before = tree.files();
    let folder = tempfile::tempdir().unwrap();
    for number in 0..runs {
        let runner = tree.runner("gateway").args(&["--test-threads", "6"]);
        let (run, place) = elsewhere(runner, number, folder.path());
        let run = run.run();
        let green = run.trials().values().filter(|result| **result == "ok").count();
        assert_eq!((run.code, green), (Some(0), SCENARIOS.len()), "run {number}, {place}: {}", run.all());
    }
    assert_eq!(tree.files(), before);
}

/// Returns the program with a different environment for each number, and a description of that environment.
fn elsewhere(program: Program, number: usize, folder: &Path) -> (Program, String) {
    fn one<'a>(of: &[&'a str], number: usize) -> &'a str {
        of[number % of.len()]
    }
    let (zone, locale, day) = (one(&ZONES, number), one(&LOCALES, number), one(&DAYS, number));
    let temp = folder.join(one(&FOLDERS, number));
    std::fs::create_dir_all(&temp).unwrap();
    let mut place = format!("TZ={zone} LC_ALL={locale} TMPDIR={}", temp.display());
    let mut program = program.env("TZ", zone).env("LC_ALL", locale).env("TMPDIR", &temp);
    if let Some(library) = libfaketime() {
        place = format!("{place} FAKETIME={day}");
        program = program.env("LD_PRELOAD", library).env("FAKETIME", day).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    (program, place)
}

/// Returns the path of libfaketime. Without it, every run uses the real date.
fn libfaketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).find(|library| library.exists())
}

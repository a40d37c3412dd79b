//! The same run again and again, each time as if elsewhere: in another time zone, with another locale, in another temporary
//! folder, on another day.

use std::path::{Path, PathBuf};

use crate::support::program::Program;
use crate::support::tree::{SCENARIOS, Tree};

tests! { many_runs_in_a_row_are_all_green, }

/// As POSIX writes them: no table of zones is needed.
const ZONES: [&str; 5] = ["UTC0", "<+14>-14", "<-11>11", "<+0545>-5:45", "NST3:30NDT"];
const LOCALES: [&str; 4] = ["C", "C.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP"];
const FOLDERS: [&str; 3] = ["tmp", "a blank and an ü", "a/folder/that/is/deep/enough/to/have/a/long/path"];
/// Today, some days, and two seconds before two midnights: a run is on both sides of them.
const DAYS: [&str; 7] =
    ["+0", "+40d", "-400d", "+11y", "@2028-02-29 23:59:58", "@2027-12-31 23:59:58", "@2001-09-09 01:46:39"];

/// 5 runs; as many as `RETAKE_RUNS_IN_A_ROW` says where it is set, as the gate does. All but the longest, in which nothing
/// happens at once; the gate runs that one many times too.
fn many_runs_in_a_row_are_all_green() {
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

/// As if started elsewhere, and what is meant by that.
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

/// Where this machine has none, each run is on this day.
fn libfaketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).find(|library| library.exists())
}

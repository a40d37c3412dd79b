//! No Chromium process and no profile is left behind, even if the runner is killed.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::tree::{Tree, standalone};

tests!(a_run_that_is_killed_leaves_no_chromium_and_no_profile);

/// Kills 5 runs, or as many as `RETAKE_KILLED_BROWSERS` says.
fn a_run_that_is_killed_leaves_no_chromium_and_no_profile() {
    let runs = std::env::var("RETAKE_KILLED_BROWSERS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(5);
    let temp = tempfile::tempdir().unwrap();
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    tree.write("scenarios/page_history/scenario.toml", &standalone("page_history"));
    for run in 0..runs {
        let mut runner = tree.runner("page").env("TMPDIR", temp.path()).into_command();
        let mut runner = runner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Some runs are killed before Chromium has started, some while a page is open, some after it was closed.
        std::thread::sleep(Duration::from_millis((run * 137) % 2000));
        let _ = runner.kill();
        runner.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let folders: Vec<_> = std::fs::read_dir(temp.path()).unwrap().flatten().map(|entry| entry.path()).collect();
            let processes = chromiums(&temp.path().display().to_string());
            if folders.is_empty() && processes.is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "run {run} left {folders:?} and {processes:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns the command lines of the processes that use a profile in this folder.
fn chromiums(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(folder) {
            found.push(line);
        }
    }
    found
}

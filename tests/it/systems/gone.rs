//! Nothing of a system is left behind, however the runner ends.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::described::{READY, system};
use super::service::agent;
use crate::support::tree::Tree;

tests!(
    aborted_runs_leave_no_process_no_lock_and_no_folder,
    a_guardian_removes_the_lock_of_a_runner_that_was_killed_before_it_reported_its_systems,
    a_guardian_that_is_killed_ends_its_whole_process_group,
    a_guardian_that_is_killed_leaves_no_folder,
    what_a_killed_runner_and_its_killed_guardian_left_is_removed_by_the_next_run,
);

/// How a run is aborted.
#[derive(Clone, Copy, Debug)]
enum Abort {
    /// Nobody reads what it prints any more.
    Unread,
    Interrupt,
    Terminate,
    Kill,
    TimeOut,
}

const KINDS: [Abort; 5] = [Abort::Unread, Abort::Interrupt, Abort::Terminate, Abort::Kill, Abort::TimeOut];

/// Aborts 20 runs, or as many as `RETAKE_ABORTED_RUNS` says.
fn aborted_runs_leave_no_process_no_lock_and_no_folder() {
    let runs = std::env::var("RETAKE_ABORTED_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(run) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|run| *run < runs) {
                    abort(run);
                }
            });
        }
    });
    // A lock file that is still there is allowed if a concurrent process holds it.
    let locks = format!("/tmp/retake-ports-{}", rustix::process::getuid().as_raw());
    let deadline = Instant::now() + Duration::from_secs(3);
    while std::fs::read_dir(&locks).into_iter().flatten().flatten().any(|lock| is_stale(&lock.path())) {
        assert!(Instant::now() < deadline, "a lock is left in {locks}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn a_guardian_removes_the_lock_of_a_runner_that_was_killed_before_it_reported_its_systems() {
    use std::os::unix::fs::DirBuilderExt as _;
    let locks = std::path::PathBuf::from(format!("/tmp/retake-ports-{}", rustix::process::getuid().as_raw()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&locks).unwrap();
    let lock = locks.join(format!("stale-{}", std::process::id()));
    std::fs::write(&lock, "").unwrap();
    let mut guardian = std::process::Command::new(env!("CARGO_BIN_EXE_retake"));
    assert!(guardian.arg("retake-guardian").stdin(Stdio::null()).status().unwrap().success());
    assert!(!lock.exists());
}

/// Whether a lock file exists that no process holds.
fn is_stale(lock: &std::path::Path) -> bool {
    std::fs::File::open(lock).is_ok_and(|file| file.try_lock().is_ok()) && lock.exists()
}

/// Whether this process ignores SIGINT, which its children inherit: the second bit of the `SigIgn` mask in `/proc`.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

/// Aborts a run in the way and at the moment that belong to its number, and asserts that nothing is left of it.
fn abort(run: usize) {
    let kind = match KINDS[run % KINDS.len()] {
        // A shell starts background jobs with SIGINT ignored, and children inherit that.
        Abort::Interrupt if interrupts_are_ignored() => Abort::Terminate,
        kind => kind,
    };
    let mark = format!("MARK_{}_{run}", std::process::id());
    let tree = Tree::with_suite(&system("agent", &format!(r#"HELPERS = "stubborn away", MARK = "{mark}""#), READY));
    // Some runs are aborted before the system has started, some after.
    let after = Duration::from_millis((run as u64 * 97) % 900);
    // The runner goes on to the end, so the scenarios get a short limit.
    let limit = if matches!(kind, Abort::TimeOut | Abort::Unread) { 200 + after.as_millis() } else { 60_000 };
    let step = if run % 3 == 2 {
        // The step runs a command-line agent and does not use the system.
        let helpers = "HANGS = \"1\", HELPERS = \"stubborn away\"";
        format!("run = {}\nenv = {{ MESSAGE = \"x\", {helpers}, MARK = \"{mark}\" }}", agent())
    } else {
        "post = \"/hang\"".to_owned()
    };
    tree.scenario("hang", &format!("fixture = \"none\"\ntimeout = \"{limit}ms\"\n[[step]]\n{step}\n"));
    tree.scenario("quick", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    let only = if matches!(kind, Abort::Unread) { "" } else { "hang" };
    let mut command = tree.retake().args(&["test", only, "--", "--test-threads", "2"]).into_command();
    command.env("MARK", &mark).process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut runner = command.spawn().unwrap();
    let mut lines = BufReader::new(runner.stdout.take().unwrap()).lines();
    let pid = Pid::from_child(&runner);
    match kind {
        Abort::Unread => {
            // The runner cannot print the result of `quick` while `hang` is running.
            lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("running"))).unwrap().unwrap();
            drop(lines);
        }
        Abort::TimeOut => {}
        Abort::Interrupt => {
            std::thread::sleep(after);
            kill_process_group(pid, Signal::INT).unwrap();
        }
        Abort::Terminate | Abort::Kill => {
            std::thread::sleep(after);
            kill_process(pid, if matches!(kind, Abort::Kill) { Signal::KILL } else { Signal::TERM }).unwrap();
        }
    }
    let status = ended(&mut runner);
    match kind {
        Abort::Unread | Abort::TimeOut => assert_eq!(status.code(), Some(1), "{kind:?}"),
        _ => assert_eq!(status.code(), None, "{kind:?}"),
    }
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let (processes, files) = (marked(&mark), tree.there());
        if processes.is_empty() && files.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{kind:?} after {after:?}: left {processes:?} and {files:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the runner to end.
fn ended(runner: &mut Child) -> std::process::ExitStatus {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(status) = runner.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < deadline, "the runner does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the ids and command lines of the processes that have this mark in their environment.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == format!("MARK={mark}").as_bytes()) {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            found.push(format!("{} {line}", process.file_name().to_string_lossy()));
        }
    }
    found
}

fn a_guardian_that_is_killed_ends_its_whole_process_group() {
    let mark = format!("MARK_{}_guardian", std::process::id());
    let (_tree, mut runner, guardian) = hanging(&mark);
    // The guardian survives signals that a person sends to the whole process tree.
    kill_process(Pid::from_raw(guardian).unwrap(), Signal::INT).unwrap();
    kill_process(Pid::from_raw(guardian).unwrap(), Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(runner.try_wait().unwrap().is_none());
    kill_process(Pid::from_raw(guardian).unwrap(), Signal::KILL).unwrap();
    assert_eq!(ended(&mut runner).code(), Some(1));
    assert_eq!(marked(&mark), [""; 0]);
}

/// Starts a run whose system hangs. Returns the project, the runner, and the process id of the guardian.
fn hanging(mark: &str) -> (Tree, Child, i32) {
    let tree = Tree::with_suite(&system("agent", &format!(r#"HELPERS = "stubborn", MARK = "{mark}""#), READY));
    tree.scenario("hang", "fixture = \"none\"\ntimeout = \"20s\"\n[[step]]\npost = \"/hang\"\n");
    let mut command = tree.retake().args(&["test"]).into_command();
    let runner = command.env("MARK", mark).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let guardian = loop {
        let all = marked(mark);
        let is_up = all.iter().any(|line| line.contains("trap"));
        if let Some(line) = all.iter().find(|line| line.contains("retake-guardian")).filter(|_| is_up) {
            break line.split(' ').next().unwrap().parse().unwrap();
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    };
    (tree, runner, guardian)
}

fn a_guardian_that_is_killed_leaves_no_folder() {
    let (tree, mut runner, guardian) = hanging(&format!("MARK_{}_folder", std::process::id()));
    assert!(!tree.there().is_empty());
    kill_process(Pid::from_raw(guardian).unwrap(), Signal::KILL).unwrap();
    assert_eq!(ended(&mut runner).code(), Some(1));
    assert_eq!(tree.left(), [""; 0]);
}

fn what_a_killed_runner_and_its_killed_guardian_left_is_removed_by_the_next_run() {
    let mark = format!("MARK_{}_both", std::process::id());
    let (tree, mut runner, _) = hanging(&mark);
    let signal_all = |signal| {
        for process in marked(&mark) {
            let id = process.split(' ').next().unwrap().parse().unwrap();
            let _ = kill_process(Pid::from_raw(id).unwrap(), signal);
        }
    };
    // Stopped first, no guardian begins to clean up after the runner: the scenarios' folder has one, too.
    signal_all(Signal::STOP);
    runner.kill().unwrap();
    runner.wait().unwrap();
    signal_all(Signal::KILL);
    assert!(!tree.there().is_empty(), "nobody is left to remove it");
    // What an earlier version uses has no lock, and is nobody else's to remove.
    let temp = tree.temp().to_owned();
    std::fs::create_dir_all(temp.join("retake-0123456789ab/work")).unwrap();
    std::fs::write(temp.join("retake-notes"), "").unwrap();
    tree.scenario("hang", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    tree.retake().args(&["test"]).run().green();
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut there = tree.there();
    while there.len() != 2 && Instant::now() < deadline {
        there = tree.there();
    }
    there.sort();
    assert_eq!(there, ["retake-0123456789ab", "retake-notes"]);
}

//! A scenario ends by its time limit whatever its system does, and says where it was.

use std::time::{Duration, Instant};

use crate::tree::Tree;

tests! { time_limits:
    a_system_that_hangs,
    a_system_that_blocks_its_thread,
    a_system_that_streams_for_ever,
    a_system_that_never_gets_ready,
    a_limit_of_the_suite_holds_for_all,
}

/// A system that is stuck is given two seconds to stop, and the machine that runs this may be busy.
const AT_MOST: Duration = Duration::from_secs(20);

fn scenario(step: &str) -> Tree {
    let tree = Tree::empty();
    let before = "fixture = \"none\"\ntimeout = \"300ms\"\n\n[[step]]\npost = \"/silent\"\n\n";
    tree.write("scenarios/slow/scenario.toml", &format!("{before}[[step]]\n{step}\n"));
    tree.write("scenarios/swift/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n");
    tree
}

#[track_caller]
fn ends_by_its_limit(step: &str, was_at: &str) {
    let tree = scenario(step);
    let began = Instant::now();
    let run = tree.runner("oddities").run().exits(101).says(&[
        &format!("scenarios/slow/scenario.toml: the scenario's time is up after 300ms: {was_at}"),
        "0 model calls were in flight",
        "raise `timeout` in scenario.toml if the system is slow and right",
    ]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    run.trials_are(&[("slow", "FAILED"), ("swift", "ok"), ("retake::no_orphans", "ok")]);
    assert!(!tree.has("goldens"));
}

fn a_system_that_hangs() {
    ends_by_its_limit("post = \"/hang\"", "step 2 (POST /hang) was under way, 0 events had come, ");
}

fn a_system_that_blocks_its_thread() {
    ends_by_its_limit("post = \"/block\"", "step 2 (POST /block) was under way, 0 events had come, ");
}

fn a_system_that_streams_for_ever() {
    let step = "post = \"/endless\"\nstream = { last = \"end\" }";
    ends_by_its_limit(step, "step 2 (POST /endless) was under way, ");
    let run = scenario(step).runner("oddities").run();
    let (_, after) = run.stdout.split_once("was under way, ").unwrap();
    let events: usize = after.split_once(" events had come").unwrap().0.parse().unwrap();
    assert!(events > 0, "{}", run.stdout);
}

fn a_system_that_never_gets_ready() {
    let tree = scenario("post = \"/silent\"");
    let began = Instant::now();
    tree.runner("never-ready").arg("slow").run().exits(101).says(&[
        "scenarios/slow/scenario.toml: the scenario's time is up after 300ms: system `never-ready` was not ready",
    ]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
}

fn a_limit_of_the_suite_holds_for_all() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "timeout = \"200ms\"\n");
    tree.write("scenarios/slow/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/hang\"\n");
    tree.runner("oddities").run().exits(101).says(&["the scenario's time is up after 200ms: step 1 (POST /hang)"]);
}

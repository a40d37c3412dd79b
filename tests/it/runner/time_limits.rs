//! A scenario ends by its time limit whatever its system does, and says where it was.

use std::time::{Duration, Instant};

use retake::internal::wire::Body;

use crate::support::fixtures;
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests! { a_system_that_hangs,
    a_system_that_blocks_its_thread,
    a_system_that_streams_for_ever,
    a_system_that_never_gets_ready,
    a_limit_of_the_suite_holds_for_all,
    recorded_pauses_are_replayed_where_a_scenario_asks_for_them,
}

/// The limit leaves a busy machine time for the first step, and a system that is stuck has two seconds to stop.
const AT_MOST: Duration = Duration::from_secs(20);

fn scenario(step: &str) -> Tree {
    let tree = Tree::empty();
    let before = "fixture = \"none\"\ntimeout = \"2s\"\n\n[[step]]\npost = \"/silent\"\n\n";
    tree.write("scenarios/slow/scenario.toml", &format!("{before}[[step]]\n{step}\n"));
    tree.write("scenarios/swift/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n");
    tree
}

#[track_caller]
fn ends_by_its_limit(step: &str, was_at: &str) -> Ran {
    let tree = scenario(step);
    let began = Instant::now();
    let run = tree.runner("oddities").run().exits(101).says(&[
        &format!("scenarios/slow/scenario.toml: the scenario's time is up after 2s: {was_at}"),
        "0 model calls in flight",
        "if the system is slow but right, raise `timeout` in scenario.toml",
    ]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    assert!(!tree.has("goldens"));
    run.trials_are(&[("slow", "FAILED"), ("swift", "ok"), ("retake::no_orphans", "ok")])
}

fn a_system_that_hangs() {
    ends_by_its_limit(
        "post = \"/hang\"",
        "step 2 (POST /hang) was under way and waited for an answer: 0 events had come, ",
    );
}

fn a_system_that_blocks_its_thread() {
    ends_by_its_limit(
        "post = \"/block\"",
        "step 2 (POST /block) was under way and waited for an answer: 0 events had come, ",
    );
}

fn a_system_that_streams_for_ever() {
    let step = "post = \"/endless\"\nstream = { last = \"end\" }";
    let run = ends_by_its_limit(step, "step 2 (POST /endless) was under way and waited for the event `end`: ");
    let (_, after) = run.stdout.split_once("waited for the event `end`: ").unwrap();
    let events: usize = after.split_once(" events had come").unwrap().0.parse().unwrap();
    assert!(events > 0 && after.contains(" (the last was `"), "{}", run.stdout);
}

fn a_system_that_never_gets_ready() {
    let tree = scenario("post = \"/silent\"");
    let began = Instant::now();
    tree.runner("never-ready")
        .arg("slow")
        .run()
        .exits(101)
        .says(&["scenarios/slow/scenario.toml: system `never-ready` was not ready when the scenario's time was up"]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
}

fn a_limit_of_the_suite_holds_for_all() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "timeout = \"1s\"\n");
    tree.write("scenarios/slow/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/hang\"\n");
    tree.runner("oddities").run().exits(101).says(&["the scenario's time is up after 1s: step 1 (POST /hang)"]);
}

fn recorded_pauses_are_replayed_where_a_scenario_asks_for_them() {
    let tree = Tree::of(&["write_read_file"]);
    fixtures::edit(&tree, "write_read_file", |turns| {
        for turn in turns {
            if let Body::Frames(frames) = &mut turn.wire.response.body {
                let hours = vec![3_600_000; frames.iter().count()];
                *frames = frames.clone().with_delays(&hours);
            }
        }
    });
    tree.runner("gateway").run().exits(0);
    tree.replace("scenarios/suite.toml", "settle", "delays = \"recorded\"\ntimeout = \"2s\"\nsettle");
    tree.runner("gateway").run().exits(101).says(&["the scenario's time is up after 2s"]);
}

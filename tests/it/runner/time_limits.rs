//! A scenario ends at its time limit, whatever its system does, and reports how far it got.

use std::time::{Duration, Instant};

use retake_wire::Body;

use crate::support::fixtures;
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests! { a_system_that_hangs_is_ended_by_the_time_limit,
    a_system_that_blocks_its_thread_is_ended_by_the_time_limit,
    a_system_that_streams_forever_is_ended_by_the_time_limit,
    a_system_that_never_becomes_ready_is_ended_by_the_time_limit,
    a_time_limit_in_the_suite_applies_to_every_scenario,
    recorded_pauses_are_replayed_if_the_suite_asks_for_them,
}

/// An upper bound for a whole run: it includes time for the first step on a busy machine, and the two seconds that a stuck
/// system gets to stop.
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
        &format!("scenarios/slow/scenario.toml: {was_at}"),
        "0 model calls in flight",
        "the scenario took longer than 2s: if the service is right but slow, raise `timeout` in scenario.toml",
    ]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    assert!(!tree.has("goldens"));
    run.trials_are(&[("slow", "FAILED"), ("swift", "ok"), ("retake::no_orphans", "ok")])
}

fn a_system_that_hangs_is_ended_by_the_time_limit() {
    ends_by_its_limit("post = \"/hang\"", "no answer came: step 2 (POST /hang) was under way, 0 events had come, ");
}

fn a_system_that_blocks_its_thread_is_ended_by_the_time_limit() {
    ends_by_its_limit("post = \"/block\"", "no answer came: step 2 (POST /block) was under way, 0 events had come, ");
}

fn a_system_that_streams_forever_is_ended_by_the_time_limit() {
    let step = "post = \"/endless\"\nstream = { last = \"end\" }";
    let run = ends_by_its_limit(step, "the event `end` did not come: step 2 (POST /endless) was under way, ");
    let (_, after) = run.stdout.split_once("(POST /endless) was under way, ").unwrap();
    let events: usize = after.split_once(" events had come").unwrap().0.parse().unwrap();
    assert!(events > 0 && after.contains(" (the last was `"), "{}", run.stdout);
}

fn a_system_that_never_becomes_ready_is_ended_by_the_time_limit() {
    let tree = scenario("post = \"/silent\"");
    let began = Instant::now();
    tree.runner("never-ready")
        .arg("slow")
        .run()
        .exits(101)
        .says(&["scenarios/slow/scenario.toml: system `never-ready` was not ready when the scenario's time was up"]);
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
}

fn a_time_limit_in_the_suite_applies_to_every_scenario() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "timeout = \"1s\"\n");
    tree.write("scenarios/slow/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/hang\"\n");
    tree.runner("oddities")
        .run()
        .exits(101)
        .says(&["no answer came: step 1 (POST /hang)", "the scenario took longer than 1s"]);
}

fn recorded_pauses_are_replayed_if_the_suite_asks_for_them() {
    let tree = Tree::of(&["write_read_file"]);
    fixtures::edit(&tree, "write_read_file", |turns| {
        for turn in turns {
            if let Body::Frames(frames) = &mut turn.wire.as_mut().unwrap().response.body {
                let hours = vec![3_600_000; frames.iter().count()];
                *frames = frames.clone().with_delays(&hours);
            }
        }
    });
    tree.runner("gateway").run().exits(0);
    tree.replace("scenarios/suite.toml", "settle", "delays = \"recorded\"\ntimeout = \"2s\"\nsettle");
    tree.runner("gateway").run().exits(101).says(&["the scenario took longer than 2s"]);
}

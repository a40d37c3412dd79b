//! A system that ends by itself after the steps are done: a crash fails the scenario.

use super::described::{READY, system};
use crate::support::tree::Tree;

tests!(
    a_system_that_crashes_after_its_last_event_fails_its_scenario,
    a_shared_system_that_crashes_fails_the_scenario_in_which_it_crashed,
    a_crash_of_a_system_that_another_system_needs_fails_the_scenario,
    a_system_that_ends_by_itself_with_exit_code_0_does_not_fail_its_scenario,
);

fn end_with(code: i32) -> String {
    // The stage lingers long enough to notice the exit even on a busy machine.
    format!("linger = \"3s\"\nfixture = \"none\"\n[[step]]\npost = \"/end-soon/{code}\"\ngolden = false\n")
}

fn a_system_that_crashes_after_its_last_event_fails_its_scenario() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("a", &end_with(3));
    let run = tree.retake().arg("test").run();
    run.red(&["crash: system `agent` exited with code 3 during the scenario", "  | going down"]);
}

fn a_shared_system_that_crashes_fails_the_scenario_in_which_it_crashed() {
    let tree = Tree::with_suite(&system("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", &end_with(3));
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = false\n");
    let run = tree.retake().args(&["test", "--", "--test-threads", "1"]).run();
    run.red(&["crash: system `agent` exited with code 3 during the scenario"]);
    assert_eq!((run.trials()["a"], run.trials()["b"]), ("FAILED", "ok"), "{}", run.all());
}

fn a_crash_of_a_system_that_another_system_needs_fails_the_scenario() {
    let needed = system("store", "ENDS_AFTER = \"400\"", READY);
    let tree = Tree::with_suite(&format!("{needed}{}", system("agent", "", &format!("{READY}\nneeds = [\"store\"]"))));
    // The stage lingers long enough for the store to start and to end, even on a busy machine.
    tree.scenario(
        "a",
        "system = \"agent\"\nlinger = \"3s\"\nfixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = false\n",
    );
    let run = tree.retake().arg("test").run();
    run.red(&["crash: system `store` exited with code 4 during the scenario", "  | going down"]);
}

fn a_system_that_ends_by_itself_with_exit_code_0_does_not_fail_its_scenario() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("a", &end_with(0));
    tree.retake().arg("test").run().green();
}

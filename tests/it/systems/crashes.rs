//! A system that ends by itself after the steps are done: a crash fails the scenario.

use super::described::{READY, system};
use crate::support::tree::Tree;

tests!(
    a_system_that_crashes_after_its_last_event_fails_its_scenario,
    a_shared_system_that_crashes_fails_the_scenario_in_which_it_crashed,
    a_crash_of_a_shared_system_that_comes_only_once_is_told_as_flaky,
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

/// The scenario is run again alone on its system, since another one may have caused the crash.
fn a_crash_of_a_shared_system_that_comes_only_once_is_told_as_flaky() {
    let tree = Tree::with_suite(&system("agent", "", &format!("{READY}\nshared = true")));
    let kill = "kill -9 {{ pid }}; while kill -0 {{ pid }} 2>/dev/null; do :; done";
    let once = format!("test -e {{{{ root }}}}/killed || {{ touch {{{{ root }}}}/killed; {kill}; }}; echo true");
    let steps = format!(
        "[[step]]\nget = \"/pid\"\ncapture = {{ pid = \"json:/pid\" }}\ngolden = false\n\
         [[step]]\nrun = [\"sh\", \"-c\", \"{once}\"]\ngolden = false\n"
    );
    tree.scenario("a", &format!("fixture = \"none\"\n{steps}"));
    let run = tree.retake().args(&["test", "--report", "junit", "--report", "html"]).run().exits(0);
    run.tells(&["note: a: flaky: green only at try 2; before that: ", "system `agent` was ended by signal 9"]);
    let data: serde_json::Value = serde_json::from_str(&tree.read(".retake/runs/a.json")).unwrap();
    assert_eq!((&data["result"], &data["flaky"]["tries"]), (&"passed".into(), &2.into()), "{data}");
    assert_eq!(tree.read(".retake/junit.xml").matches("<flakyFailure").count(), 1);
    assert!(tree.read(".retake/report.html").contains("<span class=\"badge bad\">1 flaky</span>"));
    // The next time nothing crashes, and nothing is told.
    let run = tree.retake().arg("test").run().exits(0);
    assert!(!run.all().contains("flaky"), "{}", run.all());
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

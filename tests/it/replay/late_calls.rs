//! Model calls that a system makes when its steps are done: in the background, while it shuts down, after its verdict.

use crate::runner::discovery::asking;
use crate::support::fixtures::{self, turn};
use crate::support::tree::Tree;
use crate::systems::described::{READY, system};

tests! { a_background_call_after_the_last_event_is_the_failure_of_its_own_scenario,
    a_background_call_of_a_shared_system_is_the_failure_of_its_own_scenario,
    a_call_of_a_system_that_shuts_down_is_the_failure_of_its_scenario,
    linger_says_how_long_a_call_is_waited_for,
    one_slot_is_free_while_a_scenario_lingers,
    a_miss_after_the_verdict_fails_the_run_and_is_named,
}

/// How long after the last event such a call comes, in milliseconds.
const AFTER: [u64; 3] = [0, 4, 300];

fn a_background_call_after_the_last_event_is_the_failure_of_its_own_scenario() {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    for millis in AFTER {
        let ask = format!("/ask-and-go-on/{millis}");
        tree.scenario(&format!("one-turn-{millis}"), &asking("Hello").replace("/ask", &ask));
        fixtures::write(&tree, &format!("one-turn-{millis}"), vec![turn(None, "\"Hello\"", "Hi")]);
        tree.scenario(&format!("none-{millis}"), &format!("fixture = \"none\"\n[[step]]\npost = \"{ask}\"\n"));
    }
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run();
    let run = tree.runner("oddities").run().exits(101);
    for millis in AFTER {
        for name in [format!("one-turn-{millis}"), format!("none-{millis}")] {
            assert!(run.failure(&name).starts_with("replay miss: "), "{}", run.all());
        }
    }
    run.never_says("after the scenario's verdict");
}

fn a_background_call_of_a_shared_system_is_the_failure_of_its_own_scenario() {
    let tree = Tree::with_suite(&system("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\npost = \"/go-on/300\"\n");
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    for threads in ["1", "4"] {
        let run = tree.retake().args(&["test", "--update", "--", "--test-threads", threads]).run();
        run.red(&["test a                  ... FAILED", "test b                  ... ok"]);
        assert!(run.failure("a").starts_with("replay miss: "), "{}", run.all());
    }
}

fn a_call_of_a_system_that_shuts_down_is_the_failure_of_its_scenario() {
    let tree = Tree::with_suite(&system("agent", "ASKS_AT_THE_END = \"1\"", READY));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = false\n");
    let run = tree.retake().arg("test").run();
    run.red(&["replay miss: the call \"anything to remember?\""]);
}

/// In whole seconds, since the machine may be busy.
fn linger_says_how_long_a_call_is_waited_for() {
    let tree = Tree::empty();
    let slow = "fixture = \"none\"\n[[step]]\npost = \"/ask-and-go-on/1500\"\ngolden = false\n";
    tree.scenario("a", slow);
    tree.scenario("b", &format!("linger = \"5s\"\n{slow}"));
    let run = tree.runner("oddities").run();
    assert_eq!((run.trials()["a"], run.trials()["b"]), ("ok", "FAILED"), "{}", run.all());
    tree.write("scenarios/suite.toml", "linger = \"5s\"\n");
    assert_eq!(tree.runner("oddities").run().trials()["a"], "FAILED");
}

/// The first one lingers until the second one, which has the same slot, tells it to call.
fn one_slot_is_free_while_a_scenario_lingers() {
    let tree = Tree::with_suite("linger = \"5s\"\n");
    tree.scenario("a-first", "fixture = \"none\"\n[[step]]\npost = \"/call-later\"\ngolden = false\n");
    tree.scenario("b-second", "linger = \"0s\"\nfixture = \"none\"\n[[step]]\npost = \"/call-now\"\ngolden = false\n");
    let run = tree.runner("oddities").args(&["--test-threads", "1"]).run().exits(101);
    assert!(run.failure("a-first").starts_with("replay miss: "), "{}", run.all());
    assert_eq!(run.trials()["b-second"], "ok", "{}", run.all());
}

/// What is left of a system when it was ended is nobody's to wait for; the run fails by it all the same.
fn a_miss_after_the_verdict_fails_the_run_and_is_named() {
    let tree = Tree::with_suite("settle = \"0ms\"\nlinger = \"0ms\"\n");
    tree.scenario("a_first", "fixture = \"none\"\n[[step]]\npost = \"/call-later\"\n");
    tree.scenario("b_second", "fixture = \"none\"\n[[step]]\npost = \"/call-now\"\n");
    // One after the other: the second tells what is left of the first to call the model.
    let run = tree.runner("oddities").args(&["--test-threads", "1"]).run();
    assert_eq!(run.trials()["a_first"], "ok", "{}", run.stdout);
    run.exits(101).says(&[
        "replay miss: `straggler` calls a model, but the scenario says `fixture = \"none\"`",
        "in scenario `a_first`",
        "error: 1 model call came after the scenario's verdict, and missed",
    ]);
}

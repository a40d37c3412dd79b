//! Model calls after the last step: in the background, while the system shuts down, or after the verdict.

use crate::runner::discovery::asking;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::free_port;
use crate::support::tree::Tree;
use crate::systems::described::{READY, system};
use crate::systems::kinds::attach;

tests! { a_background_call_after_the_last_event_fails_its_own_scenario,
    a_background_call_of_a_shared_system_fails_its_own_scenario,
    a_call_by_a_system_that_shuts_down_fails_its_scenario,
    linger_sets_how_long_a_scenario_waits_for_late_calls,
    a_scenario_that_lingers_does_not_block_the_next_one,
    a_late_call_fails_its_own_scenario_however_many_linger,
    scenarios_that_begin_alike_share_a_system_one_right_after_the_other,
    nothing_lingers_where_no_process_is_left,
    nothing_lingers_where_a_router_has_no_task,
    a_miss_after_the_verdict_fails_the_run_and_is_named,
}

/// How long after the last event the call comes, in milliseconds.
const AFTER: [u64; 3] = [0, 4, 300];

fn a_background_call_after_the_last_event_fails_its_own_scenario() {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    for millis in AFTER {
        let ask = format!("/ask-and-go-on/{millis}");
        tree.scenario(&format!("one-turn-{millis}"), &asking("Hello").replace("/ask", &ask));
        fixtures::write(&tree, &format!("one-turn-{millis}"), vec![turn(None, "\"Hello\"", "Hi")]);
        for (name, ask) in [("none", "ask-and-go-on"), ("thread", "go-on-in-a-thread"), ("blocking", "go-on-blocking")]
        {
            let late = format!("fixture = \"none\"\n[[step]]\npost = \"/{ask}/{millis}\"\n");
            tree.scenario(&format!("{name}-{millis}"), &late);
        }
    }
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run();
    let run = tree.runner("oddities").run().exits(101);
    for millis in AFTER {
        for name in ["one-turn", "none", "thread", "blocking"].map(|name| format!("{name}-{millis}")) {
            assert!(run.failure(&name).starts_with("replay miss: "), "{}", run.all());
        }
    }
    run.never_says("after the scenario's verdict");
}

fn a_background_call_of_a_shared_system_fails_its_own_scenario() {
    let tree = Tree::with_suite(&system("agent", "", &format!("{READY}\nshared = true")));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\npost = \"/go-on/300\"\n");
    tree.scenario("b", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    for threads in ["1", "4"] {
        let run = tree.retake().args(&["test", "--update", "--", "--test-threads", threads]).run();
        run.red(&["test a                  ... FAILED", "test b                  ... ok"]);
        assert!(run.failure("a").starts_with("replay miss: "), "{}", run.all());
    }
}

fn a_call_by_a_system_that_shuts_down_fails_its_scenario() {
    let tree = Tree::with_suite(&system("agent", "ASKS_AT_THE_END = \"1\"", READY));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = false\n");
    let run = tree.retake().arg("test").run();
    run.red(&["replay miss: the call \"anything to remember?\""]);
}

/// The times are whole seconds, because the machine may be busy.
fn linger_sets_how_long_a_scenario_waits_for_late_calls() {
    let tree = Tree::empty();
    let slow = "fixture = \"none\"\n[[step]]\npost = \"/ask-and-go-on/1500\"\ngolden = false\n";
    tree.scenario("a", slow);
    tree.scenario("b", &format!("linger = \"5s\"\n{slow}"));
    let run = tree.runner("oddities").run();
    assert_eq!((run.trials()["a"], run.trials()["b"]), ("ok", "FAILED"), "{}", run.all());
    tree.write("scenarios/suite.toml", "linger = \"5s\"\n");
    assert_eq!(tree.runner("oddities").run().trials()["a"], "FAILED");
}

/// There is only one slot. The first scenario lingers until the second one makes it call the model.
fn a_scenario_that_lingers_does_not_block_the_next_one() {
    let tree = Tree::with_suite("linger = \"5s\"\n");
    tree.scenario("a-first", "fixture = \"none\"\n[[step]]\npost = \"/call-later\"\ngolden = false\n");
    tree.scenario("b-second", "linger = \"0s\"\nfixture = \"none\"\n[[step]]\npost = \"/call-now\"\ngolden = false\n");
    let run = tree.runner("oddities").args(&["--test-threads", "1"]).run().exits(101);
    assert!(run.failure("a-first").starts_with("replay miss: "), "{}", run.all());
    assert_eq!(run.trials()["b-second"], "ok", "{}", run.all());
}

/// On a system that is shared or attached, each scenario begins while those before it linger. A call with a question that no scenario
/// knows can be a late one of any of them.
fn a_late_call_fails_its_own_scenario_however_many_linger() {
    let model = free_port();
    let (_attached, port) = attach(model);
    let attached = format!(
        "[systems.agent]\nurl = \"http://localhost:{port}\"\n\
         model = {{ addr = \"127.0.0.1:{model}\", key_env = \"AGENT_MODEL_KEY\" }}\n"
    );
    for suite in [attached, system("agent", "", &format!("{READY}\nshared = true"))] {
        let tree = Tree::with_suite(&suite);
        for millis in [0, 100, 300] {
            let late = format!("fixture = \"none\"\n[[step]]\npost = \"/go-on/{millis}\"\ngolden = false\n");
            tree.scenario(&format!("late-{millis}"), &late);
        }
        for name in ["asks", "begins", "knows", "many", "other"] {
            let asks = format!("[[step]]\npost = \"/chat\"\njson = {{ message = \"{name}\" }}\ngolden = false\n");
            tree.scenario(name, &asks);
            fixtures::write(&tree, name, vec![turn(None, name, "Hi")]);
            let quiet = "fixture = \"none\"\n[[step]]\nget = \"/count\"\ngolden = false\n";
            tree.scenario(&format!("{name}-quiet"), quiet);
        }
        let run = tree.retake().args(&["test"]).env("AGENT_MODEL_KEY", "the-key").run();
        run.red(&[]);
        for (name, result) in run.trials() {
            let expected = if name.starts_with("late-") { "FAILED" } else { "ok" };
            assert_eq!(result, expected, "{name}: {}", run.all());
            if result == "FAILED" {
                assert!(run.failure(name).starts_with("replay miss: "), "{}", run.all());
            }
        }
        run.never_says("after the scenario's verdict");
    }
}

/// Each begins with the same message while those before it linger. What misses is told of the scenario that misses alone.
fn scenarios_that_begin_alike_share_a_system_one_right_after_the_other() {
    let suite = format!("linger = \"1s\"\n{}", system("agent", "", &format!("{READY}\nshared = true")));
    let tree = Tree::with_suite(&suite);
    let asks = "[[step]]\npost = \"/chat\"\njson = { message = \"Hello\" }\ngolden = false\n";
    for name in ["a", "b", "c", "d"] {
        let times = if name == "c" { 2 } else { 1 };
        tree.scenario(name, &asks.repeat(times));
        fixtures::write(&tree, name, vec![turn(None, "Hello", "Hi")]);
    }
    // The second call of `c` is answered by nobody.
    let run = tree.retake().args(&["test", "--", "--test-threads", "1"]).run().exits(1);
    assert!(run.failure("c").starts_with("replay miss: "), "{}", run.all());
    for name in ["a", "b", "d"] {
        assert_eq!(run.trials()[name], "ok", "{}", run.all());
    }
    run.never_says("after the scenario's verdict");
}

/// The scenarios would wait for an hour, which is longer than any test may take.
fn nothing_lingers_where_no_process_is_left() {
    let tree = Tree::with_suite(&format!("linger = \"60m\"\n{}", system("agent", "", READY)));
    tree.scenario("agent-that-ends", "fixture = \"none\"\n[[step]]\npost = \"/end-soon/0\"\ngolden = false\n");
    let without = "fixture = \"none\"\n[[step]]\nrun = [\"echo\", \"true\"]\ngolden = false\n";
    tree.scenario("no-agent", without);
    tree.retake().args(&["test"]).run().green();
}

/// The scenarios would wait for an hour. Elsewhere it is not known which threads a system has.
#[cfg(target_os = "linux")]
fn nothing_lingers_where_a_router_has_no_task() {
    let tree = Tree::with_suite("linger = \"60m\"\n");
    tree.scenario("asks", &asking("Hello"));
    fixtures::write(&tree, "asks", vec![turn(None, "\"Hello\"", "Hi")]);
    for name in ["silent", "silent-too"] {
        tree.scenario(name, "fixture = \"none\"\n[[step]]\npost = \"/silent\"\ngolden = false\n");
    }
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().green();
    tree.runner("oddities").run().green();
    tree.runner("oddities").args(&["--test-threads", "1"]).run().green();
}

#[cfg(not(target_os = "linux"))]
fn nothing_lingers_where_a_router_has_no_task() {}

/// No scenario waits for a thread that outlives its system, but a miss by such a thread fails the run.
fn a_miss_after_the_verdict_fails_the_run_and_is_named() {
    let tree = Tree::with_suite("settle = \"0ms\"\nlinger = \"0ms\"\n");
    tree.scenario("a_first", "fixture = \"none\"\n[[step]]\npost = \"/call-later\"\n");
    tree.scenario("b_second", "fixture = \"none\"\n[[step]]\npost = \"/call-now\"\n");
    // They run one after the other: the second makes the thread that the first left behind call the model.
    let run = tree.runner("oddities").args(&["--test-threads", "1"]).run();
    assert_eq!(run.trials()["a_first"], "ok", "{}", run.stdout);
    run.exits(101).says(&[
        "replay miss: `straggler` calls a model, but the scenario says `fixture = \"none\"`",
        "in scenario `a_first`",
        "error: 1 model call came after the scenario's verdict, and missed",
    ]);
    // Reports are made of the data.
    let explained = tree.retake().args(&["explain", "retake::no_late_calls"]).run();
    explained.says(&["1 model call came after the scenario's verdict", "`straggler` calls a model", "linger = \"5s\""]);
    let report = tree.retake().args(&["report", "--form", "junit"]).run();
    report.says(&["name=\"retake::no_late_calls\"", "<failure message="]);
    tree.runner("oddities").args(&["--test-threads", "1", "b_second"]).run();
    tree.retake().args(&["report", "--form", "junit"]).run().never_says("no_late_calls");
}

//! A model call that misses after its scenario's verdict fails the run all the same.

use crate::support::tree::Tree;

tests! { a_miss_after_the_verdict_fails_the_run_and_is_named,
}

fn a_miss_after_the_verdict_fails_the_run_and_is_named() {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"0ms\"\n");
    tree.write("scenarios/a_first/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/call-later\"\n");
    tree.write("scenarios/b_second/scenario.toml", "fixture = \"none\"\n[[step]]\npost = \"/call-now\"\n");
    // One after the other: the second tells what is left of the first to call the model.
    let run = tree.runner("oddities").args(&["--test-threads", "1"]).run();
    assert_eq!(run.trials()["a_first"], "ok", "{}", run.stdout);
    run.exits(101).says(&[
        "replay miss: scenario `a_first`, caller `straggler`: the scenario says `fixture = \"none\"`",
        "error: 1 model call came after the scenario's verdict, and missed",
    ]);
}

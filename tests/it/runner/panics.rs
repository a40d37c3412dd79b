//! A panic in a router fails its scenario, no matter which task panics.

use crate::support::tree::Tree;

tests! { a_panic_in_a_background_task_fails_its_scenario_with_its_message_and_place,
    a_panic_in_the_background_is_allowed_if_the_scenario_says_so,
}

fn scenario(step: &str) -> String {
    format!("fixture = \"none\"\n[[step]]\npost = \"{step}\"\ngolden = false\n")
}

fn a_panic_in_a_background_task_fails_its_scenario_with_its_message_and_place() {
    let tree = Tree::empty();
    tree.scenario("behind", &scenario("/panic-behind"));
    tree.scenario("blocking", &scenario("/panic-blocking"));
    tree.scenario("silent", &scenario("/silent"));
    let run = tree.runner("oddities").run().exits(101);
    for (name, message) in [("behind", "the title task found no title"), ("blocking", "the index is broken")] {
        let failure = run.failure(name);
        assert!(failure.starts_with("panic: system `oddities` panicked"), "{failure}");
        assert!(failure.contains("tests/it/replay/oddities.rs:") && failure.contains(message), "{failure}");
    }
    assert_eq!(run.trials()["silent"], "ok", "{}", run.all());
}

fn a_panic_in_the_background_is_allowed_if_the_scenario_says_so() {
    let tree = Tree::empty();
    tree.scenario("behind", &format!("panics = \"allow\"\n{}", scenario("/panic-behind")));
    tree.runner("oddities").run().exits(0);
    tree.write("scenarios/suite.toml", "panics = \"allow\"\n");
    tree.scenario("behind", &scenario("/panic-blocking"));
    tree.runner("oddities").run().exits(0);
    tree.scenario("behind", &format!("panics = \"fail\"\n{}", scenario("/panic-behind")));
    tree.runner("oddities").run().exits(101);
}

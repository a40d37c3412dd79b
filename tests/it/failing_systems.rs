//! Systems that fail: each failure names the step, what came, and leaves the other scenarios alone.

use crate::discovery::greeting;

tests! { failing_systems:
    an_error_status_fails_with_the_answer,
    a_panic_of_a_handler_fails_its_scenario_alone,
    an_answer_that_is_no_stream_fails_where_one_is_wanted,
    a_capture_that_finds_nothing_tells_what_there_is,
    a_system_that_cannot_be_made_says_why,
}

fn fails(step: &str, says: &[&str]) {
    let tree = greeting();
    tree.write("scenarios/bad/scenario.toml", &format!("fixture = \"none\"\n\n[[step]]\n{step}\n"));
    let run = tree.runner("oddities").run().exits(101).says(says);
    run.trials_are(&[("bad", "FAILED"), ("greeting", "ok"), ("retake::no_orphans", "ok")]);
}

fn an_error_status_fails_with_the_answer() {
    fails(
        "post = \"/fail\"",
        &[
            "scenarios/bad/scenario.toml:3:1: failed to take step 1 (POST /fail): expected a status of 200 to 299, found 500",
            "the answer was: the database is gone",
        ],
    );
    fails("post = \"/nowhere\"\nstatus = 201", &["step 1 (POST /nowhere): expected status 201, found 404"]);
}

fn a_panic_of_a_handler_fails_its_scenario_alone() {
    fails("post = \"/panic\"", &["failed to take step 1 (POST /panic): "]);
}

fn an_answer_that_is_no_stream_fails_where_one_is_wanted() {
    fails("post = \"/silent\"\nstream = true", &["step 1 (POST /silent): no event came: the stream is empty"]);
}

fn a_capture_that_finds_nothing_tells_what_there_is() {
    let ask = "post = \"/fail\"\nstatus = 500\ncapture = { id = \"json:/id\" }";
    fails(ask, &["nothing to capture as `id`: json:/id is not there", "the answer was: the database is gone"]);
}

fn a_system_that_cannot_be_made_says_why() {
    let tree = greeting();
    for (system, why) in [("refuses", "no licence key"), ("panics", "it panicked: made to panic")] {
        tree.runner(system)
            .arg("greeting")
            .run()
            .exits(101)
            .says(&[&format!("system `{system}` does not start: {why}")]);
    }
}

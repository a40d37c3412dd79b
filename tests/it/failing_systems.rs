//! Systems that fail: each failure names the step, what came, and leaves the other scenarios alone.

use crate::discovery::greeting;
use crate::raw_system;

tests! { failing_systems:
    an_error_status_fails_with_the_answer,
    a_panic_of_a_handler_fails_its_scenario_alone,
    an_answer_that_is_no_stream_fails_where_one_is_wanted,
    a_capture_that_finds_nothing_tells_what_there_is,
    a_system_that_cannot_be_made_says_why,
    each_answer_that_breaks_http_or_never_ends_fails_within_the_time_limit,
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

/// What is asked for, by which fields, and what is said of the answer.
const BROKEN: &[(&str, &str, &[&str])] = &[
    ("nothing", "", &["connection closed before message completed"]),
    ("other-protocol", "", &["invalid HTTP version"]),
    ("half-a-head", "", &["connection closed before message completed"]),
    ("wrong-length", "", &["invalid content-length"]),
    ("two-lengths", "", &["invalid content-length"]),
    ("wrong-chunk", "stream = true", &["the answer broke off: ", "hunk size", "\n  status 200, 0 events had come"]),
    ("midway", "", &["the answer broke off: ", "\n  status 200, 0 events had come"]),
    ("midway-of-a-stream", "stream = true", &["the answer broke off: ", "\n  status 200, 1 events had come"]),
    ("headers-for-ever", "", &["message head is too large"]),
    ("header-of-10-mb", "", &["message head is too large"]),
    (
        "line-for-ever",
        "stream = { last = \"end\" }",
        &["more than 64 MB came of one event, and its end did not\n  0 events had come; it begins: \"data: xxxx"],
    ),
    (
        "event-for-ever",
        "stream = { last = \"end\" }",
        &[
            "more than 64 MB came of one event, and its end did not\n  0 events had come; it begins: \"data: 0123456789\\n",
        ],
    ),
    (
        "body-for-ever",
        "",
        &["more than 64 MB came of the answer, and its end did not\n  status 200; it begins: \"xxxx"],
    ),
    (
        "slow-for-ever",
        "stream = { last = \"end\" }",
        &["the scenario's time is up after 8s: step 1 (GET /slow-for-ever) was"],
    ),
    ("latin-1", "stream = true", &["line 2 of the stream is not UTF-8: it has the byte 0xe9"]),
    ("latin-1-json", "golden = true", &["the answer is not UTF-8: it has 0xe9 as its byte 10"]),
    (
        "page",
        "stream = true",
        &["no event came: what came is no stream of events\n  it begins: \"<!doctype html>\\n<p>Log in\""],
    ),
    ("gzip", "stream = true", &["the answer has the content encoding \"gzip\", and none was asked for"]),
    (
        "to-itself",
        "",
        &[
            "expected a status of 200 to 299, found 302\n  it redirects to /to-itself, and steps do not follow redirects",
        ],
    ),
    (
        "to-another",
        "",
        &[
            "expected a status of 200 to 299, found 307\n  it redirects to http://example.com/, and steps do not follow redirects",
        ],
    ),
];

fn each_answer_that_breaks_http_or_never_ends_fails_within_the_time_limit() {
    let tree = greeting();
    let this = std::env::current_exe().unwrap();
    let raw = format!("command = ['{}']\nenv = {{ {} = \"{{{{ port }}}}\" }}\n", this.display(), raw_system::PORT);
    tree.write(
        "scenarios/suite.toml",
        &format!("settle = \"100ms\"\n[systems.raw]\n{raw}ready = {{ http = \"/ready\" }}\n"),
    );
    let greeting = tree.read("scenarios/greeting/scenario.toml");
    tree.write("scenarios/greeting/scenario.toml", &format!("system = \"oddities\"\n{greeting}"));
    for (name, fields, _) in BROKEN {
        // Only what never says anything again needs the limit; the others are to end before theirs.
        let timeout = if *name == "slow-for-ever" { "8s" } else { "120s" };
        let head = format!("system = \"raw\"\nfixture = \"none\"\ntimeout = \"{timeout}\"\n");
        tree.write(
            &format!("scenarios/{name}/scenario.toml"),
            &format!("{head}[[step]]\nget = \"/{name}\"\n{fields}\n"),
        );
    }
    let run = tree.runner("oddities").run().exits(101);
    let mut others = Vec::new();
    for (name, _, says) in BROKEN {
        let told = run.failure(name);
        let place = if *name == "slow-for-ever" { "" } else { ":4:1: failed to take step 1 (GET /NAME)" };
        let begins = format!("scenarios/{name}/scenario.toml{}: ", place.replace("NAME", name));
        let mut rest = told.strip_prefix(&begins);
        for text in *says {
            rest = rest.and_then(|rest| Some(rest.split_once(text)?.1));
        }
        if rest.is_none() {
            others.push(format!("{told}\nbut wanted: {begins}{says:?}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    assert_eq!((run.trials()["greeting"], run.trials().len()), ("ok", BROKEN.len() + 2), "{}", run.stdout);
    assert!(!tree.has("goldens/latin-1-json.snap.new"));
}

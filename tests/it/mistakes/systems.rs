//! Systems that fail: each failure names the step and what the system sent, and does not affect other scenarios.

use crate::mistakes::raw_system;
use crate::runner::discovery::greeting;
use crate::support::tree::Tree;

tests! { an_error_status_fails_and_shows_the_answer,
    a_panic_in_a_handler_fails_only_its_own_scenario,
    an_answer_that_is_not_a_stream_fails_if_the_step_expects_one,
    a_capture_that_finds_nothing_shows_the_answer,
    a_system_that_cannot_be_created_says_why,
    each_answer_that_breaks_http_or_never_ends_fails_within_the_time_limit,
    an_unusual_but_valid_answer_is_accepted,
    an_answer_that_comes_before_the_request_was_read_is_reported,
    a_system_that_ends_between_two_steps_is_reported_with_its_last_output,
    an_endless_stream_is_also_refused_in_listen_and_run_steps,
}

/// Asserts that a scenario with this step fails with these messages, and that another one passes.
fn fails(step: &str, says: &[&str]) {
    let tree = greeting();
    tree.write("scenarios/bad/scenario.toml", &format!("fixture = \"none\"\n\n[[step]]\n{step}\n"));
    let run = tree.runner("oddities").run().exits(101).says(says);
    run.trials_are(&[("bad", "FAILED"), ("greeting", "ok"), ("retake::no_orphans", "ok")]);
}

fn an_error_status_fails_and_shows_the_answer() {
    fails(
        "post = \"/fail\"",
        &[
            "scenarios/bad/scenario.toml:3:1: failed to take step 1 (POST /fail): expected a status of 200 to 299, found 500",
            "the answer was: the database is gone",
        ],
    );
    fails("post = \"/nowhere\"\nstatus = 201", &["step 1 (POST /nowhere): expected status 201, found 404"]);
}

fn a_panic_in_a_handler_fails_only_its_own_scenario() {
    let said = ["(POST /panic): error sending request: ", "connection closed before message completed"];
    fails("post = \"/panic\"", &[said[0], said[1], "a handler that panics"]);
}

fn an_answer_that_is_not_a_stream_fails_if_the_step_expects_one() {
    fails("post = \"/silent\"\nstream = true", &["step 1 (POST /silent): no event came: the stream is empty"]);
}

fn a_capture_that_finds_nothing_shows_the_answer() {
    let ask = "post = \"/fail\"\nstatus = 500\ncapture = { id = \"json:/id\" }";
    let says = "`id` cannot be captured: the answer is not JSON: expected a JSON value, found 't' at line 1, column 1";
    fails(ask, &[says, "the answer was: the database is gone"]);
}

fn a_system_that_cannot_be_created_says_why() {
    let tree = greeting();
    for (system, why) in [("refuses", "no licence key"), ("panics", "it panicked: made to panic")] {
        tree.runner(system)
            .arg("greeting")
            .run()
            .exits(101)
            .says(&[&format!("system `{system}` does not start: {why}")]);
    }
}

/// A path of the system in `raw_system.rs`, more fields of the step, and the texts of the failure.
const BROKEN: &[(&str, &str, &[&str])] = &[
    ("nothing", "", &["connection closed before message completed"]),
    ("other-protocol", "", &["invalid HTTP version"]),
    ("half-a-head", "", &["connection closed before message completed"]),
    ("wrong-length", "", &["invalid content-length"]),
    ("two-lengths", "", &["invalid content-length"]),
    ("wrong-chunk", "stream = true", &["the answer broke off\n  status 200: ", "hunk size"]),
    ("midway", "", &["the answer broke off\n  status 200: "]),
    ("midway-of-a-stream", "stream = true", &["the stream stopped after 1 event (`", "\n  status 200: "]),
    ("headers-forever", "", &["message head is too large"]),
    ("200-headers", "", &["message head is too large"]),
    ("header-of-1-mb", "", &["message head is too large"]),
    ("header-of-10-mb", "", &["message head is too large"]),
    (
        "line-forever",
        "stream = { last = \"end\" }",
        &["an event is longer than 64 MB and had not ended\n  0 events had come; it begins: \"data: xxxx"],
    ),
    (
        "event-forever",
        "stream = { last = \"end\" }",
        &["an event is longer than 64 MB and had not ended\n  0 events had come; it begins: \"data: 0123456789\\n"],
    ),
    ("body-forever", "", &["the answer is longer than 64 MB and had not ended\n  status 200; it begins: \"xxxx"]),
    (
        "comments-forever",
        "stream = { last = \"end\" }",
        &[
            "the stream has more than 1000000 events and comments\n  1",
            " events had come; it begins: \"event: tick\\ndata: {}\\n\\n:\\n:",
        ],
    ),
    ("slow-forever", "stream = { last = \"end\" }", &["the event `end` did not come: step 1 (GET /slow-forever) was"]),
    ("half-a-character", "stream = true", &["line 5 of the stream is not UTF-8: it has the byte 0xc3"]),
    (
        "length-that-is-short",
        "stream = { last = \"end\" }",
        &[
            "the last event is not ended by a blank line, so that clients drop it\n  1 event came before it; the step waits for `end`",
        ],
    ),
    ("length-that-is-long", "stream = true", &["the stream stopped after 1 event (`", "\n  status 200: "]),
    ("latin-1", "stream = true", &["line 2 of the stream is not UTF-8: it has the byte 0xe9"]),
    ("latin-1-json", "golden = true", &["the answer is not UTF-8: its byte 10 is 0xe9"]),
    (
        "page",
        "stream = true",
        &["no event came: what came is not a stream of events\n  it begins: \"<!doctype html>\\n<p>Log in\""],
    ),
    ("gzip", "stream = true", &["the answer has the content encoding \"gzip\", and steps decode none"]),
    (
        "to-itself",
        "",
        &[
            "expected a status of 200 to 299, found 302\n  the service redirects to /to-itself, but steps do not follow redirects",
        ],
    ),
    (
        "to-another",
        "",
        &[
            "expected a status of 200 to 299, found 307\n  the service redirects to http://example.com/, but steps do not follow redirects",
        ],
    ),
];

/// Returns a project with the system that breaks HTTP, and with one that does not.
fn raw() -> Tree {
    let tree = greeting();
    let this = std::env::current_exe().unwrap();
    let raw = format!("command = ['{}']\nenv = {{ {} = \"{{{{ port }}}}\" }}\n", this.display(), raw_system::PORT);
    tree.write(
        "scenarios/suite.toml",
        &format!("settle = \"100ms\"\n[systems.raw]\n{raw}ready = {{ http = \"/ready\" }}\n"),
    );
    let greeting = tree.read("scenarios/greeting/scenario.toml");
    tree.write("scenarios/greeting/scenario.toml", &format!("system = \"oddities\"\n{greeting}"));
    tree
}

fn each_answer_that_breaks_http_or_never_ends_fails_within_the_time_limit() {
    let tree = raw();
    for (name, fields, _) in BROKEN {
        // Only a response that sends nothing more needs the limit. All others end by themselves.
        let timeout = if *name == "slow-forever" { "8s" } else { "120s" };
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
        let place = if *name == "slow-forever" { "" } else { ":4:1: failed to take step 1 (GET /NAME)" };
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

fn an_unusual_but_valid_answer_is_accepted() {
    let tree = raw();
    let names = ["cr-only", "bom", "retry", "http-1.0", "100000-lines", "trailing", "a-byte-at-a-time"];
    for name in names {
        let stream = "stream = { first = \"tick\", last = \"end\" }\ncapture = { n = \"sse:tick:/n\" }";
        let steps = format!("[[step]]\nget = \"/{name}\"\n{stream}\n[[step]]\nget = \"/said-{{{{ n }}}}\"\n");
        let folder = name.replace('.', "-");
        tree.write(
            &format!("scenarios/{folder}/scenario.toml"),
            &format!("system = \"raw\"\nfixture = \"none\"\n{steps}"),
        );
    }
    tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0);
    for name in names {
        let golden = tree.read(&format!("goldens/{}.snap", name.replace('.', "-")));
        let labels = |line: &str| line.split(' ').next().map(str::to_owned);
        let labels: Vec<String> = golden.lines().filter(|line| !line.starts_with(' ')).filter_map(labels).collect();
        let open = if name == "trailing" { " (left" } else { "" };
        assert!(labels.join(" ").contains(&format!(" 200  tick end{open}  tick")), "{labels:?}\n{golden}");
        assert!(!golden.contains("more"), "{golden}");
    }
}

fn an_answer_that_comes_before_the_request_was_read_is_reported() {
    let tree = raw();
    tree.write("scenarios/early/big.json", &format!("\"{}\"", "x".repeat(20_000_000)));
    let step = "[[step]]\npost = \"/early\"\njson_file = \"big.json\"\n";
    tree.write("scenarios/early/scenario.toml", &format!("system = \"raw\"\nfixture = \"none\"\n{step}"));
    tree.runner("oddities").arg("early").run().exits(101).says(&[
        "failed to take step 1 (POST /early): expected a status of 200 to 299, found 413\n  the answer was: too large",
    ]);
}

fn a_system_that_ends_between_two_steps_is_reported_with_its_last_output() {
    let tree = raw();
    let steps = "[[step]]\nget = \"/leave\"\n[[step]]\nget = \"/ready\"\n";
    tree.write("scenarios/leaves/scenario.toml", &format!("system = \"raw\"\nfixture = \"none\"\n{steps}"));
    let run = tree.runner("oddities").run().exits(101);
    let run = run.says(&["failed to take step 2 (GET /ready): error sending request", "the disk is full"]);
    run.trials_are(&[("leaves", "FAILED"), ("greeting", "ok"), ("retake::no_orphans", "ok")]);
}

fn an_endless_stream_is_also_refused_in_listen_and_run_steps() {
    let tree = raw();
    let listens = "listen = \"/line-forever\"\nstream = { last = \"end\" }";
    let runs = "run = [\"sh\", \"-c\", \"yes | tr -d '\\\\n'\"]\nenv = { PATH = \"/usr/bin:/bin\" }";
    for (name, step) in [("listens", listens), ("runs", runs)] {
        let text = format!("system = \"raw\"\nfixture = \"none\"\ntimeout = \"120s\"\n[[step]]\n{step}\n");
        tree.write(&format!("scenarios/{name}/scenario.toml"), &text);
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, step) in [("listens", "listen /line-forever"), ("runs", "run sh -c yes | tr -d '\\n'")] {
        let says = format!(
            "scenarios/{name}/scenario.toml:4:1: failed to take step 1 ({step}): \
             an event is longer than 64 MB and had not ended"
        );
        assert!(run.failure(name).starts_with(&says), "{}", run.failure(name));
    }
}

//! Changes of a service whose calls declare no caller: the first and the last line that a person reads.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::desk::{DESK, provider};
use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! { the_first_line_of_each_failure_names_the_change_and_the_last_line_is_a_command,
    the_whole_log_of_a_failed_run_is_kept_until_the_next_run,
    an_additional_call_is_explained_in_the_same_words,
    for_events_in_another_order_no_option_is_suggested,
    a_misspelt_last_event_is_reported_with_the_one_that_came,
    an_error_event_that_was_recorded_is_not_why_a_step_fails,
}

/// A change, the texts that the first line of the failure contains, and its last line.
type Row = (&'static str, &'static [&'static str], &'static str);

const RECORD: &str = "retake record trip";
const RESUME: &str = "retake record trip --resume";
const EXPLAIN: &str = "retake explain trip";

const ROWS: &[Row] = &[
    (
        "asks_before",
        &[
            "replay miss: the service asks 2 more times than recorded, first before turn 1 (calls find_train): \"Is this request safe? A train to Ghent",
        ],
        RECORD,
    ),
    (
        "asks_before_without_tools",
        &[
            "replay miss: the service asks 2 more times than recorded, first before turn 1 (calls find_train): \"Classify: A train",
        ],
        RECORD,
    ),
    (
        "asks_between",
        &[
            "replay miss: the service asks once more than recorded, before turn 2 (calls book_seat): \"Reflect: is that right?\"",
        ],
        RESUME,
    ),
    (
        "asks_behind",
        &["replay miss: the service asks once more than recorded, after turn 5", "\"Rate the trip\""],
        RESUME,
    ),
    (
        "no_summary",
        &[
            "unused: the call \"Summarize: A train to Ghent on",
            " is never made: turn 5 (answers \"Trip to Ghent, booked.\")",
        ],
        RESUME,
    ),
    (
        "question_lowered",
        &[
            "replay miss: message 1 (human) of the call \"a train to ghent",
            " says different text than recorded (\"A train to Ghent",
            "; and golden: the event `start` has a different shape: `/question` is `\"a train to ghent",
        ],
        RECORD,
    ),
    ("role", &["replay miss: message 1 of the call", " is of type `ai`, recorded: `human`"], EXPLAIN),
    ("role_system", &["replay miss: message 1 of the call", " is sent as `system`, recorded: `human`"], EXPLAIN),
    ("no_messages", &["replay miss: the call", " asks without any message, recorded: 1 message"], EXPLAIN),
    ("reversed", &["replay miss: the messages of the call", " come in a different order"], EXPLAIN),
    ("wrong_call_id", &["the result of no tool call, recorded: of tool `find_train`"], EXPLAIN),
    (
        "cut_at_front",
        &["replay miss: the history of the call", " is shortened at the front: its first 1 message is missing"],
        RESUME,
    ),
    ("argument_renamed", &["replay miss: the argument `city` of tool `find_train` is called `town`"], RESUME),
    (
        "tool_result",
        &["replay miss: tool `find_train` returned a different `/at` than recorded (\"08:14\" → \"09:14\")"],
        RESUME,
    ),
    (
        "tool_space",
        &["replay miss: tool `find_train` returned a different `/at` than recorded (\"08:14\" → \"08:14·\")"],
        RESUME,
    ),
    (
        "tool_field_gone",
        &["replay miss: tool `find_train` returned a different `/at` than recorded (\"08:14\" → absent)"],
        RESUME,
    ),
    (
        "tool_error",
        &["replay miss: tool `find_train` returned an error, where none was recorded (\"the timetable is old\")"],
        RESUME,
    ),
    (
        "tool_gone",
        &[
            "replay miss: tool `find_train` returned an error, where none was recorded (\"There is no tool find_train.\")",
        ],
        RESUME,
    ),
    (
        "result_not_sent",
        &["replay miss: the result of `find_train` is missing in message 3 of the call \"A train"],
        EXPLAIN,
    ),
    ("tool_fails", &["the service sent the event `error`: \"timetable out of reach\""], EXPLAIN),
    (
        "no_tools",
        &[
            "replay miss: the call \"A train",
            " goes on without the result of tool `find_train`: message 3 is of type `human`; and unused: the service stopped asking",
        ],
        EXPLAIN,
    ),
    ("quota", &["the service sent the event `error`: \"quota exceeded\""], EXPLAIN),
    ("quota_and_then_500", &["the service sent the event `error`: \"quota exceeded\""], EXPLAIN),
    ("quota_and_no_end", &["the service sent the event `error`: \"quota exceeded\""], EXPLAIN),
    (
        "error_key_renamed",
        &["golden: the body of `POST /refuse` has a different shape: `/detail` is now called `/error`"],
        "retake review",
    ),
    (
        "end_unended",
        &["failed to take step 2 (POST /plan): the last event is not ended by a blank line, so that clients drop it"],
        EXPLAIN,
    ),
    ("error_body", &["the answer to `POST /ask` reports an error: \"no such table: trips\""], EXPLAIN),
    ("crash", &["crash: system `desk` was ended by signal 6 during the scenario"], EXPLAIN),
    ("no_start", &["scenarios/trip/scenario.toml: system `desk` ended before it was ready: exit code 1"], EXPLAIN),
    (
        "not_ready",
        &[
            "system `desk` was not ready after 2s: waited for GET /health on port ",
            " to answer with success, and found 404",
        ],
        EXPLAIN,
    ),
    ("break_off", &["failed to take step 2 (POST /plan): the stream stopped after 2 events (`tool`)"], EXPLAIN),
    (
        "hang",
        &["the event `end` did not come: step 2 (POST /plan) was under way, 2 events had come (the last was `tool`)"],
        EXPLAIN,
    ),
    ("no_such_path", &["failed to take step 2 (POST /plan): expected a status of 200 to 299, found 404"], EXPLAIN),
    (
        "wrong_url",
        &["replay miss: the service calls `POST /v1/chats`, which is not a path of a model that Retake knows"],
        EXPLAIN,
    ),
    (
        "version_twice",
        &[
            "replay miss: the service calls `POST /v1/v1/chat/completions`, which is not a path of a model that Retake knows: is a base URL wrong?",
        ],
        EXPLAIN,
    ),
    ("wrong_path", &["replay miss: the service calls `POST /v1/llm/ask`, which is not a path of a model"], EXPLAIN),
    ("wrong_port", &["unused: the service never asks a model: 5 turns recorded"], EXPLAIN),
    ("wrong_host", &["unused: the service never asks a model: 5 turns recorded"], EXPLAIN),
    ("wrong_key", &["replay miss: the request did not bring the key that the system was given"], EXPLAIN),
    ("no_key", &["replay miss: the model server refused `POST /v1/chat/completions`, with no key"], EXPLAIN),
    ("status", &["golden: the status is 202, not 200"], "retake review"),
    ("content_type", &["golden: the content type is application/x-ndjson, not text/event-stream"], "retake review"),
    ("event_moved", &["golden: the event `summary` came in a different place: after `closed`"], "retake review"),
    ("event_twice", &["golden: the event `tool` came 4 times, not 2 times"], "retake review"),
    ("answer_lost", &["golden: the event `answer` did not come"], "retake review"),
    ("event_before_end", &["golden: the event `usage` came, which the golden lacks"], "retake review"),
    ("event_after_end", &["golden: the event `usage` came, which the golden lacks"], "retake review"),
    ("event_renamed", &["golden: the event `tool` is now called `tool_result`"], "retake review"),
    (
        "event_key_renamed",
        &["golden: the event `tool` has a different shape: `/output` is now called `/result`"],
        "retake review",
    ),
];

const SCENARIO: &str = r#"
timeout = "5s"
[[step]]
post = "/ask"
json = {}
golden = true
[[step]]
post = "/plan"
json = { questions = ["A train to Ghent on Monday, please", "Thank you!"] }
stream = { first = "start", last = "end" }
[[step]]
post = "/refuse"
json = {}
status = 404
golden = true
"#;

/// The fixture and the golden of the desk before any change.
static RECORDED: LazyLock<(String, String)> = LazyLock::new(|| {
    let tree = desk("");
    record(&tree);
    (tree.read("fixtures/trip.json"), tree.read("goldens/trip.snap"))
});

fn record(tree: &Tree) {
    let provider = Service::start(provider());
    let record = tree.retake().args(&["record", "trip"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    record.env("OPENAI_API_KEY", "sk-of-the-provider").run().exits(0);
}

/// Returns a project with the changed desk, without a fixture or a golden.
fn desk(change: &str) -> Tree {
    let program = std::env::current_exe().unwrap();
    let tree = Tree::with_suite(&format!(
        "[systems.desk]\ncommand = [{:?}, {DESK:?}]\nready = {{ http = \"/health\", timeout = \"{}\" }}\n\
         env = {{ PORT = \"{{{{ port }}}}\", OPENAI_BASE_URL = \"{{{{ model.openai }}}}\", \
         OPENAI_API_KEY = \"{{{{ model.key }}}}\", CHANGE = {change:?} }}\n",
        program.to_str().unwrap(),
        if change == "not_ready" { "2s" } else { "20s" },
    ));
    tree.write("scenarios/trip/scenario.toml", SCENARIO);
    tree
}

/// Returns a project with the changed desk, and with the fixture and the golden from before the change.
fn recorded_desk(change: &str) -> Tree {
    let tree = desk(change);
    let (fixture, golden) = &*RECORDED;
    tree.write("fixtures/trip.json", fixture);
    tree.write("goldens/trip.snap", golden);
    tree
}

/// Returns the failure for a change if it is not as expected.
fn wrong((change, first, last): &Row) -> Option<String> {
    let tree = recorded_desk(change);
    let run = tree.retake().args(&["test", "trip"]).run().exits(1);
    let told = run.failure("trip").trim_end();
    let (line, end) = (told.lines().next().unwrap_or_default(), told.lines().last().unwrap_or_default());
    let more = first.iter().map(|part| part.matches("; and ").count()).sum::<usize>();
    let only = line.matches("; and ").count() == more;
    // If the run broke off, a diff of the golden would only show what is missing for that reason.
    let noise = *last == EXPLAIN && *change != "no_tools" && told.contains("- golden, + this run");
    let helps = end.trim() != EXPLAIN || tree.retake().args(&["explain", "trip"]).run().stdout.contains("trip: FAILED");
    let right = first.iter().all(|part| line.contains(part)) && only && end.trim() == *last && !noise && helps;
    (!right).then(|| format!("=== {change}\n{told}"))
}

fn the_first_line_of_each_failure_names_the_change_and_the_last_line_is_a_command() {
    LazyLock::force(&RECORDED);
    let next = AtomicUsize::new(0);
    let work = || {
        let rows = std::iter::from_fn(|| ROWS.get(next.fetch_add(1, Ordering::Relaxed)));
        rows.filter_map(wrong).collect::<Vec<_>>()
    };
    let wrong = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{} of {} wrong:\n\n{}", wrong.len(), ROWS.len(), wrong.join("\n\n"));
}

fn the_whole_log_of_a_failed_run_is_kept_until_the_next_run() {
    const LOG: &str = ".retake/logs/trip.log";
    let tree = recorded_desk("crash");
    tree.retake()
        .args(&["test", "trip"])
        .run()
        .exits(1)
        .says(&["  | fatal: out of memory", "the whole log: .retake/logs/trip.log"]);
    assert_eq!(tree.read(LOG), "fatal: out of memory\n");
    tree.retake().args(&["explain", "trip"]).run().exits(1).says(&[LOG]);
    tree.replace("scenarios/suite.toml", "\"crash\"", "\"\"");
    tree.retake().args(&["test", "trip"]).run().exits(0);
    assert!(!tree.has(LOG));
}

fn a_misspelt_last_event_is_reported_with_the_one_that_came() {
    let tree = recorded_desk("");
    tree.replace("scenarios/trip/scenario.toml", "last = \"end\"", "last = \"ende\"");
    let says =
        "the stream ended before its last event `ende`\n  9 events came, the last was `end`\n  did you mean `end`?";
    tree.retake().args(&["test", "trip"]).run().exits(1).says(&[says]);
}

fn an_error_event_that_was_recorded_is_not_why_a_step_fails() {
    let tree = desk("quota");
    record(&tree);
    tree.replace("scenarios/suite.toml", "\"quota\"", "\"quota_and_then_500\"");
    let run = tree.retake().args(&["test", "trip"]).run().exits(1);
    let first = run.failure("trip").lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("failed to take step 3 (POST /refuse): expected status 404, found 500"), "{first}");
}

/// They come so in each run: nothing varies that could be allowed.
fn for_events_in_another_order_no_option_is_suggested() {
    let run = recorded_desk("event_moved").retake().args(&["test", "trip"]).run().exits(1);
    let run = run.says(&["golden: the event `", "came in a different place", "    retake test trip --update"]);
    run.never_says("unordered");
}

fn an_additional_call_is_explained_in_the_same_words() {
    let tree = recorded_desk("asks_before");
    tree.retake().args(&["test", "trip"]).run().exits(1);
    let told = tree.retake().args(&["explain", "trip"]).run().exits(1).stdout;
    let words: Vec<&str> = told.split_whitespace().collect();
    let told = words.join(" ");
    assert!(told.contains("missed the service asks 2 more times than recorded, first before turn 1"), "{told}");
    assert!(told.contains("next to call 2, which is turn 1 of fixtures/trip.json: calls find_train"), "{told}");
    assert!(!told.contains("difference at"), "{told}");
}

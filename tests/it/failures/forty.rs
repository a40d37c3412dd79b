//! Changes that were written down before the words of their failures existed: of the gateway, and of a system that streams what a
//! file says. The first line names the change, and says nothing that is not so.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use crate::support::tree::Tree;

tests! { the_first_line_names_each_change_of_the_gateway,
    the_first_line_names_each_change_of_a_script,
    what_no_healthy_service_does_is_never_advised_to_be_recorded,
}

/// A mistake of the gateway, the scenario that notices it, and the whole first line, but for what is random in it.
const GATEWAY: &[(&str, &str, &[&str])] = &[
    // Ids are told by what they have in common, not by their numbers.
    (
        "answer_id_anew",
        "write_read_file",
        &[
            "golden: the event `values` has other ids at `/messages/ai.id`: they are no longer those at `/id` of the event `messages`",
        ],
    ),
    (
        "answer_id_of_run",
        "suggestions",
        &[
            "golden: the event `values` has other ids at `/messages/ai.id`: they are those at `/run_id` of the event `metadata`, not those at `/id` of the event `messages`",
        ],
    ),
    ("chunk_id_anew", "write_read_file", &["golden: the event `messages` has other ids at `/id`: "]),
    ("metadata_other_run", "several_turns", &["golden: the event `metadata` has other ids at `/run_id`: "]),
    ("tool_id_of_call", "failing_tool", &["golden: the event `values` has other ids at `/messages/tool.id`: "]),
    (
        "values_question_id_anew",
        "several_turns",
        &["golden: the event `values` has other ids at `/messages/human.id`: "],
    ),
    (
        "tool_result_call_id_anew",
        "write_read_file",
        &["golden: the event `tool_result` has other ids at `/tool_call_id`: "],
    ),
    // The list that became shorter comes before the ids that were numbered anew.
    (
        "values_newest_only",
        "several_turns",
        &["golden: the event `values` has a different shape: `/messages` is `[ai | human]`, not `[1..2 × ai | human]`"],
    ),
    (
        "values_of_last_ten",
        "failing_tool",
        &[
            "golden: the event `values` has a different shape: `/messages` is `[1..10 × ai | human | tool]`, not `[1..12 × ai | human | tool]`",
        ],
    ),
    (
        "values_without_tools",
        "failing_tool",
        &[
            "golden: the event `values` has a different shape: `/messages` is `[1..5 × ai | human]`, not `[1..12 × ai | human | tool]`",
        ],
    ),
    (
        "values_first_call_only",
        "parallel_tools",
        &["golden: the event `values` has a different shape: `/messages/ai.tool_calls` is `[0..1 × object"],
    ),
    (
        "question_id_empty",
        "several_turns",
        &["golden: the event `values` has a different shape: `/messages/human.id` is an empty text, not `id 2`"],
    ),
    (
        "history_without_tools",
        "history",
        &["/messages` has a different shape: it is `[4 × ai | human]`, not `[6 × ai | human | tool]`"],
    ),
    // Sections, places and numbers of events.
    (
        "end_before_title",
        "write_read_file",
        &["golden: the event `values` with `{messages[6], title}` came in a different place: after `end`"],
    ),
    ("end_twice", "several_turns", &["golden: the event `end` came 2 times, not once"]),
    ("status_behind_end", "write_read_file", &["golden: the event `status` came, which the golden lacks"]),
    ("title_not_shown", "memory", &["golden: the event `values` came 2 times, not 3 times"]),
    ("question_not_shown", "memory", &["golden: the event `values` came 2 times, not 3 times"]),
    ("values_event_twice", "several_turns", &["golden: the event `values` came 6 times, not 3 times"]),
    ("reconnect_repeats_one", "reconnect", &["golden: the event `values` came 3 times, not 2 times"]),
    ("chunk_event_name", "parallel_tools", &["golden: the event `messages` is now called `message`"]),
    (
        "title_never",
        "several_turns",
        &["unused: `middleware:title` never asks: turn 2 (answers \"Capitals of Europe\") was recorded"],
    ),
    // One change is told once, wherever it is seen.
    (
        "chunk_content_parts",
        "several_turns",
        &["golden: the event `messages` has a different shape: `/content` is `[text]`, not `string`"],
    ),
    ("chunk_first_lost", "several_turns", &["golden: `/content` of the event `messages` is turn 1's text no more: "]),
    (
        "tool_error_is_success",
        "failing_tool",
        &[
            "golden: the event `tool_result` has a different shape: `/status` is `\"success\"`, not `\"error\" | \"success\"`, also at 2 other places",
        ],
    ),
    (
        "errors_text",
        "delete",
        &[
            "golden: the content type is text/plain, not application/json, in the answer to `GET /api/threads/<thread>`, also at 1 other place",
        ],
    ),
    ("errors_silent", "refused", &["has a different `/detail`: \"something went wrong\", not "]),
    (
        "payload_encoded_twice",
        "write_read_file",
        &["golden: the events `metadata`, `values`, `tool_result`, `end` are `string` now"],
    ),
    (
        "values_by_kind",
        "write_read_file",
        &[
            "golden: the event `values` has a different `/messages/-1/content`: \"Wrote 15 bytes to note.txt\", not \"\"",
        ],
    ),
    ("events_without_id", "write_read_file", &["golden: the events of the stream have no ids any more"]),
    // Calls.
    (
        "asked_once_more",
        "failing_tool",
        &["replay miss: `lead_agent` asks 2 more times than recorded, first before turn "],
    ),
    (
        "call_ids_anew",
        "write_read_file",
        &["replay miss: message 3 of `lead_agent` is the result of no tool call, recorded: of tool `write_file`"],
    ),
    (
        "call_ids_swapped",
        "failing_tool",
        &["replay miss: `lead_agent` sends the results of tools `search` and `write_file` for each other's calls"],
    ),
    ("input_joined", "history", &["replay miss: `lead_agent` sends messages 1 to 2 as one"]),
    (
        "read_adds_newline",
        "write_read_file",
        &["replay miss: tool `read_file` returned different text than recorded (\"replay.\" → \"replay.⏎\")"],
    ),
    (
        "memory_twice",
        "memory",
        &["replay miss: `background:memory` asks once more than recorded: turn 3 had already answered it"],
    ),
];

/// Returns what is wrong with the first line of a failure.
fn wrong(name: &str, told: &str, parts: &[&str]) -> Option<String> {
    let line = told.lines().next().unwrap_or_default();
    let only = !line.contains("; and ");
    let right = parts.iter().all(|part| line.contains(part)) && only;
    (!right).then(|| format!("=== {name}, expected {parts:?}\n{told}"))
}

/// Runs `check` for each row, a few at a time, and fails with what it returns.
#[track_caller]
fn each<T: Sync>(rows: &[T], check: impl Fn(&T) -> Option<String> + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        let rows = std::iter::from_fn(|| rows.get(next.fetch_add(1, Ordering::Relaxed)));
        rows.filter_map(&check).collect::<Vec<_>>()
    };
    let wrong = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{} of {} wrong:\n\n{}", wrong.len(), rows.len(), wrong.join("\n\n"));
}

fn the_first_line_names_each_change_of_the_gateway() {
    each(GATEWAY, |(mutant, scenario, parts)| {
        let run = Tree::of(&[scenario]).runner("gateway").env("GATEWAY_MUTANT", mutant).run();
        wrong(mutant, run.failure(scenario), parts)
    });
}

fn what_no_healthy_service_does_is_never_advised_to_be_recorded() {
    each(&["call_ids_anew", "call_ids_swapped", "asked_without_calls"], |mutant| {
        let scenario = if *mutant == "call_ids_swapped" { "parallel_tools" } else { "write_read_file" };
        let run = Tree::of(&[scenario]).runner("gateway").env("GATEWAY_MUTANT", mutant).run();
        let told = run.failure(scenario);
        (told.contains("retake record") || !told.contains("retake explain")).then(|| told.to_owned())
    });
}

/// The argument that makes this binary a system that streams the events of its variable `EVENTS`.
pub(crate) const SCRIPT: &str = "serve-a-script";

/// The `main` of that system, which listens on `PORT`. Each line of `EVENTS` is a name and a payload.
pub(crate) fn serve() -> ExitCode {
    let port = std::env::var("PORT").unwrap();
    let router = Router::new().route("/health", get(async || "ok")).route("/run", post(streamed));
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
        axum::serve(listener, router).await.unwrap();
    });
    ExitCode::SUCCESS
}

async fn streamed() -> Response {
    let events = std::env::var("EVENTS").unwrap();
    let event = |line: &str| line.split_once(' ').map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    let text: String = events.lines().filter_map(event).collect();
    ([("content-type", "text/event-stream")], Body::from(text)).into_response()
}

const EVENTS: &str = r#"start {"id": "run"}
plan {"steps": ["look", "book"]}
tool {"name": "find", "result": "IC 512"}
tool {"name": "book", "result": "14A"}
step {"n": 0}
step {"n": 1}
step {"n": 2}
note {"text": "You are free."}
tool {"text": "done"}
answer {"text": "You travel with IC 512, in a seat by the window, and arrive in time."}
end {}"#;

/// A change of the script, and the first line.
const SCRIPTS: &[(&str, &str, &str, &str)] = &[
    (
        "two events swapped",
        "plan {\"steps\": [\"look\", \"book\"]}\ntool {\"name\": \"find\", \"result\": \"IC 512\"}",
        "tool {\"name\": \"find\", \"result\": \"IC 512\"}\nplan {\"steps\": [\"look\", \"book\"]}",
        "golden: the event `plan` came in a different place: after `tool`",
    ),
    (
        "equal values",
        "\"result\": \"14A\"",
        "\"result\": \"IC 512\"",
        "golden: the event `tool` has a different `/result`: \"IC 512\", not \"14A\"",
    ),
    (
        "a payload lost",
        "note {\"text\": \"You are free.\"}",
        "note null",
        "golden: the event `note` is `null`, not `{text}`",
    ),
    (
        "an object with a key twice",
        "note {\"text\": \"You",
        "note {\"text\": \"\", \"text\": \"You",
        "golden: the event `note` is `JSON with a key twice`, not `{text}`",
    ),
    (
        "numbers that count from 1",
        "step {\"n\": 0}\nstep {\"n\": 1}\nstep {\"n\": 2}",
        "step {\"n\": 1}\nstep {\"n\": 2}\nstep {\"n\": 3}",
        "golden: the event `step` has a different shape: `/n` is `from 1`, not `from 0`",
    ),
    (
        "a number that does not count",
        "step {\"n\": 1}",
        "step {\"n\": 0}",
        "golden: the event `step` has a different shape: `/n` does not count one by one from 0 any more: 0 | 2",
    ),
    (
        "one event more, which has a null",
        "step {\"n\": 2}",
        "step {\"n\": null}\nstep {\"n\": 2}",
        "golden: the event `step` has a different shape: `/n` is `from 0 | null`, not `from 0`",
    ),
    (
        "one event more",
        "note {",
        "hint {\"text\": \"x\"}\nnote {",
        "golden: the event `hint` came, which the golden lacks",
    ),
    (
        "a space at the end",
        "You are free.",
        "You are free. ",
        "golden: the event `note` has a different `/text`: \"You are free.·\", not \"You are free.\"",
    ),
    ("the end of a long text", "arrive in time.", "arrive in style.", "not …"),
    ("a key lost", "\"name\": \"book\", ", "", "golden: the event `tool` has a different shape: `/name` is gone"),
    (
        "a list shorter",
        "[\"look\", \"book\"]",
        "[\"look\"]",
        "golden: the event `plan` has a different shape: `/steps` is `[\"look\"]`, not `[2 × \"book\" | \"look\"]`",
    ),
];

fn script(from: &str, to: &str) -> Tree {
    let program = std::env::current_exe().unwrap();
    assert!(EVENTS.contains(from), "{from}");
    let tree = Tree::with_suite(&format!(
        "[systems.script]\ncommand = [{:?}, {SCRIPT:?}]\nready = {{ http = \"/health\" }}\n\
         env = {{ PORT = \"{{{{ port }}}}\", EVENTS = {:?} }}\n",
        program.to_str().unwrap(),
        EVENTS.replacen(from, to, 1),
    ));
    tree.scenario(
        "plan",
        "fixture = \"none\"\nsettle = \"0s\"\nlinger = \"0s\"\n[[step]]\npost = \"/run\"\njson = {}\n\
         stream = { first = \"start\", last = \"end\" }\n[golden]\nshow = [\"/result\", \"/text\"]\n",
    );
    tree
}

fn the_first_line_names_each_change_of_a_script() {
    let recorded = script("", "");
    recorded.retake().args(&["test", "plan", "--update"]).run().exits(0);
    let golden = recorded.read("goldens/plan.snap");
    each(SCRIPTS, |(name, from, to, expected)| {
        let tree = script(from, to);
        tree.write("goldens/plan.snap", &golden);
        let run = tree.retake().args(&["test", "plan"]).run();
        let told = run.failure("plan");
        // The two sides of a change never look the same.
        let sides = told.lines().next().and_then(|line| line.split_once(": ")?.1.rsplit_once(", not "));
        let same = sides.is_some_and(|(is, was)| is.ends_with(was));
        wrong(name, told, &[expected]).or_else(|| same.then(|| told.to_owned()))
    });
}

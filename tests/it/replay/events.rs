//! Each change of the event stream fails, and the diff shows exactly the lines that it changes.

use serde_json::json;

use crate::replay::mutation::Mutation::{
    self, AddEvent, DropEvent, DropKey, RenameEvent, RenameKey, SetKey, SwapWithNext,
};
use crate::runner::routers::mutated;
use crate::support::tree::Tree;

tests! { a_renamed_dropped_added_or_swapped_event_is_shown_in_the_diff,
    a_renamed_dropped_added_or_retyped_key_at_the_top_is_shown_in_the_diff,
    a_renamed_dropped_added_or_retyped_key_three_levels_down_is_shown_in_the_diff,
    a_stream_without_its_first_or_last_event_fails_at_its_step,
    a_golden_of_keys_ignores_types_and_a_golden_of_values_compares_each_value,
}

const NAME: &str = "write_read_file";
const TOKENS: &str = "/messages/*/response_metadata/token_usage/total_tokens";
const CACHED: &str = "/messages/*/response_metadata/token_usage/cached";

/// Applies each change alone, and asserts all changed lines of the diff.
#[track_caller]
fn check(cases: Vec<(Mutation, &[&str])>) {
    for (mutation, diff) in cases {
        let tree = Tree::of(&[NAME]);
        let run = mutated(&tree, &mutation).run();
        assert_eq!(run.code, Some(101), "{mutation:?}: {}", run.stdout);
        assert_eq!(run.diff(), diff, "{mutation:?}: {}", run.stdout);
        run.says(&[
            "golden: ",
            "- golden, + this run\n",
            "if the change is intended:\n    UPDATE_GOLDEN=1 cargo test --test scenarios write_read_file\n",
            "to look at it first:\n    retake review\n",
        ]);
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn a_renamed_dropped_added_or_swapped_event_is_shown_in_the_diff() {
    let (metadata, tool_result) = (|| text("metadata"), || text("tool_result"));
    check(vec![
        (
            RenameEvent { event: tool_result(), to: text("tool_output") },
            &[
                "- tool_result       {content, name, status, tool_call_id}",
                "+ tool_output       {content, name, status, tool_call_id}",
                "- tool_result       {content, name, status, tool_call_id}",
                "+ tool_output       {content, name, status, tool_call_id}",
                "- tool_result",
                "-   content    \"…\"",
                "+ tool_output",
                "+   content    string",
            ],
        ),
        (
            DropEvent { event: tool_result() },
            &[
                "- tool_result       {content, name, status, tool_call_id}",
                "-   name       \"read_file\" | \"write_file\"",
                "+   name       \"read_file\"",
                "-   tool_call_id       id 1..2",
                "+   tool_call_id       id 2",
            ],
        ),
        (
            AddEvent { after: metadata(), name: text("progress"), data: json!({ "percent": 10 }) },
            &["+ progress  {percent}", "+ progress", "+   percent    number"],
        ),
        (
            SwapWithNext { event: tool_result() },
            &[
                "- tool_result       {content, name, status, tool_call_id}",
                "+ tool_result       {content, name, status, tool_call_id}",
            ],
        ),
    ]);
}

fn a_renamed_dropped_added_or_retyped_key_at_the_top_is_shown_in_the_diff() {
    let (event, at) = (|| text("metadata"), || text("/run_id"));
    check(vec![
        (
            RenameKey { event: event(), at: at(), to: text("run") },
            &[
                "- metadata  {run_id, thread_id}",
                "+ metadata  {run, thread_id}",
                "-   run_id     id",
                "+   run        id",
            ],
        ),
        (
            DropKey { event: event(), at: at() },
            &["- metadata  {run_id, thread_id}", "+ metadata  {thread_id}", "-   run_id     id"],
        ),
        (
            SetKey { event: event(), at: text("/user"), value: json!("ada") },
            &["- metadata  {run_id, thread_id}", "+ metadata  {run_id, thread_id, user}", "+   user       string"],
        ),
        (SetKey { event: event(), at: at(), value: json!(7) }, &["-   run_id     id", "+   run_id     number"]),
    ]);
}

fn a_renamed_dropped_added_or_retyped_key_three_levels_down_is_shown_in_the_diff() {
    let (event, at) = (|| text("values"), || text(TOKENS));
    let was = "-         total_tokens       all tokens of turn 1 | all tokens of turn 2 | all tokens of turn 3";
    check(vec![
        (RenameKey { event: event(), at: at(), to: text("tokens") }, &[was, "+         tokens     number"]),
        (DropKey { event: event(), at: at() }, &[was]),
        (SetKey { event: event(), at: text(CACHED), value: json!(true) }, &["+         cached     true"]),
        (SetKey { event: event(), at: at(), value: json!("106") }, &[was, "+         total_tokens       string"]),
    ]);
}

fn a_stream_without_its_first_or_last_event_fails_at_its_step() {
    let step = "scenarios/write_read_file/scenario.toml:17:1: failed to take step 3 (POST /api/threads/";
    for (mutation, says) in [
        (DropEvent { event: text("metadata") }, "expected `metadata` as the first event, found `values`"),
        (DropEvent { event: text("end") }, "the stream ended before its last event `end`"),
        (RenameEvent { event: text("end"), to: text("done") }, "the last was `done`"),
    ] {
        let tree = Tree::of(&[NAME]);
        let before = tree.files();
        mutated(&tree, &mutation).run().exits(101).says(&[step, says]);
        assert_eq!(tree.files(), before);
    }
}

fn a_golden_of_keys_ignores_types_and_a_golden_of_values_compares_each_value() {
    let retyped = SetKey { event: text("values"), at: text(TOKENS), value: json!("106") };
    // Values of collapsed events are not shown, because they depend on where a text was cut.
    let of_result = |at: &str, value: &str| SetKey { event: text("tool_result"), at: text(at), value: json!(value) };
    let (other_value, other_word) = (of_result("/content", "x"), of_result("/status", "error"));
    let status = ["-   status     \"success\"", "+   status     \"error\""];
    let content = ["-   content    \"Wrote 15 bytes to note.txt\" | \"hi from replay.\"", "+   content    \"x\""];
    for (detail, mutation, diff) in [
        ("keys", &retyped, &[][..]),
        ("types", &other_value, &["-   content    \"…\"", "+   content    \"x\""]),
        ("types", &other_word, &status),
        ("values", &other_value, &content),
        ("values", &other_word, &status),
    ] {
        let tree = Tree::of(&[NAME]);
        let file = "scenarios/write_read_file/scenario.toml";
        tree.replace(file, "[golden]\n", &format!("[golden]\ndetail = \"{detail}\"\n"));
        tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0);
        let run = mutated(&tree, mutation).run().exits(if diff.is_empty() { 0 } else { 101 });
        // A line about the list as a whole is not asserted here.
        let lines: Vec<&str> = run.diff().into_iter().filter(|line| !line.contains("as a whole")).collect();
        assert_eq!(lines, diff, "{detail}: {}", run.stdout);
    }
}

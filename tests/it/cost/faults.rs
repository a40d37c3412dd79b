//! Mistakes in the gateway that only cost, each with the place that the failure names. They run only if `RETAKE_MUTANTS` is set, like
//! the other mistakes.

use libtest_mimic::{Completion, Trial};

use super::costly;
use crate::support::fixtures;

/// A mistake, what the service did when its golden was written, and what is said of it.
type Fault = (&'static str, &'static str, &'static str);

/// The twelve that reports of the last year told of.
const TOLD: [Fault; 12] = [
    ("dearer_clock", "none", "ends at /messages/0/content (\"…"),
    ("dearer_tools_of_a_set", "none", "ends at /tools/0/function/"),
    ("dearer_memory_each_turn", "none", "ends at /messages/0/content (\"…membered: 0 steps so far.\" → \"…membered: 1"),
    ("dearer_id_in_question", "none", "ends at /messages/1/content (\"…"),
    ("dearer_tool_once", "none", "ends at /tools/0/function/"),
    ("dearer_history_twice", "none", "tokens read; "),
    ("none", "asked_with_last_three", "the cacheable prefix is "),
    (
        "none",
        "dearer_marked",
        "3 calls, no call is marked for the cache; 3 marked for the cache, from /messages/0/content/0 before",
    ),
    ("dearer_retry", "none", "calls; 3 before"),
    ("asked_once_more", "none", "4 calls; 3 before"),
    ("dearer_result_larger", "none", "tokens read; "),
    ("dearer_schema_order", "none", "ends at /tools/0/function/parameters/properties/"),
];

/// Ten others.
const OTHERS: [Fault; 10] = [
    ("dearer_session_in_prompt", "none", "ends at /messages/0/content (\"…"),
    (
        "dearer_tool_says_how_often",
        "none",
        "ends at /tools/0/function/description (\"Write a text file. Called 0 times.\" → ",
    ),
    ("dearer_space_in_turns", "none", "ends at /messages/0/content"),
    ("dearer_skills_of_a_set", "none", "ends at /messages/0/content (\"…"),
    ("dearer_time_in_question", "none", "ends at /messages/1/content (\"…"),
    ("dearer_other_model", "none", "ends at /model (\"gpt-4o-mini\" → \"gpt-4o\")"),
    ("dearer_long_reminder", "none", "tokens read; "),
    ("dearer_reminder_moves", "none", "ends at /messages/1/content"),
    ("dearer_history_rewritten", "none", "ends at /messages/1/content"),
    ("dearer_strict_in_turns", "none", "ends at /tools/0/function/strict (\"true\" → \"false\")"),
];

/// Ten more, of which each was red at the first try.
const UNSEEN: [Fault; 10] = [
    ("dearer_format_of_last", "none", "ends at /response_format"),
    ("dearer_functions_too", "none", "tokens read; "),
    ("dearer_uptime_in_tool", "none", "ends at /tools/0/function/description (\""),
    ("dearer_line_ends_in_turns", "none", "ends at /messages/0/content (\"…"),
    ("dearer_example_by_chance", "none", " and differs from run to run, "),
    ("dearer_length_first", "none", "ends at /messages/0/content (\"2 messages so far. "),
    ("dearer_files_of_a_folder", "none", "ends at /messages/0/content (\"…"),
    ("dearer_ids_anew", "none", "ends at /messages/2/tool_calls/0/id (\""),
    ("dearer_arguments_printed_anew", "none", "ends at /messages/2/tool_calls/0/function/arguments (\"{"),
    ("dearer_prompt_twice", "none", "tokens read; "),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(mistake, before, said): Fault| {
        let name = if mistake == "none" { format!("{before}_no_more") } else { mistake.to_owned() };
        Trial::ignorable_test(format!("cost::faults::{name}"), move || {
            if std::env::var_os("RETAKE_MUTANTS").is_none_or(|detail| detail.is_empty()) {
                return Ok(Completion::ignored_with("RETAKE_MUTANTS is not set"));
            }
            is_noticed(mistake, before, said);
            Ok(Completion::Completed)
        })
    };
    TOLD.into_iter().chain(OTHERS).chain(UNSEEN).map(trial).collect()
}

fn is_noticed(mistake: &str, before: &str, said: &str) {
    let tree =
        if before == "asked_with_last_three" { of_last_three() } else { costly("write_read_file", "true", before) };
    let play = |mistake: &str| tree.runner("bare").env("GATEWAY_MUTANT", mistake).env("CI", "1").run();
    play(before).exits(0);
    let ran = play(mistake).exits(101);
    let told = ran.all();
    let named = told.lines().any(|line| line.contains("lead_agent: ") && line.contains(said));
    assert!(named, "{mistake} after {before}, {said}:\n{told}");
}

/// A project whose service sends no more than the last three messages of a thread.
fn of_last_three() -> crate::support::tree::Tree {
    let tree = costly("several_turns", "true", "none");
    fixtures::edit(&tree, "several_turns", |turns| {
        for turn in turns.iter_mut().filter(|turn| turn.caller.as_deref() == Some("lead_agent")) {
            turn.conversation.drain(..turn.conversation.len().saturating_sub(3));
        }
    });
    tree.runner("bare").env("UPDATE_GOLDEN", "1").env("GATEWAY_MUTANT", "asked_with_last_three").run().exits(0);
    tree
}

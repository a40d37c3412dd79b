//! The changes: to the gateway, its tools and prompts, and to fixtures and scenarios. Ten of them change two things at once.

use retake_core::json::{Json, Layout};
use retake_core::key::Check;

use crate::support::fixtures::{self, change_word, reworded, turn};
use crate::support::program::Program;
use crate::support::tree::Tree;

/// A change, and what the first line of the failure has to name.
pub(crate) struct Change {
    /// The change in a few words.
    pub(crate) name: &'static str,
    /// The scenario that notices the change.
    pub(crate) scenario: &'static str,
    /// The mistake that the gateway makes, if any (`tests/it/mutants/list.toml`).
    pub(crate) mutant: Option<&'static str>,
    /// The change of the files, if any.
    pub(crate) edit: Option<fn(&Tree)>,
    /// The texts that the first line has to contain, one for each thing that was changed, in any order.
    pub(crate) names: &'static [&'static str],
}

const WRITE: &str = "write_read_file";
const TURNS: &str = "several_turns";
const TOOLS: &str = "parallel_tools";
const CALLERS: &str = "two_callers";
const SUGGEST: &str = "suggestions";

/// Returns a change that is a mistake in the gateway.
const fn gateway(mutant: &'static str, scenario: &'static str, names: &'static [&'static str]) -> Change {
    Change { name: mutant, scenario, mutant: Some(mutant), edit: None, names }
}

/// Returns a change of files.
const fn files(name: &'static str, scenario: &'static str, edit: fn(&Tree), names: &'static [&'static str]) -> Change {
    Change { name, scenario, mutant: None, edit: Some(edit), names }
}

/// Returns a change that is both at once.
const fn both(
    name: &'static str,
    scenario: &'static str,
    mutant: &'static str,
    edit: fn(&Tree),
    names: &'static [&'static str],
) -> Change {
    Change { name, scenario, mutant: Some(mutant), edit: Some(edit), names }
}

/// Replaces a text in a scenario's file.
fn scenario(tree: &Tree, name: &str, from: &str, to: &str) {
    tree.replace(&format!("scenarios/{name}/scenario.toml"), from, to);
}

/// Adds a line at the beginning of a scenario's file.
fn option(tree: &Tree, name: &str, line: &str) {
    let file = format!("scenarios/{name}/scenario.toml");
    tree.write(&file, &format!("{line}\n{}", tree.read(&file)));
}

/// Replaces a word in the last message of a turn's conversation.
fn last_word(tree: &Tree, name: &str, turn: usize, from: &str, to: &str) {
    fixtures::edit(tree, name, |turns| change_word(turns[turn].conversation.last_mut().unwrap(), from, to));
}

/// Replaces a text anywhere in a message of a turn's conversation.
fn in_message(tree: &Tree, name: &str, turn: usize, message: usize, from: &str, to: &str) {
    fixtures::edit(tree, name, |turns| {
        let text = turns[turn].conversation[message].print(Layout::Compact);
        assert!(text.contains(from), "{from} in {text}");
        turns[turn].conversation[message] = Json::parse(text.replace(from, to).as_bytes()).unwrap();
    });
}

pub(crate) const CHANGES: &[Change] = &[
    // The number of calls, and their callers.
    gateway("title_never", WRITE, &["unused: `middleware:title` never asks"]),
    gateway("title_asked_twice", WRITE, &["`middleware:title` asks once more than recorded"]),
    gateway("asked_once_more", WRITE, &["`lead_agent` asks once more than recorded"]),
    gateway("model_calls_two", WRITE, &["the service stopped asking after turn 2 (calls read_file)"]),
    gateway("tools_not_told_of", WRITE, &["the service stopped asking after turn 1 (calls write_file)"]),
    gateway("title_caller", WRITE, &["caller `lead_agent` asks what was recorded for `middleware:title`"]),
    files(
        "a call that was made twice",
        WRITE,
        |tree| fixtures::edit(tree, WRITE, |turns| turns.push(turns[0].clone())),
        &["unused: the service no longer asks again after turn 1 (calls write_file)"],
    ),
    gateway("suggestions_caller", SUGGEST, &["caller `lead_agent` asks what was recorded for `suggest_agent`"]),
    gateway("suggestions_asked_twice", SUGGEST, &["`suggest_agent` asks once more than recorded"]),
    gateway("review_one_caller", CALLERS, &["caller `subagent:optimist` asks what was recorded for `subagent:critic`"]),
    // Messages.
    gateway("history_forgotten", TURNS, &["the history of `lead_agent` is shortened at the front"]),
    gateway("input_twice", WRITE, &["`lead_agent` sends 1 message more than recorded"]),
    gateway("asked_with_last_three", TURNS, &["the history of `lead_agent` is shortened at the front"]),
    gateway("asked_question_twice", WRITE, &["`lead_agent` sends 1 message more than recorded"]),
    gateway("checkpoint_newest_first", TURNS, &["the messages of `lead_agent` come in a different order"]),
    gateway("results_reversed", TOOLS, &["the messages of `lead_agent` come in a different order"]),
    gateway("question_lowered", WRITE, &["message 1 (human) of `lead_agent` says different text"]),
    gateway("title_without_answer", WRITE, &["message 1 (human) of `middleware:title` says different text"]),
    gateway("transcript_without_answers", SUGGEST, &["message 1 (human) of `suggest_agent` says different text"]),
    gateway(
        "asked_without_calls",
        WRITE,
        &["`lead_agent` sends 1 message fewer than recorded: message 2 (ai calling write_file)"],
    ),
    // Tools.
    gateway(
        "tool_result_cut",
        WRITE,
        &["tool `write_file` returned different text", "tool `read_file` returned different text"],
    ),
    gateway("read_adds_newline", WRITE, &["tool `read_file` returned different text"]),
    gateway("read_cuts_last", WRITE, &["tool `read_file` returned different text"]),
    gateway(
        "write_counts_one_more",
        WRITE,
        &["tool `write_file` returned different text than recorded (\"15\" → \"16\")"],
    ),
    gateway("write_forgotten", WRITE, &["tool `read_file` returned different text"]),
    gateway("ls_with_commas", TOOLS, &["tool `ls` returned different text"]),
    gateway("ls_one_less", TOOLS, &["tool `ls` returned different text"]),
    gateway(
        "first_call_only",
        TOOLS,
        &["the results of `write_file` and `write_file` are missing in message 4 of `lead_agent`"],
    ),
    gateway("last_call_only", TOOLS, &["calls tool `write_file`, recorded: `write_file`, `write_file`, `write_file`"]),
    gateway(
        "args_lost",
        WRITE,
        &[
            "tool `write_file` is called with a different argument `/content`",
            "tool `read_file` is called with a different argument `/path`",
        ],
    ),
    gateway("ls_backwards", TOOLS, &["tool `ls` returned different text"]),
    files(
        "an argument",
        WRITE,
        |tree| in_message(tree, WRITE, 1, 1, "note.txt", "node.txt"),
        &["tool `write_file` is called with a different argument `/path` than recorded (\"node.txt\" → \"note.txt\")"],
    ),
    files(
        "another tool in the history",
        WRITE,
        |tree| in_message(tree, WRITE, 1, 1, "write_file", "append_file"),
        &["calls tool `write_file`, recorded: `append_file`"],
    ),
    files(
        "a type",
        WRITE,
        |tree| in_message(tree, WRITE, 0, 0, "\"human\"", "\"developer\""),
        &["message 1 of `lead_agent` is of type `human`, recorded: `developer`"],
    ),
    // Prompts and other checked texts.
    gateway("asked_without_system", WRITE, &["the system prompt of a model call is gone"]),
    gateway("review_one_prompt", CALLERS, &["has the system prompt of `subagent:"]),
    files(
        "a prompt that is to fail",
        WRITE,
        |tree| {
            option(tree, WRITE, "drift = { prompt = \"fail\" }");
            fixtures::edit(tree, WRITE, |turns| {
                for turn in turns.iter_mut() {
                    reworded(turn, Check::Prompt, |prompt| prompt.replace("briefly", "at length"));
                }
            });
        },
        &["drift: the system prompt of `lead_agent` changed (\"at length.\" → \"briefly.\")"],
    ),
    files(
        "a value that the prompt no longer says",
        WRITE,
        |tree| {
            fixtures::edit(tree, WRITE, |turns| {
                for turn in turns.iter_mut() {
                    reworded(turn, Check::Prompt, |prompt| prompt.replace("briefly", "briefly: hi from replay."));
                }
            });
        },
        &["drift: the system prompt of `lead_agent` says other values (\"briefly: hi from replay..\" → \"briefly.\")"],
    ),
    files(
        "a tool's definition",
        WRITE,
        |tree| {
            option(tree, WRITE, "drift = { tools = \"fail\" }");
            fixtures::edit(tree, WRITE, |turns| {
                for turn in turns.iter_mut() {
                    reworded(turn, Check::Tools, |tools| tools.replace("Read a text file.", "Read any file."));
                }
            });
        },
        &["drift: tool `read_file` is defined differently"],
    ),
    // The scenario and its files.
    files(
        "the user says something else",
        WRITE,
        |tree| scenario(tree, WRITE, "then read it back", "then read it again"),
        &["message 1 (human) of `lead_agent` says different text than recorded (\"back\" → \"again\")"],
    ),
    files(
        "a turn deleted",
        WRITE,
        |tree| fixtures::edit(tree, WRITE, |turns| drop(turns.remove(3))),
        &["caller `middleware:title` asks, but no recorded turn is by that caller"],
    ),
    files(
        "a turn too many",
        WRITE,
        |tree| {
            fixtures::edit(tree, WRITE, |turns| turns.push(turn(Some("subagent:poet"), "A poem!", "Roses are red")));
        },
        &["unused: `subagent:poet` never asks"],
    ),
    files(
        "no fixture",
        WRITE,
        |tree| {
            option(tree, WRITE, "fixture = \"none\"");
            tree.remove("fixtures/write_read_file.json");
        },
        &["`lead_agent` calls a model, but the scenario says `fixture = \"none\"`"],
    ),
    files(
        "the last event's name",
        WRITE,
        |tree| scenario(tree, WRITE, "last = \"end\"", "last = \"done\""),
        &["the stream ended before its last event `done`"],
    ),
    files(
        "the answer of a turn",
        WRITE,
        |tree| {
            fixtures::edit(tree, WRITE, |turns| {
                let other = fixtures::turn(None, "x", "No.");
                (turns[1].output, turns[1].wire) = (other.output, other.wire);
            });
        },
        &["the service stopped asking after turn 2"],
    ),
    // What the service sends to its client.
    gateway("metadata_extra_key", WRITE, &["golden: the event `metadata` has a different shape"]),
    gateway("tool_result_missing", WRITE, &["golden: the event `tool_result` did not come"]),
    gateway("values_event_name", WRITE, &["golden: the event `values` is now called `updates`"]),
    gateway("stream_202", WRITE, &["golden: the status is 202, not 200"]),
    gateway("stream_as_text", WRITE, &["golden: the content type is text/plain, not text/event-stream"]),
    gateway("end_missing", WRITE, &["the stream ended before its last event `end`"]),
    gateway("metadata_late", WRITE, &["expected `metadata` as the first event, found `values`"]),
    gateway(
        "tool_result_without_status",
        WRITE,
        &["golden: the event `tool_result` has a different shape: `/status` is gone"],
    ),
    gateway("tool_result_twice", WRITE, &["golden: the event `tool_result` came 4 times, not 2 times"]),
    gateway("created_200", WRITE, &["expected status 201, found 200"]),
    gateway("suggestions_key", SUGGEST, &["golden: the body"]),
    // Two changes at once.
    both(
        "a result and an event",
        WRITE,
        "values_event_name",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &["tool `read_file` returned different text", "golden: the event `values` is now called `updates`"],
    ),
    both(
        "a result and the status",
        WRITE,
        "stream_202",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &["tool `read_file` returned different text", "golden: the status is 202, not 200"],
    ),
    both(
        "a result and the title",
        WRITE,
        "title_without_answer",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &["tool `read_file` returned different text", "message 1 (human) of `middleware:title` says different text"],
    ),
    both(
        "a result and the title's caller",
        WRITE,
        "title_caller",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &[
            "tool `read_file` returned different text",
            "caller `lead_agent` asks what was recorded for `middleware:title`",
        ],
    ),
    both(
        "the question and a result",
        WRITE,
        "write_counts_one_more",
        |tree| scenario(tree, WRITE, "then read it back", "then read it again"),
        &["message 1 (human) of `lead_agent` says different text", "tool `write_file` returned different text"],
    ),
    both(
        "a result and no title",
        WRITE,
        "title_never",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &["tool `read_file` returned different text", "unused: `middleware:title` never asks"],
    ),
    both(
        "the prompt and an event",
        WRITE,
        "values_event_name",
        |tree| {
            option(tree, WRITE, "drift = { prompt = \"fail\" }");
            fixtures::edit(tree, WRITE, |turns| {
                for turn in turns.iter_mut() {
                    reworded(turn, Check::Prompt, |prompt| prompt.replace("briefly", "at length"));
                }
            });
        },
        &["drift: the system prompt of `lead_agent` changed", "golden: the event `values` is now called `updates`"],
    ),
    both(
        "two tools",
        WRITE,
        "write_counts_one_more",
        |tree| last_word(tree, WRITE, 2, "replay", "rehearsal"),
        &["tool `write_file` returned different text", "tool `read_file` returned different text"],
    ),
    both(
        "an argument and the content type",
        WRITE,
        "stream_as_text",
        |tree| in_message(tree, WRITE, 1, 1, "note.txt", "node.txt"),
        &["tool `write_file` is called with a different argument `/path`", "golden: the content type is text/plain"],
    ),
    both(
        "a key of the metadata and a turn too many",
        WRITE,
        "metadata_extra_key",
        |tree| {
            fixtures::edit(tree, WRITE, |turns| turns.push(turn(Some("subagent:poet"), "A poem!", "Roses are red")));
        },
        &["unused: `subagent:poet` never asks", "golden: the event `metadata` has a different shape"],
    ),
];

/// Makes a change in a new project, and runs its scenario.
pub(crate) fn made(change: &Change) -> (Tree, crate::support::program::Ran) {
    let tree = Tree::of(&[change.scenario]);
    if let Some(edit) = change.edit {
        edit(&tree);
    }
    let run = runner(&tree, change).run();
    (tree, run)
}

/// Returns the runner of a project in which a change was made.
pub(crate) fn runner(tree: &Tree, change: &Change) -> Program {
    with_mutant(tree.runner("gateway"), change)
}

/// Returns a program whose gateway has the change's mistake.
pub(crate) fn with_mutant(program: Program, change: &Change) -> Program {
    match change.mutant {
        Some(mutant) => program.env("GATEWAY_MUTANT", mutant),
        None => program,
    }
}

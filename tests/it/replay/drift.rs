//! Drift: differences from the recording that are not misses. They are noted, or fail the scenario if it says so.

use retake_core::key::Check;
use retake_wire::fixture::Recorded;
use serde_json::{Value, json};

use crate::replay::serve::Serving;
use crate::support::fixtures::{self, reworded};
use crate::support::tree::Tree;

tests! { a_call_with_drift_is_served_and_a_note_shows_the_changed_words,
    the_notes_do_not_disturb_the_formats_of_libtest,
    with_drift_set_to_fail_the_scenario_fails_and_names_it,
    drift_that_is_ignored_is_not_reported,
    tool_results_that_differ_from_the_recording_fail_and_are_shown,
    a_missing_system_prompt_or_that_of_another_caller_fails,
    a_tool_result_without_its_call_is_noted,
}

const NAME: &str = "write_read_file";

/// Returns a project whose recording was made with another prompt, other tools, another model and other settings.
fn recorded_with_others() -> Tree {
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        for turn in turns.iter_mut().filter(|turn| turn.caller.as_deref() == Some("lead_agent")) {
            reworded(turn, Check::Prompt, |prompt| format!("{prompt} Whistle."));
            reworded(turn, Check::Tools, |tools| tools.replace("\"type\": \"function\"", "\"type\": \"gadget\""));
            *turn.text(Check::Model) = Some("older-model".into());
            *turn.text(Check::Settings) = Some("{\"temperature\": 2}".into());
        }
    });
    tree
}

fn set_drift(tree: &Tree, drift: &str) {
    let suite = tree.read("scenarios/suite.toml");
    tree.write("scenarios/suite.toml", &format!("{drift}\n{suite}"));
}

fn a_call_with_drift_is_served_and_a_note_shows_the_changed_words() {
    let run = recorded_with_others().runner("gateway").run().exits(0);
    let notes: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 4, "one line for each check: {notes:?}");
    let begins = |check: &str| format!("note: {NAME}: drift: {check} changed in the call by `lead_agent`, turn ");
    for (note, check) in notes.iter().zip(["prompt", "tools", "model", "settings"]) {
        assert!(note.starts_with(&begins(check)) && note.contains("more call"), "{note}");
    }
    assert!(notes[0].contains("Whistle.\" → "), "{}", notes[0]);
    assert!(notes[1].contains("gadget") && notes[1].contains("function"), "{}", notes[1]);
    assert!(notes[2].contains(": \"older-model\" → \""), "{}", notes[2]);
}

fn the_notes_do_not_disturb_the_formats_of_libtest() {
    let run =
        recorded_with_others().runner("gateway").args(&["-Z", "unstable-options", "--format", "json"]).run().exits(0);
    for line in run.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    }
    assert!(run.stderr.contains("note: write_read_file: drift: prompt changed"), "{}", run.stderr);
}

fn with_drift_set_to_fail_the_scenario_fails_and_names_it() {
    for (check, word) in
        [("prompt", "Whistle"), ("tools", "gadget"), ("model", "older-model"), ("settings", "temperature")]
    {
        let tree = recorded_with_others();
        set_drift(&tree, &format!("drift = {{ {check} = \"fail\" }}"));
        tree.runner("gateway").run().exits(101).says(&[
            "drift: ",
            "fixtures/write_read_file.json, by `lead_agent`, in scenario `write_read_file`",
            word,
            "if the change is intended:\n    retake record write_read_file",
        ]);
    }
}

fn drift_that_is_ignored_is_not_reported() {
    let tree = recorded_with_others();
    set_drift(&tree, "drift = { prompt = \"ignore\", tools = \"ignore\", model = \"ignore\", settings = \"ignore\" }");
    tree.runner("gateway").run().exits(0).never_says("note: ");
    Tree::of(&[NAME]).runner("gateway").run().exits(0).never_says("note: ");
}

fn tool_results_that_differ_from_the_recording_fail_and_are_shown() {
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        let answering = turns.iter_mut().find(|turn| turn.conversation.len() == 3).unwrap();
        *answering.text(Check::Results) = Some("call 1, `write_file`: an error".into());
    });
    tree.runner("gateway").run().exits(101).says(&[
        "drift: tool results of `lead_agent` are marked differently than recorded",
        "- call 1, `write_file`: an error",
        "if the change is intended:\n    retake record write_read_file",
    ]);
    set_drift(&tree, "drift = { results = \"note\" }");
    tree.runner("gateway").run().exits(0).says(&["drift: results changed in the call by `lead_agent`"]);
}

fn a_missing_system_prompt_or_that_of_another_caller_fails() {
    let tree = Tree::of(&[NAME]);
    let title = |turn: &&mut Recorded| turn.caller.as_deref() == Some("middleware:title");
    fixtures::edit(&tree, NAME, |turns| {
        *turns.iter_mut().find(title).unwrap().text(Check::Prompt) = Some("Write a title.".into());
    });
    let gone = "drift: the system prompt of a model call is gone";
    tree.runner("gateway").run().exits(101).says(&[gone, "by `middleware:title`", "- Write a title."]);
    set_drift(&tree, "drift = { prompt = \"ignore\" }");
    tree.runner("gateway").run().exits(0);
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        let of_lead = turns.iter().find(|turn| turn.caller.as_deref() == Some("lead_agent")).unwrap();
        let prompt = of_lead.clone().text(Check::Prompt).clone();
        for turn in turns.iter_mut() {
            let is_title = turn.caller.as_deref() == Some("middleware:title");
            *turn.text(Check::Prompt) = if is_title { prompt.clone() } else { Some("Be another.".into()) };
        }
        turns.retain(|turn| turn.caller.as_deref() != Some("middleware:title"));
        let mut other = turns[0].clone();
        other.caller = Some("middleware:review".to_owned());
        *other.text(Check::Prompt) = prompt;
        turns.push(other);
    });
    let swapped = "drift: a model call has the system prompt of `middleware:review`";
    let run = tree.runner("gateway").run().exits(101);
    assert!(run.stdout.contains(swapped) || run.stdout.contains("replay miss"), "{}", run.stdout);
}

fn a_tool_result_without_its_call_is_noted() {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![fixtures::turn(Some("lead_agent"), "Hello", "Good morning")]);
    let mut serving = Serving::start(tree.retake().args(&["serve", "fixtures/greeting.json"]));
    let call = json!([{ "role": "user", "content": "Hello" }]);
    assert_eq!(serving.ask(&[("x-retake-caller", "lead_agent")], &call, false).status, 200);
    let orphan =
        json!([{ "role": "user", "content": "Hello" }, { "role": "tool", "tool_call_id": "call_9", "content": "1" }]);
    for _ in 0..2 {
        assert_eq!(serving.ask(&[("x-retake-caller", "lead_agent")], &orphan, false).status, 404);
    }
    let said = serving.end_and_read("-TERM").1;
    let note = "note: protocol: a tool result without its call: `call_9` in the call by `lead_agent` and 1 more call\n";
    assert!(said.contains(note), "{said}");
}

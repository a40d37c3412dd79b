//! A model call without a turn fails the run, however the service handles the error. So does a turn that no call asks for.

use std::path::Path;

use retake_core::events::{AfterLast, Capture, Captured, Delivery, Detail, Loose, ShapeOptions, Status, golden};
use retake_core::key::Normalizer;

use crate::runner::routers::CAPTURE;
use crate::support::fixtures::{self, turn};
use crate::support::tree::{SCENARIOS, Tree};

tests! { one_changed_word_in_a_tool_result_fails_even_if_all_events_keep_their_shape,
    each_change_of_the_conversation_or_the_turns_has_its_own_message,
    computing_the_keys_again_changes_no_byte_of_a_fixture,
    a_message_edited_in_a_fixture_belongs_to_another_conversation,
    a_miss_never_changes_a_golden_or_leaves_a_pending_one,
    a_model_call_is_a_miss_if_the_scenario_has_no_fixture,
    turns_may_stay_unused_if_the_scenario_says_so,
}

const NAME: &str = "write_read_file";

/// Returns a project whose golden contains only shapes, so no value in it shows that a model call failed.
fn shapes_only() -> Tree {
    let tree = Tree::of(&[NAME]);
    let show = "show     = [\"/messages/-1/content\", \"/title\"]\n";
    let shapes = "detail = \"keys\"\nlengths = false\nloose = [\"messages\"]\nafter_last = false\n";
    tree.replace("scenarios/write_read_file/scenario.toml", show, shapes);
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0);
    tree
}

/// Returns the golden of a captured stream, made with the options of that scenario.
fn shapes(captured: &Path) -> String {
    let mut capture = Capture::new();
    let mut events = capture.push(&std::fs::read(captured).unwrap());
    events.extend(capture.finish());
    let (request, content_type) = ("POST /api/threads/<thread>/runs/stream", "text/event-stream");
    let captured = Captured {
        request: request.to_owned(),
        status: Status::Http(200),
        content_type: content_type.to_owned(),
        events,
        after: AfterLast::default(),
        tree: None,
        delivery: Delivery {
            headers: vec![("cache-control".to_owned(), "no-cache".to_owned())],
            ..Delivery::default()
        },
    };
    let options = ShapeOptions {
        detail: Detail::Keys,
        collapse: vec!["messages".to_owned()],
        without_lengths: true,
        loose: vec![Loose::of("messages")],
        ..ShapeOptions::default()
    };
    golden(&[captured], &options, &|text| Normalizer::default().apply(text).into_owned()).to_string()
}

fn one_changed_word_in_a_tool_result_fails_even_if_all_events_keep_their_shape() {
    let tree = shapes_only();
    let captured = tree.path("captured.sse");
    tree.runner("gateway").env(CAPTURE, &captured).run().exits(0);
    let whole = std::fs::read_to_string(&captured).unwrap();
    tree.remove("captured.sse");
    fixtures::edit(&tree, NAME, |turns| {
        fixtures::change_word(turns[2].conversation.last_mut().unwrap(), "replay", "rehearsal");
    });
    tree.runner("gateway").env(CAPTURE, &captured).run().exits(101).says(&[
        "replay miss: tool `read_file` returned different text than recorded (\"rehearsal.\" → \"replay.\")\n",
        "nearest    turn 3 of fixtures/write_read_file.json, by `lead_agent`, not yet served",
        "difference at message 5 of 5 (tool `read_file`), in `content`:",
        "- hi from rehearsal.",
        "+ hi from replay.",
        "words \"rehearsal.\" → \"replay.\"",
        "if the change is intended:\n    retake record write_read_file --resume\n",
    ]);
    // The gateway hides the miss: its client gets a friendly sentence, and events with exactly the shapes of the golden.
    let swallowed = std::fs::read_to_string(&captured).unwrap();
    assert!(swallowed.contains("I'm sorry, something went wrong") && !whole.contains("I'm sorry"));
    let committed = tree.read("goldens/write_read_file.snap");
    let (_, committed) = committed.rsplit_once("\n\n\n").unwrap();
    // A capture alone does not say what of it the model said.
    let committed: Vec<&str> = committed.trim_end().lines().filter(|line| !line.contains(" = turn ")).collect();
    assert_eq!(shapes(&captured).trim_end(), committed.join("\n"));
}

/// The name of a change, the change, and the texts that a person then reads.
type Case = (&'static str, fn(&Tree), &'static [&'static str]);

const CASES: [Case; 5] = [
    (
        "a turn deleted",
        |tree| fixtures::edit(tree, NAME, |turns| drop(turns.remove(3))),
        &[
            "replay miss: caller `middleware:title` asks, but no recorded turn is by that caller\n",
            "call       4: POST /v1/chat/completions",
            "messages   1 in the key: human",
            "nearest    turn ",
            "if the change is intended:\n    retake record write_read_file --resume\n",
        ],
    ),
    (
        "a turn added",
        |tree| fixtures::edit(tree, NAME, |turns| turns.push(turn(Some("subagent:poet"), "A poem!", "Roses are red"))),
        &[
            "unused: `subagent:poet` never asks: turn 5 (answers \"Roses are red\") was recorded\n",
            "not asked: turn 5 of fixtures/write_read_file.json, by `subagent:poet`: answers \"Roses are red\"",
            "if the service no longer makes this call on purpose:\n    retake record write_read_file --resume\n",
            "if another scenario asks for them, set in scenarios/write_read_file/scenario.toml:\n    unused = [\"subagent:poet\"]\n",
        ],
    ),
    (
        "a caller renamed",
        |tree| fixtures::edit(tree, NAME, |turns| turns[3].caller = Some("middleware:headline".to_owned())),
        &[
            "replay miss: caller `middleware:title` asks what was recorded for `middleware:headline`\n",
            "if the change is intended:\n    retake record write_read_file --resume\n",
        ],
    ),
    (
        "a prompt edited",
        |tree| {
            let file = "scenarios/write_read_file/scenario.toml";
            tree.replace(file, "then read it back", "then read it again");
        },
        &[
            "replay miss: message 1 (human) of `lead_agent` says different text than recorded (\"back\" → \"again\")\n",
            "nearest    turn 1 of fixtures/write_read_file.json, by `lead_agent`",
            "difference at message 1 of 1 (human), in `content`:",
            "words \"back\" → \"again\"",
        ],
    ),
    (
        "one word changed in the arguments of a tool call",
        |tree| {
            fixtures::edit(tree, NAME, |turns| {
                let call =
                    turns[1].conversation[1].print(retake_core::json::Layout::Compact).replace("replay", "rehearsal");
                turns[1].conversation[1] = retake_core::json::Json::parse(call.as_bytes()).unwrap();
            });
        },
        &[
            "replay miss: tool `write_file` is called with a different argument `/content` than recorded (\"rehearsal.\" → \"replay.\")\n",
            "nearest    turn 2 of fixtures/write_read_file.json, by `lead_agent`",
            "difference at message 2 of 3 (ai calling write_file), in `tool_calls[0].args.content`:",
            "words \"rehearsal.\" → \"replay.\"",
        ],
    ),
];

fn each_change_of_the_conversation_or_the_turns_has_its_own_message() {
    for (case, change, says) in CASES {
        let tree = shapes_only();
        change(&tree);
        let run = tree.runner("gateway").run();
        assert_eq!(run.code, Some(101), "{case}: {}", run.stdout);
        run.says(says);
    }
}

fn computing_the_keys_again_changes_no_byte_of_a_fixture() {
    let names: Vec<&str> = SCENARIOS.into_iter().filter(|name| *name != "refused").collect();
    let tree = Tree::of(&names);
    let before = tree.files();
    for name in names {
        fixtures::edit(&tree, name, |_| ());
    }
    assert_eq!(tree.files(), before);
}

fn a_message_edited_in_a_fixture_belongs_to_another_conversation() {
    let tree = Tree::of(&[NAME]);
    tree.replace("fixtures/write_read_file.json", "\"Wrote 15 bytes to note.txt\"", "\"Wrote 16 bytes to note.txt\"");
    let said = "replay miss: tool `write_file` returned different text than recorded (\"16\" → \"15\")";
    tree.runner("gateway").run().exits(101).says(&[said]);
}

fn a_miss_never_changes_a_golden_or_leaves_a_pending_one() {
    for update in [false, true] {
        // With a golden that differs, and without a golden.
        for golden in [true, false] {
            let tree = Tree::of(&[NAME]);
            if golden {
                tree.replace("goldens/write_read_file.snap", "run_id     id\n", "run_id     number\n");
            } else {
                tree.remove("goldens/write_read_file.snap");
            }
            fixtures::edit(&tree, NAME, |turns| drop(turns.remove(3)));
            let before = tree.files();
            let runner = tree.runner("gateway");
            let runner = if update { runner.env("UPDATE_GOLDEN", "1") } else { runner };
            runner.run().exits(101).says(&["replay miss: caller `middleware:title`"]).never_says("golden: ");
            assert_eq!(tree.files(), before);
        }
    }
}

fn a_model_call_is_a_miss_if_the_scenario_has_no_fixture() {
    let tree = Tree::of(&[NAME]);
    let file = "scenarios/write_read_file/scenario.toml";
    tree.write(file, &format!("fixture = \"none\"\n{}", tree.read(file)));
    tree.remove("fixtures/write_read_file.json");
    tree.runner("gateway")
        .run()
        .exits(101)
        .says(&["replay miss: `lead_agent` calls a model, but the scenario says `fixture = \"none\"`"]);
}

fn turns_may_stay_unused_if_the_scenario_says_so() {
    let added = |tree: &Tree| {
        fixtures::edit(tree, NAME, |turns| turns.push(turn(Some("subagent:poet"), "A poem!", "Roses are red")));
    };
    let file = "scenarios/write_read_file/scenario.toml";
    for (unused, code) in [
        ("\"fail\"", 101),
        ("\"allow\"", 0),
        ("[\"subagent:poet\"]", 0),
        ("[\"lead_agent\", \"subagent:poet\"]", 0),
        ("[\"lead_agent\"]", 101),
        ("[]", 101),
    ] {
        let tree = Tree::of(&[NAME]);
        added(&tree);
        tree.write(file, &format!("unused = {unused}\n{}", tree.read(file)));
        let run = tree.runner("gateway").run();
        assert_eq!(run.code, Some(code), "{unused}: {}", run.stdout);
    }
}

//! When goldens are written: never in CI, never after a miss, and never if two runs differ.

use crate::runner::routers;
use crate::support::fixtures;
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { in_ci_updating_and_recording_write_nothing_and_exit_with_2,
    a_ci_variable_that_says_off_does_not_count_as_ci,
    in_ci_a_different_golden_leaves_no_pending_golden,
    outside_ci_a_pending_golden_stays_until_the_golden_is_right_again,
    a_scenario_without_a_golden_fails_and_shows_what_the_golden_would_contain,
    updating_writes_a_golden_that_then_passes_and_contains_no_path,
    updating_one_scenario_leaves_the_others_alone,
    a_golden_that_differs_between_two_runs_is_not_written_and_the_lines_are_shown,
    updating_with_a_miss_or_an_unused_turn_writes_nothing,
}

const NAME: &str = "write_read_file";
const GOLDEN: &str = "goldens/write_read_file.snap";
const PENDING: &str = "goldens/write_read_file.snap.new";

fn updating(program: Program) -> Program {
    program.env("UPDATE_GOLDEN", "1")
}

/// Returns a project whose golden differs from what the gateway sends.
fn with_a_wrong_golden() -> Tree {
    let tree = Tree::of(&[NAME]);
    tree.replace(GOLDEN, "run_id     id\n", "run_id     number\n");
    tree
}

fn in_ci_updating_and_recording_write_nothing_and_exit_with_2() {
    for ci in ["true", "1", "woodpecker"] {
        let tree = with_a_wrong_golden();
        let before = tree.files();
        updating(tree.runner("gateway")).env("CI", ci).run().exits(2).says(&[
            "error: updating goldens with CI set: goldens and fixtures are never written in CI\n",
            "run it on your own machine and commit what it wrote; if this is your machine, unset CI",
        ]);
        let recording = tree.recorder("gateway", "record", NAME);
        let recording = recording.env("RETAKE_UPSTREAM_OPENAI", "http://127.0.0.1:9/v1");
        recording.env("CI", ci).run().exits(2).says(&["error: recording with CI set"]);
        assert_eq!(tree.files(), before);
    }
}

fn a_ci_variable_that_says_off_does_not_count_as_ci() {
    for ci in ["", "0", "false", "no"] {
        let tree = with_a_wrong_golden();
        updating(tree.runner("gateway")).env("CI", ci).run().exits(0);
        assert!(tree.read(GOLDEN).contains("run_id     id\n"), "CI={ci:?}");
    }
}

fn in_ci_a_different_golden_leaves_no_pending_golden() {
    let tree = with_a_wrong_golden();
    let before = tree.files();
    let run = tree.runner("gateway").env("CI", "true").run().exits(101);
    assert_eq!(run.diff(), ["-   run_id     number", "+   run_id     id"]);
    run.says(&["if the change is intended:\n    UPDATE_GOLDEN=1 cargo test --test scenarios write_read_file\n"])
        .never_says("insta review");
    assert_eq!(tree.files(), before);
}

fn outside_ci_a_pending_golden_stays_until_the_golden_is_right_again() {
    let right = Tree::of(&[NAME]).read(GOLDEN);
    let tree = with_a_wrong_golden();
    let wrong = tree.read(GOLDEN);
    tree.runner("gateway").run().exits(101).says(&["to look at it first:\n    retake review\n"]);
    assert_eq!(tree.read(GOLDEN), wrong);
    assert!(tree.read(PENDING).contains("run_id     id\n"));
    tree.write(GOLDEN, &right);
    tree.runner("gateway").run().exits(0);
    assert!(!tree.has(PENDING));
    assert_eq!(tree.read(GOLDEN), right);
}

fn a_scenario_without_a_golden_fails_and_shows_what_the_golden_would_contain() {
    let tree = Tree::of(&[NAME]);
    tree.remove(GOLDEN);
    for ci in [true, false] {
        let runner = tree.runner("gateway");
        let runner = if ci { runner.env("CI", "true") } else { runner };
        runner.run().exits(101).says(&[
            "golden: the scenario has none, goldens/write_read_file.snap does not exist\n",
            "it would contain:\n",
            "+ POST /api/threads/<thread>/runs/stream\n+ 200 text/event-stream, with ids\n",
            "if this is what the service should send:\n    UPDATE_GOLDEN=1 cargo test --test scenarios write_read_file\n",
        ]);
        assert_eq!((tree.has(GOLDEN), tree.has(PENDING)), (false, !ci));
    }
}

fn updating_writes_a_golden_that_then_passes_and_contains_no_path() {
    for there in [true, false] {
        let tree = with_a_wrong_golden();
        let committed = Tree::of(&[NAME]).read(GOLDEN);
        if !there {
            tree.remove(GOLDEN);
        }
        // This run leaves a pending golden, which the update then removes.
        tree.runner("gateway").run().exits(101);
        assert!(tree.has(PENDING));
        let ran = updating(tree.runner("gateway")).run().exits(0);
        let change = if there { "changed" } else { "new" };
        assert!(ran.stderr.contains(&format!("note: {NAME}: golden {change}\n")), "{}", ran.stderr);
        assert!(!tree.has(PENDING));
        let written = tree.read(GOLDEN);
        // Which numbers of tokens are held is found out anew if there is no golden.
        let is_held = |line: &&str| there || !line.contains("_tokens ");
        let body = |golden: &str| -> Vec<String> {
            golden.rsplit_once("---\n").unwrap().1.lines().filter(is_held).map(str::to_owned).collect()
        };
        assert_eq!(body(&written), body(&committed));
        // The header does not name the file of the assertion: it would change if the command runs the scenario.
        let header = "\ninput_file: scenarios/write_read_file/scenario.toml\n---\nPOST ";
        assert!(written.starts_with("---\ndescription: retake golden 3\ninfo:\n  written: "), "{written}");
        assert!(written.contains(header), "{written}");
        let home = std::env::var("HOME").unwrap_or_else(|_| "/home/".to_owned());
        for path in
            [&*crate::support::tree::repository().to_string_lossy(), &*std::env::temp_dir().to_string_lossy(), &home]
        {
            assert!(!written.contains(&format!("{}/", path.trim_end_matches('/'))), "{path} is in {written}");
        }
        let after = tree.files();
        tree.runner("gateway").env("CI", "true").run().exits(0);
        updating(tree.runner("gateway")).run().exits(0);
        assert_eq!(tree.files(), after);
    }
}

fn updating_one_scenario_leaves_the_others_alone() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    tree.replace(GOLDEN, "run_id     id\n", "run_id     number\n");
    tree.replace("goldens/two_callers.snap", "critic     string", "critic     number");
    let other = tree.read("goldens/two_callers.snap");
    updating(tree.runner("gateway")).arg(NAME).run().exits(0);
    assert_eq!(tree.read("goldens/two_callers.snap"), other);
    tree.runner("gateway").run().exits(101).trials_are(&[
        (NAME, "ok"),
        ("two_callers", "FAILED"),
        ("retake::no_orphans", "ok"),
    ]);
}

fn a_golden_that_differs_between_two_runs_is_not_written_and_the_lines_are_shown() {
    for there in [true, false] {
        let tree = Tree::of(&[NAME]);
        if !there {
            tree.remove(GOLDEN);
        }
        let before = tree.files();
        updating(tree.runner("gateway")).env(routers::VARY, "1").run().exits(101).says(&[
            "unstable: two replays of scenario `write_read_file` differ, so nothing was written\n",
            "these lines vary from run to run:\n",
            "- metadata  {lucky_1, run_id, thread_id}\n",
            // The replay between them had the mark in its texts.
            "+ metadata  {lucky_3, run_id, thread_id}\n",
            "-   lucky_1    true\n+   lucky_3    true\n",
            "tried: neither `unordered`, `collapse` nor `loose` under [golden] makes the goldens equal\n",
            "if a value may vary:\n    a [[normalize]] rule in scenarios/suite.toml\n",
        ]);
        assert_eq!(tree.files(), before);
    }
}

fn updating_with_a_miss_or_an_unused_turn_writes_nothing() {
    for (a_turn_too_many, says) in [(false, "replay miss: "), (true, "unused: `subagent:poet` never asks")] {
        let tree = with_a_wrong_golden();
        fixtures::edit(&tree, NAME, |turns| {
            if a_turn_too_many {
                turns.push(fixtures::turn(Some("subagent:poet"), "A poem!", "Roses are red"));
            } else {
                turns.remove(3);
            }
        });
        let before = tree.files();
        updating(tree.runner("gateway")).run().exits(101).says(&[says]);
        assert_eq!(tree.files(), before);
    }
}

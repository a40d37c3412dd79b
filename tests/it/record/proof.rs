//! What varies from run to run is caught before a fixture is written, and named with the rule that mends it.

use crate::record::varying::{proposed, rules_of, scenario};
use crate::support::loopback::Service;
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { times_of_day_are_caught_and_their_rules_hold,
    dates_with_times_are_caught_and_their_rules_hold,
    counted_times_are_caught_and_their_rules_hold,
    ids_are_caught_and_their_rules_hold,
    paths_of_the_stage_are_caught_and_their_rules_hold,
    ports_and_the_like_are_caught_and_their_rules_hold,
    all_that_varies_is_named_in_one_report,
    items_in_another_order_are_not_mended_by_a_rule,
    a_date_is_caught_where_the_system_takes_another_day,
    a_date_that_was_not_varied_is_said_to_be_untested,
    free_text_gets_no_rule,
    a_prompt_that_varies_is_noted_with_its_rule,
    a_shown_value_that_varies_gets_a_rule,
    a_report_names_the_place_and_both_values,
    a_rule_that_makes_two_calls_equal_is_not_proposed,
    the_rules_are_resumed_with_at_no_cost,
    what_is_unstable_can_be_accepted_and_is_marked,
}

fn tree(kinds: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    tree.write("scenarios/look/scenario.toml", &scenario(kinds));
    tree
}

fn recorder(tree: &Tree, provider: &Service, action: &str) -> Program {
    let runner = tree.runner("varying").env("RETAKE_ACTION", action).env("RETAKE_ACTION_NAMES", "look");
    runner.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).env("OPENAI_API_KEY", "sk-of-the-provider")
}

/// Recording fails and proposes rules; with these it succeeds, and so does each later replay.
fn mended(kinds: &str) -> (Ran, usize) {
    let provider = Service::provider();
    let tree = tree(kinds);
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    assert!(!tree.has("fixtures/look.json") && !tree.has("goldens/look.snap"), "{kinds}");
    let refused = refused.says(&["look: not recorded: unstable: ", "two replays agree"]);
    let refused = refused.never_says("    retake record look\n");
    let rules = proposed(&refused.stderr);
    let count = rules_of(&rules).len();
    assert!(count > 0, "{kinds}: no rule in:\n{}", refused.stderr);
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{rules}"));
    recorder(&tree, &provider, "record").run().exits(0).says(&["recorded to fixtures/look.json, two replays agree"]);
    tree.runner("varying").run().exits(0);
    (refused, count)
}

fn times_of_day_are_caught_and_their_rules_hold() {
    for kind in ["clock", "clock-alone", "log", "nested"] {
        mended(kind);
    }
}

fn dates_with_times_are_caught_and_their_rules_hold() {
    for kind in ["rfc2822", "localized", "american"] {
        mended(kind);
    }
}

fn counted_times_are_caught_and_their_rules_hold() {
    for kind in ["seconds", "float", "nanos", "duration"] {
        mended(kind);
    }
}

fn ids_are_caught_and_their_rules_hold() {
    for kind in ["hex", "simple-uuid", "base62", "alone", "order"] {
        mended(kind);
    }
}

fn ports_and_the_like_are_caught_and_their_rules_hold() {
    for kind in ["port", "port-alone", "localhost", "run"] {
        mended(kind);
    }
}

/// A path in the temporary folder is replaced in each key: it varies and nobody minds.
#[expect(clippy::print_stderr, reason = "a check that was left out is said")]
fn paths_of_the_stage_are_caught_and_their_rules_hold() {
    for kind in ["other-path", "pid-file"] {
        mended(kind);
    }
    let provider = Service::provider();
    recorder(&tree("path"), &provider, "record").run().exits(0);
    // Not below a folder that is called `tmp`, as the checkout itself may be.
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let fits = |folder: &std::path::PathBuf| folder.is_dir() && !folder.to_string_lossy().contains("/tmp/");
    let Some(target) = [Some(target), Some("/dev/shm".into()), home].into_iter().flatten().find(fits) else {
        eprintln!("skipped: each folder of this machine is below one that is called `tmp`");
        return;
    };
    let elsewhere = tempfile::Builder::new().prefix("it-").tempdir_in(&target).unwrap();
    let tree = tree("path");
    let record = || recorder(&tree, &provider, "record").env("TMPDIR", elsewhere.path());
    let refused = record().run().exits(1).says(&["it is     the stage's folder"]);
    let rules = proposed(&refused.stderr);
    assert!(!rules.contains(target.to_str().unwrap()), "a path of this machine: {rules}");
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{rules}"));
    record().run().exits(0);
}

fn all_that_varies_is_named_in_one_report() {
    let (refused, rules) = mended("clock hex port-alone order nested");
    assert_eq!(rules, 5, "{}", refused.stderr);
    refused.says(&[
        "it is     a time of day",
        "it is     a random id",
        "it is     a number: <system> of the stage",
        "tried: with the rules below, two replays agree",
    ]);
}

fn items_in_another_order_are_not_mended_by_a_rule() {
    let provider = Service::provider();
    for kind in ["set", "listing", "object"] {
        let tree = tree(kind);
        let refused = recorder(&tree, &provider, "record").run().exits(1);
        refused
            .says(&[
                "varies    message 3 of 3 (tool `look`), in `content`",
                "it is     the same items in a different order",
                "a rule cannot undo a different order: let the tool or the system sort what it returns",
            ])
            .never_says("[[normalize]]");
        assert!(!tree.has("fixtures/look.json"));
    }
    // What else varies is told beside it.
    let refused = recorder(&tree("clock set"), &provider, "record").run().exits(1);
    refused.says(&["it is     a time of day", "it is     the same items in a different order"]);
}

fn a_date_is_caught_where_the_system_takes_another_day() {
    mended("day");
}

fn a_date_that_was_not_varied_is_said_to_be_untested() {
    let provider = Service::provider();
    let untested =
        "look: untested: a result of the tool `look` contains today's date, and the system does not honour RETAKE_DATE";
    recorder(&tree("real-day"), &provider, "record").run().exits(0).says(&[untested]);
    recorder(&tree("path"), &provider, "record").run().exits(0).never_says("untested");
}

fn free_text_gets_no_rule() {
    let provider = Service::provider();
    let refused = recorder(&tree("words"), &provider, "record").run().exits(1);
    refused
        .says(&["it is     different text", "retake record look --resume --accept-unstable"])
        .never_says("[[normalize]]");
}

/// It is not a part of a key; but it would be drift in each replay, and nothing could be resumed.
fn a_prompt_that_varies_is_noted_with_its_rule() {
    let provider = Service::provider();
    let recorded = recorder(&tree("prompt"), &provider, "record").run().exits(0);
    let note = "look: warning: the prompt of turns[0] varies from run to run: a time of day";
    recorded.says(&[note, "pattern = 'it is \\d{1,2}:\\d{2}:\\d{2}\\b'"]);
}

fn a_shown_value_that_varies_gets_a_rule() {
    let provider = Service::provider();
    let tree = tree("shown");
    tree.write("scenarios/look/scenario.toml", &(scenario("shown") + "[golden]\nshow = [\"/ticket\"]\n"));
    let refused = recorder(&tree, &provider, "record").run().exits(1).says(&[
        "unstable: two replays of scenario `look` differ",
        "these lines vary from run to run:",
        "tried: with the rules below, two replays agree",
    ]);
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{}", proposed(&refused.stderr)));
    recorder(&tree, &provider, "record").run().exits(0);
    tree.runner("varying").run().exits(0);
}

fn a_report_names_the_place_and_both_values() {
    let provider = Service::provider();
    let refused = recorder(&tree("path hex"), &provider, "record").run().exits(1);
    refused.says(&[
        "error: look: not recorded: unstable: what scenario `look` asks the model varies from run to run, so nothing was written",
        "  call      POST /v1/chat/completions of `unknown`, turns[2]",
        "  varies    message 5 of 5 (tool `look`), in `content`",
        "  recorded  ticket ",
        "  replayed  ticket ",
        "  it is     a random id",
        "tried: with the rules below, two replays agree",
        "if it may vary, add to scenarios/suite.toml:\n    [[normalize]]\n    pattern = 'ticket [0-9a-f]{8}'\n    replace = \"ticket <ID>\"",
        "and then, without paying again:\n    retake record look --resume",
        "to write it anyway, marked as unstable:\n    retake record look --resume --accept-unstable",
    ]);
}

/// Two conversations that differ in an order's number alone would be one.
fn a_rule_that_makes_two_calls_equal_is_not_proposed() {
    let provider = Service::provider();
    let tree = tree("order");
    tree.write("scenarios/look/scenario.toml", &scenario("order").repeat(2));
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    refused.says(&["it is     different text"]).never_says("[[normalize]]");
}

fn the_rules_are_resumed_with_at_no_cost() {
    let provider = Service::provider();
    let tree = tree("hex clock");
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    let rules = proposed(&refused.stderr);
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{rules}"));
    // No provider is there any more.
    let resumed =
        recorder(&tree, &provider, "record --resume").env("RETAKE_UPSTREAM_OPENAI", "http://127.0.0.1:1/v1").run();
    resumed.exits(0).says(&["look: 3 calls served from the recording, 0 calls sent to the provider"]);
    tree.runner("varying").run().exits(0);
}

fn what_is_unstable_can_be_accepted_and_is_marked() {
    let provider = Service::provider();
    let tree = tree("hex");
    let accepted = recorder(&tree, &provider, "record --accept-unstable").run().exits(0);
    let why = "turns[1] of `unknown`, message 3 of 3 (tool `look`), in `content`: a random id";
    accepted.says(&[
        "look: warning: written without a proof, because this varies:",
        why,
        "look: 2 turns recorded to fixtures/look.json, marked as unstable",
    ]);
    let fixture: serde_json::Value = serde_json::from_str(&tree.read("fixtures/look.json")).unwrap();
    assert_eq!(fixture["unstable"], serde_json::json!([why]));
    tree.runner("varying")
        .run()
        .exits(101)
        .says(&["fixtures/look.json was written without a proof, because this varied:"]);
    // A proof takes the mark away.
    tree.write("scenarios/look/scenario.toml", &scenario("path"));
    recorder(&tree, &provider, "record --accept-unstable").run().exits(0).says(&["two replays agree"]);
    assert!(!tree.read("fixtures/look.json").contains("unstable"));
}

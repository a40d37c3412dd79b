//! The proof finds what varies from run to run before a fixture is written, and proposes a rule for it.

use crate::record::varying::{proposed, rules_of, scenario};
use crate::support::loopback::Service;
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { times_of_day_are_found_and_their_rules_work,
    dates_with_times_are_found_and_their_rules_work,
    timestamps_and_durations_are_found_and_their_rules_work,
    ids_are_found_and_their_rules_work,
    paths_of_the_stage_are_found_and_their_rules_work,
    ports_and_run_names_are_found_and_their_rules_work,
    one_report_names_everything_that_varies,
    no_rule_is_proposed_for_items_in_another_order,
    a_date_moves_with_the_day_if_the_system_honours_retake_date,
    no_rule_is_proposed_for_free_text,
    a_prompt_that_varies_is_reported_with_a_rule,
    a_rule_is_proposed_for_a_shown_value_that_varies,
    a_report_names_the_place_and_both_values,
    a_rule_that_would_make_two_calls_equal_is_not_proposed,
    a_recording_is_resumed_with_the_rules_at_no_cost,
    digits_of_an_id_by_chance_are_no_number,
    a_rule_that_would_change_other_recordings_is_not_proposed,
    the_recorded_run_is_held_to_its_replays,
    where_the_recorded_run_cut_a_text_does_not_matter,
    an_unstable_recording_can_be_accepted_and_is_marked,
    what_varies_beside_a_call_is_marked_and_not_compared_again,
}

fn tree(kinds: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    tree.write("scenarios/look/scenario.toml", &scenario(kinds));
    tree
}

fn recorder(tree: &Tree, provider: &Service, action: &str) -> Program {
    let recorder = tree.recorder("varying", action, "look");
    recorder.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).env("OPENAI_API_KEY", "sk-of-the-provider")
}

/// Asserts that recording fails and proposes rules, and that it succeeds with these rules, as does a replay after it. Returns
/// the failed run and the number of rules.
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

fn times_of_day_are_found_and_their_rules_work() {
    for kind in ["clock", "clock-alone", "log", "nested"] {
        mended(kind);
    }
}

fn dates_with_times_are_found_and_their_rules_work() {
    for kind in ["rfc2822", "localized", "american"] {
        mended(kind);
    }
}

fn timestamps_and_durations_are_found_and_their_rules_work() {
    for kind in ["seconds", "float", "nanos", "duration"] {
        mended(kind);
    }
}

fn ids_are_found_and_their_rules_work() {
    for kind in ["hex", "simple-uuid", "base62", "alone", "order"] {
        mended(kind);
    }
}

fn ports_and_run_names_are_found_and_their_rules_work() {
    for kind in ["port-alone", "run"] {
        mended(kind);
    }
}

/// Paths in the temporary folder may vary, because every key replaces them. Other paths need a rule.
#[expect(clippy::print_stderr, reason = "it says that a check is skipped")]
fn paths_of_the_stage_are_found_and_their_rules_work() {
    for kind in ["other-path", "pid-file"] {
        mended(kind);
    }
    let provider = Service::provider();
    recorder(&tree("path"), &provider, "record").run().exits(0);
    // The rest needs a folder that is not below one called `tmp`, as the checkout itself may be.
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let fits = |folder: &std::path::PathBuf| folder.is_dir() && !folder.to_string_lossy().contains("/tmp/");
    let Some(target) = [Some(target), Some("/dev/shm".into()), home].into_iter().flatten().find(fits) else {
        eprintln!("skipped: every usable folder on this machine is below one called `tmp`");
        return;
    };
    let elsewhere = tempfile::Builder::new().prefix("it-").tempdir_in(&target).unwrap();
    // The stage's own places need no rule.
    for kind in ["path", "port", "localhost"] {
        recorder(&tree(kind), &provider, "record").env("TMPDIR", elsewhere.path()).run().exits(0);
    }
}

fn one_report_names_everything_that_varies() {
    let (refused, rules) = mended("clock hex port-alone order nested");
    assert_eq!(rules, 5, "{}", refused.stderr);
    refused.says(&[
        "it is     a time of day",
        "it is     a random id",
        "it is     a number: <system> of the stage",
        "tried: with the rules below, two replays agree",
    ]);
}

fn no_rule_is_proposed_for_items_in_another_order() {
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
    // Other things that vary are reported as well.
    let refused = recorder(&tree("clock set"), &provider, "record").run().exits(1);
    refused.says(&["it is     a time of day", "it is     the same items in a different order"]);
}

/// The proof's second replay has another day, so its call is found by the day of the recording, and needs no rule.
fn a_date_moves_with_the_day_if_the_system_honours_retake_date() {
    let provider = Service::provider();
    let tree = tree("day");
    let recorded = recorder(&tree, &provider, "record").run().exits(0);
    recorded.says(&["recorded to fixtures/look.json, two replays agree"]).never_says("rule");
    tree.runner("varying").run().exits(0);
    // What a router that asks for the day says to a tool moves with it.
    let (tree, fleet) = (self::tree("free"), Service::start(axum::Router::new().fallback(async || "free")));
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n[tools.fleet]\nhttp = \"{}\"\n", fleet.openai()));
    recorder(&tree, &provider, "record").run().exits(0);
    let fixture = tree.read("fixtures/look.json");
    assert!(fixture.contains("\"dates_stay\": false"), "{fixture}");
}

fn no_rule_is_proposed_for_free_text() {
    let provider = Service::provider();
    let refused = recorder(&tree("words"), &provider, "record").run().exits(1);
    refused
        .says(&["it is     different text"])
        .never_says("[[normalize]]")
        // With that fixture, each run would miss.
        .never_says("--accept-unstable");
}

/// The prompt is not part of a key, but each replay would report it as drift, and no recording could be resumed.
fn a_prompt_that_varies_is_reported_with_a_rule() {
    let provider = Service::provider();
    let recorded = recorder(&tree("prompt"), &provider, "record").run().exits(0);
    let note = "look: warning: the prompt of turn 1 varies from run to run: a time of day";
    recorded.says(&[note, "pattern = 'it is \\d{1,2}:\\d{2}:\\d{2}\\b'"]);
}

fn a_rule_is_proposed_for_a_shown_value_that_varies() {
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
        "  call      POST /v1/chat/completions, turn 3",
        "  varies    message 5 of 5 (tool `look`), in `content`",
        "  recorded  ticket ",
        "  replayed  ticket ",
        "  it is     a random id",
        "tried: with the rules below, two replays agree",
        "if it may vary, add to scenarios/suite.toml:\n    [[normalize]]\n    pattern = \"ticket [0-9a-f]{8}\"\n    replace = \"ticket <ID>\"",
        "and then, without paying again:\n    retake record look --resume",
    ]);
}

/// With such a rule, two conversations that differ only in the number of an order would have the same key.
fn a_rule_that_would_make_two_calls_equal_is_not_proposed() {
    let provider = Service::provider();
    let tree = tree("order");
    tree.write("scenarios/look/scenario.toml", &scenario("order").repeat(2));
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    refused.says(&["it is     different text"]).never_says("[[normalize]]");
}

fn digits_of_an_id_by_chance_are_no_number() {
    let (refused, _) = mended("four");
    refused.says(&["pattern = \"ticket [0-9a-f]{4}\""]);
}

/// Four rules of one form would be replaced by one without the text around it, which also matches plain words.
fn a_rule_that_would_change_other_recordings_is_not_proposed() {
    let provider = Service::provider();
    let tree = tree("four-places");
    let refused = recorder(&tree, &provider, "record").run().exits(1).says(&["pattern = '\\b[0-9a-z]{12}\\b'"]);
    assert_eq!(rules_of(&proposed(&refused.stderr)).len(), 1);
    tree.write("scenarios/other/scenario.toml", &scenario("twelve"));
    let of_other = tree.recorder("varying", "record", "other");
    of_other
        .env("RETAKE_UPSTREAM_OPENAI", provider.openai())
        .env("OPENAI_API_KEY", "sk-of-the-provider")
        .run()
        .exits(0);
    let refused = recorder(&tree, &provider, "record").run().exits(1).says(&["two replays agree"]);
    let rules = proposed(&refused.stderr);
    assert_eq!(rules_of(&rules).len(), 4, "{rules}");
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{rules}"));
    recorder(&tree, &provider, "record").run().exits(0);
    tree.runner("varying").run().exits(0);
}

fn a_recording_is_resumed_with_the_rules_at_no_cost() {
    let provider = Service::provider();
    let tree = tree("hex clock");
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    let rules = proposed(&refused.stderr);
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{rules}"));
    // The provider is no longer reachable.
    let resumed =
        recorder(&tree, &provider, "record --resume").env("RETAKE_UPSTREAM_OPENAI", "http://127.0.0.1:1/v1").run();
    resumed.exits(0).says(&["look: 3 calls served from the recording, 0 calls sent to the provider"]);
    tree.runner("varying").run().exits(0);
}

fn the_recorded_run_is_held_to_its_replays() {
    let provider = Service::provider();
    let tree = tree("live");
    let refused = recorder(&tree, &provider, "record").run().exits(1);
    let refused = refused.says(&[
        "look: not recorded: while it was recorded, the service sent something else: the event `waiting` came, which the replay lacks",
        "+ waiting",
        "if only time brings this, add under [golden] in scenarios/look/scenario.toml:\n    ignore = [\"waiting\"]",
        "retake record look --resume\n",
    ]);
    drop(refused);
    assert!(!tree.has("fixtures/look.json") && !tree.has("goldens/look.snap"));
    let resume =
        |action: &str| recorder(&tree, &provider, action).env("RETAKE_UPSTREAM_OPENAI", "http://127.0.0.1:1/v1").run();
    // The journal has stayed.
    resume("record --resume").exits(1).says(&["2 calls served from the recording", "the event `waiting` came"]);
    tree.write("scenarios/look/scenario.toml", &(scenario("live") + "[golden]\nignore = [\"waiting\"]\n"));
    resume("record --resume").exits(0);
    tree.runner("varying").run().exits(0);
    tree.write("scenarios/look/scenario.toml", &scenario("live"));
    let accepted = recorder(&tree, &provider, "record --accept-unstable").run().exits(0);
    accepted.says(&["warning: written although while it was recorded, the service sent something else"]);
    assert!(tree.read("fixtures/look.json").contains("the event `waiting` came"));
}

fn where_the_recorded_run_cut_a_text_does_not_matter() {
    let provider = Service::provider();
    recorder(&tree("cut"), &provider, "record").run().exits(0).says(&["two replays agree"]);
}

fn an_unstable_recording_can_be_accepted_and_is_marked() {
    let provider = Service::provider();
    let tree = tree("hex");
    let accepted = recorder(&tree, &provider, "record --accept-unstable").run().exits(0);
    let why = "turn 2, message 3 of 3 (tool `look`), in `content`: a random id";
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
    // A recording that passes the proof removes the mark.
    tree.write("scenarios/look/scenario.toml", &scenario("path"));
    recorder(&tree, &provider, "record --accept-unstable").run().exits(0).says(&["two replays agree"]);
    assert!(!tree.read("fixtures/look.json").contains("unstable"));
}

fn what_varies_beside_a_call_is_marked_and_not_compared_again() {
    let provider = Service::provider();
    let tree = tree("beside");
    for drift in ["", "drift = { settings = \"fail\", extra = \"fail\" }\n"] {
        tree.write("scenarios/suite.toml", &format!("{drift}settle = \"100ms\"\n"));
        let recorded = recorder(&tree, &provider, "record").run().exits(0);
        recorded.says(&["two replays agree"]).never_says("varies").never_says("drift");
        let fixture = tree.read("fixtures/look.json");
        for marked in ["seed", "user", "trace", "again", "tags"] {
            assert!(fixture.contains(&format!("\\\"{marked}\\\": \\\"<varies>\\\"")), "{marked}: {fixture}");
        }
        assert_eq!(fixture.matches("<varies>").count(), 5, "{fixture}");
        for _ in 0..3 {
            tree.runner("varying").run().exits(0).never_says("note: ");
        }
        // What else changes is told, with its place.
        for (was, is, told) in [
            ("\\\"team\\\": \\\"a\\\"", "\\\"team\\\": \\\"c\\\"", "`/metadata/team`"),
            ("temperature\\\": 1", "temperature\\\": 2", "`/temperature`"),
        ] {
            tree.write("fixtures/look.json", &fixture.replace(was, is));
            let run = tree.runner("varying").run();
            let run = if drift.is_empty() { run.exits(0).says(&["note: look: drift: "]) } else { run.exits(101) };
            run.says(&[told]);
        }
        // Recorded again, it is as it is sent now, though nothing else changed.
        recorder(&tree, &provider, "record").run().exits(0);
        let without_minute =
            |text: &str| text.lines().filter(|line| !line.contains("\"recorded\"")).collect::<Vec<_>>().join("\n");
        let again = tree.read("fixtures/look.json");
        assert_eq!(without_minute(&again), without_minute(&fixture));
        let fixture = again;
        // A fixture that has no marks gets them, without a model.
        let unmarked = fixture.replace("\\\"seed\\\": \\\"<varies>\\\"", "\\\"seed\\\": 7");
        assert_ne!(unmarked, fixture);
        tree.write("fixtures/look.json", &unmarked);
        let updated = tree.runner("varying").env("UPDATE_GOLDEN", "1").run().exits(0);
        updated.says(&["with the values marked that vary from run to run"]);
        assert_eq!(tree.read("fixtures/look.json"), fixture);
        tree.remove("fixtures/look.json");
        tree.remove("goldens/look.snap");
    }
}

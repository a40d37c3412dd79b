//! What an audit prints, and its exit code.

use std::sync::LazyLock;

use serde_json::Value;

use crate::support::program::Ran;
use crate::support::tree::Tree;
use crate::systems::described::{CHAT, READY, system};
use crate::systems::provider::record;

tests! { each_scenario_has_a_line_with_its_score_and_all_have_a_total,
    unnoticed_changes_are_listed_with_a_setting_that_notices_them,
    a_golden_notices_more_with_types_than_with_keys,
    a_score_below_the_minimum_fails_and_both_are_printed,
    a_scenario_that_fails_is_not_audited_and_fails_the_audit,
    one_scenario_is_audited_by_name_and_an_unknown_name_is_an_error,
    json_has_a_version_and_contains_everything_that_is_printed,
    two_audits_give_the_same_result_and_write_nothing,
    the_command_audits_systems_that_are_commands,
}

const NAME: &str = "write_read_file";

/// Runs an audit as a user does.
pub(crate) fn audited(tree: &Tree, system: &str, action: &str) -> Ran {
    tree.recorder(system, action, "").run()
}

/// What an audit of `NAME` says as JSON, with goldens of keys, of types and of values. Each costs a run, so the tests share them.
static AS_JSON: LazyLock<[Value; 3]> = LazyLock::new(|| {
    let tree = Tree::of(&[NAME]);
    // The goldens are of types.
    [" --detail=keys", "", " --detail=values"].map(|detail| {
        let run = audited(&tree, "gateway", &format!("audit --json{detail}")).exits(0);
        serde_json::from_str(&run.stdout).unwrap()
    })
});

fn each_scenario_has_a_line_with_its_score_and_all_have_a_total() {
    let run = audited(&Tree::of(&[NAME, "two_callers"]), "gateway", "audit").exits(0);
    let line = |name: &str| run.stdout.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let words = line(NAME).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let score: f64 = words[1].parse().unwrap();
    assert!((0.3..=1.0).contains(&score), "{words:?}");
    assert_eq!((&*words[3], &*words[5], &*words[6]), ("of", "types", "2026-01-10,"), "{words:?}");
    assert!(line("all ").contains(" of "), "{}", run.stdout);
    for kind in ["drop an event", "change a type", "swap two ids", "change the content type"] {
        assert!(run.stdout.contains(kind), "{kind}: {}", run.stdout);
    }
    let long: Vec<&str> = run.stdout.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:?}");
}

fn unnoticed_changes_are_listed_with_a_setting_that_notices_them() {
    let tree = Tree::of(&[NAME]);
    let json = &AS_JSON[0];
    let unnoticed = json["scenarios"][0]["unnoticed"].as_array().unwrap();
    let of = |kind: &str, place: &str| unnoticed.iter().find(|one| one["kind"] == kind && one["place"] == place);
    let deep = of("drop a key", "/messages/*/response_metadata/token_usage/total_tokens").unwrap();
    assert_eq!(deep["setting"]["with"], "detail = \"types\"", "{deep}");
    assert_eq!(deep["event"], "values", "{deep}");
    let run = audited(&tree, "gateway", "audit --all --detail=keys").exits(0);
    run.says(&["unnoticed; noticed with detail = \"types\"", "drop a key", "values /messages/*/"]);
}

fn a_golden_notices_more_with_types_than_with_keys() {
    let score = |at: usize, detail: &str| {
        let scenario = &AS_JSON[at]["scenarios"][0];
        assert_eq!(scenario["detail"], detail);
        assert_eq!(scenario["kinds"].get("change a value").is_some(), detail == "values", "{}", scenario["kinds"]);
        scenario["kinds"]["drop a key"]["noticed"].as_u64().unwrap()
    };
    let (keys, types, values) = (score(0, "keys"), score(1, "types"), score(2, "values"));
    assert!(keys < types && keys < values, "{keys} {types} {values}");
}

fn a_score_below_the_minimum_fails_and_both_are_printed() {
    let tree = Tree::of(&[NAME]);
    audited(&tree, "gateway", "audit --min-score=0.1").exits(0).never_says("--min-score");
    audited(&tree, "gateway", "audit --detail=keys --min-score=0.99").exits(1).says(&[
        "all ",
        "error: the score is 0.",
        "below --min-score 0.99",
    ]);
    tree.retake().args(&["audit", "--min-score", "2"]).run().exits(2).says(&["expected a number from 0 to 1"]);
}

fn a_scenario_that_fails_is_not_audited_and_fails_the_audit() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    tree.replace(&format!("goldens/{NAME}.snap"), "tool_result\n", "tool_outcome\n");
    let run = audited(&tree, "gateway", "audit").exits(1);
    run.says(&[
        &format!("{NAME}: not audited, it fails (retake test {NAME}): its events differ from its golden"),
        "all ",
    ]);
    tree.remove("fixtures/two_callers.json");
    audited(&tree, "gateway", "audit").exits(1).says(&[
        "two_callers",
        "not audited, it fails (retake test two_callers): ",
        "has no fixture",
    ]);
}

fn one_scenario_is_audited_by_name_and_an_unknown_name_is_an_error() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    let named = |name: &str| tree.recorder("gateway", "audit", name).run();
    named("two_callers").exits(0).says(&["two_callers"]).never_says(NAME);
    named("caller").exits(0).says(&["two_callers"]).never_says(NAME);
    named("two_calers").exits(2).says(&["no scenario is called `two_calers`", "did you mean `two_callers`?"]);
}

fn json_has_a_version_and_contains_everything_that_is_printed() {
    let json = &AS_JSON[1];
    assert_eq!(json["format"], "retake-audit/1");
    let scenario = &json["scenarios"][0];
    assert_eq!(scenario["name"], NAME);
    assert_eq!(scenario["fixture"], format!("fixtures/{NAME}.json"));
    assert_eq!(json["score"], scenario["score"]);
    assert!(json["kinds"]["drop an event"]["tried"].as_u64().unwrap() > 5, "{}", json["kinds"]);
    assert_eq!(scenario["keys"]["tool result"]["noticed"], scenario["keys"]["tool result"]["tried"]);
    assert!(scenario["keys"]["text of an answer"]["in_no_later_call"].as_u64().unwrap() > 0, "{}", scenario["keys"]);
    let fixture = &json["fixtures"][0];
    assert_eq!((&fixture["recorded"], &fixture["secrets"]), (&"2026-01-10".into(), &Value::Array(Vec::new())));
    assert!(fixture["age_days"].as_u64().unwrap() > 300);
    assert_eq!(json["rules"], Value::Array(Vec::new()));
}

fn two_audits_give_the_same_result_and_write_nothing() {
    let tree = Tree::of(&[NAME]);
    let mut before = tree.files();
    let [first, second] = [(); 2].map(|()| audited(&tree, "gateway", "audit --all --detail=values").exits(0).stdout);
    assert_eq!(first, second);
    let mut after = tree.files();
    for files in [&mut before, &mut after] {
        files.retain(|name, _| !name.starts_with(".retake/"));
    }
    assert_eq!(before, after);
    tree.recorder("gateway", "audit", "").env("CI", "1").env("UPDATE_GOLDEN", "1").run().exits(0);
}

fn the_command_audits_systems_that_are_commands() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    record(&tree, &["chat"]).green();
    tree.retake().args(&["audit"]).run().exits(0).says(&["scenario", "chat", "all ", "noticed, by kind of change"]);
    tree.retake().args(&["audit", "chats"]).run().exits(2).says(&["no scenario is called `chats`"]);
    assert_eq!(tree.left(), [""; 0]);
}

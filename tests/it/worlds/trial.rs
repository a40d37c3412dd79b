//! The trial `NAME::worlds` and `retake worlds`, on the gateway.

use serde_json::Value;

use crate::support::tree::Tree;

tests! { the_table_of_worlds_is_a_golden,
    a_fault_that_nobody_accepted_fails_the_command,
    a_world_is_shown_beside_the_recorded_run,
    settings_of_worlds_have_an_effect,
    a_wrong_name_of_a_world_is_an_error_with_the_nearest_one,
    the_same_table_comes_again_and_again,
}

const NAME: &str = "write_read_file";
const TABLE: &str = "goldens/worlds/write_read_file.snap";
const SILENT: &str = "turns 1..3 lead_agent  nothing  SILENT  the client saw 0 of 61 characters, and no error";

/// A project whose scenario runs these worlds.
fn with(worlds: &str) -> Tree {
    let tree = Tree::of(&[NAME]);
    let file = format!("scenarios/{NAME}/scenario.toml");
    let scenario = tree.read(&file);
    tree.write(&file, &format!("worlds = {worlds}\n{scenario}"));
    tree
}

fn the_table_of_worlds_is_a_golden() {
    let tree = with("[\"nothing\", \"rate-limit\"]");
    let ran = tree.runner("gateway").run().exits(101);
    let ran = ran.says(&[
        "SILENT in the world turn1/nothing: the client saw 0 of 61 characters, and no error",
        "it would contain:\n+ turns 1..3 lead_agent  rate-limit  recovered  in 2 attempts\n",
        &format!("+ {SILENT}\n"),
        "retake explain write_read_file --world turn1/nothing\n",
        "UPDATE_GOLDEN=1 cargo test --test scenarios write_read_file::worlds",
    ]);
    ran.trials_are(&[(NAME, "ok"), ("write_read_file::worlds", "FAILED"), ("retake::no_orphans", "ok")]);
    assert!(tree.has(&format!("{TABLE}.new")) && !tree.has(TABLE));

    tree.retake().args(&["accept", NAME]).run().exits(2);
    tree.recorder("gateway", "accept", NAME)
        .run()
        .exits(0)
        .says(&["accepted, the service does what its table says: goldens/worlds/write_read_file.snap"]);
    assert!(tree.read(TABLE).contains(SILENT) && !tree.has(&format!("{TABLE}.new")));
    let ran = tree.runner("gateway").run().exits(0);
    ran.tells(&["write_read_file::worlds: worlds: 3 lines accepted as failing"]);

    // Any other line is red: here the service is better than its table says.
    tree.replace(TABLE, SILENT, &SILENT.replace("1..3", "1..4"));
    let ran = tree.runner("gateway").run().exits(101);
    let ran = ran.says(&["the service does something else in its worlds than its table says"]);
    assert_eq!(ran.diff()[0], "- turn 4 lead_agent  nothing  SILENT  the client saw 0 of 61 characters, and no error");
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").args(&["write_read_file::worlds"]).run().exits(0);
    assert!(tree.read(TABLE).contains(SILENT));
    tree.runner("gateway").run().exits(0);

    // A table without a scenario that has worlds belongs to nobody.
    let file = format!("scenarios/{NAME}/scenario.toml");
    tree.replace(&file, "worlds = [\"nothing\", \"rate-limit\"]\n", "");
    tree.runner("gateway").run().exits(101).says(&[TABLE]);
}

fn a_fault_that_nobody_accepted_fails_the_command() {
    let tree = Tree::of(&[NAME]);
    let worlds = |options: &str| tree.recorder("gateway", &format!("worlds{options}"), NAME);
    let before = tree.files();
    let ran = worlds(" --world=nothing").run().exits(1);
    ran.says(&["! turns 1..3 lead_agent    nothing  SILENT", "4 worlds, 3 not accepted"]);
    worlds(" --world=rate-limit --jobs=1").run().exits(0).says(&["none fails that is not accepted"]);
    worlds(" --turn=2 --world=turn2/cut-clean/3").run().exits(0).says(&["turn 2 lead_agent  cut-clean 3/7  other"]);
    let json: Value = serde_json::from_str(&worlds(" --world=nothing --turn=4 --json").run().exits(0).stdout).unwrap();
    assert_eq!(json["format"], "retake-worlds/1");
    let world = &json["scenarios"][0]["worlds"][0];
    assert_eq!(world["world"], "turn4/nothing");
    assert_eq!((&world["verdict"], &world["fails"]), (&Value::from("other"), &Value::from(false)));
    assert_eq!(tree.files(), before);
}

fn a_world_is_shown_beside_the_recorded_run() {
    let tree = with("\"nothing\"");
    tree.runner("gateway").run().exits(101);
    let explain = |world: &str| tree.retake().args(&["explain", NAME, "--world", world]).run();
    let said = explain("turn3/nothing").exits(1);
    said.says(&[
        "turn 3 lead_agent, nothing: SILENT  the client saw 0 of 61 characters, and no error",
        "unchanged lines",
        "I wrote",
    ]);
    explain("turn4/nothing").exits(0);
    explain("nothing").exits(1).says(&["turn 1 lead_agent", "turn 4 middleware:title"]);
    explain("turn9/nothing").exits(2).says(&["did you mean `turn"]);
    tree.retake().args(&["explain", "other", "--world", "nothing"]).run().exits(2).says(&["retake worlds other"]);
    let out = tree.path("report.html");
    tree.retake().args(&["report", "--out"]).arg(&out).run();
    let page = std::fs::read_to_string(out).unwrap();
    assert!(
        page.contains("<th scope=\"col\">nothing</th>") && page.contains("class=\"badtext\">SILENT</td>"),
        "{page}"
    );
}

/// `max`, `times`, `calls`, and words of the suite.
fn settings_of_worlds_have_an_effect() {
    let tree = with("{ of = \"rate-limit\", times = 2 }");
    let update = || tree.runner("gateway").env("UPDATE_GOLDEN", "1").run();
    update().exits(0);
    assert!(tree.read(TABLE).contains("turns 1..3 lead_agent  rate-limit  recovered  in 3 attempts\n"));
    let file = format!("scenarios/{NAME}/scenario.toml");
    tree.replace(&file, "times = 2", "calls = 1");
    update().exits(0);
    assert!(tree.read(TABLE).contains("turns 1..3 lead_agent  rate-limit  storm  more than 1 call\n"));
    tree.replace(&file, "calls = 1", "max = 2");
    update().exits(0);
    assert!(tree.read(TABLE).contains("2 of 4 worlds, chosen evenly\n"));
    // A word of the service's own.
    tree.replace(&file, "{ of = \"rate-limit\", max = 2 }", "\"length\"");
    update().exits(0);
    assert!(tree.read(TABLE).contains("turn 3 lead_agent  length  other  200, finish_reason \"length\"\n"));
    tree.write("scenarios/suite.toml", &format!("error_words = [\"length\"]\n{}", tree.read("scenarios/suite.toml")));
    update().exits(0);
    assert!(tree.read(TABLE).contains("turn 3 lead_agent  length  reported  finish_reason \"length\"\n"));
    // The suite's worlds are those of each scenario that names none.
    tree.replace(&file, "worlds = \"length\"\n", "");
    tree.write("scenarios/suite.toml", "worlds = [\"reset\"]\n");
    update().exits(0);
    assert!(tree.read(TABLE).contains("lead_agent  reset  "), "{}", tree.read(TABLE));
}

fn a_wrong_name_of_a_world_is_an_error_with_the_nearest_one() {
    let tree = with("[\"cut-clea\"]");
    let ran = tree.runner("gateway").run().exits(101);
    ran.says(&["`cut-clea` is neither a fault nor a family of faults", "did you mean `cut-clean`?"]);
    let tree = Tree::of(&[NAME]);
    tree.recorder("gateway", "worlds --world=tranport", "").run().exits(2).says(&["did you mean `transport`?"]);
}

fn the_same_table_comes_again_and_again() {
    let tree = with("[\"cut-clean\", \"cut-dirty\", \"length-in-tool-call\", \"framing-seeded\"]");
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0);
    let rows = std::env::var("RETAKE_MATRICES").ok().and_then(|rows| rows.parse().ok()).unwrap_or(2);
    for _ in 0..rows {
        tree.runner("gateway").env("CI", "1").run().exits(0);
    }
}

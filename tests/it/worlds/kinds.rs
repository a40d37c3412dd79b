//! Worlds of systems that are shared or start slowly, of a model that never ends, and of scenarios that can have none.

use super::guide::recorded;
use crate::support::tree::Tree;

tests! { shared_and_slow_systems_have_the_table_of_any_other, a_model_that_never_ends_is_a_service_that_hangs,
a_scenario_with_a_page_has_no_worlds }

const TABLE: &str = "goldens/worlds/poem.snap";

/// The guide's service with this line before its own, and with a scenario that runs these worlds.
fn with_worlds(system: &str, begins: &str, worlds: &str) -> Tree {
    let tree = recorded(system);
    tree.write("app.py", &format!("{begins}\n{}", tree.read("app.py")));
    tree.write(
        "scenarios/poem/scenario.toml",
        &format!("worlds = {worlds}\n{}", tree.read("scenarios/poem/scenario.toml")),
    );
    tree
}

/// Its table.
fn table(worlds: &str) -> String {
    let tree = with_worlds("", "", worlds);
    tree.retake().args(&["test", "--update", "poem::worlds"]).run().exits(0);
    // The table holds in the next run.
    tree.retake().args(&["test"]).run().exits(0);
    tree.read(TABLE)
}

fn shared_and_slow_systems_have_the_table_of_any_other() {
    let worlds = "[\"rate-limit\", \"cut-clean\", \"nothing\", \"framing\"]";
    let plain = table(worlds);
    assert!(plain.contains("SILENT") && plain.contains("recovered"), "{plain}");
    // How long it takes to start is what the test is about: it is not waited for here.
    for (system, begins) in [("", "import time; time.sleep(1.2)"), ("shared = true\n", "")] {
        let tree = with_worlds(system, begins, worlds);
        tree.write(TABLE, &plain);
        tree.retake().args(&["test"]).run().exits(0);
    }
}

fn a_model_that_never_ends_is_a_service_that_hangs() {
    let table = table("[\"hang\", \"stall\"]\ntimeout = \"10s\"");
    let lines: Vec<&str> = table.lines().skip_while(|line| !line.starts_with("turn ")).collect();
    assert!(
        lines[0].starts_with("turn 1  hang  hung  waits for an answer: a timeout of the model's client"),
        "{table}"
    );
    assert!(lines.len() > 1, "{table}");
    for line in &lines[1..] {
        assert!(line.contains("  hung  waits for the rest: a read timeout of the model's client"), "{table}");
    }
}

fn a_scenario_with_a_page_has_no_worlds() {
    let tree = recorded("");
    let page = "worlds = true\nfixture = \"poem\"\n[[step]]\nbrowser = \"/\"\ndo = [{ see = \"Roses\" }]\n";
    tree.write("scenarios/page/scenario.toml", page);
    let said = ["a scenario with pages has no worlds", "give it to the scenario that sends the same requests"];
    tree.retake().args(&["test"]).run().exits(1).says(&said);
    tree.retake().args(&["worlds", "page"]).run().exits(2).says(&said);
}

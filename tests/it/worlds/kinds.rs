//! Worlds of systems that are shared or start slowly, of a model that never ends, and of scenarios that can have none.

use super::guide::recorded;

tests! { shared_and_slow_systems_have_the_table_of_any_other, a_model_that_never_ends_is_a_service_that_hangs,
a_scenario_with_a_page_has_no_worlds }

const TABLE: &str = "goldens/worlds/poem.snap";

/// The table of the guide's service in these worlds, and how often it was started for them.
fn table(system: &str, begins: &str, worlds: &str) -> (String, usize) {
    let tree = recorded(system);
    let service = tree.read("app.py");
    tree.write("app.py", &format!("{begins}\nopen(os.environ[\"STARTS\"], \"a\").write(\"x\")\n{service}"));
    let starts = tree.path("starts");
    let suite = tree.read("scenarios/suite.toml");
    tree.write(
        "scenarios/suite.toml",
        &suite.replace("env     = { ", &format!("env     = {{ STARTS = \"{}\", ", starts.display())),
    );
    let scenario = tree.read("scenarios/poem/scenario.toml");
    tree.write("scenarios/poem/scenario.toml", &format!("worlds = {worlds}\n{scenario}"));
    tree.retake().args(&["test", "--update", "poem::worlds"]).run().exits(0);
    let started = tree.read("starts").len();
    // The table holds in the next run.
    tree.retake().args(&["test"]).run().exits(0);
    (tree.read(TABLE), started)
}

fn shared_and_slow_systems_have_the_table_of_any_other() {
    let worlds = "[\"rate-limit\", \"cut-clean\", \"nothing\", \"framing\"]";
    let (plain, started) = table("", "import os", worlds);
    assert!(plain.contains("SILENT") && plain.contains("recovered"), "{plain}");
    // What takes so long here is what the test is about.
    let (slow, started_slowly) = table("", "import os, time\ntime.sleep(1.2)", worlds);
    assert_eq!(slow, plain);
    let (shared, started_shared) = table("shared = true\n", "import os", worlds);
    assert_eq!(shared, plain);
    assert!(started_slowly < started && started_shared < started, "{started}, {started_slowly}, {started_shared}");
}

fn a_model_that_never_ends_is_a_service_that_hangs() {
    let (table, _) = table("", "import os", "[\"hang\", \"stall\"]");
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
}

//! The data of a run: every runner writes it, whether the run passes or fails, and `retake explain` shows it.

use serde_json::Value;

use crate::support::fixtures;
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { the_data_of_a_run_contains_steps_calls_events_and_golden_with_their_times,
    a_run_with_a_miss_is_explained_call_by_call,
    the_data_of_a_run_contains_both_texts_of_a_golden_that_differs,
    the_data_of_a_run_that_reached_its_time_limit_shows_how_far_it_got,
    a_scenario_that_cannot_be_read_leaves_the_data_of_a_failed_run,
    each_process_of_nextest_writes_its_own_data_and_keeps_that_of_others,
    the_data_of_a_removed_scenario_is_removed,
    the_data_of_a_run_contains_no_secret,
    a_run_passes_even_if_its_data_cannot_be_written,
    explain_names_the_command_to_run_if_a_scenario_never_ran,
    explain_prints_the_data_of_a_run_as_json_that_fits_its_schema,
    the_data_of_an_older_version_is_told_to_be_old,
}

const NAME: &str = "write_read_file";

/// Returns the data of a scenario's last run.
fn data(tree: &Tree, name: &str) -> Value {
    serde_json::from_str(&tree.read(&format!(".retake/runs/{name}.json"))).unwrap()
}

/// Returns a project in which a tool result differs from the recorded one.
fn that_misses() -> Tree {
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        fixtures::change_word(turns[2].conversation.last_mut().unwrap(), "replay", "rehearsal");
    });
    tree
}

fn explain(tree: &Tree, name: &str) -> Program {
    tree.retake().args(&["explain", name]).env("COLUMNS", "80")
}

fn the_data_of_a_run_contains_steps_calls_events_and_golden_with_their_times() {
    let tree = Tree::of(&[NAME]);
    tree.runner("gateway").run().exits(0);
    let run = data(&tree, NAME);
    assert_eq!(
        (&run["format"], &run["scenario"], &run["result"]),
        (&"retake-run/2".into(), &NAME.into(), &"passed".into())
    );
    let (steps, calls) = (run["steps"].as_array().unwrap(), run["calls"].as_array().unwrap());
    assert_eq!((steps.len(), calls.len()), (3, 4));
    assert_eq!((&steps[0]["status"], &steps[2]["events"][0]["name"]), (&"201".into(), &"metadata".into()));
    assert_eq!(calls[0]["turn"]["tool_calls"][0]["name"], "write_file");
    assert_eq!(calls[1]["asked"][0]["kind"], "tool `write_file`");
    assert_eq!(calls[2]["turn"]["tokens"]["input"], 201);
    let at = |call: &Value| call["at_ms"].as_f64().unwrap();
    assert!(
        at(&steps[2]) < at(&calls[0])
            && at(&calls[0]) < at(&calls[3])
            && at(&calls[3]) < run["took_ms"].as_f64().unwrap()
    );
    assert!(run["golden"]["committed"].as_str().unwrap().contains("metadata") && run["golden"]["run"].is_null());
    assert_eq!(tree.read(".retake/.gitignore"), "*\n");
    explain(&tree, NAME).run().exits(0).says(&["write_read_file: passed", "1. lead_agent", "turn 1, 66 + 40 tokens"]);
}

fn a_run_with_a_miss_is_explained_call_by_call() {
    let tree = that_misses();
    tree.runner("gateway").run().exits(101);
    let run = data(&tree, NAME);
    assert_eq!(run["result"], "failed");
    assert!(run["calls"][2]["miss"]["evidence"].as_array().unwrap().len() > 1, "{run}");
    let told = explain(&tree, NAME).run().exits(1).says(&[
        "write_read_file: FAILED",
        "replay miss: ",
        "2. lead_agent, 3 messages",
        "turn 2",
        "3. lead_agent, 5 messages",
        "MISS",
        "asked     tool `read_file`: hi from replay.",
        "missed    ",
        "difference",
        "turns that no call asked for",
        "turn 3 by `lead_agent`",
        "if the change is intended:\n    retake record write_read_file",
    ]);
    let long = told.stdout.lines().filter(|line| line.chars().count() > 80).collect::<Vec<_>>();
    assert!(long.is_empty(), "{long:#?}");
    // Without a name, it explains every scenario that failed.
    tree.retake().arg("explain").run().exits(1).says(&["write_read_file: FAILED"]);
}

fn the_data_of_a_run_contains_both_texts_of_a_golden_that_differs() {
    let tree = Tree::of(&[NAME]);
    tree.replace("goldens/write_read_file.snap", "run_id     id\n", "run_id     number\n");
    tree.runner("gateway").run().exits(101);
    let golden = &data(&tree, NAME)["golden"];
    assert!(golden["committed"].as_str().unwrap().contains("run_id     number"));
    assert!(golden["run"].as_str().unwrap().contains("run_id     id\n"));
    explain(&tree, NAME).run().exits(1).says(&["differs (- golden, + this run)", "run_id     number", "run_id     id"]);
}

fn the_data_of_a_run_that_reached_its_time_limit_shows_how_far_it_got() {
    let tree = Tree::of(&[NAME]);
    tree.replace("scenarios/write_read_file/scenario.toml", "last = \"end\"", "last = \"never\"");
    let file = "scenarios/write_read_file/scenario.toml";
    tree.write(file, &format!("timeout = \"6s\"\n{}", tree.read(file)));
    tree.runner("gateway").run().exits(101);
    let run = data(&tree, NAME);
    assert_eq!(run["steps"].as_array().unwrap().len(), 3);
    assert!(run["steps"][2]["events"].as_array().unwrap().len() > 5, "{run}");
}

fn a_scenario_that_cannot_be_read_leaves_the_data_of_a_failed_run() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    tree.scenario("two_callers", "descripton = \"\"\n");
    tree.runner("gateway").run().exits(101);
    let run = data(&tree, "two_callers");
    assert_eq!((&run["result"], &run["file"]), (&"failed".into(), &"scenarios/two_callers/scenario.toml".into()));
    assert!(run["failure"]["headline"].as_str().unwrap().contains("descripton"), "{run}");
}

fn each_process_of_nextest_writes_its_own_data_and_keeps_that_of_others() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    for name in [NAME, "two_callers"] {
        tree.runner("gateway").env("NEXTEST", "1").args(&["--exact", name, "--nocapture"]).run().exits(0);
    }
    assert_eq!(data(&tree, NAME)["result"], "passed");
    assert_eq!(data(&tree, "two_callers")["result"], "passed");
}

fn the_data_of_a_removed_scenario_is_removed() {
    let tree = Tree::of(&[NAME, "two_callers"]);
    tree.runner("gateway").run().exits(0);
    for file in ["scenarios/two_callers/scenario.toml", "fixtures/two_callers.json", "goldens/two_callers.snap"] {
        tree.remove(file);
    }
    std::fs::remove_dir(tree.path("scenarios/two_callers")).unwrap();
    tree.runner("gateway").run().exits(0);
    assert!(tree.has(".retake/runs/write_read_file.json") && !tree.has(".retake/runs/two_callers.json"));
}

fn the_data_of_a_run_contains_no_secret() {
    let tree = Tree::of(&[NAME]);
    let secret = ["sk-proj-", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"].concat();
    tree.replace("scenarios/write_read_file/scenario.toml", "hi from replay.", &format!("hi {secret}"));
    tree.runner("gateway").run().exits(101);
    let data = tree.read(".retake/runs/write_read_file.json");
    assert!(data.contains("then read it back") && !data.contains("abcdefghijklmnop"), "{data}");
}

fn a_run_passes_even_if_its_data_cannot_be_written() {
    let tree = Tree::of(&[NAME]);
    // A file is in the place of the folder. Permissions would not work here, since root may write anywhere.
    tree.write(".retake", "");
    tree.runner("gateway").run().exits(0);
}

fn explain_names_the_command_to_run_if_a_scenario_never_ran() {
    let tree = Tree::of(&[NAME]);
    tree.retake().arg("explain").run().exits(2).says(&["no scenario has run here yet", "retake test"]);
    tree.runner("gateway").run().exits(0);
    let near = tree.retake().args(&["explain", "write_read_fil"]).run().exits(2);
    near.says(&["no run of a scenario `write_read_fil` was found here", "did you mean `write_read_file`?"]);
}

/// Asserts that a value has only fields that its schema describes, and all that it requires.
fn fits(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        return fits(value, root.pointer(name.trim_start_matches('#')).unwrap(), root, place);
    }
    if let Some(several) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        // The kind of a piece of evidence says which form it has.
        let is_it = |form: &&Value| {
            let kind = &form["properties"]["kind"]["const"];
            form["type"] != "null" && (kind.is_null() || *kind == value["kind"])
        };
        let form = several.iter().find(is_it).unwrap_or_else(|| panic!("{place}: no form of {schema} fits {value}"));
        if form.get("const").is_none() {
            fits(value, form, root, place);
        }
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let of = &schema["properties"][name];
                assert!(of.is_object() || *of == Value::Bool(true), "{place}: the schema has no `{name}`");
                fits(field, of, root, &format!("{place}/{name}"));
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(fields.contains_key(name.as_str().unwrap()), "{place}: {name} is missing");
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fits(item, &schema["items"], root, place)),
        _ => {}
    }
}

fn explain_prints_the_data_of_a_run_as_json_that_fits_its_schema() {
    let tree = that_misses();
    tree.runner("gateway").run().exits(101);
    let schema: Value =
        serde_json::from_str(&crate::support::tree::project("harness/guide/schema/run.schema.json")).unwrap();
    let one = tree.retake().args(&["explain", NAME, "--json"]).run().exits(1);
    let one: Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!(one, data(&tree, NAME));
    fits(&one, &schema, &schema, "");
    assert_eq!((&one["calls"][2]["number"], &one["failure"]["causes"][0]["kind"]), (&3.into(), &"tool_result".into()));
    let lines = one["failure"]["evidence"][0]["lines"].as_array().unwrap();
    let has = |sign: &str, text: &str| lines.iter().any(|line| line["sign"] == sign && line["text"] == text);
    assert!(one["failure"]["evidence"][0]["kind"] == "calls", "{lines:#?}");
    assert!(has("-", "hi from rehearsal.") && has("+", "hi from replay."), "{lines:#?}");
    let all = tree.retake().args(&["explain", "--json"]).run().exits(1);
    assert_eq!(serde_json::from_str::<Value>(&all.stdout).unwrap(), Value::Array(vec![one]));
}

fn the_data_of_an_older_version_is_told_to_be_old() {
    let tree = Tree::of(&[NAME]);
    tree.runner("gateway").run().exits(0);
    let file = format!(".retake/runs/{NAME}.json");
    tree.write(&file, &tree.read(&file).replace("retake-run/2", "retake-run/1"));
    for command in [&["explain", NAME][..], &["explain"], &["explain", NAME, "--json"], &["report", "--no-open"]] {
        tree.retake().args(command).run().exits(2).says(&[
            ".retake/runs/write_read_file.json: this run was written by an older version of Retake",
            "run the scenario again: retake test",
        ]);
    }
    // The next run writes it anew.
    tree.runner("gateway").run().exits(0);
    explain(&tree, NAME).run().exits(0).says(&["write_read_file: passed"]);
}

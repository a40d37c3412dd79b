//! The `retake` command: keys, shapes, imports, first files, and errors on wrong use.

use serde_json::{Value, json};

use crate::support::program::retake;
use crate::support::tree::{COMMAND_SUITE, Tree, project};

tests! { key_agrees_with_every_reference_case,
    key_names_the_line_and_the_column_of_each_fault_in_its_input,
    shape_prints_what_a_golden_would_contain,
    shape_as_json_is_names_and_top_level_keys,
    shape_reads_json_lines_too,
    import_joins_fixtures_and_rejects_files_that_are_not_fixtures,
    new_writes_a_scenario_that_only_lacks_its_fixture,
    init_writes_the_first_files_and_keeps_existing_ones,
    test_and_record_explain_why_they_cannot_run,
    the_project_is_found_from_any_folder_in_it,
    wrong_use_exits_with_2_and_names_the_mistake,
    a_result_that_cannot_be_written_is_an_error,
    each_help_shows_an_example,
    completions_and_manual_pages_cover_all_subcommands,
}

fn key_agrees_with_every_reference_case() {
    let vectors = project("tests/vectors/key-v1.jsonl");
    let wanted: Vec<Value> = vectors
        .lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            json!({ "conversation_hash": case["conversation_hash"], "input_hash": case["input_hash"] })
        })
        .collect();
    assert_eq!(wanted.len(), 300);
    let keys = |stdout: &str| stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<Value>>();
    let from_file = retake()
        .args(&["key", crate::support::tree::repository().join("tests/vectors/key-v1.jsonl").to_str().unwrap()]);
    assert_eq!(keys(&from_file.run().exits(0).stdout), wanted);
    assert_eq!(keys(&retake().arg("key").input(vectors).run().exits(0).stdout), wanted);
}

fn key_names_the_line_and_the_column_of_each_fault_in_its_input() {
    for (input, says) in [
        ("{\"messages\": []}\n\n{\"messages\": [}", "error: (standard input):3:15: not JSON"),
        ("{\"messages\": {}}", "error: (standard input):1:1: `messages`: expected a list of messages"),
        ("{\"messages\": [{}]}", "error: (standard input):1:1: messages[0]: a message needs a string `type`"),
        ("{\"caller\": 1, \"messages\": []}", "`caller`: expected a string or null, found "),
    ] {
        retake().arg("key").input(input).run().exits(2).says(&[says]);
    }
    retake().args(&["key", "no-such-file.jsonl"]).run().exits(2).says(&["error: no-such-file.jsonl: ", "no such file"]);
}

const STREAM: &str = "event: metadata\ndata: {\"run_id\": \"1\"}\n\n: heartbeat\n\n\
    event: values\ndata: {\"messages\": [{\"type\": \"ai\", \"id\": 7}], \"title\": null}\n\n\
    event: end\ndata: null\n\n";

fn shape_prints_what_a_golden_would_contain() {
    let tree = Tree::empty();
    tree.write("run.sse", STREAM);
    let shape = "200 text/event-stream\n\nmetadata  {run_id}\nvalues    {messages[1], title}\n\
        end       null\n\nmetadata\n  run_id     string\nvalues\n  messages   [ai]\n    ai.id      number\n  title      null\n";
    let from_file = tree.retake().args(&["shape", "run.sse"]).run().exits(0);
    assert_eq!(from_file.stdout, format!("run.sse\n{shape}"));
    let from_input = tree.retake().arg("shape").input(STREAM).run().exits(0);
    assert_eq!(from_input.stdout, format!("standard input\n{shape}"));
    let keys = tree.retake().args(&["shape", "run.sse", "--detail", "keys"]).run().exits(0);
    assert!(!keys.stdout.contains("string") && keys.stdout.contains("metadata  {run_id}"), "{}", keys.stdout);
    let values = tree.retake().args(&["shape", "run.sse", "--detail", "values"]).run().exits(0);
    assert!(values.stdout.contains("  run_id     \"1\"\n"), "{}", values.stdout);
}

fn shape_as_json_is_names_and_top_level_keys() {
    let run = retake().args(&["shape", "--json"]).input(STREAM).run().exits(0);
    let shapes: Value = serde_json::from_str(&run.stdout).unwrap();
    let wanted = json!([
        { "event": "metadata", "keys": ["run_id"] },
        { "event": "values", "keys": ["messages", "title"] },
        { "event": "end", "keys": null },
    ]);
    assert_eq!(shapes, wanted);
}

fn shape_reads_json_lines_too() {
    let lines = "{\"type\": \"start\", \"id\": 1}\n{\"type\": \"done\"}\n";
    let run = retake().arg("shape").input(lines).run().exits(0);
    run.says(&["200 application/x-ndjson\n", "start     {id, type}\n", "done      {type}\n"]);
}

fn import_joins_fixtures_and_rejects_files_that_are_not_fixtures() {
    let tree = Tree::empty();
    for name in ["write_read_file", "two_callers"] {
        tree.write(&format!("{name}.json"), &project(&format!("tests/it/data/deerflow_{name}.json")));
    }
    let import =
        |files: &[&str]| tree.retake().args(&["import", "deerflow"]).args(files).args(&["--out", "out/all.json"]);
    import(&["write_read_file.json", "two_callers.json"]).run().exits(0).says(&["6 turns written to out/all.json"]);
    let fixture: Value = serde_json::from_str(&tree.read("out/all.json")).unwrap();
    assert_eq!((&fixture["format"], fixture["turns"].as_array().unwrap().len()), (&json!("retake/2"), 6));
    tree.remove("out/all.json");
    tree.write("empty.json", "{\"turns\": []}");
    tree.write(
        "human.json",
        &tree
            .read("two_callers.json")
            .replace("\"type\": \"ai\",\n        \"data\"", "\"type\": \"human\",\n        \"data\""),
    );
    import(&["empty.json"]).run().exits(1).says(&["error: no turns: 0 left out, nothing was written"]);
    import(&["human.json"])
        .run()
        .exits(2)
        .says(&["error: human.json:13:9: turns[0].output.type: ", "an assistant message"]);
    import(&["gone.json"]).run().exits(2).says(&["error: gone.json: failed to read it: no such file"]);
    assert!(!tree.has("out/all.json"));
}

fn new_writes_a_scenario_that_only_lacks_its_fixture() {
    let tree = Tree::empty();
    tree.retake()
        .args(&["new", "greet"])
        .run()
        .exits(0)
        .says(&["scenarios/greet/scenario.toml", "retake record greet"]);
    let made = tree.read("scenarios/greet/scenario.toml");
    let schema = made.lines().next().and_then(|line| line.strip_prefix("#:schema ../")).unwrap_or_default();
    assert!(tree.read(&format!("scenarios/{schema}")).contains("scenario.toml"), "{made}");
    tree.runner("oddities").run().exits(101).says(&["has no fixture: fixtures/greet.json", "retake record greet"]);
    let before = tree.files();
    tree.retake()
        .args(&["new", "greet"])
        .run()
        .exits(2)
        .says(&["scenarios/greet/scenario.toml: the file already exists"]);
    for name in ["Greet", "a b", "../up", ".hidden", "", "none"] {
        let run = tree.retake().args(&["new", name]).run().exits(2);
        run.says(&["cannot be the name of a scenario"]);
    }
    assert_eq!(tree.files(), before);
}

fn init_writes_the_first_files_and_keeps_existing_ones() {
    let first = [".github/workflows/scenarios.yml", "scenarios/hello/scenario.toml", "scenarios/suite.toml"];
    let tree = Tree::empty();
    let run = tree.retake().arg("init").run().exits(0);
    run.says(&["wrote  scenarios/suite.toml", "wrote  scenarios/hello/scenario.toml", "retake record hello"]);
    for file in first {
        assert!(tree.has(file), "{file}");
    }
    assert!(!tree.has("tests/scenarios.rs"));
    assert!(tree.read("scenarios/suite.toml").starts_with("#:schema .schema/suite.json\n"));
    tree.write("scenarios/suite.toml", "# mine\n");
    let before = tree.files();
    let again = tree.retake().arg("init").run().exits(0).says(&["kept   scenarios/suite.toml", "kept   "]);
    again.never_says("wrote");
    assert_eq!(tree.files(), before);
    // A schema is replaced: it always belongs to the version of the command.
    tree.write("scenarios/.schema/suite.json", "{}");
    tree.retake().arg("init").run().exits(0).says(&["wrote  scenarios/.schema/"]);
    assert_eq!(tree.files(), before);
    // In a Rust project, `init` also writes the runner, and prints what Cargo.toml needs.
    tree.write("Cargo.toml", "");
    let run = tree.retake().arg("init").run().exits(0);
    run.says(&["wrote  tests/scenarios.rs", "[[test]]\n  name = \"scenarios\"\n  harness = false"]);
    assert!(tree.read("tests/scenarios.rs").contains("retake::suite! {"));
    assert!(tree.read(".config/nextest.toml").contains("test-threads = 16"));
}

fn test_and_record_explain_why_they_cannot_run() {
    let tree = Tree::of(&["two_callers"]);
    tree.write("scenarios/suite.toml", COMMAND_SUITE);
    // A misspelled name is an error (exit code 2), because a run of nothing would pass.
    let says = "error: no scenario's name contains `two_calers`\n  did you mean `two_callers`?\n";
    assert_eq!(tree.retake().args(&["test", "two_calers"]).run().exits(2).stderr, says);
    let says = "error: no scenario is called `two`\n";
    assert_eq!(tree.retake().args(&["test", "two", "--", "--exact"]).run().exits(2).stderr, says);
    assert_eq!(tree.retake().args(&["record", "../x"]).run().exits(2).stderr, "error: no scenario is called `../x`\n");
    let run = tree.retake().env("RETAKE_ROOT", tree.path("scenarios/suite.toml")).arg("test").run().exits(2);
    run.says(&["suite.toml: expected the project's folder, found a file"]);
    // A failed test exits with 1. libtest's 101 is only for runners that cargo starts. What an older version left of another
    // scenario's run changes nothing.
    tree.write(".retake/runs/other.json", "{\"format\": \"retake-run/1\"}");
    let run = tree.retake().args(&["test", "two"]).run().exits(1);
    run.says(&["failed to start system `agent`: there is no program `agent`"]);
    tree.retake()
        .args(&["test", "--update"])
        .env("CI", "1")
        .run()
        .exits(2)
        .says(&["error: updating goldens with CI set"]);
    // No provider is configured.
    let run = tree.retake().args(&["record", "two_callers"]).run().says(&["OPENAI_API_KEY"]);
    assert_ne!(run.code, Some(0));
    Tree::empty().retake().arg("test").run().exits(2).says(&["error: there is no folder `scenarios`"]);
}

fn the_project_is_found_from_any_folder_in_it() {
    let tree = Tree::of(&["two_callers"]);
    tree.write("scenarios/suite.toml", COMMAND_SUITE);
    let deep = tree.path("scenarios/two_callers");
    let run = retake().in_folder(&deep).args(&["test", "--", "--list"]).run().exits(0);
    run.says(&["two_callers: test", "retake::no_orphans: test"]);
}

fn a_result_that_cannot_be_written_is_an_error() {
    let tree = Tree::of(&["two_callers"]);
    tree.write("scenarios/suite.toml", COMMAND_SUITE);
    let list = |out: &str| {
        let out = std::fs::OpenOptions::new().write(true).open(out).unwrap();
        tree.retake().arg("list").into_command().stdout(out).output().unwrap()
    };
    let full = list("/dev/full");
    assert_eq!(full.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&full.stderr),
        "error: cannot write to standard output: No space left on device (os error 28)\n"
    );
    assert_eq!(list("/dev/null").status.code(), Some(0));
}

fn wrong_use_exits_with_2_and_names_the_mistake() {
    let cases: [(&[&str], &str); 9] = [
        (&[], "Usage: retake"),
        (&["recrod"], "unrecognized subcommand 'recrod'"),
        (&["serve", "a.json", "--addr", "here"], "invalid value 'here'"),
        (&["serve", "a.json", "--key", ""], "the key is empty, so calls without a key would be accepted"),
        (&["record"], "every scenario: retake record --all"),
        (&["new"], "<NAME>"),
        (&["import", "vhs", "a.json", "--out", "b.json"], "invalid value 'vhs'"),
        (&["import", "journal", "a.jsonl"], "--out"),
        (&["shape", "--detail", "all"], "invalid value 'all'"),
    ];
    for (args, says) in cases {
        retake().args(args).run().exits(2).says(&[says]);
    }
}

fn each_help_shows_an_example() {
    for command in ["init", "new", "record", "test", "serve", "import", "key", "shape"] {
        retake().args(&[command, "--help"]).run().exits(0).says(&["Usage: retake", "Example"]);
    }
}

fn completions_and_manual_pages_cover_all_subcommands() {
    for shell in ["bash", "zsh", "fish"] {
        retake().args(&["completions", shell]).run().exits(0).tells(&["doctor", "accept-unstable"]);
    }
    retake().arg("man").run().exits(0).tells(&[".TH retake 1", "retake\\-doctor(1)"]);
    let tree = Tree::empty();
    tree.retake().args(&["man", "--out", "man1"]).run().exits(0);
    assert!(tree.read("man1/retake.1").contains("retake\\-record(1)"));
    assert!(tree.read("man1/retake-record.1").contains("\\fB\\-\\-resume\\fR"));
    retake().args(&["help", "record"]).run().exits(0).tells(&["--resume", "Example:"]);
}

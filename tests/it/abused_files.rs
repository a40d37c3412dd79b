//! The mistakes that a person can make in fixtures, goldens and folders: each is one error that names the file and the
//! place, what was found and expected, and what resolves it; and the other scenarios run.
//!
//! Mistakes in `suite.toml` and `scenario.toml` are in `harness/scenario/tests`. Here all mistakes of a kind are laid in
//! one project, and one run tells of each.

#[cfg(unix)]
use std::path::Path;

use crate::discovery::{asking, greeting};
use crate::tree::{Ran, Tree};

tests! { abused_files:
    each_mistake_in_a_fixture_is_told_with_its_place,
    what_stands_in_place_of_a_fixture_is_named,
    a_fixture_of_another_editor_is_read_as_it_is,
    the_last_line_of_a_large_fixture_has_its_line_and_column,
    each_mistake_in_a_golden_is_told_and_the_command_resolves_it,
    what_stands_in_place_of_a_golden_is_named_and_never_written_through,
    a_golden_of_another_editor_is_the_same,
    a_golden_that_cannot_be_written_says_so,
    each_folder_that_is_no_scenario_is_told_with_the_nearest_name,
    what_editors_leave_is_passed_over,
    a_file_that_a_step_sends_is_in_its_folder,
    a_suite_that_cannot_be_read_is_an_error_for_all,
}

/// The smallest scenario: no model, no golden.
const SILENT: &str = "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n";

/// A file as it should be, changed by a mistake, and what is said of it behind its name.
type Mistake = (&'static str, fn(&str) -> Vec<u8>, &'static str);

fn write_bytes(tree: &Tree, file: &str, bytes: &[u8]) {
    tree.write(file, "");
    std::fs::write(tree.path(file), bytes).unwrap();
}

#[cfg(unix)]
fn link(tree: &Tree, file: &str, target: &str) {
    let path = tree.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "a check that was left out is said")]
fn skipped(path: &Path) {
    eprintln!("skipped: who runs this needs no permission for {}, as root", path.display());
}

/// Makes a file unreadable, unless nothing is unreadable to who runs this: root.
#[cfg(unix)]
fn forbid(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let forbidden = std::fs::read(path).is_err();
    if !forbidden {
        skipped(path);
    }
    forbidden
}

/// A project with the green scenario `greeting`, and copies of it of other names.
fn copies(names: &[&str]) -> Tree {
    let tree = greeting();
    let [fixture, golden] = ["fixtures/greeting.json", "goldens/greeting.snap"].map(|file| tree.read(file));
    for name in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &asking("Hello"));
        tree.write(&format!("fixtures/{name}.json"), &fixture);
        tree.write(&format!("goldens/{name}.snap"), &golden);
    }
    tree
}

/// Each of the named scenarios fails, and every other trial is green.
#[track_caller]
fn only_these_fail(run: &Ran, names: &[&str]) {
    for (trial, result) in run.trials() {
        let wanted = if names.contains(&trial) { "FAILED" } else { "ok" };
        assert_eq!(result, wanted, "{trial}: {}", run.stdout);
    }
    assert_eq!(run.trials().values().filter(|result| **result == "FAILED").count(), names.len(), "{}", run.stdout);
    assert_eq!(run.trials()["greeting"], "ok");
}

const FIXTURES: &[Mistake] = &[
    ("not-json", |_| b"turns = []\n".to_vec(), ":1:1: not JSON: expected a JSON value, found 't'"),
    ("empty", |_| Vec::new(), ": the file is empty, expected a fixture"),
    ("blank", |_| b" \n\n".to_vec(), ": the file is empty, expected a fixture"),
    (
        "no-utf8",
        |good| good.replacen("Good", "\0", 1).bytes().map(|byte| if byte == 0 { 0xff } else { byte }).collect(),
        ":30:22: not JSON: the byte 0xff is not UTF-8",
    ),
    ("utf-16", |_| b"\xff\xfe{\0}\0".to_vec(), ":1:1: not JSON: the byte 0xff is not UTF-8"),
    (
        "cut-off",
        |good| good[..good.find("\"output\"").unwrap() + 8].into(),
        ":27:15: not JSON: expected `,` or `}`, found the end of the text",
    ),
    ("text-behind", |good| format!("{good}x\n").into(), ":68:1: not JSON: more text after the value"),
    ("pasted-twice", |good| good.repeat(2).into(), ":68:1: not JSON: more text after the value"),
    ("comment", |good| format!("// mine\n{good}").into(), ":1:1: not JSON: expected a JSON value, found '/'"),
    (
        "two-commas",
        |good| good.replace("retake/1\",", "retake/1\",,").into(),
        ":2:24: not JSON: expected a key in quotes, found ','",
    ),
    (
        "comma-at-the-end",
        |good| good.replace("\n    }\n  ]", "\n    },\n  ]").into(),
        ":66:3: not JSON: expected a JSON value, found ']'",
    ),
    ("single-quotes", |_| b"{'turns': []}".to_vec(), ":1:2: not JSON: expected a key in quotes, found '\\''"),
    (
        "conflict",
        |good| good.replace("  \"turns\"", "<<<<<<< HEAD\n=======\n>>>>>>> topic\n  \"turns\"").into(),
        ":9:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 11",
    ),
    (
        "key-twice",
        |good| good.replace("\"format\"", "\"format\": \"retake/1\",\n  \"format\"").into(),
        ":3:3: not JSON: the key \"format\" stands twice in this object",
    ),
    (
        "turns-twice",
        |good| good.replace("  \"turns\"", "  \"turns\": [],\n  \"turns\"").into(),
        ":10:3: not JSON: the key \"turns\" stands twice in this object",
    ),
    (
        "key-twice-in-a-turn",
        |good| good.replace("\"input_hash\"", "\"input\": {},\n      \"input_hash\"").into(),
        ":26:7: not JSON: the key \"input\" stands twice in this object",
    ),
    ("deep", |_| "[".repeat(100_000).into(), ":1:257: not JSON: more than 256 levels of nesting"),
    (
        "deep-in-a-turn",
        |_| format!("{{\"turns\": [{}1{}]}}", "{\"a\":".repeat(1000), "}".repeat(1000)).into(),
        ":1:1282: not JSON: more than 256 levels of nesting",
    ),
    ("a-list", |_| b"[]".to_vec(), ":1:1: the file: expected an object, found a value of type array"),
    ("null", |_| b"null".to_vec(), ":1:1: the file: expected an object, found null"),
    ("no-turns", |_| b"{}".to_vec(), ":1:1: `turns`: expected a list of recorded turns, found nothing"),
    (
        "turns-misspelled",
        |_| b"{\"turn\": []}".to_vec(),
        ":1:1: `turns`: expected a list of recorded turns, found nothing\n  is `turn` meant to be `turns`?",
    ),
    (
        "turns-no-list",
        |_| b"{\n\"turns\": {}}".to_vec(),
        ":2:1: `turns`: expected a list of recorded turns, found object",
    ),
    ("turn-no-object", |_| b"{\"turns\": [1]}".to_vec(), ":1:12: turns[0]: expected an object, found the number 1"),
    (
        "unknown-format",
        |good| good.replace("retake/1", "retake/9").into(),
        ":2:3: `format`: unknown version \"retake/9\", this version of Retake reads \"retake/1\"",
    ),
    (
        "format-no-text",
        |good| good.replace("\"retake/1\"", "1").into(),
        ":2:3: `format`: unknown version 1, this version of Retake reads \"retake/1\"",
    ),
    (
        "field-misspelled",
        |good| good.replace("\"scenario\"", "\"scenaro\"").into(),
        ":3:3: `scenaro`: unknown field; did you mean `scenario`?",
    ),
    (
        "field-of-a-turn-misspelled",
        |good| good.replace("\"output\"", "\"outptu\"").into(),
        ":27:7: turns[0].outptu: unknown field; did you mean `output`?",
    ),
    (
        "field-within-misspelled",
        |good| good.replace("\"blocks\"", "\"block\"").into(),
        ":28:9: turns[0].output.block: unknown field; did you mean `blocks`?",
    ),
    (
        "unknown-api",
        |good| good.replace("\"api\": \"openai-chat\"", "\"api\": \"openai\"").into(),
        ":38:9: turns[0].wire.api: expected one of openai-chat, openai-responses, anthropic, gemini, ollama, opaque, found \
         the string \"openai\"",
    ),
    (
        "status-as-text",
        |good| good.replace("\"status\": 200", "\"status\": \"200\"").into(),
        ":63:9: turns[0].wire.status: expected a whole number, 0 or more, found the string \"200\"",
    ),
    (
        "no-status",
        |good| good.replace("\"status\": 200", "\"status\": 70000").into(),
        ":63:9: turns[0].wire.status: expected an HTTP status, found the number 70000",
    ),
    (
        "block-of-no-kind",
        |good| good.replace("\"type\": \"text\"", "\"type\": \"txt\"").into(),
        ":31:13: turns[0].output.blocks[0].type: expected text, reasoning, refusal, tool_call or native, found the string \
         \"txt\"",
    ),
    (
        "no-hash",
        |good| good.replace("\"input_hash\": \"", "\"input_hash\": \"Z").into(),
        ":26:7: turns[0].input_hash: expected 64 lower-case hex digits, found \"Z",
    ),
    (
        "other-hash",
        |good| {
            let at = good.find("\"input_hash\": \"").unwrap() + 15;
            format!("{}{}{}", &good[..at], "0".repeat(64), &good[at + 64..]).into()
        },
        ":10:5: turns[0]: `input_hash` and caller with `conversation_hash` does not fit: stored is 00000000000000",
    ),
    (
        "edited-message",
        |good| good.replace("Hello", "Hallo").into(),
        ":10:5: turns[0]: `conversation_hash` and the input does not fit: stored is ",
    ),
];

fn each_mistake_in_a_fixture_is_told_with_its_place() {
    let names: Vec<&str> = FIXTURES.iter().map(|(name, ..)| *name).collect();
    let tree = copies(&names);
    let good = tree.read("fixtures/greeting.json");
    for (name, spoil, _) in FIXTURES {
        let spoilt = spoil(&good);
        assert_ne!(spoilt, good.as_bytes(), "{name}");
        write_bytes(&tree, &format!("fixtures/{name}.json"), &spoilt);
    }
    let run = tree.runner("oddities").run().exits(101);
    let mut others = Vec::new();
    for (name, _, says) in FIXTURES {
        let told = run.failure(name);
        let wanted = format!("fixtures/{name}.json{says}");
        // Messages with hashes are long: their beginning is enough.
        let is_long = name.contains("hash") || *name == "edited-message";
        let told_of = told.strip_suffix(&format!("\n  to record it anew: retake record {name}"));
        if !told_of.is_some_and(|told| told == wanted || (is_long && told.starts_with(&wanted))) {
            others.push(format!("{told}\nbut wanted:\n{wanted}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    only_these_fail(&run, &names);
}

#[cfg(not(unix))]
fn what_stands_in_place_of_a_fixture_is_named() {}

#[cfg(unix)]
fn what_stands_in_place_of_a_fixture_is_named() {
    let names = ["folder", "nowhere", "cycle", "forbidden", "upper", "ending", "missing", "linked"];
    let tree = copies(&names);
    for name in names {
        tree.remove(&format!("fixtures/{name}.json"));
    }
    std::fs::create_dir(tree.path("fixtures/folder.json")).unwrap();
    link(&tree, "fixtures/nowhere.json", "gone.json");
    link(&tree, "fixtures/cycle.json", "cycle.json");
    link(&tree, "fixtures/linked.json", "greeting.json");
    let good = tree.read("fixtures/greeting.json");
    tree.write("fixtures/forbidden.json", &good);
    tree.write("fixtures/Upper.json", &good);
    tree.write("fixtures/ending.JSON", &good);
    let forbidden = forbid(&tree.path("fixtures/forbidden.json"));
    let run = tree.runner("oddities").run().exits(101);
    let record = |name: &str| format!("to record it anew: retake record {name}");
    let unreadable = |name: &str, why: &str| {
        assert_eq!(run.failure(name), format!("fixtures/{name}.json: failed to read it: {why}"), "{name}");
    };
    unreadable("folder", &format!("a folder stands where a file was expected\n  remove it; {}", record("folder")));
    let leads_nowhere =
        |to: &str, name: &str| format!("it is a link to `{to}` that leads nowhere\n  remove it; {}", record(name));
    unreadable("nowhere", &leads_nowhere("gone.json", "nowhere"));
    unreadable("cycle", &leads_nowhere("cycle.json", "cycle"));
    if forbidden {
        unreadable("forbidden", &format!("no permission\n  {}", record("forbidden")));
    }
    for (name, help) in [
        ("upper", "is fixtures/Upper.json meant to be fixtures/upper.json?\n  "),
        ("ending", "is fixtures/ending.JSON meant to be fixtures/ending.json?\n  "),
        ("missing", ""),
    ] {
        let says = format!(
            "scenarios/{name}/scenario.toml: scenario `{name}` has no fixture: fixtures/{name}.json is not there\n  {help}to \
             record it: retake record {name}\n  or, if the scenario calls no model: fixture = \"none\""
        );
        assert_eq!(run.failure(name), says);
    }
    assert_eq!((run.trials()["greeting"], run.trials()["linked"]), ("ok", "ok"), "{}", run.stdout);
}

fn a_fixture_of_another_editor_is_read_as_it_is() {
    let tree = copies(&["mark", "line-ends", "one-line"]);
    let good = tree.read("fixtures/greeting.json");
    tree.write("fixtures/mark.json", &format!("\u{feff}{good}"));
    tree.write("fixtures/line-ends.json", &good.replace('\n', "\r\n"));
    tree.write("fixtures/one-line.json", &good.replace('\n', ""));
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
}

fn the_last_line_of_a_large_fixture_has_its_line_and_column() {
    let tree = copies(&["large"]);
    let turn = format!(
        "{{\"input_hash\": \"{}\", \"output\": {{\"type\": \"ai\", \"data\": {{\"content\": \"x\"}}}}}},\n",
        "0".repeat(64)
    );
    let large = |last: &str| format!("{{\"turns\": [\n{}{last}]}}\n", turn.repeat(40_000));
    for (last, says) in [
        ("{\"input_hash\" \"\"}", ":40002:15: not JSON: expected `:`, found '\"'"),
        ("{\"input_hash\": 1}", ":40002:2: turns[40000].input_hash: expected a string, found the number 1"),
    ] {
        tree.write("fixtures/large.json", &large(last));
        let run = tree.runner("oddities").arg("large").run().exits(101);
        assert_eq!(
            run.failure("large"),
            format!("fixtures/large.json{says}\n  to record it anew: retake record large")
        );
    }
}

const GOLDENS: &[Mistake] = &[
    ("empty", |_| Vec::new(), ": the file is empty, expected `---` as the first line of a golden"),
    (
        "no-utf8",
        |good| good.as_bytes().split(|byte| *byte == b'{').collect::<Vec<_>>().join(&b"\xff"[..]),
        ":8:9: the byte 0xff is not UTF-8",
    ),
    (
        "mark",
        |good| format!("\u{feff}{good}").into(),
        ":1:1: expected `---` as the first line of a golden, found a byte-order mark before it",
    ),
    (
        "no-header",
        |good| good.split("---\n").nth(2).unwrap().into(),
        ":1:1: expected `---` as the first line of a golden, found `POST /ask`",
    ),
    (
        "foreign",
        |_| b"# My snapshot\n\nhello\n".to_vec(),
        ":1:1: expected `---` as the first line of a golden, found `# My snapshot`",
    ),
    (
        "header-of-another",
        |good| good.replace("source: ", "source: [").into(),
        ": its header is not that of a snapshot: expected the fields `source` and `input_file` between two lines `---`",
    ),
    (
        "header-of-a-list",
        |_| b"---\n- a\n---\nPOST /ask\n".to_vec(),
        ": its header is not that of a snapshot: expected the fields `source` and `input_file` between two lines `---`",
    ),
    (
        "binary",
        |_| b"---\nsource: x\nextension: bin\nsnapshot_kind: binary\n---\n".to_vec(),
        ": a binary snapshot, expected text",
    ),
    (
        "conflict",
        |good| {
            good.replace("answer  {text}", "<<<<<<< HEAD\nanswer  {text}\n=======\nanswer  {}\n>>>>>>> topic").into()
        },
        ":8:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 12",
    ),
    (
        "conflict-in-the-header",
        |good| good.replace("source: ", "<<<<<<< HEAD\nsource: a\n=======\n>>>>>>> topic\nsource: ").into(),
        ":2:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 5",
    ),
];

fn each_mistake_in_a_golden_is_told_and_the_command_resolves_it() {
    let names: Vec<&str> = GOLDENS.iter().map(|(name, ..)| *name).collect();
    let tree = copies(&names);
    let good = tree.read("goldens/greeting.snap");
    for (name, spoil, _) in GOLDENS {
        write_bytes(&tree, &format!("goldens/{name}.snap"), &spoil(&good));
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, _, says) in GOLDENS {
        let command = format!("to write it anew:\n    UPDATE_GOLDEN=1 cargo test --test scenarios {name}");
        assert_eq!(run.failure(name), format!("goldens/{name}.snap{says}\n\n{command}"), "{name}");
    }
    only_these_fail(&run, &names);
    // insta has words of its own for some of these, and paths of this machine.
    assert_eq!(run.stderr, "");
    only_these_fail(&tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(0), &[]);
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
    for (name, ..) in GOLDENS {
        assert_eq!(tree.read(&format!("goldens/{name}.snap")), good.replace("greeting", name));
    }
}

#[cfg(not(unix))]
fn what_stands_in_place_of_a_golden_is_named_and_never_written_through() {}

#[cfg(unix)]
fn what_stands_in_place_of_a_golden_is_named_and_never_written_through() {
    let names = ["folder", "nowhere", "cycle", "linked"];
    let tree = copies(&names);
    for name in names {
        tree.remove(&format!("goldens/{name}.snap"));
    }
    std::fs::create_dir(tree.path("goldens/folder.snap")).unwrap();
    link(&tree, "goldens/nowhere.snap", "gone.snap");
    link(&tree, "goldens/cycle.snap", "cycle.snap");
    link(&tree, "goldens/linked.snap", "greeting.snap");
    for update in ["0", "1"] {
        let run = tree.runner("oddities").env("UPDATE_GOLDEN", update).run().exits(101);
        for (name, why) in [
            ("folder", "a folder stands where a file was expected"),
            ("nowhere", "it is a link to `gone.snap` that leads nowhere"),
            ("cycle", "it is a link to `cycle.snap` that leads nowhere"),
        ] {
            let command = format!("once it is removed:\n    UPDATE_GOLDEN=1 cargo test --test scenarios {name}");
            assert_eq!(run.failure(name), format!("goldens/{name}.snap: failed to read it: {why}\n\n{command}"));
        }
        only_these_fail(&run, &["folder", "nowhere", "cycle"]);
    }
    assert!(!tree.has("goldens/gone.snap"));
}

fn a_golden_of_another_editor_is_the_same() {
    let tree = copies(&["line-ends", "no-line-end", "blank-lines"]);
    let good = tree.read("goldens/greeting.snap");
    tree.write("goldens/line-ends.snap", &good.replace('\n', "\r\n"));
    tree.write("goldens/no-line-end.snap", good.trim_end());
    tree.write("goldens/blank-lines.snap", &format!("{good}\n\n"));
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
}

#[cfg(not(unix))]
fn a_golden_that_cannot_be_written_says_so() {}

#[cfg(unix)]
fn a_golden_that_cannot_be_written_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = copies(&["held"]);
    let differing = tree.read("goldens/held.snap").replace("{text}", "{}");
    tree.write("goldens/held.snap", &differing);
    let (file, folder) = (tree.path("goldens/held.snap"), tree.path("goldens"));
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&file, mode(0o444)).unwrap();
    std::fs::set_permissions(&folder, mode(0o555)).unwrap();
    if std::fs::OpenOptions::new().append(true).open(&file).is_ok() {
        skipped(&file);
    } else {
        let run = tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(101);
        run.says(&["goldens/held.snap: the golden could not be written", "is there permission to write it"]);
        assert_eq!(tree.read("goldens/held.snap"), differing);
    }
    std::fs::set_permissions(&folder, mode(0o755)).unwrap();
}

fn each_folder_that_is_no_scenario_is_told_with_the_nearest_name() {
    let tree = greeting();
    let rule = "names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`";
    let names = [
        ("with space", "with_space"),
        ("Upper", "upper"),
        ("-dash", "dash"),
        ("a,b", "a_b"),
        ("q\"uote", "q_uote"),
        ("{{ run }}", "run"),
        ("%41", "41"),
        ("trailing ", "trailing"),
        // What differs only by case from another one is no name to begin with, and the other one runs.
        ("Greeting", ""),
        ("ünï", ""),
        ("日本", ""),
        ("~", ""),
    ];
    for (name, _) in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), SILENT);
    }
    for name in ["dotted.name", "under_score", "9"] {
        tree.write(&format!("scenarios/{name}/scenario.toml"), SILENT);
    }
    tree.write("scenarios/none/scenario.toml", SILENT);
    tree.write("scenarios/stray", "");
    tree.write("scenarios/suite.tml", "");
    tree.write("scenarios/bare/notes.txt", "");
    tree.write("scenarios/caps/Scenario.toml", SILENT);
    tree.write("scenarios/kept/scenario.toml~", SILENT);
    tree.write("scenarios/outer/inner/scenario.toml", SILENT);
    tree.write("scenarios/inside/scenario.toml/x", "");
    tree.write("scenarios/stepless/scenario.toml", "");
    tree.write("scenarios/cases/scenario.toml", &format!("{}[case.a]\n[case.b]\n", asking("Hello")));
    tree.write("scenarios/conflict/scenario.toml", &format!("<<<<<<< HEAD\n{SILENT}=======\n>>>>>>> topic\n"));
    let run = tree.runner("oddities").run().exits(101);
    for (name, near) in names {
        let near = if near.is_empty() { String::new() } else { format!("\n  rename the folder, to `{near}` perhaps") };
        let says = format!("scenarios/{name}: `{name}` cannot be the name of a scenario\n  {rule}{near}");
        assert_eq!(run.failure(name), says);
    }
    let no_fixture = "has no fixture: fixtures/cases.a.json is not there\n  to record it: retake record cases.a\n  or, if \
                      the scenario calls no model: fixture = \"none\"";
    for (name, says) in [
        (
            "none",
            "scenarios/none: `none` cannot be the name of a scenario\n  fixture = \"none\" says that no model is called",
        ),
        (
            "stray",
            "scenarios/stray: this file belongs to no scenario\n  `scenarios` holds `suite.toml`, and a folder for each scenario",
        ),
        (
            "suite.tml",
            "scenarios/suite.tml: this file belongs to no scenario\n  did you mean `suite.toml`?\n  `scenarios` holds \
                       `suite.toml`, and a folder for each scenario",
        ),
        (
            "bare",
            "scenarios/bare: this folder lacks its scenario.toml\n  add scenarios/bare/scenario.toml, or remove the folder",
        ),
        (
            "caps",
            "scenarios/caps: this folder lacks its scenario.toml\n  is `Scenario.toml` meant to be scenarios/caps/scenario.toml?",
        ),
        (
            "kept",
            "scenarios/kept: this folder lacks its scenario.toml\n  is `scenario.toml~` meant to be scenarios/kept/scenario.toml?",
        ),
        (
            "outer",
            "scenarios/outer: this folder lacks its scenario.toml\n  scenarios are not nested: each one is a folder right \
                   below `scenarios`",
        ),
        ("inside", "scenarios/inside/scenario.toml: expected a file, found a folder"),
        (
            "stepless",
            "scenarios/stepless/scenario.toml: a scenario needs at least one [[step]]\n  a step is one request: post = \
                      \"/path\", json = { … }",
        ),
        ("cases.a", &format!("scenarios/cases/scenario.toml: scenario `cases.a` {no_fixture}")),
        (
            "conflict",
            "scenarios/conflict/scenario.toml:1:1: a merge conflict is left in this file: the line begins with \
                      `<<<<<<<`\n  keep one of its sides, and remove the markers down to line 6",
        ),
    ] {
        assert_eq!(run.failure(name), says);
    }
    for name in ["greeting", "dotted.name", "under_score", "9", "retake::no_orphans"] {
        assert_eq!(run.trials().get(name), Some(&"ok"), "{name}: {}", run.stdout);
    }
    // A line break in a name does not tear the report apart.
    #[cfg(unix)]
    {
        tree.write("scenarios/two\nlines/scenario.toml", SILENT);
        let run = tree.runner("oddities").run().exits(101);
        assert!(run.failure("two\\nlines").starts_with("scenarios/two\\nlines: `two\\nlines` cannot be the name"));
    }
}

fn what_editors_leave_is_passed_over() {
    let tree = greeting();
    for file in
        ["suite.toml~", "#suite.toml#", ".suite.toml.swp", ".DS_Store", "Thumbs.db", ".git/x", ".hidden/scenario.toml"]
    {
        tree.write(&format!("scenarios/{file}"), "no TOML");
    }
    for file in ["scenario.toml~", ".scenario.toml.swp", ".DS_Store", "notes.txt"] {
        tree.write(&format!("scenarios/greeting/{file}"), "no TOML");
    }
    for file in ["fixtures/.DS_Store", "fixtures/greeting.json~", "goldens/.DS_Store", "goldens/greeting.snap~"] {
        tree.write(file, "no JSON");
    }
    let mut green = vec![("greeting", "ok"), ("retake::no_orphans", "ok")];
    #[cfg(unix)]
    {
        // A link to a file or a folder is as good as what it leads to.
        tree.write("elsewhere/scenario.toml", SILENT);
        link(&tree, "scenarios/linked/scenario.toml", "../../elsewhere/scenario.toml");
        link(&tree, "scenarios/folder", "../elsewhere");
        green.extend([("linked", "ok"), ("folder", "ok")]);
    }
    tree.runner("oddities").run().exits(0).trials_are(&green);
    #[cfg(unix)]
    {
        link(&tree, "scenarios/nowhere", "gone");
        link(&tree, "scenarios/cycle", "cycle");
        link(&tree, "scenarios/empty/scenario.toml", "gone.toml");
        let run = tree.runner("oddities").run().exits(101);
        for (name, to) in [("nowhere", "gone"), ("cycle", "cycle")] {
            let says = format!(
                "scenarios/{name}: expected the folder of a scenario, found a link to `{to}` that leads nowhere"
            );
            assert_eq!(run.failure(name), format!("{says}\n  let it lead to a folder, or remove it"));
        }
        let says = "scenarios/empty/scenario.toml: expected a file, found a link to `gone.toml` that leads nowhere";
        assert_eq!(run.failure("empty"), says);
        only_these_fail(&run, &["nowhere", "cycle", "empty"]);
    }
}

fn a_file_that_a_step_sends_is_in_its_folder() {
    let tree = greeting();
    let cases = [
        (
            "missing",
            "bodi.json",
            "scenario.toml:4:13: there is no file `bodi.json` in scenarios/missing\n  did you mean `body.json`?",
        ),
        ("outside", "../suite.toml", "scenario.toml:4:13: `../suite.toml` is not in the scenario's folder"),
        ("absolute", "/etc/hosts", "scenario.toml:4:13: `/etc/hosts` is not in the scenario's folder"),
        ("folder", "inner", "inner: expected a file, found a folder\n  named by scenarios/folder/scenario.toml:4:13"),
        (
            "empty",
            "empty.json",
            "empty.json:1:1: this is no JSON: expected a JSON value, found the end of the text\n  named by scenarios/empty/scenario.toml:4:13",
        ),
        (
            "syntax",
            "bad.json",
            "bad.json:2:6: this is no JSON: expected `:`, found '2'\n  named by scenarios/syntax/scenario.toml:4:13",
        ),
        (
            "twice",
            "twice.json",
            "twice.json:1:10: this is no JSON: the key \"a\" stands twice in this object\n  named by scenarios/twice/scenario.toml:4:13",
        ),
    ];
    for (name, file, _) in cases {
        let step = format!("{SILENT}json_file = \"{file}\"\n");
        tree.write(&format!("scenarios/{name}/scenario.toml"), &step);
        for (file, text) in [
            ("body.json", "{}"),
            ("inner/x", ""),
            ("empty.json", ""),
            ("bad.json", "{\"a\": 1,\n \"b\" 2}"),
            ("twice.json", "{\"a\": 1, \"a\": 2}"),
        ] {
            tree.write(&format!("scenarios/{name}/{file}"), text);
        }
    }
    let run = tree.runner("oddities").run().exits(101);
    for (name, _, says) in cases {
        assert_eq!(run.failure(name), format!("scenarios/{name}/{says}"));
    }
    only_these_fail(&run, &cases.map(|(name, ..)| name));
    #[cfg(unix)]
    {
        tree.write("scenarios/nowhere/scenario.toml", &format!("{SILENT}json_file = \"body.json\"\n"));
        link(&tree, "scenarios/nowhere/body.json", "gone.json");
        let run = tree.runner("oddities").run().exits(101);
        let says = "scenarios/nowhere/scenario.toml:4:13: `body.json`: expected a file, found a link to `gone.json` that leads nowhere";
        assert_eq!(run.failure("nowhere"), says);
    }
}

fn a_suite_that_cannot_be_read_is_an_error_for_all() {
    let tree = greeting();
    let says = |text: &str| drop(tree.runner("oddities").run().exits(2).says(&[text]));
    write_bytes(&tree, "scenarios/suite.toml", b"# caf\xe9\n");
    says("error: scenarios/suite.toml:1:6: the byte 0xe9 is not UTF-8");
    tree.write("scenarios/suite.toml", "<<<<<<< HEAD\nsettle = \"1s\"\n=======\n>>>>>>> topic\n");
    says("error: scenarios/suite.toml:1:1: a merge conflict is left in this file");
    tree.remove("scenarios/suite.toml");
    std::fs::create_dir(tree.path("scenarios/suite.toml")).unwrap();
    says("error: scenarios/suite.toml: expected a file, found a folder");
    std::fs::remove_dir(tree.path("scenarios/suite.toml")).unwrap();
    #[cfg(unix)]
    {
        link(&tree, "scenarios/suite.toml", "gone.toml");
        says("error: scenarios/suite.toml: expected a file, found a link to `gone.toml` that leads nowhere");
        tree.remove("scenarios/suite.toml");
    }
    std::fs::remove_dir_all(tree.path("scenarios")).unwrap();
    tree.write("scenarios", "");
    says("error: scenarios: expected a folder, found a file");
}

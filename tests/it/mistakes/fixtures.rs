//! Mistakes that a person can make in a fixture: each is an error that names the file and the place, and the other scenarios
//! run.

use crate::mistakes::spoilt::{Mistake, copies, only_these_fail, write_bytes};
#[cfg(unix)]
use crate::mistakes::spoilt::{forbid, link, pipe, without_permissions};
use crate::support::tree::Tree;

tests! { each_mistake_in_a_fixture_is_reported_with_its_place,
    an_entry_that_is_not_a_file_in_place_of_a_fixture_is_named,
    a_fixture_saved_by_another_editor_is_read,
    an_error_in_the_last_line_of_a_large_fixture_has_its_line_and_column,
    a_fixture_that_names_another_scenario_is_noted,
    an_answer_edited_in_one_place_is_served_and_its_golden_is_red,
    an_edited_output_of_the_old_format_is_refused_until_key_write_leaves_it_out,
}

/// The mistakes. Each is one change of a good fixture.
const FIXTURES: &[Mistake] = &[
    ("not-json", |_| b"turns = []\n".to_vec(), ":1:1: not JSON: expected a JSON value, found 't'"),
    ("empty", |_| Vec::new(), ": the file is empty, expected a fixture"),
    ("blank", |_| b" \n\n".to_vec(), ": the file is empty, expected a fixture"),
    (
        "no-utf8",
        |good| good.replacen("Good", "\0", 1).bytes().map(|byte| if byte == 0 { 0xff } else { byte }).collect(),
        ":39:29: not JSON: the byte 0xff is not UTF-8",
    ),
    ("utf-16", |_| b"\xff\xfe{\0}\0".to_vec(), ":1:1: not JSON: the byte 0xff is not UTF-8"),
    (
        "cut-off",
        |good| good[..good.find("\"wire\"").unwrap() + 6].into(),
        ":29:13: not JSON: expected `,` or `}`, found the end of the text",
    ),
    ("text-behind", |good| format!("{good}x\n").into(), ":60:1: not JSON: more text after the value"),
    ("pasted-twice", |good| good.repeat(2).into(), ":60:1: not JSON: more text after the value"),
    ("comment", |good| format!("// mine\n{good}").into(), ":1:1: not JSON: expected a JSON value, found '/'"),
    (
        "two-commas",
        |good| good.replace("retake/2\",", "retake/2\",,").into(),
        ":2:24: not JSON: expected a key in quotes, found ','",
    ),
    (
        "comma-at-the-end",
        |good| good.replace("\n    }\n  ]", "\n    },\n  ]").into(),
        ":58:3: not JSON: expected a JSON value, found ']'",
    ),
    ("single-quotes", |_| b"{'turns': []}".to_vec(), ":1:2: not JSON: expected a key in quotes, found '\\''"),
    (
        "conflict",
        |good| good.replace("  \"turns\"", "<<<<<<< HEAD\n=======\n>>>>>>> topic\n  \"turns\"").into(),
        ":21:1: a merge conflict is left in this file: the line begins with `<<<<<<<`\n  \
         keep one of its sides, and remove the markers down to line 23",
    ),
    (
        "key-twice",
        |good| good.replace("\"format\"", "\"format\": \"retake/2\",\n  \"format\"").into(),
        ":3:3: not JSON: the key \"format\" appears twice in this object",
    ),
    (
        "turns-twice",
        |good| good.replace("  \"turns\"", "  \"turns\": [],\n  \"turns\"").into(),
        ":22:3: not JSON: the key \"turns\" appears twice in this object",
    ),
    (
        "key-twice-in-a-turn",
        |good| good.replace("\"input\"", "\"input\": {},\n      \"input\"").into(),
        ":25:7: not JSON: the key \"input\" appears twice in this object",
    ),
    ("deep", |_| "[".repeat(100_000).into(), ":1:257: not JSON: more than 256 levels of nesting"),
    (
        "deep-in-a-turn",
        |_| format!("{{\"turns\": [{}1{}]}}", "{\"a\":".repeat(1000), "}".repeat(1000)).into(),
        ":1:1282: not JSON: more than 256 levels of nesting",
    ),
    ("a-list", |_| b"[]".to_vec(), ":1:1: the file: expected an object, found a list"),
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
        |good| good.replace("retake/2", "retake/9").into(),
        ":2:3: `format`: unknown version \"retake/9\", this version of Retake reads \"retake/2\" and \"retake/1\"",
    ),
    (
        "format-no-text",
        |good| good.replace("\"retake/2\"", "1").into(),
        ":2:3: `format`: unknown version 1, this version of Retake reads \"retake/2\" and \"retake/1\"",
    ),
    (
        "field-misspelled",
        |good| good.replace("\"scenario\"", "\"scenaro\"").into(),
        ":3:3: `scenaro`: unknown field; did you mean `scenario`?",
    ),
    (
        "field-of-a-turn-misspelled",
        |good| good.replace("\"wire\"", "\"wier\"").into(),
        ":29:7: turns[0].wier: unknown field; did you mean `wire`?",
    ),
    (
        "field-within-misspelled",
        |good| good.replace("\"messages\"", "\"message\"").into(),
        ":25:9: turns[0].input.message: unknown field; did you mean `messages`?",
    ),
    (
        "unknown-api",
        |good| good.replace("\"api\": \"openai-chat\"", "\"api\": \"openai\"").into(),
        ":30:9: turns[0].wire.api: expected one of openai-chat, openai-responses, anthropic, gemini, ollama, \
         bedrock-converse, bedrock-invoke, opaque, found the string \"openai\" (a suite can declare others: `[[apis]]`)",
    ),
    (
        "near-api",
        |good| good.replace("\"api\": \"openai-chat\"", "\"api\": \"openai_chat\"").into(),
        ":30:9: turns[0].wire.api: expected one of openai-chat, openai-responses, anthropic, gemini, ollama, \
         bedrock-converse, bedrock-invoke, opaque, found the string \"openai_chat\"; did you mean \"openai-chat\"? (a \
         suite can declare others: `[[apis]]`)",
    ),
    ("turns-null", |_| b"{\"turns\": null}".to_vec(), ":1:2: `turns`: expected a list of recorded turns, found null"),
    (
        "git-lfs",
        |_| b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n".to_vec(),
        ":1:1: this is Git LFS's pointer to a file, not the file\n  to fetch it: git lfs pull",
    ),
    (
        "scrub-number",
        |good| good.replace("  \"turns\"", "  \"scrub\": [\"jwt\", 1],\n  \"turns\"").into(),
        ":21:20: `scrub[1]`: expected the name of a form, found the number 1",
    ),
    (
        "status-of-no-answer",
        |good| good.replace("\"status\": 200", "\"status\": 101").into(),
        ":55:9: turns[0].wire.status: expected the HTTP status of an answer, 200 to 599, found the number 101",
    ),
    (
        "status-beyond-numbers",
        |good| good.replace("\"status\": 200", &format!("\"status\": {}", "9".repeat(5000))).into(),
        ":55:9: turns[0].wire.status: expected a whole number, 0 or more, found the number \
         9999999999999999999999999999999999999999…",
    ),
    (
        "status-as-text",
        |good| good.replace("\"status\": 200", "\"status\": \"200\"").into(),
        ":55:9: turns[0].wire.status: expected a whole number, 0 or more, found the string \"200\"",
    ),
    (
        "no-status",
        |good| good.replace("\"status\": 200", "\"status\": 70000").into(),
        ":55:9: turns[0].wire.status: expected the HTTP status of an answer, 200 to 599, found the number 70000",
    ),
    (
        "no-text",
        |good| good.replacen("\"checks\": {}", "\"checks\": {\"prompt\": 1}", 1).into(),
        ":23:18: turns[0].checks.prompt: expected the index of a text in `texts.prompt`, which has 1, found the number 1",
    ),
    (
        "computed",
        |good| good.replace("\"input\"", "\"input_hash\": \"x\",\n      \"input\"").into(),
        ":24:7: turns[0].input_hash: expected nothing: it is computed from `input`, found the string \"x\"",
    ),
    (
        "nothing-came",
        |good| good.replace("\"wire\"", "\"request\"").into(),
        ":22:5: turns[0].wire: expected the response as it came, or `output`, found nothing",
    ),
    (
        "both-answers",
        |good| good.replace("\"wire\"", "\"output\": {\"blocks\": []},\n      \"wire\"").into(),
        ":29:7: turns[0].output: expected either `wire`, the response as it came, or `output`, an answer in its place, found both",
    ),
    (
        "asked-for-what",
        |good| good.replace("\"status\"", "\"asked\": \"streem\",\n        \"status\"").into(),
        ":55:9: turns[0].wire.asked: expected one of json, stream, found the string \"streem\"; did you mean \"stream\"?",
    ),
    (
        "recorded-on-a-day",
        |good| good.replace("  \"turns\"", "  \"recorded\": \"2026-11-25\",\n  \"turns\"").into(),
        ":21:3: `recorded`: expected a minute with its offset, as in 2026-11-25T14:03+01:00, found \"2026-11-25\"",
    ),
];

fn each_mistake_in_a_fixture_is_reported_with_its_place() {
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
        let told_of = told.strip_suffix(&format!("\n  to record it again: retake record {name}"));
        if told_of != Some(&*wanted) {
            others.push(format!("{told}\nbut wanted:\n{wanted}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    only_these_fail(&run, &names);
}

fn a_fixture_that_names_another_scenario_is_noted() {
    let tree = copies(&["copied"]);
    tree.write("fixtures/copied.json", &tree.read("fixtures/greeting.json"));
    let run = tree.runner("oddities").run().exits(0);
    assert_eq!(run.stderr, "note: copied: fixtures/copied.json says that it was recorded for scenario `greeting`\n");
    // Two scenarios may share a fixture, no matter which of them it was recorded for.
    tree.remove("fixtures/copied.json");
    tree.write(
        "scenarios/copied/scenario.toml",
        &format!("fixture = \"greeting\"\n{}", tree.read("scenarios/copied/scenario.toml")),
    );
    assert_eq!(tree.runner("oddities").run().exits(0).stderr, "");
}

fn an_answer_edited_in_one_place_is_served_and_its_golden_is_red() {
    let tree = Tree::of(&["write_read_file"]);
    let fixture = "fixtures/write_read_file.json";
    let printed = tree.retake().args(&["show", "write_read_file", "--answer", "4"]).run().exits(0).stdout;
    assert!(printed.starts_with("\"output\": {\n  \"blocks\": ["), "{printed}");
    let good = tree.read(fixture);
    let (before, rest) = good.rsplit_once("\"wire\": {").unwrap();
    let after = rest.split_once("\n      }").unwrap().1;
    // As it is pasted, nothing changes; another word is another answer.
    let pasted = |output: &str| tree.write(fixture, &format!("{before}{}{after}", output.trim_end()));
    pasted(&printed);
    tree.runner("gateway").run().exits(0);
    pasted(&printed.replacen("reading a note", "reading a letter", 1));
    let told = tree.runner("gateway").run().exits(101).failure("write_read_file").to_owned();
    let first = told.lines().next().unwrap();
    assert!(first.contains("title") && first.contains("letter"), "{told}");
    tree.retake().args(&["show", "write_read_file", "--answer", "5"]).run().exits(2).says(&["there is no turn 5"]);
}

fn an_edited_output_of_the_old_format_is_refused_until_key_write_leaves_it_out() {
    let tree = Tree::carried("0.2");
    let fixture = "fixtures/write_read_file.json";
    let good = tree.read(fixture);
    let (before, after) = good.split_once("\"output\"").unwrap();
    tree.write(fixture, &format!("{before}\"output\"{}", after.replacen("note.txt", "other.txt", 1)));
    let run = |tree: &Tree| tree.runner("gateway").args(&["write_read_file"]).run();
    run(&tree).exits(101).says(&[
        "turns[0].output: it does not match `wire`: \"path\": \"other.txt\" in `output`, but \"path\": \"note.txt\" in `wire`",
        "to restore `output` from `wire`: retake key --write fixtures/write_read_file.json",
    ]);
    tree.retake().args(&["key", "--write", fixture]).run().exits(0).says(&["written as retake/2", "not known: "]);
    let written = tree.read(fixture);
    assert!(written.contains("\"retake/2\"") && !written.contains("\"output\""), "{written}");
    run(&tree).all();
    assert!(!run(&tree).all().contains("does not match `wire`"));
}

#[cfg(not(unix))]
fn an_entry_that_is_not_a_file_in_place_of_a_fixture_is_named() {}

#[cfg(unix)]
fn an_entry_that_is_not_a_file_in_place_of_a_fixture_is_named() {
    let names =
        ["folder", "nowhere", "cycle", "forbidden", "upper", "ending", "missing", "linked", "pipe", "socket", "device"];
    let tree = copies(&names);
    for name in names {
        tree.remove(&format!("fixtures/{name}.json"));
    }
    std::fs::create_dir(tree.path("fixtures/folder.json")).unwrap();
    link(&tree, "fixtures/nowhere.json", "gone.json");
    link(&tree, "fixtures/cycle.json", "cycle.json");
    link(&tree, "fixtures/linked.json", "greeting.json");
    // Reading these files would block or never end.
    pipe(&tree.path("fixtures/pipe.json"));
    let _listener = std::os::unix::net::UnixListener::bind(tree.path("fixtures/socket.json")).unwrap();
    link(&tree, "fixtures/device.json", "/dev/zero");
    let good = tree.read("fixtures/greeting.json");
    tree.write("fixtures/forbidden.json", &good);
    tree.write("fixtures/Upper.json", &good);
    tree.write("fixtures/ending.JSON", &good);
    forbid(&tree.path("fixtures/forbidden.json"));
    let unprivileged = without_permissions(&tree);
    let forbidden = unprivileged.is_some();
    let run = unprivileged.unwrap_or_else(|| tree.runner("oddities")).run().exits(101);
    let record = |name: &str| format!("to record it again: retake record {name}");
    let unreadable = |name: &str, why: &str| {
        assert_eq!(run.failure(name), format!("fixtures/{name}.json: failed to read it: {why}"), "{name}");
    };
    unreadable("folder", &format!("it is a folder, expected a file\n  remove it; {}", record("folder")));
    let leads_nowhere = |to: &str, name: &str| format!("it is a broken link to `{to}`\n  remove it; {}", record(name));
    unreadable("nowhere", &leads_nowhere("gone.json", "nowhere"));
    unreadable("cycle", &leads_nowhere("cycle.json", "cycle"));
    for (name, what) in [("pipe", "a named pipe"), ("socket", "a socket"), ("device", "a device")] {
        unreadable(name, &format!("it is {what}, expected a file\n  remove it; {}", record(name)));
    }
    if forbidden {
        unreadable("forbidden", &format!("no permission\n  {}", record("forbidden")));
    }
    for (name, help) in [
        ("upper", "is fixtures/Upper.json meant to be fixtures/upper.json?\n  "),
        ("ending", "is fixtures/ending.JSON meant to be fixtures/ending.json?\n  "),
        ("missing", ""),
    ] {
        let says = format!(
            "the scenario has no fixture: fixtures/{name}.json does not exist\n  {help}to \
             record it: retake record {name}\n  or, if the scenario calls no model: fixture = \"none\""
        );
        assert_eq!(run.failure(name), says);
    }
    assert_eq!((run.trials()["greeting"], run.trials()["linked"]), ("ok", "ok"), "{}", run.stdout);
}

fn a_fixture_saved_by_another_editor_is_read() {
    let tree = copies(&["mark", "line-ends", "one-line"]);
    let good = tree.read("fixtures/greeting.json");
    tree.write("fixtures/mark.json", &format!("\u{feff}{good}"));
    tree.write("fixtures/line-ends.json", &good.replace('\n', "\r\n"));
    tree.write("fixtures/one-line.json", &good.replace('\n', ""));
    only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
}

fn an_error_in_the_last_line_of_a_large_fixture_has_its_line_and_column() {
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
            format!("fixtures/large.json{says}\n  to record it again: retake record large")
        );
    }
}

//! What is printed is shown, whoever wrote it: on a terminal no escape of it is executed, and in a CI job no command is taken from it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::replay::serve::{Serving, said};
use crate::support::fixtures::{self, turn};
use crate::support::loopback::send;
use crate::support::program::Program;
use crate::support::tree::Tree;
use crate::systems::described::{READY, system};

tests! {
    no_text_of_a_run_is_executed,
    no_text_of_a_fixture_is_executed,
    no_line_of_a_log_is_executed,
    no_name_and_no_argument_is_executed,
    no_call_to_a_server_is_executed,
    no_golden_that_waits_is_executed,
    an_annotation_is_the_only_command,
    a_reader_who_leaves_changes_no_result,
    a_result_that_cannot_be_written_ends_without_a_panic,
}

/// A text that moves the cursor, sets the title, and gives commands to three CI systems.
const EVIL: &str = "evil\n::add-mask::evil\r::error::evil\u{1b}]0;evil\u{7}\u{8}\u{9b}31m\u{202e}\n  ::stop-commands::evil\n\
    ##vso[task.complete]evil ##teamcity[buildStop] ###[group]evil\u{1b}[2J";

/// Runs a program on a terminal, and answers what it asks. Returns its exit code and what the terminal got.
fn on_a_terminal(program: Program, answers: &'static str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let open = || -> OwnedFd { File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into() };
    let mut command = program.into_command();
    command.env("TERM", "xterm").stdin(Stdio::piped()).stdout(open()).stderr(open());
    let mut child = command.spawn().unwrap();
    let mut asked = child.stdin.take().unwrap();
    // What asks nothing may have ended.
    drop(asked.write_all(answers.as_bytes()));
    drop(asked);
    // It holds the terminal open.
    drop(command);
    let reading = std::thread::spawn(move || {
        let (mut terminal, mut all, mut buffer) = (File::from(terminal), Vec::new(), [0; 4096]);
        // At the end, Linux says that there is no terminal any more.
        while let Ok(count @ 1..) = terminal.read(&mut buffer) {
            all.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    (child.wait().unwrap().code(), reading.join().unwrap())
}

/// Asserts that nothing of [`EVIL`] acts on who reads this.
#[track_caller]
fn assert_shown(what: &str, output: &str) {
    for raw in
        ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{8}", "\u{9b}", "\u{202e}", "##vso[", "##teamcity[", "##[", "panicked"]
    {
        assert!(!output.contains(raw), "{what} prints {raw:?}:\n{output}");
    }
    for line in output.split(['\n', '\r']) {
        assert!(!line.trim_start().starts_with("::"), "{what} gives a command: {line:?}\n{output}");
    }
}

/// Runs each command on a terminal and in a job. Returns all that was printed.
fn shown(tree: &Tree, commands: &[&[&str]]) -> String {
    let mut all = String::new();
    for args in commands {
        let what = args.join(" ");
        let (code, output) = on_a_terminal(tree.retake().args(args), "");
        assert!(code.is_some_and(|code| code < 3), "{what}: {code:?}\n{output}");
        assert_shown(&what, &output);
        let job = tree.retake().args(args).env("CI", "true").run();
        assert_shown(&what, &job.stdout);
        assert_shown(&what, &job.stderr);
        all += &output;
        all += &job.all();
    }
    all
}

/// Adds [`EVIL`] to each text of run data that is not a word of the format.
fn spoil(value: &mut Value) {
    match value {
        Value::String(text) if text == "-" || text == "+" => {}
        Value::String(text) => text.push_str(EVIL),
        Value::Array(items) => items.iter_mut().for_each(spoil),
        Value::Object(fields) => {
            let words = ["format", "scenario", "action", "result", "started", "kind", "side", "shard", "proof", "does"];
            fields.iter_mut().filter(|(name, _)| !words.contains(&name.as_str())).for_each(|(_, value)| spoil(value));
        }
        _ => {}
    }
}

fn no_text_of_a_run_is_executed() {
    let tree = Tree::of(&["write_read_file"]);
    fixtures::edit(&tree, "write_read_file", |turns| {
        fixtures::change_word(turns[2].conversation.last_mut().unwrap(), "replay", "rehearsal");
    });
    tree.runner("gateway").run().exits(101);
    let file = ".retake/runs/write_read_file.json";
    let mut run: Value = serde_json::from_str(&tree.read(file)).unwrap();
    run["flaky"] = json!({ "tries": 2, "failures": ["no"] });
    run["notes"] = json!(["note"]);
    run["logs"] = json!(["log"]);
    spoil(&mut run);
    tree.write(file, &run.to_string());
    let printed = shown(
        &tree,
        &[
            &["explain", "write_read_file"],
            &["explain", "write_read_file", "--json"],
            &["explain"],
            &["report", "--no-open"],
            &["report", "--form", "junit"],
            &["report", "--form", "markdown"],
            &["review"],
            &["list"],
            &["list", "--json"],
            &["report", "merge", ".retake", "--form", "markdown"],
        ],
    );
    assert!(printed.matches("evil").count() > 500, "{printed}");
    // Of JSON, the meaning stays.
    let json = tree.retake().args(&["explain", "write_read_file", "--json"]).run();
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["notes"][0], format!("note{EVIL}"));
    for file in ["report.md", "junit.xml"] {
        tree.retake()
            .args(&["report", "--form", if file == "report.md" { "markdown" } else { "junit" }, "--out", file])
            .run();
        let text = tree.read(file);
        assert!(text.contains("evil") && !text.contains('\u{1b}') && !text.contains('\u{9b}'), "{text}");
    }
}

fn no_text_of_a_fixture_is_executed() {
    let tree = Tree::with_suite("");
    let evil = format!("say{EVIL}");
    fixtures::write(&tree, "evil", vec![turn(None, &evil, &evil), turn(Some("b"), "hello", &evil)]);
    let mut fixture: Value = serde_json::from_str(&tree.read("fixtures/evil.json")).unwrap();
    fixture["turns"][1]["caller"] = json!(format!("caller{EVIL}"));
    fixture["context"] = json!({ "mode": EVIL });
    for turn in fixture["turns"].as_array_mut().unwrap() {
        turn.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_hash"));
    }
    tree.write("fixtures/evil.json", &fixture.to_string());
    tree.write("evil.sse", &format!("event: {}\ndata: {{\"a\": \"{}\"}}\n\n", "e\u{1b}]0;evil\u{7}", "b\u{9b}evil"));
    tree.write(
        "call.jsonl",
        &format!("{}\n", json!({ "caller": EVIL, "messages": [{ "type": EVIL, "content": EVIL }] })),
    );
    let printed = shown(
        &tree,
        &[
            &["show", "evil"],
            &["show", "evil", "--turn", "1"],
            &["show", "evil", "--turn", "2"],
            &["shape", "evil.sse", "--detail", "values"],
            &["shape", "evil.sse", "--json"],
            &["key", "call.jsonl"],
            &["import", "aimock", "fixtures/evil.json", "--out", "fixtures/b.json"],
            &["import", "journal", "evil.sse", "--out", "fixtures/b.json"],
        ],
    );
    assert!(printed.matches("evil").count() > 50, "{printed}");
}

fn no_line_of_a_log_is_executed() {
    let tree = Tree::with_suite("");
    tree.write("evil.txt", EVIL);
    let system = |name: &str, then: &str| {
        format!(
            "[systems.{name}]\ncommand = [\"sh\", \"-c\", \"cat {}; {then}\"]\nready = {{ line = \"never\", timeout = \"1s\" }}\n",
            tree.path("evil.txt").display()
        )
    };
    tree.write("scenarios/suite.toml", &[system("ends", "exit 3"), system("stays", "sleep 60")].concat());
    for name in ["ends", "stays"] {
        tree.scenario(name, &format!("system = \"{name}\"\nfixture = \"none\"\n[[step]]\nget = \"/\"\n"));
    }
    let tested =
        shown(&tree, &[&["test"], &["test", "--", "--format", "json"], &["test", "ends", "--", "--test-threads", "1"]]);
    assert!(tested.matches("evil").count() > 50, "{tested}");
    shown(&tree, &[&["explain"], &["report", "--form", "markdown"], &["doctor"], &["audit"], &["worlds"]]);
}

fn no_name_and_no_argument_is_executed() {
    let tree = Tree::with_suite("");
    for name in ["::add-mask::evil", "##vso[x]evil", "a\u{1b}]0;evil\u{7}", "b\n::error::evil", " ::error::evil"] {
        tree.scenario(name, "fixture = \"none\"\n");
        tree.write(&format!("fixtures/{name}.json"), EVIL);
    }
    tree.scenario("texts", &format!("description = {}\nwhat = 1\n", json!(EVIL)));
    let printed = shown(
        &tree,
        &[
            &["test"],
            &["test", "--", "--list"],
            &["test", EVIL],
            &["list"],
            &["list", "--json"],
            &["explain", EVIL],
            &["show", EVIL],
            &["show", "--fork", EVIL],
            &["review", EVIL],
            &["accept", EVIL],
            &["reject", EVIL],
            &["audit", EVIL],
            &["worlds", EVIL],
            &["adopt", EVIL],
            &["man", EVIL],
            &["man", "--out", "evil"],
            &["completions", EVIL],
            &["completions", "bash"],
            &["init", EVIL],
            &["proxy", "--upstream", EVIL, "--out", EVIL],
            &["rename", EVIL, "b"],
            &["rename", "b", EVIL],
            &["new", EVIL],
            &["prune"],
            &["doctor"],
            &["fork", EVIL],
            &["check", EVIL],
            &["record", EVIL],
            &["tools", EVIL],
            &["serve", EVIL],
            &["import", EVIL],
            &["key", EVIL],
            &["shape", EVIL],
            &["report", "merge", EVIL],
            &["report", "--form", EVIL],
            &["--evil\u{1b}]0;evil\u{7}"],
            &["evil\u{1b}]0;evil\u{7}"],
        ],
    );
    assert!(printed.matches("evil").count() > 100, "{printed}");
}

fn no_golden_that_waits_is_executed() {
    let tree = Tree::with_suite("");
    let event = json!({ "type": EVIL, "status": EVIL, EVIL: [{ "role": EVIL, "text": EVIL }] });
    tree.write("evil.jsonl", &format!("{event}\n{event}\n"));
    let step = format!("[[step]]\nrun = [\"cat\", {}]\nstream = {{}}\n", json!(tree.path("evil.jsonl")));
    tree.scenario("evil", &format!("fixture = \"none\"\n{step}[golden]\ndetail = \"values\"\n"));
    for accepted in [true, false] {
        shown(&tree, &[&["test"]]);
        assert!(tree.has("goldens/evil.snap.new"), "{:?}", tree.files().keys());
        let answers = if accepted { "b\nu\nw\nx\na\n" } else { "b\nu\nw\nr\n" };
        let (code, printed) = on_a_terminal(tree.retake().arg("review"), answers);
        assert_eq!(code, Some(0), "{printed}");
        assert_shown("review", &printed);
        assert!(printed.matches("evil").count() > 10, "{printed}");
        assert!(tree.has("goldens/evil.snap"), "{printed}");
        tree.write("evil.jsonl", &format!("{event}\n"));
    }
}

fn no_call_to_a_server_is_executed() {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![turn(None, "Hello", "Hi")]);
    let mut serving = Serving::start(tree.retake().args(&["serve", "fixtures/greeting.json"]));
    assert_eq!(serving.ask(&[("x-retake-caller", "##vso[x]evil")], &said(EVIL), false).status, 404);
    let path = format!("{}/v1/%1b]0;evil/##vso[x]evil", serving.ready("url"));
    let key = serving.ready("key").to_owned();
    assert_eq!(send(&path, &[("x-api-key", &key)], Some(&json!({}))).status, 404);
    let (code, errors) = serving.end_and_read("-TERM");
    assert_eq!(code, Some(1));
    assert!(errors.contains("evil"), "{errors}");
    assert_shown("serve", &errors);
}

fn an_annotation_is_the_only_command() {
    let tree = Tree::with_suite("");
    tree.write("evil.txt", EVIL);
    let system = format!(
        "command = [\"sh\", \"-c\", \"cat {}; exit 3\"]\nready = {{ line = \"never\" }}",
        tree.path("evil.txt").display()
    );
    tree.write("scenarios/suite.toml", &format!("[systems.ends]\n{system}\n"));
    tree.scenario("ends", "fixture = \"none\"\n[[step]]\nget = \"/\"\n");
    let job = tree.retake().args(&["test"]).env("CI", "true").env("GITHUB_ACTIONS", "true");
    let job = job.env("GITHUB_STEP_SUMMARY", tree.path("summary.md")).run().exits(1);
    let all = job.all();
    let commands: Vec<&str> = all.split(['\n', '\r']).filter(|line| line.trim_start().starts_with("::")).collect();
    assert!(
        matches!(commands[..], [one] if one.starts_with("::error file=scenarios/ends/scenario.toml,title=ends::")),
        "{commands:#?}"
    );
    let rest: Vec<&str> = all.lines().filter(|line| !line.starts_with("::error file=")).collect();
    assert_shown("test", &rest.join("\n"));
    assert!(!commands[0].contains(['\u{1b}', '\u{9b}', '\u{7}']), "{commands:?}");
    let summary = tree.read("summary.md");
    assert!(summary.contains("evil") && !summary.contains(['\u{1b}', '\u{9b}', '\u{7}', '\r']), "{summary}");
}

/// A project with a scenario that passes and one that fails.
fn passing_and_failing() -> Tree {
    let tree = Tree::with_suite(&system("agent", "", READY));
    let asks = |status: u16| format!("fixture = \"none\"\n[[step]]\nget = \"/count\"\nstatus = {status}\n");
    tree.scenario("passes", &asks(200));
    tree.scenario("fails", &asks(500));
    tree
}

fn a_reader_who_leaves_changes_no_result() {
    let tree = passing_and_failing();
    for (args, code) in [
        (&["test"][..], 1),
        (&["test", "passes"], 0),
        (&["test", "--", "--list"], 0),
        (&["test", "--", "--format", "json", "--test-threads", "1"], 1),
        (&["list"], 0),
        (&["--help"], 0),
        (&["explain"], 1),
    ] {
        let mut command = tree.retake().args(args).into_command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {errors}");
        assert!(!errors.contains("panicked"), "{args:?}: {errors}");
    }
}

fn a_result_that_cannot_be_written_ends_without_a_panic() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let tree = passing_and_failing();
    for args in [&["test"][..], &["test", "passes"], &["test", "--", "--list"], &["list"], &["explain"], &["--help"]] {
        let mut command: Command = tree.retake().args(args).into_command();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {errors}");
        assert!(!errors.contains("panicked"), "{args:?}: {errors}");
        assert!(errors.matches("cannot write to standard output").count() <= 1, "{errors}");
    }
}

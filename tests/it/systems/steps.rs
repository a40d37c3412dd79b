//! The less common kinds of step, on a real system.

use super::described::{CHAT, READY, system};
use super::provider::record;
use super::service::agent;
use crate::support::tree::Tree;

tests!(
    a_listener_gets_the_events_that_later_steps_cause_and_keeps_its_place_in_the_golden,
    a_listener_without_a_last_event_gets_events_that_come_after_a_pause,
    events_after_the_last_one_are_marked_in_the_golden,
    a_length_that_varies_is_reported_with_the_option_that_ignores_it,
    a_client_disconnects_midway_and_reconnects,
    forms_and_files_are_sent_as_a_browser_sends_them,
    a_step_waits_for_a_value,
    a_late_event_of_a_command_or_a_listener_is_noticed,
    numbers_that_clients_cannot_read_are_noticed,
    steps_can_run_at_the_same_time,
    a_command_line_agent_is_driven_without_a_system,
    prose_of_a_command_line_agent_is_in_the_golden_line_by_line,
);

/// Returns a project with one scenario that calls no model.
fn tree(steps: &str) -> Tree {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("a", &format!("fixture = \"none\"\n{steps}"));
    tree
}

/// Updates the golden of a scenario and returns its text.
fn golden(tree: &Tree, name: &str) -> String {
    tree.retake().args(&["test", name, "--update"]).run().green();
    let golden = tree.read(&format!("goldens/{name}.snap"));
    golden.split_once("---\n").unwrap().1.split_once("---\n").unwrap().1.to_owned()
}

fn a_listener_gets_the_events_that_later_steps_cause_and_keeps_its_place_in_the_golden() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("a", &format!("[[step]]\nlisten = \"/events\"\n{CHAT}\n{CHAT}[golden]\ndetail = \"keys\"\n"));
    let steps = "[[step]]\nlisten = \"/events\"\nstream = { first = \"hello\", last = \"chat\" }\n";
    tree.scenario("until", &format!("{steps}{CHAT}[golden]\ndetail = \"keys\"\n"));
    record(&tree, &["a", "until"]).green();
    let words = "          /answer = turn 1\n";
    let answer = format!("POST /chat\n200 text/event-stream\n\nanswer    {{answer}}\n{words}end\n");
    let events = "GET /events\n200 text/event-stream\n\nhello     {}\nchat      {answer}";
    assert_eq!(golden(&tree, "a"), format!("{events} ×2\n{words}\n\n{answer}\n\n{answer}"));
    assert_eq!(golden(&tree, "until"), format!("{events}\n{words}\n\n{answer}"));

    tree.scenario("until", &format!("timeout = \"3s\"\n{}{CHAT}", steps.replace("\"chat\"", "\"bye\"")));
    tree.retake().args(&["test", "until"]).run().red(&[
        "the event `bye` did not come: step 1 (listen /events) was under way",
        "the scenario took longer than 3s",
    ]);
    tree.scenario("until", &format!("{}{CHAT}", steps.replace("\"hello\"", "\"hi\"")));
    tree.retake()
        .args(&["test", "until"])
        .run()
        .red(&["scenarios/until/scenario.toml:1:1: failed to take step 1 (listen /events): \
         expected `hi` as the first event, found `hello`"]);
}

fn a_listener_without_a_last_event_gets_events_that_come_after_a_pause() {
    let tree = tree("settle = \"3s\"\n[[step]]\nlisten = \"/afterthought\"\n[golden]\ndetail = \"keys\"\n");
    assert_eq!(golden(&tree, "a"), "GET /afterthought\n200 text/event-stream\n\nhello     {}\nlate      {}\n");
}

fn events_after_the_last_one_are_marked_in_the_golden() {
    let step = |path: &str| format!("[[step]]\nget = \"{path}\"\nstream = {{ last = \"end\" }}\n");
    let end = "200 text/event-stream\n\nend       null\n";
    for (how, below) in [
        ("nothing", ""),
        ("again", "(after the last event)\nend       null\nbeat      number\n"),
        ("break", "(broke off)\n"),
    ] {
        let steps = step(&format!("/after/{how}"));
        let head = format!("GET /after/{how}\n{end}");
        assert_eq!(golden(&tree(&steps), "a"), format!("{head}{below}"));
        assert_eq!(golden(&tree(&format!("{steps}[golden]\nafter_last = false\n")), "a"), head);
    }
    let ignored = tree(&format!("{}[golden]\nignore = [\"e*d\", \"beat\"]\n", step("/after/again")));
    assert_eq!(golden(&ignored, "a"), "GET /after/again\n200 text/event-stream\n");
    let open = tree(&step("/numbers").replace("\"end\"", "\"last\""));
    assert!(
        golden(&open, "a")
            .ends_with("last      {n}\n(left open)\n\nlast\n  n          5\nnumber\n  n          from 1\n")
    );
}

fn a_length_that_varies_is_reported_with_the_option_that_ignores_it() {
    let steps = "[[step]]\nget = \"/zeros\"\ngolden = true\n";
    let tree = tree(steps);
    let option = "loose = [\"body:/zeros\"]";
    tree.retake().args(&["test", "--update"]).run().red(&[
        "unstable: two replays of scenario `a` differ, so nothing was written",
        "tried: with the option below, the goldens of the two replays are equal",
        &format!("if it may vary, add under [golden] in scenarios/a/scenario.toml:\n    {option}\n"),
    ]);
    assert!(!tree.has("goldens/a.snap"));
    tree.scenario("a", &format!("fixture = \"none\"\n{steps}[golden]\n{option}\n"));
    let golden = golden(&tree, "a");
    assert!(
        golden.ends_with(
            "body      {pair[2], zeros}\n\nbody\n  pair       [2 × 1 | 2, in order fd56]\n  zeros      [0]\n"
        ),
        "{golden}"
    );
}

fn a_client_disconnects_midway_and_reconnects() {
    let tree = tree(
        r#"
[[step]]
get = "/numbers"
cancel = { after = "number" }
[[step]]
get = "/numbers"
reconnect = true
stream = { last = "last" }
[golden]
detail = "keys"
show = ["/n"]
"#,
    );
    let line = |name: &str, n: usize| format!("{name:8}  {{n}}\n          /n = {n}\n");
    let head = "200 text/event-stream, with ids\n\n";
    let first = format!("GET /numbers, left after number\n{head}{}", line("number", 1));
    let rest: String = (2..5).map(|n| line("number", n)).collect();
    let second = format!("GET /numbers, reconnected\n{head}{rest}{}(left open)\n", line("last", 5));
    assert_eq!(golden(&tree, "a"), format!("{first}\n\n{second}"));

    let no_ids =
        "[[step]]\nget = \"/events\"\ncancel = { after = \"hello\" }\n[[step]]\nget = \"/events\"\nreconnect = true\n";
    tree.scenario("a", &format!("fixture = \"none\"\n{no_ids}"));
    tree.retake()
        .args(&["test", "a"])
        .run()
        .red(&["this step cannot reconnect: no event of the stream before it had an id"]);
    let never = "[[step]]\npost = \"/chat\"\njson = { message = \"x\" }\ncancel = { after = \"never\" }\n";
    tree.scenario("a", &format!("fixture = \"none\"\n{never}"));
    tree.retake().args(&["test", "a"]).run().red(&["miss"]);
}

fn forms_and_files_are_sent_as_a_browser_sends_them() {
    let tree = tree(
        r#"
[[step]]
post = "/echo"
form = { name = "Ann & Bob", tag = ["a", 2] }
golden = true
[[step]]
post = "/echo"
form = { note = "n" }
files = { file = "notes.txt", image = "logo.png" }
golden = true
[golden]
detail = "values"
"#,
    );
    tree.write("scenarios/a/notes.txt", "a note");
    tree.write("scenarios/a/logo.png", "PNG");
    let golden = golden(&tree, "a");
    assert!(golden.contains(r#""name=Ann+%26+Bob&tag=a&tag=2""#), "{golden}");
    assert!(golden.contains(r#""application/x-www-form-urlencoded""#), "{golden}");
    for part in [
        r#"form-data; name=\"note\"\r\n\r\nn\r\n--B"#,
        r#"name=\"file\"; filename=\"notes.txt\"\r\nContent-Type: text/plain\r\n\r\na note\r\n--B"#,
        r#"name=\"image\"; filename=\"logo.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n--B--"#,
    ] {
        assert!(golden.contains(part), "{part}\n{golden}");
    }
}

fn a_step_waits_for_a_value() {
    let job = "[[step]]\nget = \"/job\"\nwait = { json = \"/status\", is = \"done\" }\ngolden = true\n";
    let then =
        "capture = { pages = \"json:/result/pages\" }\n[[step]]\nget = \"/job?pages={{ pages }}\"\ngolden = true\n";
    let tree = tree(&format!("{job}{then}"));
    assert!(golden(&tree, "a").contains("GET /job?pages=3"));
    tree.scenario("a", &format!("fixture = \"none\"\ntimeout = \"4s\"\n{}", job.replace("\"done\"", "\"finished\"")));
    tree.retake().args(&["test", "a"]).run().red(&[
        "/status did not become \"finished\", but is \"done\": step 1 (GET /job) was under way",
        "the scenario took longer than 4s",
    ]);
}

fn a_late_event_of_a_command_or_a_listener_is_noticed() {
    let says = "echo '{\\\"type\\\":\\\"end\\\"}'; [ $LATE = 0 ] || echo '{\\\"type\\\":\\\"error\\\"}'";
    let run = format!("[[step]]\nrun = [\"sh\", \"-c\", \"{says}\"]\nenv = {{ LATE = \"0\" }}\n");
    let listen = "[[step]]\nlisten = \"/after/nothing\"\n";
    let last = "stream = { last = \"end\" }\n";
    for (step, change) in [(run.as_str(), ["\"0\"", "\"1\""]), (listen, ["nothing", "again"])] {
        let tree = tree(&format!("{step}{last}"));
        golden(&tree, "a");
        tree.replace("scenarios/a/scenario.toml", change[0], change[1]);
        // The request itself is written in the golden.
        if step == listen {
            tree.replace("goldens/a.snap", "/after/nothing", "/after/again");
        }
        tree.retake().args(&["test", "a"]).run().red(&["golden: "]);
    }
}

fn numbers_that_clients_cannot_read_are_noticed() {
    for number in ["NaN", "Infinity", "-Infinity", "1e400"] {
        let says = format!("echo '{{\\\"type\\\":\\\"usage\\\",\\\"of\\\":[0,{number}]}}'");
        let tree = tree(&format!("[[step]]\nrun = [\"sh\", \"-c\", \"{says}\"]\n"));
        let what = if number == "1e400" { "a number that is too large" } else { number };
        tree.retake().args(&["test", "a", "--update"]).run().red(&[
            "failed to take step 1 (run sh",
            &format!("the event `usage` has {what} at /of/1, which is not JSON"),
        ]);
    }
}

fn steps_can_run_at_the_same_time() {
    // One request alone would wait forever.
    let tree = tree(
        r#"
[[step]]
together = [
    { get = "/meet", golden = true, capture = { left = "json:/met" } },
    { get = "/meet", golden = true, capture = { right = "json:/met" } },
]
[[step]]
get = "/count?{{ left }}{{ right }}"
golden = true
"#,
    );
    let golden = golden(&tree, "a");
    assert!(golden.contains("GET /count?22"), "{golden}");
    assert_eq!(golden.matches("GET /meet").count(), 2);
    tree.scenario("a", "fixture = \"none\"\n[[step]]\ntogether = [{ get = \"/count\" }, { get = \"/nowhere\" }]\n");
    tree.retake()
        .args(&["test", "a"])
        .run()
        .red(&["scenarios/a/scenario.toml:3:33: failed to take step 1 (together GET /count, GET /nowhere): \
         expected a status of 200 to 299, found 404"]);
}

fn a_command_line_agent_is_driven_without_a_system() {
    let tree = Tree::with_suite("");
    let run = |fields: &str, env: &str| {
        let model = "OPENAI_BASE_URL = \"{{ model.openai }}\", OPENAI_API_KEY = \"{{ model.key }}\"";
        format!("[[step]]\nrun = {}\nenv = {{ MESSAGE = \"hello\", {model}{env} }}\n{fields}\n", agent())
    };
    let step = run("stream = { last = \"done\" }\ncapture = { said = \"sse:answer:/text\" }", "");
    tree.scenario("a", &format!("{step}[golden]\nshow = [\"/text\", \"/home\", \"/cwd\"]\n"));
    record(&tree, &["a"]).green();
    let golden = tree.read("goldens/a.snap");
    for line in [
        "exit 0\n",
        "started   {cwd, home, type}\n          /home = \"<home>\"\n          /cwd = \"<workdir>\"\n",
        "answer    {text, type}\n          /text = \"<said>\"\n",
    ] {
        assert!(golden.contains(line), "{line}\n{golden}");
    }
    tree.retake().args(&["test"]).run().green();

    tree.scenario("a", &run("", "").replace("hello", "bye"));
    tree.retake().args(&["test"]).run().red(&["miss", "+ bye"]);
    tree.scenario("a", &format!("fixture = \"none\"\n{}", run("", ", FAILS = \"4\"")));
    tree.retake().args(&["test", "a", "--", "--exact"]).run().red(&[
        "expected exit code 0, found 4",
        "its standard error ends with:",
        "| cannot reach the model",
    ]);
    tree.scenario("a", &format!("fixture = \"none\"\n{}", run("exit = 4", ", FAILS = \"4\"")));
    tree.retake().args(&["test", "a", "--update", "--", "--exact"]).run().green();
    assert!(tree.read("goldens/a.snap").contains("exit 4\n"));
    tree.scenario("a", "fixture = \"none\"\n[[step]]\nrun = [\"no-such-agent\"]\n");
    tree.retake().args(&["test", "a", "--", "--exact"]).run().red(&["there is no program `no-such-agent`"]);
    tree.scenario("a", &format!("fixture = \"none\"\n{}", run("cancel = { after = \"started\" }", ", HANGS = \"1\"")));
    tree.retake().args(&["test", "a", "--update", "--", "--exact"]).run().green();
    assert_eq!(tree.left(), [""; 0]);
}

fn prose_of_a_command_line_agent_is_in_the_golden_line_by_line() {
    let says = |text: &str| format!("[[step]]\nrun = [\"sh\", \"-c\", \"{text}\"]\n[golden]\ntext = \"lines\"\n");
    let prose = "echo 'I read note.txt'; echo \"$HOME\"; echo 3f2504e0-4f89-41d3-9a0c-0305e82c3301; printf 'Done.'";
    let tree = tree(&says(&prose.replace('"', "\\\"")));
    let golden = golden(&tree, "a");
    let (_, lines) = golden.split_once("exit 0\n\n").unwrap();
    let lines: Vec<&str> = lines.trim_end().lines().collect();
    assert_eq!(lines[0], "message   \"I read note.txt\"");
    assert!(lines[1].starts_with("message   \"<") && lines[2].starts_with("message   \"<"), "{lines:?}");
    assert_eq!(lines[3], "(unterminated)    \"Done.\"");
    tree.replace("scenarios/a/scenario.toml", "note.txt", "todo.txt");
    tree.retake().args(&["test", "a"]).run().red(&["golden: ", "I read note.txt", "I read todo.txt"]);
    tree.replace("scenarios/a/scenario.toml", "\"lines\"", "\"kind\"");
    tree.retake().args(&["test", "a"]).run().red(&["+ message   text"]);
    // Without any prose the option would have no effect, which is an error.
    tree.scenario("a", &format!("fixture = \"none\"\n{}", says("echo 1")));
    tree.retake()
        .args(&["test", "a", "--update"])
        .run()
        .red(&["`text = \"lines\"` in [golden], but no event of this run contains text: all are JSON"]);
}

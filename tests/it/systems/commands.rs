//! Systems that are commands: start, environment, readiness, early exit, and the log in failures.

use super::described::{CHAT, READY, system};
use super::provider::record;
use crate::support::tree::Tree;

tests!(
    a_command_is_recorded_and_replayed,
    the_environment_contains_what_is_listed_and_what_the_stage_adds,
    a_system_that_exits_early_or_is_never_ready_fails_with_the_end_of_its_log,
    a_script_whose_interpreter_is_gone_says_which_one,
    a_time_limit_shorter_than_the_start_of_the_system_is_reported,
    a_log_line_can_show_that_a_system_is_ready,
    the_log_is_quoted_if_nothing_else_explains_the_failure,
);

fn a_command_is_recorded_and_replayed() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    tree.retake().args(&["test"]).run().red(&["has no fixture", "retake record chat"]);
    let recorded = record(&tree, &["chat"]);
    recorded.green();
    recorded.tells(&["chat: 1 turn recorded to fixtures/chat.json, two replays agree", "golden new"]);
    assert!(
        tree.read("goldens/chat.snap")
            .contains("POST /chat\n200 text/event-stream\n\nanswer    {answer}\n          /answer = turn 1\nend")
    );
    tree.retake().args(&["test"]).run().green();
    assert_eq!(tree.left(), [""; 0]);
}

fn the_environment_contains_what_is_listed_and_what_the_stage_adds() {
    let env = r#"DATA_DIR = "{{ workdir }}", RUN = "x{{ run }}x", CONFIG = "{{ root }}/agent.toml""#;
    let tree = Tree::with_suite(&system("agent", env, &format!("{READY}\ncwd = \"{{{{ workdir }}}}\"")));
    tree.scenario(
        "environment",
        r#"fixture = "none"
[[step]]
get = "/environment"
golden = true
[golden]
detail = "values"
"#,
    );
    let runner = tree.retake().env("A_SECRET_OF_THE_CALLER", "s3cret");
    runner.args(&["test", "--update"]).run().green();
    let golden = tree.read("goldens/environment.snap");
    for line in [
        "CONFIG \"<root>/agent.toml\"",
        "DATA_DIR \"<workdir>\"",
        "HOME \"<home>\"",
        "LANG \"C.UTF-8\"",
        "OPENAI_API_KEY \"<key>\"",
        "OPENAI_BASE_URL \"http://<model>/v1\"",
        "RUN \"x<run>x\"",
        "TMPDIR \"<tmp>\"",
        // The second run of the proof has another date.
        "RETAKE_DATE yyyy-mm-dd",
        "cwd \"<workdir>\"",
    ] {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(golden.lines().any(|of_golden| words(of_golden) == line), "{line}\n{golden}");
    }
    assert!(!golden.contains("SECRET"), "{golden}");
}

/// Returns a scenario with these steps that calls no model.
fn quiet(steps: &str) -> String {
    format!("fixture = \"none\"\n{steps}")
}

fn a_system_that_exits_early_or_is_never_ready_fails_with_the_end_of_its_log() {
    let dies = system("agent", r#"DIES = "7""#, READY);
    let program = "[systems.agent]\ncommand = [\"no-such-program\"]\nready = { http = \"/\" }\n";
    let folder = dies.clone() + "cwd = \"{{ workdir }}/nowhere\"\n";
    let silent = "[systems.agent]\ncommand = [\"sleep\", \"60\"]\nready = { line = \"up\", timeout = \"200ms\" }\n";
    let route = system("agent", "", r#"ready = { http = "/nowhere", timeout = "500ms" }"#);
    let cases: [(&str, &[&str]); 5] = [
        (
            &dies,
            &[
                "system `agent` ended before it was ready: exit code 7",
                "the last lines of its log:",
                "| cannot go on: the database is locked",
            ],
        ),
        (program, &["failed to start system `agent`: there is no program `no-such-program`"]),
        (&folder, &["there is no folder", "nowhere"]),
        (silent, &["was not ready after 200ms: waited for a line of its log to match `up`", "PYTHONUNBUFFERED"]),
        (&route, &["was not ready after 500ms: waited for GET /nowhere on port", "| listening on "]),
    ];
    for (suite, says) in cases {
        let tree = Tree::with_suite(suite);
        tree.scenario("a", &quiet("[[step]]\nget = \"/count\"\n"));
        tree.retake().args(&["test"]).run().red(says);
        assert_eq!(tree.left(), [""; 0], "{suite}");
    }
}

fn a_script_whose_interpreter_is_gone_says_which_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::with_suite("[systems.agent]\ncommand = [\".venv/bin/serve\"]\nready = { http = \"/\" }\n");
    tree.write(".venv/bin/serve", "#!/moved/.venv/bin/python3 -s\nimport app\n");
    std::fs::set_permissions(tree.path(".venv/bin/serve"), std::fs::Permissions::from_mode(0o755)).unwrap();
    tree.scenario("a", &quiet("[[step]]\nget = \"/count\"\n"));
    let says = "`.venv/bin/serve` is there, but not `/moved/.venv/bin/python3`, which its first line names";
    tree.retake().args(&["test"]).run().never_says("there is no program").red(&[says]);
}

fn a_time_limit_shorter_than_the_start_of_the_system_is_reported() {
    let tree = Tree::with_suite(&system("agent", "", r#"ready = { http = "/nowhere" }"#));
    tree.scenario("a", &quiet("timeout = \"400ms\"\n[[step]]\nget = \"/count\"\n"));
    tree.retake().args(&["test"]).run().red(&["was not ready when the scenario's time was up", "| listening on "]);
    assert_eq!(tree.left(), [""; 0]);
}

fn a_log_line_can_show_that_a_system_is_ready() {
    let tree = Tree::with_suite(&system("agent", "", r#"ready = { line = "^listening on \\d+$" }"#));
    tree.scenario("a", &quiet("[[step]]\nget = \"/count\"\n"));
    tree.retake().args(&["test"]).run().green();
}

fn the_log_is_quoted_if_nothing_else_explains_the_failure() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    tree.scenario("count", &quiet("[[step]]\nget = \"/count\"\ngolden = true\n"));
    record(&tree, &["chat"]).green();
    tree.retake().args(&["test", "count"]).run().never_says("| listening on ").red(&["golden: the scenario has none"]);
    tree.retake().args(&["test", "count", "--update"]).run().green();
    let fixture = tree.read("fixtures/chat.json");

    tree.write("goldens/count.snap", &tree.read("goldens/count.snap").replace("chats", "chat"));
    tree.retake().args(&["test", "count"]).run().never_says("| listening on ").red(&["golden: "]);

    tree.scenario("chat", &CHAT.replace("hello", "bye"));
    tree.retake().args(&["test", "chat"]).run().never_says("| asked: bye").red(&["miss", "+ bye"]);
    tree.scenario("chat", "[[step]]\nget = \"/count\"\n");
    tree.retake().args(&["test", "chat"]).run().red(&["unused: the service never asks a model", "| listening on "]);
    assert_eq!(tree.read("fixtures/chat.json"), fixture);

    tree.scenario("chat", &quiet("[[step]]\npost = \"/crash\"\n"));
    tree.retake().args(&["test", "chat"]).run().red(&[
        "step 1 (POST /crash)",
        "system `agent` exited with code 3",
        "| going down",
    ]);
    tree.scenario("chat", &format!("timeout = \"4s\"\n{}", quiet("[[step]]\npost = \"/hang\"\n")));
    tree.retake().args(&["test", "chat"]).run().red(&["the scenario took longer than 4s", "| listening on "]);
    assert_eq!(tree.left(), [""; 0]);
}

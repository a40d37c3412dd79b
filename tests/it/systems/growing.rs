//! Larger suites: systems that have much in common, shared inputs, and files in the work folder.

use super::described::{CHAT, MODEL, READY, system};
use super::provider::record;
use super::service;
use crate::support::tree::Tree;

tests!(
    the_suite_names_the_system_of_scenarios_that_name_none,
    a_system_that_extends_another_overrides_only_the_fields_that_it_sets,
    scenarios_can_use_inputs_from_a_shared_folder,
    with_cwd_copy_a_system_runs_in_a_copy_of_its_folder,
    files_for_the_work_folder_are_rendered_before_the_system_starts,
    record_takes_all_scenarios_or_those_whose_names_contain_a_text,
);

/// A scenario whose golden contains the environment of its system.
const ENVIRONMENT: &str = r#"fixture = "none"
[[step]]
get = "/environment"
golden = true
[golden]
detail = "values"
"#;

/// Returns the environment of a system: the golden of the scenario `name`, which is updated first.
fn environment(tree: &Tree, name: &str) -> String {
    tree.retake().args(&["test", name, "--update"]).run().green();
    tree.read(&format!("goldens/{name}.snap"))
}

/// Asserts that a golden contains these lines, except for white space.
#[track_caller]
fn assert_holds(text: &str, lines: &[&str]) {
    // The width of the columns does not matter here.
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in lines {
        assert!(text.lines().any(|of_text| words(of_text) == *line), "{line} is not in:\n{text}");
    }
}

fn the_suite_names_the_system_of_scenarios_that_name_none() {
    let of = |name: &str| system(name, &format!("WHO = \"{name}\""), READY);
    let tree = Tree::with_suite(&format!("system = \"second\"\n{}{}", of("first"), of("second")));
    tree.scenario("says_nothing", ENVIRONMENT);
    tree.scenario("says_first", &format!("system = \"first\"\n{ENVIRONMENT}"));
    assert_holds(&environment(&tree, "says_nothing"), &["WHO \"second\""]);
    assert_holds(&environment(&tree, "says_first"), &["WHO \"first\""]);
}

fn a_system_that_extends_another_overrides_only_the_fields_that_it_sets() {
    let base = system("base", r#"KEPT = "base", CHANGED = "base""#, &format!("{READY}\ncwd = \"base\""));
    let middle = "[systems.middle]\nextends = \"base\"\nenv = { CHANGED = \"middle\", ADDED = \"middle\" }\n";
    let last = "[systems.last]\nextends = \"middle\"\ncwd = \"last\"\nenv = { ADDED = \"last\" }\n";
    let tree = Tree::with_suite(&format!("system = \"last\"\n{last}{middle}{base}"));
    tree.write("base/file", "");
    tree.write("last/file", "");
    tree.scenario("one", ENVIRONMENT);
    let lines = ["KEPT \"base\"", "CHANGED \"middle\"", "ADDED \"last\""];
    let golden = environment(&tree, "one");
    assert_holds(&golden, &lines);
    assert_holds(&golden, &["cwd \"<root>/last\""]);
    tree.scenario("one", &format!("system = \"base\"\n{ENVIRONMENT}"));
    let golden = environment(&tree, "one");
    assert_holds(&golden, &["CHANGED \"base\"", "cwd \"<root>/base\""]);
    assert!(!golden.contains("ADDED"), "{golden}");
}

fn scenarios_can_use_inputs_from_a_shared_folder() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.write("scenarios/_shared/bodies/ask.json", r#"{"message": "{{ run }}", "nothing": null}"#);
    tree.write("scenarios/_shared/note.txt", "the shared note");
    for name in ["one", "two"] {
        let steps = "[[step]]\npost = \"/echo\"\njson_file = \"../_shared/bodies/ask.json\"\ngolden = true\n\
                     [[step]]\npost = \"/echo\"\nfiles = { note = \"../_shared/note.txt\" }\nstatus = 200\n";
        tree.scenario(name, &format!("fixture = \"none\"\n{steps}[golden]\ndetail = \"values\"\n"));
    }
    tree.retake().args(&["test", "--update"]).run().green();
    let golden = tree.read("goldens/two.snap");
    assert!(golden.contains(r#"{\"message\":\"<run>\",\"nothing\":null}"#), "{golden}");
    // The shared folder is not taken for a scenario.
    let ran = tree.retake().args(&["test", "--", "--list"]).run();
    ran.green();
    assert!(!ran.all().contains("_shared"), "{}", ran.all());
}

fn with_cwd_copy_a_system_runs_in_a_copy_of_its_folder() {
    let [program, argument]: [String; 2] = serde_json::from_str(&service::command()).unwrap();
    let start = r#"cat seed.txt >> data.txt && exec "$0" "$1""#;
    let command = serde_json::json!(["sh", "-c", start, program, argument]);
    let agent =
        format!("[systems.agent]\ncommand = {command}\nenv = {{ {MODEL} }}\n{READY}\ncwd = \"svc\"\ncwd_copy = true\n");
    let tree = Tree::with_suite(&agent);
    tree.write("svc/seed.txt", "a line\n");
    tree.write("svc/node_modules/a/index.js", "");
    tree.scenario("one", ENVIRONMENT);
    assert_holds(&environment(&tree, "one"), &["cwd \"<workdir>\""]);
    assert!(tree.has("svc/node_modules/a/index.js"));
    assert!(!tree.has("svc/data.txt"), "it wrote into the project");
    tree.replace("scenarios/suite.toml", "cwd_copy = true", "");
    environment(&tree, "one");
    assert!(tree.has("svc/data.txt"), "the system wrote nothing, so the test proves nothing");
    assert_eq!(tree.left(), [""; 0]);
}

fn files_for_the_work_folder_are_rendered_before_the_system_starts() {
    let [program, argument]: [String; 2] = serde_json::from_str(&service::command()).unwrap();
    let start = r#"test "$(cat "$WORK/etc/agent.yaml")" = "port: $PORT
model: $OPENAI_BASE_URL" && exec "$0" "$1""#;
    let command = serde_json::json!(["sh", "-c", start, program, argument]);
    let agent = format!(
        "[systems.agent]\ncommand = {command}\nenv = {{ {MODEL}, WORK = \"{{{{ workdir }}}}\" }}\n{READY}\n\
         files = {{ \"etc/agent.yaml\" = \"templates/agent.yaml\" }}\n"
    );
    let tree = Tree::with_suite(&agent);
    tree.scenario("one", "fixture = \"none\"\n[[step]]\nget = \"/health\"\n");
    tree.write("templates/agent.yaml", "port: {{ port }}\nmodel: {{ model.openai }}\n");
    tree.retake().arg("test").run().green();
    tree.write("templates/agent.yaml", "port: {{ prot }}\n");
    let ran = tree.retake().arg("test").run();
    ran.tells(&["templates/agent.yaml:1:10: `prot` is not defined here", "did you mean `port`?"]);
    assert_eq!(ran.code, Some(2), "{}", ran.all());
}

fn record_takes_all_scenarios_or_those_whose_names_contain_a_text() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    let fixtures = || -> Vec<String> {
        let files = tree.files().into_keys().filter(|file| file.starts_with("fixtures/") && !file.contains("/."));
        files.collect()
    };
    tree.scenario("ask", CHAT);
    tree.scenario("ask_again", CHAT);
    tree.scenario("ask_as_before", &format!("fixture = \"ask\"\n{CHAT}"));
    tree.scenario("quiet", "fixture = \"none\"\n[[step]]\nget = \"/count\"\n");
    tree.scenario("other", CHAT);
    // A full name selects only that scenario, even if other names begin with it.
    record(&tree, &["ask"]).green();
    assert_eq!(fixtures(), ["fixtures/ask.json"]);
    let recorded = record(&tree, &["again", "oth"]);
    recorded.green();
    assert_eq!(fixtures(), ["fixtures/ask.json", "fixtures/ask_again.json", "fixtures/other.json"]);
    let recorded = record(&tree, &["as"]);
    recorded.green();
    recorded.tells(&["recording 2: ask, ask_again; without a recording of their own: ask_as_before\n"]);
    let recorded = record(&tree, &["--all"]);
    recorded.green();
    let others = "without a recording of their own: ask_as_before, quiet\n";
    recorded.tells(&["recording 3: ask, ask_again, other; ", others, "other: 1 turn recorded"]);
    assert!(!recorded.all().contains("ask_as_before: "), "{}", recorded.all());
}

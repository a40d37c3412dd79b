//! `retake doctor`: what a project lacks, and the command that fixes it.

use crate::support::fixtures::{self, turn};
use crate::support::tree::Tree;

tests! { each_thing_that_a_project_lacks_is_listed_with_the_command_that_fixes_it,
    a_project_that_lacks_nothing_passes,
    what_no_scenario_needs_is_not_asked_for,
    in_a_folder_without_scenarios_doctor_says_how_to_begin,
}

const STEP: &str = "[[step]]\npost = \"/\"\n";

fn suite(program: &str) -> String {
    format!("[systems.agent]\ncommand = [\"{program}\", \"{{{{ port }}}}\"]\nready = {{ http = \"/health\" }}\n")
}

fn each_thing_that_a_project_lacks_is_listed_with_the_command_that_fixes_it() {
    let tree = Tree::with_suite(&suite("pnpm"));
    tree.write("scenarios/greet/scenario.toml", STEP);
    tree.write("scenarios/wrong/scenario.toml", "[[stp]]\n");
    tree.retake().env("PATH", tree.root()).arg("doctor").run().exits(1).says(&[
        "ok     scenarios",
        "1 scenario read",
        "wrong  wrong",
        "scenarios/wrong/scenario.toml:1:3: ",
        "did you mean `step`?",
        "lacks  pnpm",
        "there is no program `pnpm`, which system `agent` needs",
        "corepack enable",
        "lacks  key",
        "export OPENAI_API_KEY=",
        "lacks  fixtures/greet.json  not recorded yet, and scenario `greet` needs it",
        "retake record greet",
        "3 things missing, 1 wrong",
    ]);
    let with_key = tree.retake().env("PATH", tree.root()).env("ANTHROPIC_API_KEY", "sk-ant-1234").arg("doctor").run();
    with_key.exits(1).says(&["ok     key ", "ANTHROPIC_API_KEY, for recording"]).never_says("sk-ant-1234");
}

fn a_project_that_lacks_nothing_passes() {
    let tree = Tree::with_suite(&suite("sh"));
    tree.write("scenarios/greet/scenario.toml", STEP);
    fixtures::write(&tree, "greet", vec![turn(None, "Hello", "Good morning")]);
    tree.retake().arg("doctor").run().exits(0).says(&["ok     sh", "/sh, for system `agent`", "nothing is missing"]);
}

fn what_no_scenario_needs_is_not_asked_for() {
    let tree = Tree::with_suite(&suite("sh"));
    tree.write("scenarios/greet/scenario.toml", &format!("fixture = \"none\"\n{STEP}"));
    let told = tree.retake().env("RETAKE_CHROMIUM", "/nowhere").arg("doctor").run().exits(0).all();
    assert!(!told.contains("chromium") && !told.contains("cargo"), "{told}");
    let page = "fixture = \"none\"\n[[step]]\nbrowser = \"/\"\ndo = [{ see = \"Hello\" }]\n";
    tree.write("scenarios/page/scenario.toml", page);
    let run = tree.retake().env("RETAKE_CHROMIUM", "/nowhere").arg("doctor").run().exits(1);
    let lacks = if cfg!(feature = "browser") { "there is no Chromium at /nowhere" } else { "--features browser" };
    run.says(&["lacks  chromium", lacks]);
}

fn in_a_folder_without_scenarios_doctor_says_how_to_begin() {
    Tree::empty().retake().arg("doctor").run().exits(1).says(&["lacks  scenarios", "retake init"]);
}

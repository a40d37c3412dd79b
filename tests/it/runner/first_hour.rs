//! What is met in the first hour: a system that does not start, what doctor says of it, what init proposes, and the small commands.

use crate::support::fixtures::{self, edit, turn};
use crate::support::program::retake;
use crate::support::tree::Tree;

tests! { a_system_that_does_not_start_is_told_with_what_changes_it,
    doctor_tells_a_broken_file_from_a_missing_one,
    doctor_says_that_everything_is_recorded_only_if_it_is,
    doctor_notices_a_start_command_that_cannot_work,
    init_uses_the_environment_and_the_command_of_the_framework,
    init_in_a_folder_above_the_services_names_them,
    init_without_any_file_says_what_it_takes_the_project_for,
    an_empty_shard_is_merged_and_a_wrong_folder_is_not,
    shape_refuses_what_is_no_stream,
    review_accepts_all_that_follow,
    manual_pages_name_the_command_as_it_is_typed,
    completions_offer_the_names_of_scenarios,
    show_says_that_no_answer_counted_its_tokens,
    audit_dates_a_fixture_by_its_commit,
}

fn system(command: &str, ready: &str) -> String {
    format!("[systems.agent]\ncommand = {command}\nready = {{ {ready} }}\n")
}

const QUIET: &str = "fixture = \"none\"\n[[step]]\nget = \"/\"\n";

fn a_system_that_does_not_start_is_told_with_what_changes_it() {
    let slow = system("[\"sleep\", \"60\"]", "http = \"/health\", timeout = \"200ms\"");
    let done = system("[\"true\"]", "http = \"/health\"");
    let script = "echo \"ModuleNotFoundError: No module named 'fastapi'\" >&2; exit 1";
    let lacking = system(&format!("[\"sh\", \"-c\", {script:?}]"), "http = \"/health\"");
    for (suite, says) in [
        (slow, &["was not ready after 200ms", "`timeout` in `ready` of the system, in scenarios/suite.toml"][..]),
        (done, &["ended before it was ready: exit code 0", "is it the one that starts the service?"]),
        (lacking, &["exit code 1", "`fastapi` may be installed in the environment beside it", "\".venv/bin/python\""]),
    ] {
        let tree = Tree::with_suite(&suite);
        tree.write(".venv/bin/python", "");
        tree.scenario("a", QUIET);
        tree.retake().arg("test").run().red(says);
    }
}

fn doctor_tells_a_broken_file_from_a_missing_one() {
    let tree = Tree::with_suite(&system("[\"sh\"]", "http = \"/health\""));
    tree.write("scenarios/oslo/scenario.toml", "[[stp]]\n");
    let told = tree.retake().arg("doctor").run().exits(1);
    told.says(&["wrong  oslo ", "did you mean `step`?", "1 thing wrong"]).never_says("lacks");
}

fn doctor_says_that_everything_is_recorded_only_if_it_is() {
    let tree = Tree::with_suite(&system("[\"sh\"]", "http = \"/health\""));
    tree.write("scenarios/oslo/scenario.toml", "[[stp]]\n");
    let told = tree.retake().arg("doctor").run().exits(1);
    told.says(&["whether one is needed shows once every scenario can be read"]).never_says("everything is recorded");
    tree.write("scenarios/oslo/scenario.toml", QUIET);
    let told = tree.retake().arg("doctor").run().exits(0);
    told.says(&["no scenario calls a model"]).never_says("everything is recorded");
    tree.write("scenarios/oslo/scenario.toml", "[[step]]\nget = \"/\"\n");
    fixtures::write(&tree, "oslo", vec![turn(None, "Hello", "Hi")]);
    tree.retake().arg("doctor").run().exits(0).says(&["everything is recorded", "nothing is missing"]);
}

fn doctor_notices_a_start_command_that_cannot_work() {
    let tree = Tree::with_suite(&system("[\"python3\", \"-u\", \"app.py\"]", "http = \"/health\""));
    tree.write("bin/python3", "");
    tree.scenario("a", QUIET);
    let doctor = || tree.retake().env("PATH", tree.path("bin")).arg("doctor");
    doctor().run().exits(1).says(&["lacks  app.py", "which system `agent` is started with", "1 thing missing"]);
    tree.write("app.py", "");
    doctor().run().exits(0);
    tree.write(".venv/bin/python", "");
    doctor().run().exits(1).says(&["lacks  python3", "does not see what is installed in .venv/bin/python"]);
    tree.write(".venv/bin/python3", "");
    // In an activated environment, its own program comes first.
    tree.retake().env("PATH", tree.path(".venv/bin")).arg("doctor").run().exits(0);
}

fn init_uses_the_environment_and_the_command_of_the_framework() {
    let tree = Tree::empty();
    tree.write("requirements.txt", "fastapi\nuvicorn\n");
    tree.write("main.py", "from fastapi import FastAPI\n\napi = FastAPI()\n");
    tree.write(".venv/bin/uvicorn", "");
    tree.retake().arg("init").run().exits(0);
    let suite = tree.read("scenarios/suite.toml");
    let command = "command = [\".venv/bin/uvicorn\", \"main:api\", \"--port\", \"{{ port }}\"]\n";
    assert!(suite.contains(command) && suite.contains("ready = { http = \"/openapi.json\", timeout"), "{suite}");
    // What was written can be read.
    tree.retake().arg("list").run().says(&["hello"]);
    let node = Tree::empty();
    node.write("package.json", "{\"dependencies\": {\"mastra\": \"1\"}}");
    node.retake().arg("init").run().exits(0);
    let suite = node.read("scenarios/suite.toml");
    assert!(suite.contains("command = [\"npx\", \"mastra\", \"dev\"]") && suite.contains("{ port = true, "), "{suite}");
    node.retake().arg("list").run().says(&["hello"]);
}

fn init_in_a_folder_above_the_services_names_them() {
    let tree = Tree::empty();
    tree.write("README.md", "a repository with two services\n");
    tree.write("backend/langgraph.json", "{}");
    tree.write("apps/web/package.json", "{}");
    tree.write("node_modules/x/package.json", "{}");
    let told = tree.retake().arg("init").run().exits(2);
    let told = told.says(&[
        "holds no service itself, but folders below it do",
        "cd apps/web && retake init    # typescript",
        "cd backend && retake init    # python",
    ]);
    told.never_says("node_modules");
    assert!(!tree.has("scenarios/suite.toml"));
    tree.retake().in_folder(&tree.path("backend")).arg("init").run().exits(0);
    let suite = tree.read("backend/scenarios/suite.toml");
    assert!(suite.contains("\"langgraph\", \"dev\"") && suite.contains("http = \"/ok\""), "{suite}");
}

fn init_without_any_file_says_what_it_takes_the_project_for() {
    let tree = Tree::empty();
    tree.retake().arg("init").run().exits(0).says(&["shows the service's language; if it is one"]);
    assert!(tree.read("scenarios/suite.toml").contains("command = [\"COMMAND\"]\n"));
    let named = Tree::empty();
    named.write("server.mjs", "");
    named.retake().arg("init").run().exits(0).says(&["npx retake record hello"]).never_says("no file here");
    // Whoever says how the service is started has it here, whatever lies below.
    let above = Tree::empty();
    above.write("service/go.mod", "");
    above.retake().arg("init").run().exits(2).says(&["cd service && retake init"]);
    above.retake().args(&["init", "-y", "--", "./desk", "{{ port }}"]).run().exits(0);
    assert!(above.read("scenarios/suite.toml").contains("command = [\"./desk\", \"{{ port }}\"]\n"));
}

fn an_empty_shard_is_merged_and_a_wrong_folder_is_not() {
    let tree = Tree::with_suite("");
    tree.write("shard-1/runs/.keep", "");
    tree.write("shard-2/.retake/.gitignore", "*\n");
    tree.write("elsewhere/notes.txt", "");
    let merge = |folders: &[&str]| tree.retake().args(&["report", "merge"]).args(folders).args(&["--form", "junit"]);
    merge(&["shard-1", "elsewhere"]).run().exits(2).says(&["elsewhere: found no run data"]);
    // Both are empty, so there is nothing to report, but that is what it says.
    let told = merge(&["shard-1", "shard-2"]).run().exits(2);
    told.says(&["shard-1: 0 runs, 0 failed", "shard-2: 0 runs, 0 failed", "no scenario has run here yet"]);
    tree.retake().args(&["report", "merge", "shard-3"]).run().exits(2).says(&["shard-3: found no run data"]);
}

fn shape_refuses_what_is_no_stream() {
    let tree = Tree::empty();
    tree.write("app.py", "import os\n\nprint(os.environ)\n");
    tree.retake().args(&["shape", "app.py"]).run().exits(2).says(&["app.py: this is not an event stream"]);
    retake().args(&["shape", "--json"]).input("<html></html>").run().exits(2).says(&["curl -N URL | retake shape"]);
    retake().arg("shape").input("").run().exits(0);
    for stream in ["event: end\n", "data: 1", ": heartbeat\n\n", "{\"type\": \"a\"}", "{\"cut"] {
        retake().arg("shape").input(stream).run().exits(0);
    }
}

fn review_accepts_all_that_follow() {
    let suite = system("[\"python3\", \"-u\", \"serve.py\", \"{{ port }}\"]", "http = \"/a.json\"");
    let tree = Tree::with_suite(&suite);
    let serves = "import http.server, sys\n\
        http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind='127.0.0.1')\n";
    tree.write("serve.py", serves);
    for name in ["a", "b", "c"] {
        tree.write(&format!("{name}.json"), "{\"one\": 1}");
        tree.scenario(name, &format!("fixture = \"none\"\n[[step]]\nget = \"/{name}.json\"\nstream = true\n"));
    }
    tree.retake().args(&["test", "--update"]).run().green();
    for name in ["a", "b", "c"] {
        tree.write(&format!("{name}.json"), "{\"two\": 1}");
    }
    tree.retake().arg("test").run().red(&["retake review"]);
    let ran = tree.retake().arg("review").env("COLUMNS", "80").input("s\nA\n").run().exits(0);
    let ran = ran.says(&["[A]ll", "2 accepted, 0 rejected, 1 left"]);
    let shown = ran.stdout.matches("of 3 · golden").count();
    assert_eq!(shown, 2, "what follows is not shown: {}", ran.stdout);
}

fn manual_pages_name_the_command_as_it_is_typed() {
    let tree = Tree::empty();
    tree.retake().args(&["man", "--out", "man"]).run().exits(0);
    let synopsis = |page: &str| {
        let text = tree.read(&format!("man/{page}.1")).replace("\\-", "-");
        text.split(".SH SYNOPSIS\n").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert!(synopsis("retake-test").starts_with("\\fBretake test\\fR "), "{}", synopsis("retake-test"));
    assert!(synopsis("retake").starts_with("\\fBretake\\fR "), "{}", synopsis("retake"));
}

fn completions_offer_the_names_of_scenarios() {
    let tree = Tree::with_suite("");
    tree.scenario("greet", QUIET);
    tree.write("scenarios/broken/scenario.toml", "[[stp]]\n");
    assert_eq!(tree.retake().args(&["list", "--names"]).run().exits(0).stdout, "broken\ngreet\n");
    let script = tree.retake().args(&["completions", "bash"]).run().exits(0).stdout;
    tree.write("retake.bash", &script);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_retake")).parent().unwrap();
    let completed = |words: &str| {
        let typed = format!(
            "PATH={}:$PATH; source retake.bash; COMP_WORDS=({words} ''); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _retake_with_names retake '' ''; echo ${{COMPREPLY[@]}}; complete -p retake",
            bin.display()
        );
        let mut bash = std::process::Command::new("bash");
        let ran = bash.current_dir(tree.root()).args(["--norc", "-c", &typed]).output().unwrap();
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    let told = completed("retake record");
    assert!(told.contains("greet") && told.contains("broken") && told.contains("--resume"), "{told}");
    assert!(told.contains("-F _retake_with_names"), "{told}");
    assert!(!completed("retake import").contains("greet"));
    let zsh = tree.retake().args(&["completions", "zsh"]).run().exits(0).stdout;
    assert!(zsh.contains("'*::name -- The scenarios to record\\: names or parts of names:_retake_names'"), "{zsh}");
    assert!(zsh.contains("_retake_names() {") && !zsh.contains("and `-`:_retake_names"), "{zsh}");
    let fish = tree.retake().args(&["completions", "fish"]).run().exits(0).stdout;
    assert!(fish.contains("-f -a \"(retake list --names 2>/dev/null)\""), "{fish}");
}

fn show_says_that_no_answer_counted_its_tokens() {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![turn(None, "Hello", "Hi"), turn(None, "Bye", "So long")]);
    let told = tree.retake().args(&["show", "greeting"]).run().exits(0);
    told.says(&["2 turns; no answer reports its tokens"]).never_says("0 tokens");
}

fn audit_dates_a_fixture_by_its_commit() {
    let tree = Tree::with_suite(&system("[\"sh\"]", "http = \"/\""));
    tree.scenario("greet", "[[step]]\nget = \"/\"\n");
    // A stand-in for a provider says the same time for ever.
    fixtures::write(&tree, "greet", vec![turn(None, "Hello", "Hi")]);
    edit(&tree, "greet", |turns| {
        let body = turns[0].wire.as_mut().unwrap().response.bytes();
        let body = String::from_utf8(body.into()).unwrap().replace("\"created\":0", "\"created\":1500000000");
        assert!(body.contains("1500000000"), "{body}");
        turns[0].wire.as_mut().unwrap().response =
            retake_wire::Response::received(200, "application/json", body.into_bytes());
    });
    let recorded = || {
        let told = tree.retake().args(&["audit", "--json"]).run();
        let json: serde_json::Value =
            serde_json::from_str(&told.stdout).unwrap_or_else(|e| panic!("{e}: {}", told.all()));
        json.to_string()
    };
    assert!(recorded().contains("2017-07-14"), "what is not committed is as old as its answers say: {}", recorded());
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(tree.root()).env("GIT_COMMITTER_DATE", "2026-03-05T12:00:00Z").env("HOME", tree.root());
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        assert!(git.args(words).output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "Recorded"]);
    assert!(recorded().contains("2026-03-05"), "{}", recorded());
}

//! `retake init` and `retake new`: the first files, which fit the project.

use crate::support::tree::Tree;

tests! { the_start_command_fits_the_language_of_the_project,
    a_service_in_another_language_gets_a_command_that_fits_or_a_mark,
    the_variables_are_those_of_the_sdks_that_the_sources_import,
    language_overrides_what_the_files_suggest,
    init_completes_the_cargo_toml_of_a_rust_project_once,
    the_workflow_goes_to_the_root_of_the_repository,
    two_projects_in_one_repository_each_get_a_workflow,
    the_workflow_uploads_what_runs_leave_even_if_they_pass,
    proposed_goldens_are_ignored_by_git,
    new_names_the_system_where_there_are_several,
}

fn init(tree: &Tree) -> String {
    tree.retake().arg("init").run().exits(0).stdout
}

fn the_start_command_fits_the_language_of_the_project() {
    for (files, command, ci, said) in [
        (&["pyproject.toml"][..], "[\"python3\", \"app.py\"]", "pip install 'retake-cli~=0.", "  retake record hello"),
        (
            &["requirements.txt", "main.py"],
            "[\"python3\", \"main.py\"]",
            "pip install -r requirements.txt",
            "retake record",
        ),
        (
            &["pyproject.toml", "uv.lock"],
            "[\"uv\", \"run\", \"python\", \"app.py\"]",
            "uv run --with 'retake-cli~=0.",
            "",
        ),
        (
            &["package.json"],
            "[\"node\", \"--import\", \"tsx\", \"app.ts\"]",
            "npm ci",
            "npm install --save-dev retake tsx",
        ),
        (
            &["package.json", "src/server.js"],
            "[\"node\", \"src/server.js\"]",
            "npx retake test",
            "npx retake record hello",
        ),
        (&["package.json", "pnpm-lock.yaml"], "tsx", "pnpm exec retake test", ""),
    ] {
        let tree = Tree::empty();
        for file in files {
            tree.write(file, "{}");
        }
        let told = init(&tree);
        assert!(
            tree.read("scenarios/suite.toml").contains(&format!("command = {command}")) || command == "tsx",
            "{files:?}"
        );
        let workflow = tree.read(".github/workflows/scenarios.yml");
        assert!(workflow.contains(ci) && !workflow.contains("cargo"), "{files:?}: {workflow}");
        assert!(told.contains(said.trim()), "{files:?}: {told}");
        assert!(!tree.has("tests/scenarios.rs"));
    }
}

fn a_service_in_another_language_gets_a_command_that_fits_or_a_mark() {
    for (files, command) in [
        (&[("go.mod", ""), ("main.go", "package main\n")][..], "command = [\"go\", \"run\", \".\"]\n"),
        (
            &[("go.mod", ""), ("cmd/desk/main.go", "package main\n"), ("desk.go", "package desk\n")],
            "command = [\"go\", \"run\", \"./cmd/desk\"]\n",
        ),
        (&[("Gemfile", ""), ("package.json", "{}"), ("Procfile", "web: bin/rails server -p $PORT\n")], "\"bin/rails\""),
        (&[("pom.xml", "")], "or: retake init --probe -- ITS COMMAND\ncommand = [\"COMMAND\"]\n"),
        (&[], "# not known: no file says how the service is started."),
    ] {
        let tree = Tree::empty();
        for (file, text) in files {
            tree.write(file, text);
        }
        init(&tree);
        let suite = tree.read("scenarios/suite.toml");
        assert!(suite.contains(command), "{files:?}: {suite}");
        for workflow in ["scenarios", "check"] {
            let workflow = tree.read(&format!(".github/workflows/{workflow}.yml"));
            assert!(!workflow.contains("setup-") && workflow.contains("pipx install 'retake-cli~="), "{workflow}");
        }
        tree.retake().arg("list").run().says(&["hello     requests  agent"]);
    }
}

fn the_variables_are_those_of_the_sdks_that_the_sources_import() {
    for (file, text, variables) in [
        ("app.py", "import anthropic\n", &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PORT"][..]),
        (
            "app.py",
            "from google import genai\n",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "PORT"],
        ),
        ("app.py", "from langchain_openai import ChatOpenAI\n", &["OPENAI_API_KEY", "OPENAI_BASE_URL", "PORT"]),
        ("app.py", "# No anthropic here\n", &["OPENAI_API_KEY", "OPENAI_BASE_URL", "PORT"]),
        (
            "app.ts",
            "import Anthropic from \"@anthropic-ai/sdk\"\n",
            &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PORT"],
        ),
        (
            "main.go",
            "package main\n\nimport (\n\t\"fmt\"\n\t\"github.com/anthropics/anthropic-sdk-go\"\n)\n",
            &["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PORT"],
        ),
        ("main.go", "var base = os.Getenv(\"OLLAMA_BASE_URL\")\n", &["OLLAMA_BASE_URL", "OLLAMA_HOST", "PORT"]),
    ] {
        let tree = Tree::empty();
        tree.write(file, text);
        init(&tree);
        let suite: toml::Table = tree.read("scenarios/suite.toml").parse().unwrap();
        let mut names: Vec<&String> = suite["systems"]["agent"]["env"].as_table().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, variables, "{file}: {text}");
    }
}

fn language_overrides_what_the_files_suggest() {
    let tree = Tree::empty();
    tree.write("package.json", "{}");
    tree.retake().args(&["init", "--language", "python"]).run().exits(0);
    assert!(tree.read("scenarios/suite.toml").contains("\"python3\""));
}

fn init_completes_the_cargo_toml_of_a_rust_project_once() {
    let tree = Tree::empty();
    tree.write("Cargo.toml", "[package]\nname = \"agent\"\n");
    init(&tree);
    let completed = tree.read("Cargo.toml");
    assert!(completed.starts_with("[package]\nname = \"agent\"\n"), "{completed}");
    assert!(completed.ends_with("[[test]]\nname = \"scenarios\"\nharness = false\n"), "{completed}");
    assert!(completed.contains("[dev-dependencies.retake]\n"), "{completed}");
    assert!(init(&tree).contains("kept   Cargo.toml"));
    assert_eq!(tree.read("Cargo.toml"), completed);
    assert!(tree.read(".github/workflows/scenarios.yml").contains("run: cargo test --test scenarios"));
}

fn the_workflow_goes_to_the_root_of_the_repository() {
    let tree = Tree::empty();
    tree.write(".git/HEAD", "ref: refs/heads/main\n");
    tree.write("services/agent/pyproject.toml", "");
    let agent = tree.path("services/agent");
    let run = tree.retake().in_folder(&agent).arg("init").run().exits(0);
    run.says(&["wrote  ../../.github/workflows/scenarios.yml"]);
    let workflow = tree.read(".github/workflows/scenarios.yml");
    for holds in [
        "        working-directory: services/agent\n",
        "    # paths: [\"services/agent/**.py\", ",
        "\"services/agent/scenarios/**\", \"services/agent/fixtures/**\"",
        "          path: services/agent/.retake/\n",
    ] {
        assert!(workflow.contains(holds), "{holds:?} is not in:\n{workflow}");
    }
    assert!(tree.has("services/agent/scenarios/hello/scenario.toml"));
    assert!(!tree.has("services/agent/.github/workflows/scenarios.yml"));
}

fn two_projects_in_one_repository_each_get_a_workflow() {
    let tree = Tree::empty();
    tree.write(".git/HEAD", "ref: refs/heads/main\n");
    for project in ["a", "b", "a"] {
        tree.write(&format!("{project}/package.json"), "{}");
        tree.retake().in_folder(&tree.path(project)).arg("init").run().exits(0);
    }
    assert!(tree.read(".github/workflows/scenarios.yml").contains("working-directory: a\n"));
    let second = tree.read(".github/workflows/scenarios-b.yml");
    assert!(
        second.contains("working-directory: b\n")
            && second.starts_with("# ")
            && second.contains("\nname: scenarios-b\n")
    );
    assert!(!tree.has(".github/workflows/scenarios-a.yml"));
}

fn the_workflow_uploads_what_runs_leave_even_if_they_pass() {
    let tree = Tree::empty();
    init(&tree);
    let workflow = tree.read(".github/workflows/scenarios.yml");
    let kept = "      - uses: actions/upload-artifact@v4\n        if: always()\n        with:\n          name: scenarios\n          \
        path: .retake/\n          include-hidden-files: true\n";
    assert!(workflow.contains(kept), "{workflow}");
}

fn proposed_goldens_are_ignored_by_git() {
    let tree = Tree::empty();
    init(&tree);
    // Those of what is true of one recording, too.
    for folder in ["goldens", "fixtures"] {
        assert_eq!(tree.read(&format!("{folder}/.gitignore")), "*.snap.new\n");
    }
}

fn new_names_the_system_where_there_are_several() {
    let system = |name: &str| format!("[systems.{name}]\ncommand = [\"agent\"]\nready = {{ http = \"/health\" }}\n");
    let tree = Tree::with_suite(&format!("{}{}", system("web"), system("agent")));
    tree.retake().args(&["new", "greet"]).run().exits(0);
    assert!(tree.read("scenarios/greet/scenario.toml").contains("\nsystem = \"agent\"          # of agent, web\n"));
    let one = Tree::with_suite(&system("web"));
    one.retake().args(&["new", "greet"]).run().exits(0);
    assert!(!one.read("scenarios/greet/scenario.toml").contains("system ="));
}

use super::*;

/// Returns how a project with these files is started.
fn start(language: Language, files: &[(&str, &str)]) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let way = ways(language, folder.path(), &Sources::of(folder.path())).into_iter().next();
    way.map(|start| (start.command.join(" "), start.ready))
}

#[test]
fn a_python_framework_is_started_by_its_own_command() {
    const FASTAPI: &str = "from fastapi import FastAPI\napi: FastAPI = FastAPI(title=\"x\")\n";
    const FLASK: &str = "import flask\nserver = flask.Flask(__name__)\n@server.get('/health')\n";
    for (files, command, ready) in [
        (
            &[("requirements.txt", "openai\nchainlit>=2\n"), ("main.py", "import chainlit as cl")][..],
            "chainlit run main.py --headless --port {{ port }}",
            "http = \"/\"",
        ),
        (
            &[("langgraph.json", "{}"), ("uv.lock", "")],
            "uv run langgraph dev --no-browser --no-reload --host 127.0.0.1 --port {{ port }}",
            "http = \"/ok\"",
        ),
        (
            &[("requirements.txt", "fastapi"), ("src/main.py", FASTAPI)],
            "uvicorn src.main:api --port {{ port }}",
            "http = \"/openapi.json\"",
        ),
        (
            &[
                ("claims/__main__.py", "import uvicorn\nfrom .app import app\nuvicorn.run(app)\n"),
                ("claims/app.py", "'/health'"),
            ],
            "python3 -m claims",
            "port = true",
        ),
        (
            &[("app.py", FASTAPI), (".venv/bin/uvicorn", "")],
            ".venv/bin/uvicorn app:api --port {{ port }}",
            "http = \"/openapi.json\"",
        ),
        (
            &[("app.py", FLASK), ("poetry.lock", "")],
            "poetry run flask --app app:server run --port {{ port }}",
            "http = \"/health\"",
        ),
        (
            &[("pyproject.toml", "dependencies = [\"google-adk[x]\"]")],
            "adk api_server --port {{ port }}",
            "http = \"/list-apps\"",
        ),
        (
            &[("requirements-dev.txt", "streamlit"), ("app.py", "import streamlit")],
            "streamlit run app.py --server.headless true --server.port {{ port }}",
            "http = \"/_stcore/health\"",
        ),
        (
            &[("app.py", "app = FastAPI()\nuvicorn.run(app)"), (".venv/bin/python", "")],
            ".venv/bin/python app.py",
            "http = \"/openapi.json\"",
        ),
        (
            &[("requirements.txt", "# chainlit\nnot-chainlit\nchainlit-x"), ("main.py", "")],
            "python3 main.py",
            "http = \"/health\"",
        ),
        (
            // What a project says is before what a name may be.
            &[
                ("wsgi.py", "application = make()"),
                ("requirements.txt", "gunicorn"),
                ("Dockerfile", "CMD gunicorn wsgi:application"),
            ],
            "gunicorn wsgi:application",
            "port = true",
        ),
        (&[("wsgi.py", "application = make()")], "uvicorn wsgi:application --port {{ port }}", "port = true"),
        (
            &[("src/desk/api.py", FASTAPI), ("src/desk/__init__.py", "")],
            "uvicorn desk.api:api --app-dir src --port {{ port }}",
            "http = \"/openapi.json\"",
        ),
    ] {
        assert_eq!(start(Language::Python, files), Some((command.to_owned(), ready.to_owned())), "{files:?}");
    }
    // Nothing says how it starts: what is written can be corrected.
    let unknown = start(Language::Python, &[("requirements.txt", "openai")]);
    assert_eq!(unknown.map(|(command, _)| command).as_deref(), Some("python3 app.py"));
}

#[test]
fn a_node_framework_is_started_by_its_own_command() {
    for (files, command) in [
        (&[("package.json", r#"{"dependencies": {"next": "15"}}"#)][..], Some("npx next dev --port {{ port }}")),
        (
            &[("package.json", r#"{"devDependencies": {"mastra": "1"}}"#), ("pnpm-lock.yaml", "")],
            Some("pnpm exec mastra dev"),
        ),
        (&[("package.json", r#"{"scripts": {"start": "node ./bin/www"}}"#)], Some("npm run start")),
        (&[("package.json", r#"{"scripts": {"dev": "x"}}"#), ("yarn.lock", "")], Some("yarn run dev")),
        (
            &[("package.json", r#"{"scripts": {"start": "x"}}"#), ("src/index.ts", "")],
            Some("node --import tsx src/index.ts"),
        ),
        (&[("package.json", "not JSON"), ("server.js", "")], Some("node server.js")),
        (
            &[
                ("package.json", r#"{"scripts": {"start": "node --env-file .env ./api/http.mjs --quiet"}}"#),
                ("api/http.mjs", ""),
                ("index.js", ""),
            ],
            Some("node ./api/http.mjs"),
        ),
    ] {
        assert_eq!(start(Language::TypeScript, files).map(|(command, _)| command).as_deref(), command, "{files:?}");
    }
}

#[test]
fn what_no_package_file_names_is_told_by_imports_folders_and_environments() {
    for (files, command) in [
        (
            &[("app.py", "import chainlit as cl"), (".venv/bin/chainlit", "")][..],
            ".venv/bin/chainlit run app.py --headless --port {{ port }}",
        ),
        (&[("weather/agent.py", "from google.adk.agents import Agent")], "adk api_server --port {{ port }}"),
    ] {
        assert_eq!(start(Language::Python, files).map(|(command, _)| command).as_deref(), Some(command), "{files:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langgraph.json"), "{\"graphs\": {\"agent\": \"./a.py:graph\"}}").unwrap();
    let route = ways(Language::Python, folder.path(), &Sources::default()).remove(0).route.unwrap();
    assert_eq!((&*route.path, &route.body.unwrap()["assistant_id"]), ("/runs/stream", &serde_json::json!("agent")));
}

#[test]
fn a_service_of_an_odd_name_is_found_by_what_its_files_make() {
    for (files, command) in [
        (
            &[("src/bot/__init__.py", ""), ("src/bot/web.py", "application = FastAPI()\n")][..],
            "uvicorn bot.web:application --app-dir src --port {{ port }}",
        ),
        (
            &[("botserver.py", "def create_app():\n    x = 1\n    app = Flask(__name__)\n    return app\n")],
            "flask --app botserver:create_app run --port {{ port }}",
        ),
        (&[("manage.py", "execute_from_command_line(sys.argv)")], "python3 manage.py runserver --noreload {{ port }}"),
        (&[("run_it.py", "web.run_app(app)")], "python3 run_it.py"),
        (&[("pyproject.toml", "[project.scripts]\ngate = \"gate:main\"\n"), ("gate.py", "")], "gate"),
        (
            &[("Procfile", "web: gunicorn a:b --bind 0.0.0.0:$PORT"), ("a.py", "")],
            "gunicorn a:b --bind 127.0.0.1:{{ port }}",
        ),
    ] {
        assert_eq!(start(Language::Python, files).map(|(command, _)| command).as_deref(), Some(command), "{files:?}");
    }
}

#[test]
fn the_command_of_the_suite_is_read_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("scenarios")).unwrap();
    let suite =
        "[systems.agent]\ncommand = [\"a\", \"{{ port }}\"]\ncwd = \"web\"\nenv = { A = \"{{ model.key }}\" }\n";
    std::fs::write(folder.path().join("scenarios/suite.toml"), suite).unwrap();
    let (start, env) = Start::of_suite(folder.path()).unwrap();
    assert_eq!((start.command.join(" "), &*start.folder), ("a {{ port }}".to_owned(), "web"));
    assert_eq!(env, [("A".to_owned(), "{{ model.key }}".to_owned())]);
}

#[test]
fn a_rust_program_is_started_where_cargo_puts_it_and_a_library_is_linked() {
    const PACKAGE: (&str, &str) = ("Cargo.toml", "[package]\nname = \"chat\"\n");
    let program = |more: &[(&str, &str)]| {
        let files: Vec<_> = [PACKAGE, ("src/main.rs", "")].into_iter().chain(more.iter().copied()).collect();
        start(Language::Rust, &files).map(|(command, _)| command)
    };
    assert_eq!(program(&[]).as_deref(), Some("target/debug/chat"));
    assert_eq!(program(&[("src/lib.rs", "")]), None);
    assert_eq!(program(&[("tests/scenarios.rs", "")]), None);
    assert_eq!(start(Language::Rust, &[PACKAGE]), None);
}

#[test]
fn the_scripts_of_a_project_are_further_ways_to_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = "{\"scripts\": {\"dev\": \"x\", \"start\": \"x\", \"lint\": \"x\"}}";
    std::fs::write(folder.path().join("package.json"), scripts).unwrap();
    std::fs::write(folder.path().join("app.js"), "").unwrap();
    let ways: Vec<String> = ways(Language::TypeScript, folder.path(), &Sources::default())
        .into_iter()
        .map(|way| way.command.join(" "))
        .collect();
    assert_eq!(ways, ["node app.js", "npm run start", "npm run dev"]);
}

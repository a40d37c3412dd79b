use super::*;

/// Returns how a project with these files is started.
fn start(language: Language, files: &[(&str, &str)]) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    of(language, folder.path()).map(|start| (start.command.join(" "), start.ready))
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
    ] {
        assert_eq!(start(Language::Python, files), Some((command.to_owned(), ready.to_owned())), "{files:?}");
    }
    assert_eq!(start(Language::Python, &[("requirements.txt", "openai")]), None);
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
        (&[("package.json", r#"{"scripts": {"start": "x"}}"#), ("src/index.ts", "")], None),
        (&[("package.json", "{}")], None),
        (&[("package.json", "not JSON")], None),
    ] {
        assert_eq!(start(Language::TypeScript, files).map(|(command, _)| command).as_deref(), command, "{files:?}");
    }
}

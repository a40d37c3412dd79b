//! How a service is started, told by what its project declares: the framework's own command, in the project's own environment.

use std::path::Path;

use regex::Regex;
use retake_core::json::Json;

use super::language::Language;

/// How a service is started, and how one sees that it is ready.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    /// The program with its arguments.
    pub(super) command: Vec<String>,
    /// The value of `ready`, without its time limit: `http = "/health"`.
    pub(super) ready: String,
}

/// The files with which a Python service usually begins.
pub(super) const PYTHON: [&str; 8] =
    ["app.py", "main.py", "server.py", "src/app.py", "src/main.py", "app/main.py", "app/__init__.py", "src/server.py"];

const PORT: &str = "{{ port }}";
const BY_PORT: &str = "port = true";

/// Returns how the service in a folder is started, as far as its files say it. `None` if they do not.
pub(super) fn of(language: Language, folder: &Path) -> Option<Start> {
    match language {
        Language::Rust => None,
        Language::Python => of_python(folder),
        Language::TypeScript => of_node(folder),
    }
}

fn of_python(folder: &Path) -> Option<Start> {
    let dependencies = declared_by_python(folder);
    let declares = |name: &str| is_declared(&dependencies, name);
    let files = || PYTHON.into_iter().filter(|file| folder.join(file).is_file());
    let holding = |what: &str| {
        files().find_map(|file| Some((file, text_of(folder, file))).filter(|(_, text)| text.contains(what)))
    };
    let start = |program: &str, args: &[&str], ready: &str| {
        let args = args.iter().map(|arg| (*arg).to_owned());
        Some(Start {
            command: in_environment(folder, program).into_iter().chain(args).collect(),
            ready: ready.to_owned(),
        })
    };
    if folder.join("langgraph.json").is_file() {
        let args = ["dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", PORT];
        return start("langgraph", &args, "http = \"/ok\"");
    }
    if declares("chainlit") {
        let file = holding("chainlit").map_or("app.py", |(file, _)| file);
        return start("chainlit", &["run", file, "--headless", "--port", PORT], "http = \"/\"");
    }
    if declares("streamlit") {
        let file = holding("streamlit").map_or("app.py", |(file, _)| file);
        let args = ["run", file, "--server.headless", "true", "--server.port", PORT];
        return start("streamlit", &args, "http = \"/_stcore/health\"");
    }
    // A file that starts its own server is started as it is; it takes the port that it wants to.
    for (class, server) in [("FastAPI", "uvicorn"), ("Starlette", "uvicorn"), ("Flask", "flask"), ("Quart", "quart")] {
        let Some((file, text)) = holding(&format!("{class}(")) else { continue };
        let ready = match () {
            () if text.contains("\"/health\"") || text.contains("'/health'") => "http = \"/health\"",
            () if class == "FastAPI" => "http = \"/openapi.json\"",
            () => BY_PORT,
        };
        if text.contains("uvicorn.run(") || text.contains("app.run(") {
            return start("python3", &[file], ready);
        }
        let Some(name) = name_of(&text, class) else { continue };
        let module = file.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        let target = format!("{module}:{name}");
        return match server {
            "uvicorn" => start("uvicorn", &[&target, "--port", PORT], ready),
            server => start(server, &["--app", &target, "run", "--port", PORT], ready),
        };
    }
    if declares("google-adk") {
        return start("adk", &["api_server", "--port", PORT], "http = \"/list-apps\"");
    }
    let file = files().next()?;
    start("python3", &[file], "http = \"/health\"")
}

/// Returns what the project declares to depend on, in whichever file.
fn declared_by_python(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let declares = |name: &&String| {
        name.strip_suffix(".txt").is_some_and(|name| name.starts_with("requirements"))
            || *name == "pyproject.toml"
            || *name == "Pipfile"
    };
    names.iter().filter(declares).map(|name| text_of(folder, name).to_ascii_lowercase()).collect::<Vec<_>>().join("\n")
}

fn is_declared(declared: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    declared.match_indices(name).any(|(at, found)| {
        let line = declared[..at].rsplit('\n').next().unwrap_or_default();
        let after = declared[at + found.len()..].chars().next();
        !line.contains('#') && !line.ends_with(is_word) && !after.is_some_and(is_word)
    })
}

/// Returns the name of the variable to which an application is assigned.
fn name_of(text: &str, class: &str) -> Option<String> {
    let assigned = Regex::new(&format!(r"(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?{class}\(")).ok()?;
    assigned.captures(text).map(|found| found[1].to_owned())
}

/// Returns how a program of the project's own Python environment is started.
pub(super) fn in_environment(folder: &Path, program: &str) -> Vec<String> {
    let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let named = if program == "python3" { "python" } else { program };
    if folder.join("uv.lock").is_file() {
        return plain(&["uv", "run", named]);
    }
    if folder.join("poetry.lock").is_file() {
        return plain(&["poetry", "run", named]);
    }
    for environment in [".venv", "venv"] {
        let file = format!("{environment}/bin/{named}");
        if folder.join(&file).exists() {
            return vec![file];
        }
    }
    plain(&[program])
}

fn of_node(folder: &Path) -> Option<Start> {
    let package = Json::parse(text_of(folder, "package.json").as_bytes()).ok()?;
    let declares = |name: &str| {
        let of = |field: &str| package.get(field).and_then(|all| all.get(name)).is_some();
        of("dependencies") || of("devDependencies")
    };
    let has = |file: &str| folder.join(file).is_file();
    let (run, execute): (&[&str], &[&str]) = match () {
        () if has("pnpm-lock.yaml") => (&["pnpm", "run"], &["pnpm", "exec"]),
        () if has("yarn.lock") => (&["yarn", "run"], &["yarn"]),
        () if has("bun.lock") => (&["bun", "run"], &["bunx"]),
        () => (&["npm", "run"], &["npx"]),
    };
    let start = |words: &[&str], args: &[&str], ready: &str| {
        let command = words.iter().chain(args).map(|word| (*word).to_owned()).collect();
        Some(Start { command, ready: ready.to_owned() })
    };
    if declares("next") {
        return start(execute, &["next", "dev", "--port", PORT], "http = \"/\"");
    }
    if declares("mastra") {
        return start(execute, &["mastra", "dev"], BY_PORT);
    }
    if declares("@nestjs/core") && has("src/main.ts") {
        return start(execute, &["nest", "start"], BY_PORT);
    }
    if super::language::node_file(folder).is_some() {
        return None;
    }
    // No file has a usual name, so only the project's own scripts say how it starts.
    let script = ["start", "dev", "serve"]
        .into_iter()
        .find(|name| package.get("scripts").and_then(|all| all.get(name)).is_some());
    script.and_then(|name| start(run, &[name], BY_PORT))
}

fn text_of(folder: &Path, file: &str) -> String {
    String::from_utf8_lossy(&retake_base::files::read(&folder.join(file)).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests;

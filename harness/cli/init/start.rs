//! How a service is started, told by what its project declares: the framework's own command, in the project's own environment.

use std::collections::BTreeSet;
use std::path::Path;

use retake_core::json::Json;

use super::language::Language;
use super::routes::{PROMPT, Route};
use super::sources::{Sources, captured, is_code};
use retake_base::error::{Error, Result};

/// How a service is started, and how one sees that it is ready.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    /// The program with its arguments.
    pub(super) command: Vec<String>,
    /// The value of `ready`, without its time limit: `http = "/health"`.
    pub(super) ready: String,
    /// The route by which the framework's clients call an agent, if its files tell it.
    pub(super) route: Option<Route>,
    /// The folder in which it is started, below the project's.
    pub(super) folder: String,
}

impl Start {
    pub(super) fn new(command: Vec<String>, ready: &str) -> Start {
        Start { command, ready: ready.to_owned(), route: None, folder: String::new() }
    }

    /// A program of the project's own environment.
    fn of_program(folder: &Path, program: &str, args: &[impl ToString], ready: &str) -> Start {
        let args = args.iter().map(ToString::to_string);
        Start::new(in_environment(folder, program).into_iter().chain(args).collect(), ready)
    }

    /// The first system of the suite that is a command, as its file has it, with its variables.
    pub(super) fn of_suite(folder: &Path) -> Option<(Start, Vec<(String, String)>)> {
        let suite: toml::Table = text_of(folder, "scenarios/suite.toml").parse().ok()?;
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        let systems = suite.get("systems")?.as_table()?;
        systems.values().find_map(|system| {
            let command = system.get("command")?.as_array()?.iter().filter_map(text).collect();
            let env = system.get("env").and_then(toml::Value::as_table).into_iter().flatten();
            let env = env.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
            let folder = system.get("cwd").and_then(text).unwrap_or_default();
            Some((Start { folder, ..Start::new(command, BY_PORT) }, env))
        })
    }

    /// Whether its command is known, and the file with which it begins is there, if the command names one.
    pub(super) fn exists_in(&self, folder: &Path) -> bool {
        let mut words = self.command.iter();
        words.next().is_some_and(|program| program != UNKNOWN)
            && words.all(|word| !is_code(word) || folder.join(&self.folder).join(word).exists())
    }

    /// The path by which it says that it is ready.
    pub(super) fn path(&self) -> Option<&str> {
        self.ready.strip_prefix("http = \"")?.strip_suffix('"')
    }

    /// Builds a program of Rust, which is started from where cargo puts it.
    /// Fails if it cannot be built. What cargo prints is seen on the terminal.
    pub(super) fn built(&self, folder: &Path) -> Result<()> {
        if !self.command.first().is_some_and(|program| program.contains(BUILT)) {
            return Ok(());
        }
        let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let ran = cargo.current_dir(folder).args(["build", "--quiet"]).stdin(std::process::Stdio::null()).status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Error::new(format!("`cargo build` failed: {status}"))),
            Err(e) => Err(Error::new(format!("cargo cannot be started: {e}"))),
        }
    }
}

/// Stands where a command has to be written, since nothing tells it.
pub(super) const UNKNOWN: &str = "COMMAND";

/// Where cargo puts programs.
const BUILT: &str = "target/debug/";

/// Returns the ways in which the service in a folder may be started, the likeliest first. Empty if a test links it.
pub(super) fn ways(language: Language, folder: &Path, sources: &Sources) -> Vec<Start> {
    let own = match language {
        Language::Rust => return of_rust(folder).into_iter().collect(),
        Language::Python => {
            [of_python(folder).into_iter().collect(), apps(folder, sources, &CLASSES), of_scripts(folder)].concat()
        }
        Language::TypeScript => {
            let command = super::language::node_file(folder).and_then(|_| language.command(folder));
            let file = command.map(|command| Start::new(command, "http = \"/health\""));
            of_node(folder).into_iter().chain(file).chain(scripts(folder)).collect()
        }
        Language::Other => of_go(sources),
    };
    let declared = declared(folder);
    let has =
        |program: &str| is_declared(&declared, program) || is_active(program) || installed(folder, program).is_some();
    let of_words = |(first, args): (&String, &[String])| Start::of_program(folder, first, args, BY_PORT);
    let told: Vec<Start> = sources.commands(&has).iter().filter_map(|all| all.split_first().map(of_words)).collect();
    let mut ways: Vec<Start> = Vec::new();
    let guessed = (language == Language::Python).then(|| apps(folder, sources, &[(ANY, "uvicorn")]));
    for way in own.into_iter().chain(told).chain(guessed.into_iter().flatten()) {
        if ways.iter().all(|known| known.command != way.command) {
            ways.push(way);
        }
    }
    if ways.is_empty() {
        let ready = if language == Language::Other { BY_PORT } else { "http = \"/health\"" };
        ways.extend(language.command(folder).map(|command| Start::new(command, ready)));
    }
    ways
}

/// The files with which a Python service usually begins.
pub(super) const PYTHON: [&str; 8] =
    ["app.py", "main.py", "server.py", "src/app.py", "src/main.py", "app/main.py", "app/__init__.py", "src/server.py"];

const PORT: &str = "{{ port }}";
pub(super) const BY_PORT: &str = "port = true";

/// A program without a library cannot be linked by a test, so it is started like any other service.
pub(super) fn of_rust(folder: &Path) -> Option<Start> {
    let manifest: toml::Table = text_of(folder, "Cargo.toml").parse().ok()?;
    let has = |file: &str| folder.join(file).is_file();
    let is_program = has("src/main.rs") && !has("src/lib.rs") && !has("tests/scenarios.rs");
    let name =
        manifest.get("package")?.get("name")?.as_str().filter(|_| is_program && !manifest.contains_key("lib"))?;
    let root = folder.ancestors().find(|above| text_of(above, "Cargo.toml").contains("[workspace"));
    let up = root.map_or(0, |root| folder.components().count() - root.components().count());
    Some(Start::new(vec![format!("{}{BUILT}{name}", "../".repeat(up))], BY_PORT))
}

/// The programs of Go: the folders with a `package main`.
fn of_go(sources: &Sources) -> Vec<Start> {
    let mains = sources.code().filter(|(_, text)| text.lines().any(|line| line == "package main"));
    let below = |file: &str| file.rsplit_once('/').map_or(".".to_owned(), |(below, _)| format!("./{below}"));
    let folders: BTreeSet<String> = mains.map(|(file, _)| below(file)).collect();
    folders.into_iter().map(|below| Start::new(vec!["go".to_owned(), "run".to_owned(), below], BY_PORT)).collect()
}

fn of_python(folder: &Path) -> Option<Start> {
    let dependencies = declared_by_python(folder);
    let declares = |name: &str| is_declared(&dependencies, name);
    let holding = |what: &str| PYTHON.into_iter().find(|file| text_of(folder, file).contains(what));
    let start = |program: &str, args: &[&str], ready: &str| Some(Start::of_program(folder, program, args, ready));
    if folder.join("langgraph.json").is_file() {
        let args = ["dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", PORT];
        let graphs = Json::parse(text_of(folder, "langgraph.json").as_bytes()).ok();
        let graph =
            graphs.as_ref().and_then(|file| file.get("graphs")?.as_object()?.keys().next().map(ToString::to_string));
        let route = graph.map(|graph| Route {
            path: "/runs/stream".to_owned(),
            body: Some(serde_json::json!({ "assistant_id": graph, "input": { "messages": [{ "role": "user", "content": PROMPT }] } })),
            form: false,
        });
        return start("langgraph", &args, "http = \"/ok\"").map(|start| Start { route, ..start });
    }
    for (name, ready, args) in [
        ("chainlit", "http = \"/\"", &["--headless", "--port", PORT][..]),
        ("streamlit", "http = \"/_stcore/health\"", &["--server.headless", "true", "--server.port", PORT]),
    ] {
        let file = holding(&format!("import {name}"));
        if declares(name) || file.is_some() {
            return start(name, &[&["run", file.unwrap_or("app.py")], args].concat(), ready);
        }
    }
    let is_agent = |below: &Path| text_of(below, "agent.py").contains("google.adk");
    if declares("google-adk") || super::place::folders(folder).iter().any(|below| is_agent(&folder.join(below))) {
        return start("adk", &["api_server", "--port", PORT], "http = \"/list-apps\"");
    }
    None
}

/// The applications that files of Python make, those of usual names first. A file that starts its own server is started as it is; it
/// takes the port that it wants to.
fn apps(folder: &Path, sources: &Sources, classes: &[(&str, &str)]) -> Vec<Start> {
    let usual = |file: &str| PYTHON.iter().position(|name| *name == file).unwrap_or(PYTHON.len());
    let is_test = |file: &str| file.split('/').any(|part| part.starts_with("test") || part.ends_with("_test.py"));
    let of_python = |(file, _): &(&str, &str)| file.strip_suffix(".py").is_some() && !is_test(file);
    let mut files: Vec<(&str, &str)> = sources.code().filter(of_python).collect();
    files.sort_by_key(|(file, _)| (usual(file), file.matches('/').count(), *file));
    let start = |program: &str, args: &[&str], ready: &str| Start::of_program(folder, program, args, ready);
    let python = |file: &str, ready: &str| match file.strip_suffix("/__main__.py") {
        Some(package) => start("python3", &["-m", &package.replace('/', ".")], ready),
        None => start("python3", &[file], ready),
    };
    let mut ways = Vec::new();
    for (file, text) in &files {
        let ready = match () {
            () if text.contains("\"/health\"") || text.contains("'/health'") => "http = \"/health\"",
            () if text.contains("FastAPI(") => "http = \"/openapi.json\"",
            () => BY_PORT,
        };
        if text.contains("execute_from_command_line") {
            ways.push(start("python3", &[file, "runserver", "--noreload", PORT], ready));
        }
        if OWN_SERVER.iter().any(|call| text.contains(call)) {
            ways.push(python(file, ready));
            continue;
        }
        for &(class, server) in classes {
            let name = if class == ANY { "app|application|asgi" } else { r"\w+" };
            let assigned = format!(r"(?m)^({name})\s*(?::[^=\n]+)?=\s*(?:\w+\.)?{class}\(");
            let made = format!(r"(?m)^def (\w+)\([^)]*\)[^:\n]*:\n(?:(?:[ \t].*)?\n)*?[ \t].*\b{class}\(");
            let package = |of: &str| folder.join("src").join(of.split('/').next().unwrap_or_default());
            let below = file.strip_prefix("src/").filter(|of| package(of).join("__init__.py").is_file());
            let module = below.unwrap_or(file).trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
            let names = captured(&assigned, text).into_iter().map(|name| (name, false));
            let factories = captured(&made, text).into_iter().filter(|_| class != ANY).map(|name| (name, true));
            for (name, is_factory) in names.chain(factories) {
                let target = format!("{module}:{name}");
                let mut args = vec![&*target];
                match server {
                    "uvicorn" => {
                        args.extend(is_factory.then_some("--factory"));
                        args.extend(below.map(|_| ["--app-dir", "src"]).into_iter().flatten());
                        args.extend(["--port", PORT]);
                    }
                    _ => args = vec!["--app", &target, "run", "--port", PORT],
                }
                ways.push(start(server, &args, ready));
            }
        }
    }
    let first = files.iter().find(|(file, text)| PYTHON.contains(file) || text.contains("__main__"));
    ways.extend(first.map(|(file, _)| python(file, "http = \"/health\"")));
    ways
}

/// The classes of applications, and what serves them.
const CLASSES: [(&str, &str); 6] = [
    ("FastAPI", "uvicorn"),
    ("Starlette", "uvicorn"),
    ("Litestar", "uvicorn"),
    ("ASGIApp", "uvicorn"),
    ("Flask", "flask"),
    ("Quart", "quart"),
];
/// Whatever makes what is named as applications are.
const ANY: &str = r"[\w.]+";

/// What a file calls that serves by itself.
const OWN_SERVER: [&str; 6] =
    ["uvicorn.run(", "app.run(", "run_app(", "serve_forever(", "socketio.run(", "asyncio.run(serve("];

/// The programs that a project of Python installs.
fn of_scripts(folder: &Path) -> Vec<Start> {
    let project: toml::Table = text_of(folder, "pyproject.toml").parse().unwrap_or_default();
    let poetry = project.get("tool").and_then(|tools| tools.get("poetry")?.get("scripts"));
    let scripts = project.get("project").and_then(|of| of.get("scripts")).or(poetry).and_then(toml::Value::as_table);
    let names = scripts.into_iter().flat_map(toml::Table::keys);
    names.map(|name| Start::of_program(folder, name, &[""; 0], BY_PORT)).collect()
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
    installed(folder, named).map_or_else(|| plain(&[program]), |file| vec![file])
}

/// Whether a program is installed in the environment that is active in this shell.
fn is_active(program: &str) -> bool {
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os);
    environments.into_iter().any(|environment| Path::new(&environment).join("bin").join(program).exists())
}

/// The file of a program that is installed in the project.
fn installed(folder: &Path, program: &str) -> Option<String> {
    let files = [".venv/bin", "venv/bin", "node_modules/.bin"].map(|bin| format!("{bin}/{program}"));
    files.into_iter().find(|file| folder.join(file).exists())
}

fn of_node(folder: &Path) -> Option<Start> {
    let package = Json::parse(text_of(folder, "package.json").as_bytes()).ok()?;
    let has = |name: &str, field| package.get(field).is_some_and(|all| all.get(name).is_some());
    let declares = |name: &str| has(name, "dependencies") || has(name, "devDependencies");
    let (args, ready): (&[&str], _) = match () {
        () if declares("next") => (&["next", "dev", "--port", PORT], "http = \"/\""),
        () if declares("mastra") => (&["mastra", "dev"], BY_PORT),
        () if declares("@nestjs/core") && folder.join("src/main.ts").is_file() => (&["nest", "start"], BY_PORT),
        () => return None,
    };
    let command = package_manager(folder).1.iter().chain(args).map(|word| (*word).to_owned()).collect();
    Some(Start::new(command, ready))
}

/// The project's own scripts that start something.
fn scripts(folder: &Path) -> Vec<Start> {
    let run = |name| package_manager(folder).0.iter().copied().chain([name]).map(str::to_owned).collect();
    scripts_of(folder).into_iter().map(|(name, _)| Start::new(run(name), BY_PORT)).collect()
}

/// The names and commands of these scripts.
pub(super) fn scripts_of(folder: &Path) -> Vec<(&'static str, String)> {
    let package = Json::parse(text_of(folder, "package.json").as_bytes()).unwrap_or(Json::Null);
    let script = |name| Some((name, package.get("scripts")?.str_of(name)?.to_owned()));
    ["start", "dev", "serve"].into_iter().filter_map(script).collect()
}

/// How the project's package manager runs a script, and a program of a package.
fn package_manager(folder: &Path) -> (&'static [&'static str], &'static [&'static str]) {
    let has = |file: &str| folder.join(file).is_file();
    match () {
        () if has("pnpm-lock.yaml") => (&["pnpm", "run"], &["pnpm", "exec"]),
        () if has("yarn.lock") => (&["yarn", "run"], &["yarn"]),
        () if has("bun.lock") => (&["bun", "run"], &["bunx"]),
        () => (&["npm", "run"], &["npx"]),
    }
}

/// Returns the text of the files in which a project names what it depends on.
pub(super) fn declared(folder: &Path) -> String {
    let node = text_of(folder, "package.json") + &text_of(folder, "Cargo.toml");
    declared_by_python(folder) + &node.to_ascii_lowercase()
}

fn text_of(folder: &Path, file: &str) -> String {
    String::from_utf8_lossy(&retake_base::files::read(&folder.join(file)).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests;

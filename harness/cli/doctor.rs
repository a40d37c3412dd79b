use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use super::{handover, relay};
use retake::__private::report::terminal;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::{Discovered, FixtureRef, SystemSpec, Template, ToolBy, discover};

/// Check what this machine or the project lacks, and name the command that helps
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake doctor\n\n\
    Checks only what the project needs: the programs of its systems and tools, its fixtures, Chromium if scenarios \
    open pages, and a provider's key if something is still to be recorded.\n\n\
    Exit code 0 if nothing is missing, 1 if something is.")]
pub(super) struct Doctor {}

/// One thing that was checked.
struct Finding {
    what: String,
    /// What was found, or the error that says what is missing or wrong.
    found: Result<String>,
    /// Whether it is there, but cannot be read.
    broken: bool,
}

impl Doctor {
    #[expect(clippy::unused_self, reason = "a subcommand without options is still one")]
    pub(super) fn run(&self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let findings = match discover(&root) {
            Err(error) if !root.join("scenarios").is_dir() => vec![finding("scenarios", Err(error))],
            Err(error) => vec![broken("scenarios", error)],
            Ok(discovered) => of_project(&root, &discovered),
        };
        let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or_default();
        for Finding { what, found, broken } in &findings {
            match found {
                Ok(found) => terminal::out(format!("ok     {what:width$}  {found}")),
                Err(error) => {
                    let word = if *broken { "wrong" } else { "lacks" };
                    let indented = error.to_string().replace('\n', &format!("\n{:1$}", "", width + 7));
                    terminal::out(format!("{word}  {what:width$}  {indented}"));
                }
            }
        }
        let count =
            |broken: bool| findings.iter().filter(|finding| finding.found.is_err() && finding.broken == broken).count();
        terminal::out(match (count(false), count(true)) {
            (0, 0) => "nothing is missing".to_owned(),
            (lacking, 0) => format!("{} missing", counted(lacking, "thing")),
            (0, wrong) => format!("{} wrong", counted(wrong, "thing")),
            (lacking, wrong) => format!("{} missing, {wrong} wrong", counted(lacking, "thing")),
        });
        Ok(ExitCode::from(u8::from(count(false) + count(true) > 0)))
    }
}

fn finding(what: impl Into<String>, found: Result<String>) -> Finding {
    Finding { what: what.into(), found, broken: false }
}

fn broken(what: impl Into<String>, error: Error) -> Finding {
    Finding { what: what.into(), found: Err(error), broken: true }
}

fn of_project(root: &Path, discovered: &Discovered) -> Vec<Finding> {
    let sound = discovered.sound().count();
    let mut findings = vec![finding("scenarios", Ok(format!("{} read", counted(sound, "scenario"))))];
    let wrong = discovered.scenarios.iter().filter_map(|scenario| scenario.as_ref().err());
    findings.extend(wrong.map(|wrong| broken(&wrong.name, wrong.error.clone())));
    findings.extend(programs(root, discovered));
    let missing = missing_fixtures(root, discovered);
    for (name, system) in &discovered.suite.systems {
        let SystemSpec::Command(spec) = system else { continue };
        let folder = spec.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd.source()));
        let words: Vec<&str> = spec.command.iter().map(Template::source).collect();
        findings.extend(missing_file(&words, &folder, name));
        findings.extend(words.first().and_then(|program| other_python(program, &folder, name)));
    }
    let recorded = discovered.sound().any(|scenario| matches!(scenario.fixture, FixtureRef::Named(_)));
    let all_read = sound == discovered.scenarios.len();
    findings.push(key(!missing.is_empty(), recorded, all_read));
    findings.extend(missing);
    if discovered.sound().any(retake_scenario::Scenario::needs_browser) {
        findings.push(finding("chromium", chromium()));
    }
    let speaks_mcp = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_));
    if discovered.suite.tools.values().any(|tool| speaks_mcp(&tool.by)) && !cfg!(feature = "mcp") {
        let error = Error::new("this `retake` cannot call MCP servers: it was built without the feature `mcp`");
        let error = error.help("in a checkout of Retake: cargo install --path harness/cli --features mcp");
        findings.push(finding("mcp", Err(error)));
    }
    findings
}

/// The programs that start the project's systems, builds and tools, and those that its runner needs.
fn programs(root: &Path, discovered: &Discovered) -> Vec<Finding> {
    let mut wanted: BTreeMap<(String, PathBuf), String> = BTreeMap::new();
    let mut want = |program: &str, folder: PathBuf, user: String| {
        if !program.contains("{{") {
            wanted.entry((program.to_owned(), folder)).or_insert(user);
        }
    };
    let folder = |cwd: Option<&Template>| cwd.map_or_else(|| root.to_owned(), |cwd| root.join(cwd.source()));
    for (name, system) in &discovered.suite.systems {
        let SystemSpec::Command(spec) = system else { continue };
        let user = format!("system `{name}`");
        let programs = spec.command.first().map(Template::source).into_iter();
        programs.chain(spec.build.first().map(String::as_str)).for_each(|program| {
            want(program, folder(spec.cwd.as_ref()), user.clone());
        });
    }
    for (name, tool) in &discovered.suite.tools {
        let (ToolBy::Command(spec) | ToolBy::McpCommand(spec)) = &tool.by else { continue };
        let program = spec.command.first().map(Template::source).unwrap_or_default();
        want(program, folder(spec.cwd.as_ref()), format!("tool `{name}`"));
    }
    if handover::has_runner(root) {
        want("cargo", root.to_owned(), "tests/scenarios.rs".to_owned());
        if root.join(".config/nextest.toml").is_file() {
            want("cargo-nextest", root.to_owned(), ".config/nextest.toml".to_owned());
        }
    }
    let looked_for = |((program, folder), user): (&(String, PathBuf), &String)| {
        let found = program_file(program, folder).map(|file| format!("{}, for {user}", file.display()));
        finding(program.clone(), found.ok_or_else(|| no_program(program, user)))
    };
    wanted.iter().map(looked_for).collect()
}

/// The file of a program: a path relative to its working directory, or a name that is searched in PATH.
fn program_file(program: &str, folder: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(folder.join(program)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn no_program(program: &str, user: &str) -> Error {
    let install = match program {
        "python" | "python3" | "pip" => "apt-get install python3 python3-venv, or brew install python",
        "node" | "npm" | "npx" => "apt-get install nodejs npm, or brew install node",
        "pnpm" | "yarn" => "corepack enable",
        "uv" | "uvx" => "pip install uv",
        "uvicorn" | "gunicorn" | "hypercorn" | "langgraph" | "adk" => "pip install it into the active environment",
        "cargo" => "install Rust with rustup",
        "cargo-nextest" => "cargo install --locked cargo-nextest",
        _ => "install it, or add its folder to PATH",
    };
    Error::new(format!("there is no program `{program}`, which {user} needs")).help(install)
}

fn missing_fixtures(root: &Path, discovered: &Discovered) -> Vec<Finding> {
    let mut missing = BTreeMap::new();
    for scenario in discovered.sound() {
        if let FixtureRef::Named(name) = &scenario.fixture
            && !root.join("fixtures").join(format!("{name}.json")).is_file()
        {
            missing.entry(name).or_insert(&scenario.name);
        }
    }
    let lacking = |(fixture, scenario)| {
        let file = format!("fixtures/{fixture}.json");
        let error = Error::new(format!("not recorded yet, and scenario `{scenario}` needs it"));
        finding(file, Err(error.help(format!("{RETAKE} record {scenario}"))))
    };
    missing.into_iter().map(lacking).collect()
}

/// Checks whether a provider's key is set, which only recording needs.
fn key(needed: bool, recorded: bool, all_read: bool) -> Finding {
    let set: Vec<&str> =
        relay::variables().filter(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())).collect();
    let found = match () {
        () if !set.is_empty() => Ok(format!("{}, for recording", set.join(", "))),
        () if needed => Err(Error::new("no provider's key is set, but something is still to be recorded")
            .help("export OPENAI_API_KEY=…, or ANTHROPIC_API_KEY, GEMINI_API_KEY")),
        () if !all_read => Ok("none is set; whether one is needed shows once every scenario can be read".to_owned()),
        () if !recorded => Ok("none is set, and none is needed: no scenario calls a model".to_owned()),
        () => Ok("none is set, and none is needed: everything is recorded".to_owned()),
    };
    finding("key", found)
}

#[cfg(feature = "browser")]
fn chromium() -> Result<String> {
    let program = retake::__private::browser::program()?;
    is_browser(&program)?;
    Ok(format!("{}, for pages", program.display()))
}

#[cfg(not(feature = "browser"))]
fn chromium() -> Result<String> {
    Err(retake_scenario::without_browser())
}

/// The file that an interpreter is given and that does not exist.
fn missing_file(words: &[&str], folder: &Path, system: &str) -> Option<Finding> {
    const SOURCES: [&str; 8] = ["py", "ts", "tsx", "mts", "js", "mjs", "cjs", "rb"];
    let is_source = |word: &&&str| {
        let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
        !word.starts_with('-') && !word.contains("{{") && ending.is_some_and(|ending| SOURCES.contains(&ending))
    };
    let file = words.iter().skip(1).find(is_source).filter(|file| !folder.join(file).is_file())?;
    let path = folder.join(file);
    let error = Error::new(format!("there is no file {}, which system `{system}` is started with", path.display()));
    let help = "write the file that starts the service into `command` in scenarios/suite.toml";
    Some(finding(*file, Err(error.help(help))))
}

/// Says that a system is started with another Python than that of the environment beside it.
fn other_python(program: &str, folder: &Path, system: &str) -> Option<Finding> {
    if !matches!(program, "python" | "python3") {
        return None;
    }
    let own = retake::__private::system::environment_beside(folder)?;
    let resolved = |file: &Path| file.parent()?.canonicalize().ok();
    let found = program_file(program, folder).filter(|found| resolved(found) != resolved(&own))?;
    let (found, relative) = (found.display(), own.strip_prefix(folder).unwrap_or(&own).display());
    let what = format!("`{program}` is {found}, so system `{system}` does not see what is installed in {relative}");
    let error = Error::new(what);
    Some(finding(program, Err(error.help(format!("in scenarios/suite.toml: command = [\"{relative}\", …]")))))
}

/// Checks that a program is a browser: whether it can show an empty page.
#[cfg_attr(not(feature = "browser"), allow(dead_code, reason = "only pages need a browser"))]
fn is_browser(program: &Path) -> Result<()> {
    let profile = tempfile::tempdir().map_err(|e| Error::new(format!("failed to make a folder: {e}")))?;
    let mut asked = Command::new(program);
    asked.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]);
    asked.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
    let shown = asked.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let shown = shown.map_err(|e| Error::new(format!("{} cannot be started: {e}", program.display())))?;
    if String::from_utf8_lossy(&shown.stdout).contains("<html>") {
        return Ok(());
    }
    Err(Error::new(format!("{} is no Chromium: asked for an empty page, it showed none", program.display()))
        .help("name the program of Chromium or Chrome with RETAKE_CHROMIUM, or leave the variable out"))
}

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::{new, schemas};
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};

mod cargo_toml;
mod language;
mod place;
mod start;
mod workflow;

pub(super) use language::Language;

/// Write a first scenarios/ and a CI file for the project: TypeScript if there is a package.json, Python for
/// pyproject.toml, Rust (with tests/scenarios.rs) for Cargo.toml
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cd my-agent && retake init\n\n\
    Existing files are kept as they are; only Cargo.toml gets the entries that\n\
    it lacks.\n\
    The CI file goes to the root of the repository.")]
pub(super) struct Init {
    /// The language of the service [default: by the project's files]
    #[arg(long)]
    language: Option<Language>,
}

impl Init {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let here =
            std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
        let language = self.language.map_or_else(|| place::language(&here), Ok)?;
        let started = start::of(language, &here).map(|start| (language::list(start.command), start.ready));
        let started = started.or_else(|| Some((language.command(&here)?, "http = \"/health\"".to_owned())));
        let suite = match started {
            Some((command, ready)) => {
                format!("{}\n{SUITE}", SYSTEM.replace("COMMAND", &command).replace("READY", &ready))
            }
            None => SUITE.to_owned(),
        };
        let (workflow_file, workflow) = workflow::workflow(&here, language);
        let (weekly_file, weekly) = workflow::weekly(&workflow_file, &here, language);
        let mut files = vec![
            ("scenarios/suite.toml".into(), schemas::OF_SUITE.to_owned() + &suite),
            ("scenarios/hello/scenario.toml".into(), new::scenario("hello")),
            ("goldens/.gitignore".into(), PENDING.to_owned()),
            ("goldens/.gitattributes".into(), GOLDENS.to_owned()),
            ("fixtures/.gitattributes".into(), FIXTURES.to_owned()),
            (workflow_file, workflow),
            (weekly_file, weekly),
        ];
        if language == Language::Rust {
            files.push(("tests/scenarios.rs".into(), RUNNER.to_owned()));
            files.push((".config/nextest.toml".into(), NEXTEST.to_owned()));
        }
        for (name, text) in files {
            let file = here.join(&name);
            let done = if file.exists() { "kept " } else { "wrote" };
            if !file.exists() {
                retake_base::files::write_whole(&file, text.as_bytes())?;
            }
            terminal::out(format!("  {done}  {}", name.display()));
        }
        if schemas::write(&here)? {
            terminal::out("  wrote  scenarios/.schema/");
        }
        ignore_run_data(&here)?;
        if language == Language::Rust {
            complete_cargo_toml(&here)?;
        }
        if let Some(command) = language.still_to_install(&here) {
            terminal::out(format!("\nInstall the command and the TypeScript loader:  {command}"));
        }
        let retake = language.retake();
        terminal::out(format!("Then edit scenarios/hello/scenario.toml and record it: {retake} record hello"));
        Ok(ExitCode::SUCCESS)
    }
}

/// Adds what the runner needs to Cargo.toml, or prints what to add by hand.
fn complete_cargo_toml(here: &Path) -> Result<()> {
    let file = here.join("Cargo.toml");
    let text = String::from_utf8(retake_base::files::read(&file)?).unwrap_or_default();
    match cargo_toml::completed(&text) {
        Err(by_hand) => terminal::out(by_hand),
        Ok(completed) if completed == text => terminal::out("  kept   Cargo.toml"),
        Ok(completed) => {
            retake_base::files::write_whole(&file, completed.as_bytes())?;
            terminal::out(
                "  added  to Cargo.toml: the dev-dependency retake, and the test scenarios with harness = false",
            );
        }
    }
    Ok(())
}

/// Keeps journals out of git: they contain what was sent to a provider.
fn ignore_run_data(here: &Path) -> Result<()> {
    let file = here.join("fixtures/.journal/.gitignore");
    if !file.exists() {
        retake_base::files::write_whole(&file, b"*\n")?;
    }
    Ok(())
}

/// Keeps new goldens that wait for a decision out of git.
const PENDING: &str = "*.snap.new\n";

/// Goldens are reviewed line by line, with the same line ends on every machine.
const GOLDENS: &str = "*.snap text eol=lf diff\n";

/// Fixtures are collapsed in reviews: what changed in a recording is told better by `retake show` and by goldens.
const FIXTURES: &str = "*.json text eol=lf linguist-generated\n";

/// The head of `suite.toml` in a project whose system is a command.
const SYSTEM: &str = r#"# The agent service under test. Retake starts it for each scenario, with these variables, PATH, and
# its own home and temporary folders.
[systems.agent]
command = COMMAND
env = { PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}" }
ready = { READY, timeout = "30s" }       # or { line = "regex of a log line" }
"#;

const SUITE: &str = r#"# What all scenarios share. An empty file is fine.

# Rules that name the caller of a model call without the header x-retake-caller. The first rule that matches applies.
# [[callers]]
# name = "middleware:title"
# when = { message = "^Generate a concise title", tools = false }

# Text in messages and events that varies from run to run. UUIDs, time stamps and temporary paths need no rule.
# [[normalize]]
# pattern = 'order-\d+'
# replace = "<ORDER>"

# Headers that goldens hold, apart from their values: a cookie that loses HttpOnly is a failure.
[golden]
headers = ["set-cookie", "cache-control"]
"#;

const RUNNER: &str = r#"//! Replays scenarios/ against the agent: `cargo test --test scenarios`.

retake::suite! {
    router "agent" => |stage| async move {
        // Build your service as in production, with the stage's folder, model URL and key:
        // my_agent::router(stage.workdir(), &stage.model().openai, stage.key())
        let _ = stage;
        retake::axum::Router::new()
    }
}
"#;

const NEXTEST: &str = "# A scenario mostly waits for its system, so more scenarios than cores can run at the same time.
[profile.default]
test-threads = 16
";

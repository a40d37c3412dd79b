use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::schemas;
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};

mod cargo_toml;
mod language;
mod model;
mod place;
mod probe;
mod routes;
mod start;
mod workflow;
mod written;

pub(super) use language::Language;
use probe::{Seen, Tried};
use start::Start;

/// Write a first scenarios/ and a CI file for the project: TypeScript if there is a package.json, Python for
/// pyproject.toml, Rust (with tests/scenarios.rs) for Cargo.toml
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cd my-agent && retake init\n  retake init --probe\n\n\
    With --probe, the service is started once, with no key of a provider and with\n\
    a model that says hello to each call, and ended again. What was not tried is\n\
    marked in the files. On a terminal, this is asked.\n\n\
    Existing files are kept as they are; only Cargo.toml gets the entries that\n\
    it lacks.\n\
    The CI file goes to the root of the repository.")]
pub(super) struct Init {
    /// The language of the service [default: by the project's files]
    #[arg(long)]
    language: Option<Language>,
    /// Start the service once, and propose the port, path and route that it was seen to answer on
    #[arg(long)]
    probe: bool,
    /// Ask nothing, and start nothing unless --probe says so
    #[arg(long, short)]
    yes: bool,
}

impl Init {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let here =
            std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
        let asks = !self.yes && super::is_interactive();
        let language = self.language.map_or_else(|| place::language(&here, asks), Ok)?;
        let ways = start::ways(language, &here);
        let command = ways.first().map(|way| way.command.join(" ")).unwrap_or_default();
        let env = written::variables(&(start::declared(&here) + &command));
        let unseen = |mark: &str, step: Option<&str>| {
            (schemas::OF_SUITE.to_owned() + &suite(ways.first(), &env, None, mark), written::scenario(None, step))
        };
        let before = unseen(BY_PROBE, None);
        let failed = unseen("it did not start", Some("the service did not start"));
        let untouched = |file: &str, texts: [&String; 2]| {
            std::fs::read(here.join(file)).map_or(true, |there| texts.iter().any(|text| text.as_bytes() == there))
        };
        let fresh = untouched(SUITE_FILE, [&before.0, &failed.0]) && untouched(HELLO_FILE, [&before.1, &failed.1]);
        let probes = self.probe || (asks && fresh && !ways.is_empty() && place::may_start(&command));
        if self.probe && ways.is_empty() {
            return Err(Error::new(
                "this service is a router that tests/scenarios.rs links, so there is no command to start",
            )
            .help("without --probe: retake init"));
        }
        let seen = probes.then(|| probe::probe(ways.clone(), &written::all_variables(), &here));
        let (suite, hello) = match &seen {
            Some(Ok(seen)) => {
                let suite = suite(ways.first(), &env, Some(seen), "");
                (schemas::OF_SUITE.to_owned() + &suite, written::scenario(seen.request.as_ref(), None))
            }
            Some(Err(_)) => failed,
            None => before,
        };
        let (workflow_file, workflow) = workflow::workflow(&here, language);
        let (weekly_file, weekly) = workflow::weekly(&workflow_file, &here, language);
        let mut files = vec![
            (SUITE_FILE.into(), suite),
            (HELLO_FILE.into(), hello),
            ("goldens/.gitignore".into(), PENDING.to_owned()),
            ("goldens/.gitattributes".into(), GOLDENS.to_owned()),
            ("fixtures/.gitattributes".into(), FIXTURES.to_owned()),
            (workflow_file, workflow),
            (weekly_file, weekly),
        ];
        let is_linked = ways.is_empty();
        if is_linked {
            files.push(("tests/scenarios.rs".into(), RUNNER.to_owned()));
            files.push((".config/nextest.toml".into(), NEXTEST.to_owned()));
        }
        for (name, text) in files {
            let file = here.join(&name);
            // What `retake init` wrote and nobody changed may be replaced by what was seen.
            let kept =
                file.exists() && !(fresh && probes && [SUITE_FILE, HELLO_FILE].contains(&&*name.to_string_lossy()));
            let done = if kept { "kept " } else { "wrote" };
            if !kept {
                retake_base::files::write_whole(&file, text.as_bytes())?;
            }
            terminal::out(format!("  {done}  {}", name.display()));
        }
        if schemas::write(&here)? {
            terminal::out("  wrote  scenarios/.schema/");
        }
        ignore_run_data(&here)?;
        if is_linked {
            complete_cargo_toml(&here)?;
        }
        if let Some(command) = language.still_to_install(&here) {
            terminal::out(format!("\nInstall the command and the TypeScript loader:  {command}"));
        }
        let retake = language.retake();
        match seen {
            Some(Err(error)) => {
                terminal::out(format!("Then correct `command` in {SUITE_FILE}, and see: {retake} test"));
                terminal::error(error);
                return Ok(ExitCode::FAILURE);
            }
            Some(Ok(Seen { request: Some(Tried { called, .. }), .. })) => {
                let next = if called { "record hello" } else { "test" };
                terminal::out(format!("Then: {retake} {next}"));
            }
            _ => terminal::out(format!("Then edit {HELLO_FILE} and record it: {retake} record hello")),
        }
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

const SUITE_FILE: &str = "scenarios/suite.toml";
const HELLO_FILE: &str = "scenarios/hello/scenario.toml";
const BY_PROBE: &str = "`retake init --probe` starts it once and sees";

fn suite(start: Option<&Start>, env: &[(String, String)], seen: Option<&Seen>, mark: &str) -> String {
    start.map_or_else(|| SUITE.to_owned(), |start| format!("{}\n{SUITE}", written::system(start, env, seen, mark)))
}

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

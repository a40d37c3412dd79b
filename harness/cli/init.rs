use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::schemas;
use retake::__private::report::terminal;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};

/// This minor version. A workflow installs no other, since the next one may change commands, fields and goldens.
macro_rules! minor {
    () => {
        concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"))
    };
}

mod body;
mod cargo_toml;
mod corrected;
mod examples;
mod language;
mod model;
mod place;
mod probe;
mod requests;
mod routes;
mod sources;
mod start;
mod workflow;
mod written;

pub(super) use language::Language;
use probe::Seen;
use sources::Sources;
use start::{BY_PORT, Start, UNKNOWN};

/// Write a first scenarios/ and a CI file for the project: TypeScript if there is a package.json, Python for
/// pyproject.toml, Rust (with tests/scenarios.rs, if it is a router) for Cargo.toml, and the command of a service in any other language
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cd my-agent && retake init\n  retake init --probe\n  \
    retake init --probe -- litellm --model gpt-4o --port '{{ port }}'\n\n\
    With --probe, the service is started once, with no key of a provider and with a model that says hello to each \
    call, and ended again. What was not tried is marked in the files. On a terminal, this is asked.\n\n\
    Existing files are kept as they are; only Cargo.toml gets the entries that it lacks. The CI file goes to the root \
    of the repository.")]
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
    /// How the service is started, with {{ port }} in the place of its port [default: as the suite or the project's files say]
    #[arg(last = true)]
    command: Vec<String>,
}

impl Init {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let here =
            std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
        let asks = !self.yes && super::project::is_interactive();
        // Whoever says how the service is started has it here.
        let told = self.language.or_else(|| (!self.command.is_empty()).then(|| Language::of(&here)));
        let language = told.map_or_else(|| place::language(&here, asks), Ok)?;
        let sources = Sources::of(&here);
        let mut ways = start::ways(language, &here, &sources);
        let command = ways.first().map(|way| way.command.join(" ")).unwrap_or_default();
        let env = written::variables_of(&here, &command, &sources);
        let unseen = |start: Option<&Start>, mark: &str, step: Option<&str>| {
            (schemas::OF_SUITE.to_owned() + &suite(start, &env, None, mark), written::scenario(None, step))
        };
        let before = unseen(ways.first(), BY_PROBE, None);
        let ready = ways.first().map_or_else(|| BY_PORT.to_owned(), |way| way.ready.clone());
        let untouched = |file: &str, text: &str| {
            std::fs::read_to_string(here.join(file)).map_or(true, |there| written::is_alike(&there, text))
        };
        let (fresh_suite, fresh_hello) = (untouched(SUITE_FILE, &before.0), untouched(HELLO_FILE, &before.1));
        let is_known = |own: &Start| own.command[..] == [UNKNOWN] || ways.iter().any(|way| way.command == own.command);
        let own = Start::of_suite(&here).filter(|(own, _)| !fresh_suite || !is_known(own));
        // What a person says, or has written into the suite, is what is started.
        let mut probed_env = [written::all_variables(), env.clone()].concat();
        if !self.command.is_empty() {
            ways = vec![Start::new(sources::given(&self.command), &ready)];
        } else if let Some((own, own_env)) = own {
            ways = vec![Start { ready: ready.clone(), ..own }];
            probed_env.extend(own_env);
        }
        let startable = ways.iter().find(|way| way.exists_in(&here));
        let may_ask = asks && fresh_suite && fresh_hello;
        let probes = self.probe || startable.is_some_and(|way| may_ask && place::may_start(&way.command.join(" ")));
        if self.probe && ways.is_empty() {
            let what = "this service is a router that tests/scenarios.rs links, so there is no command to start";
            return Err(Error::new(what).help(format!("without --probe: {RETAKE} init")));
        }
        let mut seen = probes.then(|| probe::probe(ways.clone(), &probed_env, &here, &sources));
        while let Some(Err(error)) = seen.as_ref().filter(|_| asks) {
            terminal::error(error);
            let Some(words) = place::started_by() else { break };
            ways = vec![Start::new(words, &ready)];
            seen = Some(probe::probe(ways.clone(), &probed_env, &here, &sources));
        }
        let (suite, hello) = match &seen {
            Some(Ok(seen)) => {
                // A client of a provider reads its variables where no source names them.
                let needed = seen.env.iter().filter(|pair| !env.contains(pair));
                let env = env.iter().chain(needed).cloned().collect::<Vec<_>>();
                let suite = suite(ways.first(), &env, Some(seen), "");
                let mark = seen.request.is_none().then_some(NO_ROUTE);
                (schemas::OF_SUITE.to_owned() + &suite, written::scenario(seen.request.as_ref(), mark))
            }
            Some(Err(_)) => {
                let startable = ways.iter().find(|way| way.exists_in(&here)).map(|way| way.command.clone());
                let start = Start::new(startable.unwrap_or_else(|| vec![UNKNOWN.to_owned()]), &ready);
                unseen(Some(&start), "it did not start", Some("the service did not start"))
            }
            None if self.command.is_empty() => before,
            None => unseen(ways.first(), BY_PROBE, None),
        };
        let (workflow_file, workflow) = workflow::workflow(&here, language);
        let (weekly_file, weekly) = workflow::weekly(&workflow_file, &here, language);
        let mut files = vec![
            (SUITE_FILE.into(), suite),
            (HELLO_FILE.into(), hello),
            ("goldens/.gitignore".into(), PENDING.to_owned()),
            ("fixtures/.gitignore".into(), PENDING.to_owned()),
            ("goldens/.gitattributes".into(), GOLDENS.to_owned()),
            ("fixtures/.gitattributes".into(), FIXTURES.to_owned()),
            (workflow_file, workflow),
            (weekly_file, weekly),
        ];
        let is_linked = ways.is_empty();
        let started = seen.as_ref().and_then(|seen| seen.as_ref().ok()).map(|seen| &seen.start).or(ways.first());
        let is_with_tsx = started.is_some_and(|start| start.command.contains(&"tsx".to_owned()));
        if is_linked {
            files.push(("tests/scenarios.rs".into(), RUNNER.to_owned()));
            files.push((".config/nextest.toml".into(), NEXTEST.to_owned()));
        }
        for (name, text) in files {
            let file = here.join(&name);
            // What `retake init` wrote and nobody changed may be replaced by what was seen.
            let fresh = [(SUITE_FILE, fresh_suite), (HELLO_FILE, fresh_hello)];
            let may_replace = probes && fresh.contains(&(&*name.to_string_lossy(), true));
            let kept = file.exists() && !may_replace;
            let done = if kept { "kept " } else { "wrote" };
            if !kept {
                retake_base::files::write_whole(&file, text.as_bytes())?;
            }
            terminal::out(format!("  {done}  {}", name.display()));
        }
        if schemas::write(&here)? {
            terminal::out("  wrote  scenarios/.schema/");
        }
        if is_linked {
            complete_cargo_toml(&here)?;
        }
        if let Some(command) = language.still_to_install(&here, is_with_tsx) {
            terminal::out(format!("\nStill to install:  {command}"));
        }
        Ok(told_what_is_next(seen, &language.retake()))
    }
}

/// How many routes are named.
const SHOWN: usize = 6;

/// Says what to do next, by what the probe has seen, if there was one.
fn told_what_is_next(seen: Option<Result<Seen>>, retake: &str) -> ExitCode {
    match seen {
        Some(Err(error)) => {
            let again = format!("{retake} init --probe");
            terminal::out(format!("These files wait for the right `command` in {SUITE_FILE}; to try it: {again}"));
            terminal::error(error);
            return ExitCode::FAILURE;
        }
        Some(Ok(Seen { request: Some(_), .. })) => terminal::out(format!("Then: {retake} record hello")),
        Some(Ok(Seen { posts, socket, .. })) => {
            let (shown, more) = posts.split_at(posts.len().min(SHOWN));
            let posts = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let mut told = format!("No route that calls the model was found. POST routes seen: {posts}{more}.");
            if let Some(path) = socket {
                let _ = write!(told, " It speaks Socket.IO at {path}: socket = {path:?}, framing = \"socket.io\".");
            }
            terminal::out(format!("{told} Write the request in {HELLO_FILE}, then: {retake} record hello"));
        }
        None => terminal::out(format!("Then edit {HELLO_FILE} and record it: {retake} record hello")),
    }
    ExitCode::SUCCESS
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

/// Keeps new goldens that wait for a decision out of git.
const PENDING: &str = "*.snap.new\n";

/// Goldens are reviewed line by line, with the same line ends on every machine.
const GOLDENS: &str = "*.snap text eol=lf diff\n";

/// Fixtures are collapsed in reviews: what changed in a recording is told better by `retake show` and by goldens.
const FIXTURES: &str = "*.json text eol=lf linguist-generated\n";

const SUITE_FILE: &str = "scenarios/suite.toml";
const HELLO_FILE: &str = "scenarios/hello/scenario.toml";
const NO_ROUTE: &str = "no route that calls the model was found";
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

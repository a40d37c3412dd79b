use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::{new, schemas};
use crate::error::Result;
use crate::report::terminal;

/// Write a first scenarios/, tests/scenarios.rs and CI file into a project
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cd my-agent && retake init\n\nFiles that are there already are left as they are.")]
pub(super) struct Init {}

impl Init {
    #[expect(clippy::unused_self, reason = "a subcommand without options is still one")]
    pub(super) fn run(&self) -> Result<ExitCode> {
        let here = Path::new(".");
        let scenario = new::scenario("hello");
        let rust = here.join("Cargo.toml").is_file();
        let suite = if rust { SUITE.to_owned() } else { format!("{SYSTEM}\n{SUITE}") };
        let suite = schemas::OF_SUITE.to_owned() + &suite;
        let (setup, command) = if rust { ("", "cargo test --test scenarios") } else { (SETUP, IN_ANY_LANGUAGE) };
        let workflow = WORKFLOW.replace("SETUP", setup).replace("COMMAND", command);
        let mut files = vec![
            ("scenarios/suite.toml", suite.as_str()),
            ("scenarios/hello/scenario.toml", &scenario),
            (".github/workflows/scenarios.yml", workflow.as_str()),
        ];
        if rust {
            files.push(("tests/scenarios.rs", RUNNER));
            files.push((".config/nextest.toml", NEXTEST));
        }
        for (name, text) in files {
            let file = here.join(name);
            if file.exists() {
                terminal::out(format!("  kept   {name}"));
            } else {
                crate::files::write_whole(&file, text.as_bytes())?;
                terminal::out(format!("  wrote  {name}"));
            }
        }
        if schemas::write(here)? {
            terminal::out("  wrote  scenarios/.schema/");
        }
        ignore_run_data(here)?;
        if rust {
            terminal::out(CARGO_STEPS);
        }
        terminal::out("Then edit scenarios/hello/scenario.toml and record it: retake record hello");
        Ok(ExitCode::SUCCESS)
    }
}

/// How a workflow runs the scenarios of a project that cargo does not build.
const IN_ANY_LANGUAGE: &str = "cargo install --locked retake && retake test";

/// What such a project's workflow lacks.
const SETUP: &str = "      # - run: pip install -r requirements.txt    # what your service needs to start\n";

/// Journals hold what was sent to a provider and are nobody's to commit.
fn ignore_run_data(here: &Path) -> Result<()> {
    let file = here.join("fixtures/.journal/.gitignore");
    if !file.exists() {
        crate::files::write_whole(&file, b"*\n")?;
    }
    Ok(())
}

/// What comes first in a project that is not Rust: its system is a command.
const SYSTEM: &str = r#"# The agent service under test, as it is started for each scenario: with these variables, PATH, and a home and a
# temporary folder of its own.
[systems.agent]
command = ["python3", "app.py"]
env = { PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}" }
ready = { http = "/health", timeout = "30s" }       # or { line = "regex of a log line" }
"#;

const SUITE: &str = r#"# What all scenarios share. An empty file is fine.

# Who made a model call that does not say so itself (header x-retake-caller). The first rule that fits counts.
# [[callers]]
# name = "middleware:title"
# when = { message = "^Generate a concise title", tools = false }

# What varies from run to run in messages and events, beside UUIDs, time stamps and temporary paths.
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

const NEXTEST: &str = "# A scenario mostly waits: for its system, and for what that still does when its steps are done.
[profile.default]
test-threads = 16
";

const CARGO_STEPS: &str = r#"
Add to Cargo.toml:

  [dev-dependencies]
  retake = { version = "0.1", default-features = false, features = ["record"] }

  [[test]]
  name = "scenarios"
  harness = false
"#;

const WORKFLOW: &str = r"name: scenarios
on: [push, pull_request]
jobs:
  scenarios:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
SETUP      - run: COMMAND
";

use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::suite::{ACTION, ACTION_NAMES, Action};

/// Record scenarios with the real provider: fixture and golden
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  OPENAI_API_KEY=… retake record write_read_file\n\n\
    Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, OLLAMA_API_KEY.\n\
    RETAKE_UPSTREAM_OPENAI names another address that speaks OpenAI's API; likewise\n\
    RETAKE_UPSTREAM_ANTHROPIC, RETAKE_UPSTREAM_GEMINI and RETAKE_UPSTREAM_OLLAMA.\n\
    Fixture and golden are written only after two replays of the recording agree.\n\n\
    Secrets never reach a file: known forms, and the values of the variables that the suite\n\
    declares by {{ secret.NAME }} or secrets = [\"NAME\"]. A provider's errors become turns\n\
    where scenario.toml says record = { errors = true }.")]
pub(super) struct Record {
    /// The scenarios to record
    #[arg(required = true)]
    name: Vec<String>,
}

impl Record {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::root()?;
        if !handover::has_runner(&root) {
            return super::suite(root, false).act(&Action::Record(self.name));
        }
        handover::run(&root, &[], &[(ACTION, "record"), (ACTION_NAMES, &self.name.join(","))])
    }
}

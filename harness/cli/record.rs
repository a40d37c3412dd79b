use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::run::action::{Action, RecordOptions, to_record};

/// Record scenarios with the real provider: fixture and golden
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  OPENAI_API_KEY=… retake record write_read_file\n\n\
    Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, OLLAMA_API_KEY.\n\
    RETAKE_UPSTREAM_OPENAI names another address that speaks OpenAI's API; likewise\n\
    RETAKE_UPSTREAM_ANTHROPIC, RETAKE_UPSTREAM_GEMINI and RETAKE_UPSTREAM_OLLAMA.\n\
    Fixture and golden are written only after two replays of the recording agree.\n\n\
    Secrets never reach a file: known forms, and the values of the variables that the suite\n\
    declares by {{ secret.NAME }} or secrets = [\"NAME\"]. A provider's errors become turns\n\
    where scenario.toml says record = { errors = true }.\n\n\
    After a failure, or where a prompt, a tool or a model was changed:\n  \
    retake record write_read_file --resume")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Record {
    /// The scenarios to record: names, or parts of names
    #[arg(required_unless_present = "all")]
    name: Vec<String>,
    /// Record each scenario that has a recording of its own; one that replays another's has none
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Serve each call that equals a recorded one, by its key and all its checks, from the journal of a failed recording
    /// or from the old fixture; only the others are paid
    #[arg(long)]
    resume: bool,
    /// Leave fixture and golden as they are, and what was recorded beside them: to look at it, retake review
    #[arg(long)]
    propose: bool,
    /// Write a recording that varies from replay to replay all the same, and mark the fixture
    #[arg(long)]
    accept_unstable: bool,
}

impl Record {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let Record { all, resume, accept_unstable, propose, .. } = self;
        let options = RecordOptions { all, resume, accept_unstable, propose };
        if !handover::has_runner(&root) {
            return super::suite(root, false).act(Action::Record(self.name, options));
        }
        handover::run(&root, &[], to_record(&self.name, options))
    }
}

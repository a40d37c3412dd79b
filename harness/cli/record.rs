use std::process::ExitCode;

use clap::Args;

use super::relay::runner;
use retake::__private::run::{Action, RecordOptions};
use retake_base::error::{Error, Result};

/// Record scenarios with the real provider: write each fixture and golden
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  OPENAI_API_KEY=… retake record write_read_file\n\n\
    Set the provider's key: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, OLLAMA_API_KEY. If \
    OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL or OLLAMA_HOST is set, calls go there. To use another \
    address only for recording, set RETAKE_UPSTREAM_OPENAI; likewise RETAKE_UPSTREAM_ANTHROPIC, \
    RETAKE_UPSTREAM_GEMINI and RETAKE_UPSTREAM_OLLAMA. Fixture and golden are written only after two replays of the \
    recording agree.\n\n\
    Secrets are never written: neither tokens of a known form nor the values of variables that the suite declares by \
    {{ secret.NAME }} or secrets = [\"NAME\"]. A provider's errors become turns if scenario.toml sets record = { \
    errors = true }.\n\n\
    After a failure or Ctrl-C, or after you changed a prompt, a tool or the model:\n  \
    retake record write_read_file --resume")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Record {
    /// The scenarios to record: names or parts of names
    name: Vec<String>,
    /// Record every scenario, except those that replay the recording of another one
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Answer calls whose key and checks match a recorded call from the journal of a failed recording or from the old
    /// fixture; pay only for the others
    #[arg(long)]
    resume: bool,
    /// Leave fixture and golden unchanged and write the new ones next to them, for `retake review`
    #[arg(long)]
    propose: bool,
    /// Write the recording even if its replays vary, and mark the fixture as unstable
    #[arg(long)]
    accept_unstable: bool,
    /// Let tool servers answer as the fixture that is there has it, as `retake adopt` does
    #[arg(long, hide = true)]
    recorded_tools: bool,
}

impl Record {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.name.is_empty() && !self.all {
            return Err(Error::new("no scenario is named").help("every scenario: retake record --all"));
        }
        let root = super::project::root()?;
        let Record { all, resume, accept_unstable, propose, recorded_tools, .. } = self;
        let options = RecordOptions { all, resume, accept_unstable, propose, recorded_tools };
        runner::act(root, Action::Record(self.name, options))
    }
}

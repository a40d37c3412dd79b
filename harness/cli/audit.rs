use std::process::ExitCode;

use clap::Args;

use super::handover;
use retake::__private::run::{Action, AuditOptions};
use retake_base::error::Result;
use retake_core::events::Detail;

/// Measure how much goldens and fixtures can be trusted
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake audit\n  retake audit write_read_file --all\n  \
    retake audit --min-score 0.9          in CI\n  retake audit --detail values --json\n\n\
    Each scenario is replayed once. Then small changes are made to what it captured: an event is dropped, a key \
    renamed, a list shortened, and so on. The score is the share of changes that the golden notices, from 0 to 1; \
    each kind of change has the same weight. Unnoticed changes are listed with a setting of [golden] that would \
    notice them.\n\n\
    Apart from the score, the audit reports whether keys notice changed answers and tool results, [[normalize]] rules \
    that change nothing or make different calls equal, prompts, tools and models that differ from the recording, and \
    secrets in fixtures.\n\n\
    Exit code 1 if the score is below --min-score or a scenario fails.")]
pub(super) struct Audit {
    /// The scenarios to audit: names or parts of names [default: all]
    name: Vec<String>,
    /// Fail if the score of all audited scenarios is below this, from 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f64>,
    /// Compute the score as if every golden had this detail
    #[arg(long)]
    detail: Option<Detail>,
    /// List every unnoticed change, not only the first ones
    #[arg(long)]
    all: bool,
    /// Print JSON, in the format retake-audit/1
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let Audit { name, min_score, detail, all, json } = self;
        let options = AuditOptions { json, all, min_score, detail };
        handover::act(root, Action::Audit(name, options))
    }
}

fn score(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(score),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

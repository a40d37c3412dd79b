use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::events::Detail;
use crate::run::action::{Action, AuditOptions, to_audit};

/// Tell how much goldens and fixtures can be trusted
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake audit\n  retake audit write_read_file --all\n  \
    retake audit --min-score 0.9          in CI\n  \
    retake audit --detail values --json\n\n\
    Each scenario is replayed once. Then small changes are made to what it captured:\n\
    an event is dropped, a key renamed, a list shortened, and so on. The score is the\n\
    share that the golden notices, from 0 to 1; each kind of change weighs the same.\n\
    What goes unnoticed is listed with a setting of [golden] that notices it.\n\n\
    Apart from the score: whether keys notice changes of recorded answers and tool\n\
    results; rules of [[normalize]] that change nothing, or make different calls\n\
    equal; prompts, tools and models that are not as recorded; secrets in fixtures.\n\n\
    Exit codes: 1 where the score is less than --min-score, or a scenario is red.")]
pub(super) struct Audit {
    /// Names of scenarios, or parts of names; all where absent
    name: Vec<String>,
    /// Fail where the score of all audited scenarios is less than this, from 0 to 1
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f64>,
    /// Take goldens to hold keys, types or values, whatever their scenarios say
    #[arg(long)]
    detail: Option<Detail>,
    /// List all that went unnoticed, not the first of it
    #[arg(long)]
    all: bool,
    /// Print JSON, of the form that the README describes
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let Audit { name, min_score, detail, all, json } = self;
        let options = AuditOptions { json, all, min_score, detail };
        if handover::has_runner(&root) {
            return handover::run(&root, &[], to_audit(&name, options));
        }
        super::suite(root, false).act(Action::Audit(name, options))
    }
}

fn score(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(score),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

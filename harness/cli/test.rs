use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::files::run_folder;
use crate::report::{ReportForm, RunData, Runs, terminal};
use crate::run::action::{Action, Wanted, to_test};
use crate::run::restart::typed_in;
use crate::scenario::SCENARIOS;

/// Run the scenarios: replay, capture, compare
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  retake test\n  retake test write_ two_callers --update\n  retake test scenarios/write_read_file\n  retake test --report html --report junit\n  retake test -- --list\n\n\
    What follows `--` goes to the runner as it is: --exact, --skip, --test-threads, --format."
)]
pub(super) struct Test {
    /// Only scenarios whose name contains one of these, or whose folder one is
    filter: Vec<String>,
    /// Write goldens anew, after two replays that agree
    #[arg(long)]
    update: bool,
    /// Write a report of the scenarios that ran: html to .retake/report.html, junit to .retake/junit.xml, markdown to
    /// .retake/report.md
    #[arg(long, value_enum, value_name = "FORM")]
    report: Vec<ReportForm>,
    /// Arguments for the runner
    #[arg(last = true)]
    runner: Vec<String>,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let filters: Vec<String> = self.filter.into_iter().map(|typed| filter_of(&root, typed)).collect();
        // One part of a name libtest takes itself, and counts what it leaves out.
        let (filters, args) = match &filters[..] {
            [one] if !one.ends_with('/') => (Vec::new(), [filters, self.runner].concat()),
            _ => (filters, self.runner),
        };
        let begun = Runs::now();
        let code = if handover::has_runner(&root) {
            let update = self.update.then(|| ("UPDATE_GOLDEN", "1".to_owned()));
            handover::run(&root, &args, to_test(&filters).into_iter().chain(update))?
        } else {
            let code =
                super::suite(root.clone(), self.update).run(Ok(Action::Test(Wanted::of_scenarios(filters, args))));
            // libtest's 101 is a failed check.
            if code == ExitCode::from(101) { ExitCode::from(1) } else { code }
        };
        let ran: Vec<RunData> = Runs::of(&root).all()?.into_iter().filter(|run| run.started >= begun).collect();
        for form in self.report {
            let file = run_folder(&root)?.join(match form {
                ReportForm::Html => "report.html",
                ReportForm::Junit => "junit.xml",
                ReportForm::Markdown => "report.md",
            });
            super::report::write(&root, &ran, form, Some(file.clone()))?;
            terminal::note(format!("report: {}", file.display()));
        }
        Ok(code)
    }
}

/// What is typed as a path in `scenarios/` is the folder of a scenario, `hello/`, or all of them; anything else is a part of a
/// name.
fn filter_of(root: &Path, typed: String) -> String {
    let resolved = |path: PathBuf| path.canonicalize().or_else(|_| std::path::absolute(&path)).unwrap_or(path);
    let is_path = typed.contains('/') || typed == ".";
    let path = is_path.then(|| resolved(typed_in().join(&typed)));
    let inside = path.as_deref().and_then(|path| path.strip_prefix(resolved(root.join(SCENARIOS))).ok());
    match inside.map(|inside| inside.components().next()) {
        Some(Some(folder)) => format!("{}/", folder.as_os_str().to_string_lossy()),
        Some(None) => String::new(),
        None => typed,
    }
}

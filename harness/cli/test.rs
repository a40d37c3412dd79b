use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::error::Result;
use crate::files::run_folder;
use crate::report::{ReportForm, RunData, Runs, terminal};
use crate::run::action::{Action, Wanted, to_test};

/// Run the scenarios: replay, capture, compare
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  retake test\n  retake test write_ --update\n  retake test --report html --report junit\n  retake test -- --list\n\n\
    What follows `--` goes to the runner as it is: --exact, --skip, --test-threads, --format."
)]
pub(super) struct Test {
    /// Only scenarios whose name contains this
    filter: Option<String>,
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
        let args: Vec<String> = self.filter.into_iter().chain(self.runner).collect();
        let begun = Runs::now();
        let code = if handover::has_runner(&root) {
            let update = self.update.then_some(("UPDATE_GOLDEN", "1"));
            handover::run(&root, &args, [to_test()].into_iter().chain(update))?
        } else {
            let code = super::suite(root.clone(), self.update).run(Ok(Action::Test(Wanted::of_scenarios(args))));
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

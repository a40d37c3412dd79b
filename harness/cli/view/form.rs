//! The forms of a report of several runs.

use clap::ValueEnum;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use super::page::page;
use retake::__private::report::{CheckResult, RunData, RunResult, markdown};
use retake_base::error::{Error, Result};
use retake_base::line::texts;
use retake_base::text::visible;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// An HTML page: one file that needs no network
    Html,
    /// JUnit XML, for CI systems
    Junit,
    /// A summary in Markdown, for GitHub and GitLab
    Markdown,
}

/// The report of these runs as text.
/// Fails if it cannot be rendered.
pub(crate) fn report(runs: &[RunData], form: ReportForm) -> Result<String> {
    match form {
        ReportForm::Html => page(runs),
        ReportForm::Junit => junit(runs),
        ReportForm::Markdown => Ok(markdown(runs)),
    }
}

fn junit(runs: &[RunData]) -> Result<String> {
    let mut suite = TestSuite::new("scenarios");
    for run in runs {
        let mut status = TestCaseStatus::success();
        if let (RunResult::Failed, Some(failure)) = (run.result, &run.failure) {
            // What could not be checked is an error, which is no failure of the system.
            let unchecked = run.check.as_ref().is_some_and(|check| check.result() == CheckResult::Unchecked);
            let kind = if unchecked { NonSuccessKind::Error } else { NonSuccessKind::Failure };
            status = TestCaseStatus::non_success(kind);
            let advice = failure.advice.iter().map(|advice| format!("{}:\n    {}", advice.case, advice.command));
            let parts: Vec<String> =
                failure.evidence.iter().map(|it| texts(&it.lines()).join("\n")).chain(advice).collect();
            status.set_message(visible(&failure.headline)).set_description(visible(&parts.join("\n\n")));
            if let Some(cause) = failure.causes.first() {
                status.set_type(cause.kind.to_string());
            }
        }
        if run.result == RunResult::Skipped {
            status = TestCaseStatus::skipped();
            status.set_message(visible(&run.notes.join("; ")));
        }
        for failure in run.flaky.iter().flat_map(|flaky| &flaky.failures) {
            let mut rerun = TestRerun::new(NonSuccessKind::Failure);
            rerun.set_message(visible(failure));
            status.add_rerun(rerun);
        }
        let mut case = TestCase::new(run.scenario.as_str(), status);
        let took = std::time::Duration::try_from_secs_f64(run.took_ms.max(0.0) / 1000.0);
        case.set_classname("scenarios").set_time(took.unwrap_or_default());
        case.extra.insert("file".into(), run.file.display().to_string().into());
        if !run.notes.is_empty() {
            case.set_system_out(visible(&run.notes.join("\n")));
        }
        suite.add_test_case(case);
    }
    let mut report = Report::new("retake");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| Error::new(format!("the report cannot be written as JUnit: {error}")))
}

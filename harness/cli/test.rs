use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::handover;
use crate::view::ReportForm;
use retake::__private::report::{RunData, RunResult, Runs, terminal};
pub(super) use retake::__private::run::fits;
use retake::__private::run::{Action, Shard, TestOptions, Wanted};
use retake_base::error::{Error, Result};
use retake_base::files::run_folder;
use retake_scenario::SCENARIOS;

/// Run the scenarios: replay, capture, compare
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake test\n  retake test write_ two_callers --update\n  \
    retake test scenarios/write_read_file\n  retake test --last-failed --fail-fast\n  retake test --tag slow\n  \
    retake test --watch\n  retake test --shard 2/5 --report junit\n  retake test --report html --report junit\n  \
    retake test -- --list\n\n\
    Arguments after `--` go to the runner unchanged, for example --exact, --skip, --test-threads and --format.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Test {
    /// Run only scenarios whose name contains one of these texts, or whose folder is one of these paths
    filter: Vec<String>,
    /// Rewrite the goldens, after two replays that agree
    #[arg(long)]
    update: bool,
    /// Run only the scenarios whose last run failed, according to .retake/runs; all of them if none failed
    #[arg(long)]
    last_failed: bool,
    /// After the first failure, start no further scenario; those that are left are reported as ignored
    #[arg(long)]
    fail_fast: bool,
    /// Run only scenarios with this tag, or with one of several; `!slow` leaves those with the tag `slow` out
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Run one part of the scenarios, for several CI jobs: 2/5 is the second of five parts that take about as long as each other
    #[arg(long, value_name = "N/OF")]
    shard: Option<Shard>,
    /// Run again what a saved scenario, golden, fixture or service file concerns, those that failed first, until `q` is pressed
    #[arg(long, conflicts_with_all = ["update", "last_failed", "shard", "report"])]
    watch: bool,
    /// After a failure, do not offer on the terminal to do what it advises
    #[arg(long)]
    no_offer: bool,
    /// How many scenarios run at the same time, like libtest's --test-threads [default: the number of cores]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Write a report of this run: html to .retake/report.html, junit to .retake/junit.xml, markdown to .retake/report.md
    #[arg(long, value_enum, value_name = "FORM")]
    report: Vec<ReportForm>,
    /// Arguments that are passed to the runner
    #[arg(last = true)]
    runner: Vec<String>,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        if self.watch {
            if !super::project::is_interactive() {
                let error = Error::new("`--watch` waits for keys, and there is no terminal for them here");
                return Err(error.help("to run the scenarios once: retake test"));
            }
            return self.watch(&root);
        }
        let filters: Vec<String> = self.filter.into_iter().map(|typed| filter_of(&root, typed)).collect();
        let jobs = self.jobs.map(|jobs| format!("--test-threads={jobs}"));
        let args: Vec<String> = self.runner.into_iter().chain(jobs).collect();
        let failed = if self.last_failed { failed_last(&root, &filters, &args)? } else { Vec::new() };
        // libtest accepts a single part of a name itself, and then counts the scenarios that it filters out.
        let (filters, args) = match (&filters[..], &failed[..]) {
            (_, [_, ..]) => (failed, [args, vec!["--exact".to_owned()]].concat()),
            ([one], []) if !one.ends_with('/') => (Vec::new(), [filters, args].concat()),
            _ => (filters, args),
        };
        let begun = Runs::now();
        let options =
            TestOptions { fail_fast: self.fail_fast, tags: self.tag, shard: self.shard }.or_of_environment()?;
        let action = Action::Test(Wanted::of_scenarios(filters, args.clone()).with(options));
        let code = if handover::has_runner(&root) {
            let mut command = handover::command(&root, &action);
            command.args(args).envs(self.update.then_some(("UPDATE_GOLDEN", "1")));
            handover::run(command)?
        } else {
            let code = handover::suite(root.clone(), self.update).run(Ok(action));
            // libtest exits with 101 if a test failed.
            if code == ExitCode::from(101) { ExitCode::from(1) } else { code }
        };
        let ran: Vec<RunData> = Runs::of(&root).since(&begun);
        for form in self.report {
            let file = match form {
                ReportForm::Html => "report.html",
                ReportForm::Junit => "junit.xml",
                ReportForm::Markdown => "report.md",
            };
            let file = run_folder(&root, file)?;
            super::report::write(&root, &ran, form, Some(file.clone()))?;
            terminal::note(format!("report: {}", file.display()));
        }
        if code == ExitCode::FAILURE && !self.no_offer && super::project::is_interactive() {
            super::offer::offer(&root, &ran)?;
        }
        Ok(code)
    }

    #[cfg(unix)]
    fn watch(self, root: &Path) -> Result<ExitCode> {
        let filters: Vec<String> = self.filter.into_iter().map(|typed| filter_of(root, typed)).collect();
        let jobs = self.jobs.map(|jobs| format!("--jobs={jobs}"));
        let tags = self.tag.into_iter().map(|tag| format!("--tag={tag}"));
        let options: Vec<String> = tags.chain(jobs).chain(self.fail_fast.then(|| "--fail-fast".to_owned())).collect();
        super::watch::watch(root, &filters, &options, &self.runner)
    }

    #[cfg(not(unix))]
    fn watch(self, _: &Path) -> Result<ExitCode> {
        Err(Error::new("`--watch` reads single keys, which it can only do on Linux and macOS"))
    }
}

/// The scenarios that match a filter and whose last run failed. If the list is empty, this prints that all of them run.
fn failed_last(root: &Path, filters: &[String], args: &[String]) -> Result<Vec<String>> {
    let wanted = Wanted::of_scenarios(filters.to_vec(), args.to_vec());
    let runs = Runs::of(root).all()?.into_iter().filter(|run| run.result == RunResult::Failed);
    let failed: Vec<String> = runs.map(|run| run.scenario).filter(|name| wanted.wants(name)).collect();
    if failed.is_empty() {
        terminal::note("no scenario failed in its last run, so all of them run");
    }
    Ok(failed)
}

/// Turns a typed filter into the runner's form. A path to a scenario's folder becomes `hello/`, a path to `scenarios/` itself
/// becomes the empty text, which matches all; anything else is a part of a name and stays as it is.
pub(super) fn filter_of(root: &Path, typed: String) -> String {
    let resolved = |path: PathBuf| path.canonicalize().or_else(|_| std::path::absolute(&path)).unwrap_or(path);
    let is_path = typed.contains('/') || typed == ".";
    let path = is_path.then(|| resolved(PathBuf::from(&typed)));
    let inside = path.as_deref().and_then(|path| path.strip_prefix(resolved(root.join(SCENARIOS))).ok());
    match inside.map(|inside| inside.components().next()) {
        Some(Some(folder)) => format!("{}/", folder.as_os_str().to_string_lossy()),
        Some(None) => String::new(),
        None => typed,
    }
}

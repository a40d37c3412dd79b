//! The data of a run is written when it ends, however it ends.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tokio::time::Instant;

use super::project::Project;
use super::told::{asked_data, call_data, golden_data, of_run, step_data, turn_data};
use super::trial::Replayed;
use super::verdict::has_golden;
use crate::error::Result;
use crate::files;
use crate::report::{Failure, RunAction, RunData, Runs, markdown, terminal};
use crate::scenario::Scenario;
use crate::secrets::shown;
use crate::system::LogOf;

/// Where what the systems of a scenario printed is kept, from the project's folder.
fn log_file(scenario: &str) -> PathBuf {
    Path::new(files::RUN_FOLDER).join("logs").join(format!("{scenario}.log"))
}

impl Project {
    /// Takes note of what a replay showed. The last one of a run is told.
    pub(super) fn note_replay(&self, scenario: &Scenario, replayed: &Replayed) {
        let (fixture, began) = (replayed.fixture.as_deref(), replayed.played.began);
        let turn = |index: usize| fixture.and_then(|fixture| turn_data(fixture, index));
        let mut calls = replayed.calls.clone();
        calls.sort_by_key(|call| call.came);
        let went_well = replayed.played.driven.failure.is_none();
        let golden = went_well.then(|| replayed.own_golden(scenario).cloned()).flatten();
        self.runs.with(&scenario.name, |seen| {
            seen.steps = replayed.played.steps.iter().map(|step| step_data(step, began)).collect();
            seen.calls = calls.iter().map(|call| call_data(call, began, turn)).collect();
            seen.tool_requests = replayed.played.tools.requests.iter().map(|asked| asked_data(asked, began)).collect();
            seen.unused = replayed.unused.iter().filter_map(|index| turn(*index)).collect();
            seen.golden = golden;
        });
    }

    /// Keeps what the systems of a scenario printed, in place of what they printed in its last run. Gives the file, from the
    /// project's folder; none where they printed nothing, or it cannot be written.
    pub(super) fn keep_logs(&self, scenario: &str, logs: &[LogOf]) -> Option<PathBuf> {
        let printed: Vec<&LogOf> = logs.iter().filter(|log| !log.whole.trim().is_empty()).collect();
        let text: String = match &printed[..] {
            [] => return None,
            [one] => one.whole.clone(),
            several => {
                let each = |log: &&LogOf| ["==> ", &log.system, " <==\n", &log.whole, "\n"].concat();
                several.iter().map(each).collect::<Vec<_>>().concat()
            }
        };
        let file = log_file(scenario);
        let whole = self.root.join(&file);
        files::run_folder(&self.root).ok()?;
        std::fs::create_dir_all(whole.parent()?).ok()?;
        files::replace(&whole, shown(&text).as_bytes()).ok()?;
        self.note_log(scenario, &file);
        Some(file)
    }

    /// Takes note of a file that tells more of a scenario's run.
    pub(super) fn note_log(&self, scenario: &str, file: &Path) {
        let file = file.strip_prefix(&self.root).unwrap_or(file).to_owned();
        self.runs.with(scenario, |seen| seen.logs.push(file));
    }

    /// Does something with a scenario, and writes the data of that run. Where that cannot be written, the run is what it is.
    ///
    /// # Errors
    /// What it fails by.
    pub(super) fn logged<T>(
        &self,
        scenario: &Scenario,
        action: RunAction,
        run: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.runs.runs.forget(&scenario.name);
        let _ = files::remove(&self.root.join(log_file(&scenario.name)));
        let (began, started) = (Instant::now(), Runs::now());
        let golden = has_golden(scenario).then(|| self.goldens.file(&scenario.golden_name));
        let before = golden.as_deref().and_then(|file| self.goldens.committed(file).ok().flatten());
        let result = run();
        let seen = self.runs.with(&scenario.name, std::mem::take);
        let shown = |file: PathBuf| file.strip_prefix(&self.root).map_or_else(|_| file.clone(), Path::to_owned);
        let golden = golden.map(|file| golden_data(shown(file), before, seen.golden));
        self.runs.end(&RunData {
            description: Some(scenario.description.clone()).filter(|text| !text.is_empty()),
            fixture: self.fixtures.file(scenario).map(shown),
            notes: self.noted(&scenario.name),
            steps: seen.steps,
            calls: seen.calls,
            tool_requests: seen.tool_requests,
            unused: seen.unused,
            golden,
            logs: seen.logs,
            ..of_run(&scenario.name, shown(scenario.file.clone()), action, result.as_ref().err(), began, started)
        });
        result
    }

    /// Checks something of the project that is not a scenario's run, and writes that as a run's data.
    ///
    /// # Errors
    /// What it fails by.
    pub(super) fn logged_check(
        &self,
        name: &str,
        file: &Path,
        check: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (began, started) = (Instant::now(), Runs::now());
        let result = check();
        let file = file.strip_prefix(&self.root).unwrap_or(file).to_owned();
        self.runs.end(&of_run(name, file, RunAction::Test, result.as_ref().err(), began, started));
        result
    }

    /// Says in GitHub's summary of the job what came of the scenarios that ran, where there is such a summary.
    pub(super) fn summarize(&self, ran: impl Fn(&str) -> bool) {
        let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) else { return };
        let runs = self.runs.runs.all().unwrap_or_default();
        let runs: Vec<RunData> = runs.into_iter().filter(|run| ran(&run.scenario)).collect();
        let summary = shown(&markdown(&runs)) + "\n";
        let append = || std::fs::OpenOptions::new().append(true).create(true).open(file)?.write_all(summary.as_bytes());
        if let (false, Err(error)) = (runs.is_empty(), append()) {
            terminal::note(format!("warning: GITHUB_STEP_SUMMARY cannot be written: {error}"));
        }
    }

    /// Forgets the runs of what is no trial any more.
    pub(super) fn keep_runs_of(&self, is_trial: impl Fn(&str) -> bool) {
        self.runs.runs.keep_only(is_trial);
    }
}

//! Writes the data of each run to `.retake/` when it ends, whether it passed or failed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::time::Instant;

use super::data::{asked_data, call_data, golden_data, of_run, step_data, turn_data};
use super::project::Project;

use super::trial::Replayed;
use super::verdict::has_golden;
use crate::report::{CallData, CheckData, Failure, FlakyData, RunAction, RunData, RunResult, Runs, markdown, terminal};
use crate::system::LogOf;
use retake_base::error::Result;
use retake_base::files;
use retake_core::secrets::shown;
use retake_model::{CallOutcome, CallSeen, Miss};
use retake_scenario::Scenario;

/// The file for the output of a scenario's systems, relative to the project's folder.
fn log_file(scenario: &str) -> PathBuf {
    Path::new(files::RUN_FOLDER).join("logs").join(format!("{scenario}.log"))
}

impl Project {
    /// Remembers the data of a replay. If a run has several, the last one counts.
    pub(super) fn note_replay(&self, scenario: &Scenario, replayed: &Replayed) {
        let (fixture, began) = (replayed.fixture.as_deref(), replayed.played.began);
        let turn = |index: usize| fixture.and_then(|fixture| turn_data(fixture, index));
        self.note_calls(scenario, &replayed.log.calls, replayed);
        let went_well = replayed.played.driven.failure.is_none();
        let golden = went_well.then(|| replayed.own_golden(scenario).cloned()).flatten();
        self.runs.with(&scenario.name, |seen| {
            seen.steps = replayed.played.steps.iter().map(|step| step_data(step, began)).collect();
            seen.tool_requests = replayed.played.tools.requests.iter().map(|asked| asked_data(asked, began)).collect();
            seen.unused = replayed.log.unused.iter().filter_map(|index| turn(*index)).collect();
            seen.unused_exchanges.clone_from(&replayed.played.tools.unused_at);
            seen.golden = golden;
        });
    }

    /// Remembers the calls again, with the final explanation of each miss.
    pub(super) fn note_misses(&self, scenario: &Scenario, replayed: &Replayed, explained: impl Fn(&Miss) -> Miss) {
        let mut calls = replayed.log.calls.clone();
        for call in &mut calls {
            if let CallOutcome::Missed(miss) = &call.outcome {
                call.outcome = CallOutcome::Missed(Arc::new(explained(miss)));
            }
        }
        self.note_calls(scenario, &calls, replayed);
    }

    fn note_calls(&self, scenario: &Scenario, calls: &[CallSeen], replayed: &Replayed) {
        let (fixture, began) = (replayed.fixture.as_deref(), replayed.played.began);
        let turn = |index: usize| fixture.and_then(|fixture| turn_data(fixture, index));
        let mut calls: Vec<&CallSeen> = calls.iter().collect();
        calls.sort_by_key(|call| call.came);
        self.runs.with(&scenario.name, |seen| {
            let data = calls.iter().map(|call| call_data(call, began, turn)).zip(1..);
            seen.calls = data.map(|(call, number)| CallData { number, ..call }).collect();
        });
    }

    /// Remembers that a scenario was green only after these failures, if there were any, and says so.
    pub(super) fn note_flaky(&self, scenario: &str, failures: Vec<String>) {
        let Some(first) = failures.first() else { return };
        let flaky = format!("flaky: green only at try {}; before that: {first}", failures.len() + 1);
        self.note(scenario, [vec![flaky], self.noted(scenario)].concat());
        self.runs.with(scenario, |seen| seen.flaky = Some(FlakyData { tries: failures.len() + 1, failures }));
    }

    /// Writes the output of a scenario's systems over that of its previous run. Returns the file, relative to the project's
    /// folder; `None` if there was no output, or it cannot be written.
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

    /// Remembers what a check against the provider found.
    pub(super) fn note_check(&self, scenario: &Scenario, check: &CheckData) {
        self.runs.with(&scenario.name, |seen| seen.check = Some(check.clone()));
    }

    /// Remembers a log file of a scenario's run.
    pub(super) fn note_log(&self, scenario: &str, file: &Path) {
        let file = file.strip_prefix(&self.root).unwrap_or(file).to_owned();
        self.runs.with(scenario, |seen| seen.logs.push(file));
    }

    /// Calls `run` for a scenario, and writes the data of that run. The result does not depend on whether the data can be
    /// written.
    /// The failure that `run` returned.
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
            unused_exchanges: seen.unused_exchanges,
            golden,
            check: seen.check,
            logs: seen.logs,
            flaky: seen.flaky,
            shard: self.shard.get().map(ToString::to_string),
            ..of_run(&scenario.name, shown(scenario.file.clone()), action, result.as_ref().err(), began, started)
        });
        result
    }

    /// Writes that a scenario was not run, over the data of its previous run: reports would show that as if it were of today.
    pub(super) fn skipped(&self, name: &str) {
        let Some(scenario) = self.discovered.sound().find(|scenario| scenario.name == name) else { return };
        let file = scenario.file.strip_prefix(&self.root).unwrap_or(&scenario.file).to_owned();
        self.runs.end(&RunData {
            result: RunResult::Skipped,
            description: Some(scenario.description.clone()).filter(|text| !text.is_empty()),
            notes: self.noted(name),
            shard: self.shard.get().map(ToString::to_string),
            ..RunData::passed(name, file, RunAction::Test, Runs::now())
        });
    }

    /// Calls a check of the project that is not a scenario's run, and writes its result like the data of a run.
    /// The failure that `check` returned.
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

    /// Appends a report of the scenarios that ran to GitHub's job summary, if `GITHUB_STEP_SUMMARY` names one.
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

    /// Deletes the data of runs whose trial no longer exists.
    pub(super) fn keep_runs_of(&self, is_trial: impl Fn(&str) -> bool) {
        self.runs.runs.keep_only(is_trial);
    }
}

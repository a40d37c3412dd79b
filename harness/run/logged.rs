//! Writes the data of each run to `.retake/` when it ends, whether it passed or failed.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::data::{asked_data, call_data, golden_data, turn_data};
use super::project::Project;
use super::trial::Replayed;
use super::verdict::has_golden;
use crate::report::note_lines;
use crate::report::{Failure, FlakyData, GoldenData, RunAction, RunData, RunResult, Runs, markdown, terminal};
use retake_base::error::Result;
use retake_base::files;
use retake_core::secrets::shown;
use retake_engine::system::LogOf;
use retake_model::{CallSeen, Miss};
use retake_scenario::Scenario;

/// The file for the output of a scenario's systems, relative to the project's folder.
fn log_file(scenario: &str) -> PathBuf {
    Path::new(files::RUN_FOLDER).join("logs").join(format!("{scenario}.log"))
}

impl Project {
    /// Remembers the data of a replay. If a run has several, the last one counts.
    pub(super) fn note_replay(&self, scenario: &Scenario, replayed: &Replayed) {
        let began = replayed.played.began;
        let turn = |index: &usize| turn_data(replayed.fixture.as_deref()?, *index);
        let went_well = replayed.played.driven.failure.is_none();
        // A golden of an older format is shown in what it holds, one of another day by its day.
        let own = replayed.own_golden(scenario);
        let older = if went_well { replayed.older_sides(self, scenario, own) } else { None };
        let run = older.as_ref().map(|older| &older.is).or(own);
        let run = run.filter(|_| went_well).map(ToString::to_string);
        let known = replayed.committed.as_ref().map(|known| &known.golden);
        let of_file = || known.map(|of| run.clone().filter(|_| Some(of) == own).unwrap_or_else(|| of.to_string()));
        let committed = older.as_ref().map(|older| older.was.to_string()).or_else(of_file);
        self.runs.with(&scenario.name, |data| {
            data.steps.clone_from(&replayed.played.steps);
            data.tool_requests = replayed.played.tools.requests.iter().map(|asked| asked_data(asked, began)).collect();
            data.unused = replayed.log.unused.iter().filter_map(turn).collect();
            data.unused_exchanges.clone_from(&replayed.played.tools.unused_at);
            data.egress.clone_from(&replayed.played.egress);
            data.golden = Some(GoldenData { committed, run, ..GoldenData::default() });
        });
        self.note_calls(scenario, replayed, Miss::clone);
    }

    /// Remembers the calls of a replay. `explained` returns each miss with its explanation.
    pub(super) fn note_calls(&self, scenario: &Scenario, replayed: &Replayed, explained: impl Fn(&Miss) -> Miss) {
        let turn = |index: usize| turn_data(replayed.fixture.as_deref()?, index);
        let mut calls: Vec<&CallSeen> = replayed.log.calls.iter().collect();
        calls.sort_by_key(|call| call.came);
        let calls = calls.into_iter().zip(1..);
        let calls = calls.map(|(call, number)| call_data(number, call, replayed.played.began, turn, &explained));
        self.runs.with(&scenario.name, |data| data.calls = calls.collect());
    }

    /// Remembers that a scenario was green only after these failures, if there were any, and says so.
    pub(super) fn note_flaky(&self, scenario: &str, failures: Vec<String>) {
        let Some(first) = failures.first() else { return };
        let flaky = format!("flaky: green only at try {}; before that: {first}", failures.len() + 1);
        self.note(scenario, [vec![flaky.into()], self.noted(scenario)].concat());
        self.runs.with(scenario, |data| data.flaky = Some(FlakyData { tries: failures.len() + 1, failures }));
    }

    /// Writes the output of a scenario's systems over that of its previous run. Returns the file, relative to the project's
    /// folder; `None` if there was no output, or it cannot be written.
    pub(super) fn keep_logs(&self, scenario: &str, logs: &[LogOf]) -> Option<PathBuf> {
        let printed: Vec<&LogOf> = logs.iter().filter(|log| !log.whole.trim().is_empty()).collect();
        let text: String = match &printed[..] {
            [] => return None,
            [one] => one.whole.clone(),
            several => several.iter().map(|log| ["==> ", &log.system, " <==\n", &log.whole, "\n"].concat()).collect(),
        };
        let (file, folder) = (log_file(scenario), files::run_folder(&self.root, "logs").ok()?);
        files::replace(&folder.join(file.file_name()?), shown(&text).as_bytes()).ok()?;
        self.note_log(scenario, &file);
        Some(file)
    }

    /// Remembers a log file of a scenario's run.
    pub(super) fn note_log(&self, scenario: &str, file: &Path) {
        self.runs.with(scenario, |data| data.logs.push(self.shown(file)));
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
        let _ = files::remove(&self.root.join(log_file(&scenario.name)));
        self.runs.begin(&scenario.name, self.shown(&scenario.file), action);
        let golden = has_golden(scenario).then(|| self.goldens.file(&scenario.golden_name));
        let committed = || self.goldens.whole_text(&scenario.golden_name).filter(|_| golden.is_some());
        // The run may write another one.
        let before = (action != RunAction::Test).then(committed);
        let result = run();
        self.runs.with(&scenario.name, |data| {
            self.describe(scenario, data);
            data.fixture = self.fixtures.file(scenario).map(|file| self.shown(&file));
            let noted = data.golden.take().unwrap_or_default();
            let was = noted.committed.or_else(|| before.unwrap_or_else(committed));
            data.golden = golden.as_ref().map(|file| golden_data(self.shown(file), was, noted.run));
        });
        self.runs.end(&scenario.name, result.as_ref().err());
        result
    }

    /// Adds what is known of a scenario before it runs, and its notes.
    fn describe(&self, scenario: &Scenario, data: &mut RunData) {
        data.description = Some(scenario.description.clone()).filter(|text| !text.is_empty());
        data.notes = note_lines(&self.noted(&scenario.name));
        data.shard = self.shard.get().map(ToString::to_string);
    }

    /// A file as reports name it: relative to the project's folder.
    pub(super) fn shown(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&self.root).unwrap_or(file).to_owned()
    }

    /// Writes that a scenario was not run, over the data of its previous run: reports would show that as if it were of today.
    pub(super) fn skipped(&self, name: &str) {
        let Some(scenario) = self.discovered.sound().find(|scenario| scenario.name == name) else { return };
        let mut data = RunData::passed(name, self.shown(&scenario.file), RunAction::Test, Runs::now());
        self.describe(scenario, &mut data);
        self.runs.write(&RunData { result: RunResult::Skipped, ..data });
    }

    /// Calls a check of the project that is not a scenario's run, and writes its result like the data of a run.
    /// The failure that `check` returned.
    pub(super) fn logged_check(
        &self,
        name: &str,
        file: &Path,
        check: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.runs.begin(name, self.shown(file), RunAction::Test);
        let result = check();
        self.runs.end(name, result.as_ref().err());
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
}

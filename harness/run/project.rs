//! A project under test: its folders, its suite, and the state that all its scenarios share.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::time::Instant;

use super::commands::Commands;
use super::declared_secrets;
use super::filter::Names;
use super::fixtures::Fixtures;
use super::golden::Goldens;
use super::interrupt::Interrupt;
use super::shard::{Shard, Times};
use super::slots::Slots;
use crate::project::OpenProject;
use crate::report::{
    Failed, Failure, Note, RunAction, RunData, RunResult, Running, Runs, annotation, lines_of_run, terminal,
};
use retake_base::error::Result;
use retake_base::files;
use retake_base::lock::Mutex;
use retake_base::text::counted;
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_engine::drive::milliseconds;
use retake_engine::system::{RouterFactory, SharedSystems, Systems};
use retake_model::InVain;
use retake_scenario::{Discovered, discover, discover_some};

/// Everything that the trials of one run share.
pub(crate) struct Project {
    pub root: PathBuf,
    pub discovered: Discovered,
    pub rules: Arc<Rules>,
    /// The settings for answering and recording model calls.
    pub open: OpenProject,
    /// What must not be written, unless the value of a declared variable is too short to be searched for.
    pub(super) scrub: Result<Scrub>,
    /// What is removed from goldens.
    pub(super) golden_scrub: Arc<Scrub>,
    pub goldens: Goldens,
    pub commands: Commands,
    pub fixtures: Fixtures,
    pub systems: Systems,
    pub(super) slots: Slots,
    /// Whether a part of an answer was awaited in vain in any scenario.
    pub(super) in_vain: InVain,
    /// The scenarios that are running now.
    pub(super) running: Running,
    /// The part of the scenarios that this job runs, if there are several jobs.
    pub(super) shard: OnceLock<Shard>,
    pub(super) failed: AtomicBool,
    /// The number of goldens of an older format with which runs agree.
    pub(super) holding_less: AtomicUsize,
    /// Whether replays keep the text of calls, for an audit.
    pub hears_calls: bool,
    /// Whether replays keep their calls, to ask the provider the same.
    pub keeps_calls: bool,
    /// Whether the user has asked a recording to end.
    pub(super) interrupt: Interrupt,
    /// Notes for the user on each scenario's run, whether it passed or failed.
    notes: Mutex<BTreeMap<String, Vec<Note>>>,
    /// The data of each scenario's run.
    pub(super) runs: ProcessRuns,
}

impl Project {
    /// Reads the scenarios of a project, or just the folders of those with some names. `records` says whether this process records.
    /// Fails if there are no scenarios, or the suite is wrong. A scenario that is wrong is not an error here: its trial fails.
    pub(crate) fn open(
        root: &Path,
        routers: BTreeMap<String, RouterFactory>,
        goldens: Goldens,
        commands: Commands,
        only: Option<&Names>,
        records: bool,
    ) -> Result<Project> {
        // The folders that are written to.
        let written = ["fixtures/.journal", "goldens", ".retake/runs"];
        written.iter().try_for_each(|folder| files::inside(root, Path::new(folder)))?;
        let mut discovered = match only {
            None => discover(root)?,
            Some(names) => {
                discover_some(root, |folder, cases| names.may_be_in(folder, cases), |found| names.all_are_in(found))?
            }
        };
        let registered: Vec<&str> = routers.keys().map(String::as_str).collect();
        discovered.check_systems(&registered)?;
        let open = OpenProject::of_scenarios(&discovered);
        let rules = open.rules.clone();
        let scrub = open.secrets().map(|secrets| secrets.scrub().clone());
        let golden_scrub = Arc::new(declared_secrets::of_goldens(&open));
        let systems = Systems {
            still: Mutex::default(),
            root: root.to_owned(),
            suite: discovered.suite.systems.clone(),
            routers,
            rules: rules.clone(),
            callers: open.callers.clone(),
            secrets: declared_secrets::values(&open, records),
            egress: (discovered.suite.defaults.egress, discovered.suite.defaults.allow.clone()),
            shared: SharedSystems::default(),
        };
        let fixtures = Fixtures::new(root.to_owned(), rules.clone());
        Ok(Project {
            root: root.to_owned(),
            discovered,
            rules,
            open,
            scrub,
            golden_scrub,
            goldens,
            commands,
            fixtures,
            systems,
            slots: Slots::new(),
            in_vain: InVain::default(),
            running: Running::default(),
            shard: OnceLock::new(),
            failed: AtomicBool::new(false),
            holding_less: AtomicUsize::new(0),
            hears_calls: false,
            keeps_calls: false,
            interrupt: Interrupt::default(),
            notes: Mutex::default(),
            runs: ProcessRuns::of(root),
        })
    }

    /// Ends the browser and the systems that scenarios shared.
    pub(crate) fn end(&self) {
        #[cfg(feature = "browser")]
        retake_engine::browser::close();
        self.systems.end();
    }

    /// Sets the notes on a scenario's run.
    pub(crate) fn note(&self, scenario: &str, notes: impl IntoIterator<Item = impl Into<Note>>) {
        let notes = notes.into_iter().map(Into::into).collect();
        self.notes.lock().insert(scenario.to_owned(), notes);
    }

    /// The notes on a scenario's run.
    pub(super) fn noted(&self, scenario: &str) -> Vec<Note> {
        self.notes.lock().get(scenario).cloned().unwrap_or_default()
    }

    /// Prints the notes of all scenarios to standard error: standard output belongs to libtest.
    pub(crate) fn print_notes(&self) {
        for line in lines_of_run(&self.notes.lock()) {
            terminal::note(format!("note: {line}"));
        }
        let less @ 1.. = self.holding_less.load(Ordering::Relaxed) else { return };
        let hold = if less == 1 { "holds less than it" } else { "hold less than they" };
        terminal::note(format!("{} {hold} could: {}", counted(less, "golden"), self.commands.update_all()));
    }
}

/// The data of the runs of this process.
#[derive(Debug)]
pub(super) struct ProcessRuns {
    pub(super) runs: Runs,
    /// The runs that have not ended, each with the time at which it began.
    under_way: Mutex<HashMap<String, (Instant, RunData)>>,
    /// How long the scenarios took that ran in this process.
    pub(super) times: Mutex<Times>,
    pub(super) failed: Mutex<Failed>,
}

impl ProcessRuns {
    /// An empty log for the project in a folder.
    pub(super) fn of(root: &Path) -> ProcessRuns {
        let (under_way, times, failed) = (Mutex::default(), Mutex::default(), Mutex::default());
        ProcessRuns { runs: Runs::of(root), under_way, times, failed }
    }

    /// Begins a run: what is known of its predecessor is forgotten.
    pub(super) fn begin(&self, name: &str, file: PathBuf, action: RunAction) {
        self.runs.forget(name);
        let data = RunData::passed(name, file, action, Runs::now());
        self.under_way.lock().insert(name.to_owned(), (Instant::now(), data));
    }

    /// Calls `change` with the data of a run.
    pub(super) fn with<T>(&self, name: &str, change: impl FnOnce(&mut RunData) -> T) -> T {
        let mut under_way = self.under_way.lock();
        change(&mut under_way.entry(name.to_owned()).or_insert_with(|| (Instant::now(), RunData::default())).1)
    }

    /// Ends a run, and writes its data.
    pub(super) fn end(&self, name: &str, failure: Option<&Failure>) {
        let Some((began, data)) = self.under_way.lock().remove(name) else { return };
        let result = if failure.is_some() { RunResult::Failed } else { RunResult::Passed };
        let took_ms = milliseconds(began.elapsed());
        let run = RunData { result, took_ms, failure: failure.map(Failure::data), ..data };
        self.failed.lock().add(&run);
        self.write(&run);
    }

    /// Writes the data of a run. On GitHub Actions, also prints an annotation for a failure. Errors while writing are ignored:
    /// they do not change the run's result.
    pub(super) fn write(&self, run: &RunData) {
        let _ = self.runs.write(run);
        if run.result != RunResult::Skipped {
            self.times.lock().insert(run.scenario.clone(), run.took_ms);
        }
        let on_github = std::env::var("GITHUB_ACTIONS").is_ok_and(|says| says == "true");
        let Some(annotation) = annotation(run).filter(|_| on_github) else { return };
        terminal::command(annotation);
    }
}

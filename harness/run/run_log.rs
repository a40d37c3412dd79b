//! The data of the runs of this process, kept in memory until each run is written.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::report::{
    CallData, CheckData, FlakyData, RunData, Runs, StepData, ToolRequestData, TurnData, annotation, terminal,
};
use retake_base::lock::Mutex;

/// The data of the runs of this process.
#[derive(Debug)]
pub(super) struct RunLog {
    pub(super) runs: Runs,
    seen: Mutex<HashMap<String, Seen>>,
}

/// The data of a scenario's last replay.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) steps: Vec<StepData>,
    pub(super) calls: Vec<CallData>,
    pub(super) tool_requests: Vec<ToolRequestData>,
    pub(super) unused: Vec<TurnData>,
    pub(super) unused_exchanges: Vec<(String, usize)>,
    pub(super) golden: Option<String>,
    pub(super) check: Option<CheckData>,
    pub(super) logs: Vec<PathBuf>,
    pub(super) flaky: Option<FlakyData>,
}

impl RunLog {
    /// An empty log for the project in a folder.
    pub(super) fn of(root: &Path) -> RunLog {
        RunLog { runs: Runs::of(root), seen: Mutex::default() }
    }

    /// Writes the data of a run that has ended. On GitHub Actions, also prints an annotation for a failure. Errors while writing
    /// are ignored: they do not change the run's result.
    pub(super) fn end(&self, run: &RunData) {
        let _ = self.runs.write(run);
        let on_github = std::env::var("GITHUB_ACTIONS").is_ok_and(|says| says == "true");
        if let Some(annotation) = annotation(run).filter(|_| on_github) {
            terminal::note(annotation);
        }
    }

    /// Calls `change` with the data of a scenario's run.
    pub(super) fn with<T>(&self, scenario: &str, change: impl FnOnce(&mut Seen) -> T) -> T {
        let mut seen = self.seen.lock();
        change(seen.entry(scenario.to_owned()).or_default())
    }
}

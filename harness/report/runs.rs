//! The folder of run data: a file a scenario, of its last run. Processes that run at the same time write each their own.

use std::path::{Path, PathBuf};

use time::OffsetDateTime;

use super::run_data::{FORMAT, RunData};
use crate::error::{Error, Result};
use crate::files::{self, RUN_FOLDER};
use crate::json::{Json, Layout};
use crate::secrets::shown_json;

/// The run data of a project.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    root: PathBuf,
}

impl Runs {
    /// The run data of the project in a folder.
    pub(crate) fn of(root: &Path) -> Runs {
        Runs { root: root.to_owned() }
    }

    /// The time of day in UTC, as run data holds it: `2026-11-22T14:15:54.120Z`. Such times sort as texts.
    pub(crate) fn now() -> String {
        let now = OffsetDateTime::now_utc();
        let (hour, minute, second, milli) = now.time().as_hms_milli();
        format!("{}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z", now.date())
    }

    /// Forgets a scenario's last run: another one begins, and may be killed. Where nothing can be written, nothing is there.
    pub(crate) fn forget(&self, scenario: &str) {
        let _ = files::remove(&self.file(scenario));
    }

    /// Writes a run, without its secrets, in place of the last one of the same scenario.
    ///
    /// # Errors
    /// Where it cannot be written, such as in a checkout that is read only.
    pub(crate) fn write(&self, run: &RunData) -> Result<()> {
        let file = self.file(&run.scenario);
        let text = serde_json::to_string(run).map_err(|e| Error::new(e.to_string()).in_file(&file))?;
        let mut json = Json::parse(text.as_bytes()).map_err(|e| Error::new(e.message).in_file(&file))?;
        shown_json(&mut json);
        files::run_folder(&self.root)?;
        files::replace(&file, (json.print(Layout::Pretty) + "\n").as_bytes())
    }

    #[cfg(feature = "cli")]
    /// A scenario's last run; `None` where there is none.
    ///
    /// # Errors
    /// Where the file is no run data of this version.
    pub(crate) fn read(&self, scenario: &str) -> Result<Option<RunData>> {
        let file = self.file(scenario);
        if file.is_file() { read(&file).map(Some) } else { Ok(None) }
    }

    /// The last run of each scenario, by name.
    ///
    /// # Errors
    /// As [`Runs::read`].
    pub(crate) fn all(&self) -> Result<Vec<RunData>> {
        in_folder(&self.folder())
    }

    #[cfg(feature = "cli")]
    /// The runs that other jobs left in a folder: their `.retake`, its `runs`, or what holds one of these.
    ///
    /// # Errors
    /// Where there is none, or as [`Runs::read`].
    #[allow(dead_code, reason = "a report merges them soon")]
    pub(crate) fn of_other_jobs(folder: &Path) -> Result<Vec<RunData>> {
        let places = [folder.to_owned(), folder.join("runs"), folder.join(RUN_FOLDER).join("runs")];
        for place in places {
            let runs = in_folder(&place)?;
            if !runs.is_empty() {
                return Ok(runs);
            }
        }
        let error = Error::new("found no data of a run").in_file(folder);
        Err(error.help("expected what a run leaves in `.retake/runs`, a file a scenario"))
    }

    /// Removes the runs of scenarios that are no more.
    pub(crate) fn keep_only(&self, is_scenario: impl Fn(&str) -> bool) {
        for run in self.all().unwrap_or_default() {
            if !is_scenario(&run.scenario) {
                self.forget(&run.scenario);
            }
        }
    }

    fn folder(&self) -> PathBuf {
        self.root.join(RUN_FOLDER).join("runs")
    }

    fn file(&self, scenario: &str) -> PathBuf {
        // `retake::no_orphans` is a trial too, and no name of a file everywhere.
        self.folder().join(format!("{}.json", scenario.replace(':', "-")))
    }
}

fn in_folder(folder: &Path) -> Result<Vec<RunData>> {
    files::names(folder, ".json")?.iter().map(|name| read(&folder.join(format!("{name}.json")))).collect()
}

fn read(file: &Path) -> Result<RunData> {
    let bytes = files::read(file)?;
    let anew = |what: String| Error::new(what).in_file(file).help("run the scenario again: its data is written anew");
    let json = Json::parse(&bytes).map_err(|e| anew(format!("not JSON: {}", e.message)))?;
    match json.str_of("format") {
        Some(FORMAT) => serde_json::from_slice(&bytes).map_err(|e| anew(format!("no data of a run: {e}"))),
        Some(other) => Err(anew(format!("unknown version {other:?}, this version of Retake reads {FORMAT:?}"))),
        None => Err(anew("no data of a run: it has no `format`".to_owned())),
    }
}

#[cfg(test)]
mod tests;

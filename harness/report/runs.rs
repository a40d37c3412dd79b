//! The folder of run data, with one file for each scenario's last run. Several processes can write to it at the same time, since
//! each writes the files of its own scenarios.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;

use super::run_data::{FORMAT, OLD_FORMAT, RunData};
use retake_base::error::{Error, Result};
use retake_base::files::{self, RUN_FOLDER};
use retake_core::json::{Json, Layout};
use retake_core::secrets::shown_json;

/// The run data of a project.
#[derive(Clone, Debug)]
pub struct Runs {
    root: PathBuf,
}

impl Runs {
    /// The run data of the project in a folder.
    pub fn of(root: &Path) -> Runs {
        Runs { root: root.to_owned() }
    }

    /// The current time in UTC, in the form of run data: `2026-11-22T14:15:54.120Z`. Such texts sort by time.
    pub fn now() -> String {
        let now = OffsetDateTime::now_utc();
        let (hour, minute, second, milli) = now.time().as_hms_milli();
        format!("{}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z", now.date())
    }

    /// Deletes the data of a scenario's last run. This is done before a new run, which might be killed before it writes its own.
    /// Errors are ignored.
    pub fn forget(&self, scenario: &str) {
        let _ = files::remove(&self.file(scenario));
    }

    /// Writes a run, without secrets, over the previous run of the same scenario.
    ///
    /// # Errors
    /// If it cannot be written, for example because the project is read-only.
    pub fn write(&self, run: &RunData) -> Result<()> {
        let file = self.file(&run.scenario);
        let text = printed(run).map_err(|error| error.in_file(&file))?;
        files::run_folder(&self.root)?;
        files::replace(&file, (text + "\n").as_bytes())
    }

    /// A scenario's last run; `None` if there is none.
    ///
    /// # Errors
    /// If the file is not run data of this version.
    pub fn read(&self, scenario: &str) -> Result<Option<RunData>> {
        read(&self.file(scenario))
    }

    /// The last run of each scenario, sorted by name.
    ///
    /// # Errors
    /// As [`Runs::read`].
    pub fn all(&self) -> Result<Vec<RunData>> {
        in_folder(&self.folder())
    }

    /// The runs that began at this time or later, sorted by name. Other runs may have been left by an older version.
    pub fn since(&self, begun: &str) -> Vec<RunData> {
        let names = files::names(&self.folder(), ".json").unwrap_or_default();
        let runs = names.iter().filter_map(|name| read(&self.folder().join(format!("{name}.json"))).ok().flatten());
        runs.filter(|run| run.started.as_str() >= begun).collect()
    }

    /// The runs that another CI job left in a folder: its `.retake`, the `runs` in there, or a folder that contains `.retake`.
    ///
    /// # Errors
    /// If this is no folder of a job, or as [`Runs::read`].
    pub fn of_other_jobs(folder: &Path) -> Result<Vec<RunData>> {
        let places = [folder.to_owned(), folder.join("runs"), folder.join(RUN_FOLDER).join("runs")];
        for place in places {
            let runs = in_folder(&place)?;
            if !runs.is_empty() {
                return Ok(runs);
            }
        }
        // A job whose share of the scenarios was empty leaves nothing, or a folder without runs.
        let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten();
        let left = [RUN_FOLDER, "runs", "shard-times"];
        let of_retake = entries().any(|entry| left.iter().any(|name| entry.file_name() == *name));
        let named = ["runs", RUN_FOLDER].iter().any(|name| folder.ends_with(name));
        if folder.is_dir() && (named || of_retake || entries().next().is_none()) {
            return Ok(Vec::new());
        }
        let error = Error::new("found no run data").in_file(folder);
        Err(error.help("expected the files of `.retake/runs`, one for each scenario"))
    }

    /// Deletes the runs of scenarios that no longer exist.
    pub fn keep_only(&self, is_scenario: impl Fn(&str) -> bool) {
        // Each file by itself: one that an older version wrote does not keep the others.
        for name in files::names(&self.folder(), ".json").unwrap_or_default() {
            // Almost all files are called as their scenarios.
            if is_scenario(&name) {
                continue;
            }
            let run = read(&self.folder().join(format!("{name}.json")));
            if run.is_ok_and(|run| run.is_some_and(|run| !is_scenario(&run.scenario))) {
                let _ = files::remove(&self.folder().join(format!("{name}.json")));
            }
        }
    }

    fn folder(&self) -> PathBuf {
        self.root.join(RUN_FOLDER).join("runs")
    }

    fn file(&self, scenario: &str) -> PathBuf {
        // `retake::no_orphans` is not a valid file name on every system.
        self.folder().join(format!("{}.json", scenario.replace(':', "-")))
    }
}

/// A run as JSON, without secrets.
///
/// # Errors
/// If it cannot be expressed in JSON.
pub fn printed(run: &RunData) -> Result<String> {
    let text = serde_json::to_string(run).map_err(|e| Error::new(e.to_string()))?;
    let mut json = Json::parse(text.as_bytes()).map_err(|e| Error::new(e.message))?;
    shown_json(&mut json);
    Ok(json.print(Layout::Pretty))
}

fn in_folder(folder: &Path) -> Result<Vec<RunData>> {
    let names = files::names(folder, ".json")?;
    names.iter().filter_map(|name| read(&folder.join(format!("{name}.json"))).transpose()).collect()
}

/// Returns `None` if there is no such file: another process may just have begun a run, and forgotten the last one.
fn read(file: &Path) -> Result<Option<RunData>> {
    let bytes = match std::fs::read(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|e| files::failed("read", file, &e))?,
    };
    let unreadable = |what: String| Error::new(what).in_file(file).help("run the scenario again to rewrite its data");
    let json = Json::parse(&bytes).map_err(|e| unreadable(format!("not JSON: {}", e.message)))?;
    match json.str_of("format") {
        Some(FORMAT) => serde_json::from_slice(&bytes).map_err(|e| unreadable(format!("not run data: {e}"))),
        Some(OLD_FORMAT) => Err(Error::new("this run was written by an older version of Retake")
            .in_file(file)
            .help("its data has another form; to write it anew, run the scenario again: retake test")),
        Some(other) => Err(unreadable(format!("unknown version {other:?}, this version of Retake reads {FORMAT:?}"))),
        None => Err(unreadable("not run data: it has no `format`".to_owned())),
    }
}

#[cfg(test)]
mod tests;

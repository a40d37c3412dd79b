//! The folder of run data, with one file for each scenario's last run. Several processes can write to it at the same time, since
//! each writes the files of its own scenarios.

use std::path::{Path, PathBuf};

use serde::Serialize;
use time::OffsetDateTime;

use super::run_data::{FORMAT, OLD_FORMAT, RunData};
use retake_base::env::RETAKE;
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
        if let Ok(file) = file_of(scenario).and_then(|file| files::run_folder(&self.root, &file)) {
            let _ = files::remove(&file);
        }
    }

    /// Writes a run, without secrets, over the previous run of the same scenario.
    ///
    /// # Errors
    /// If it cannot be written, for example because the project is read-only.
    pub fn write(&self, run: &RunData) -> Result<()> {
        let file = file_of(&run.scenario)?;
        let text = printed(run).map_err(|error| error.in_file(Path::new(&file)))?;
        files::replace(&files::run_folder(&self.root, &file)?, (text + "\n").as_bytes())
    }

    /// A scenario's last run; `None` if there is none.
    ///
    /// # Errors
    /// If the file is not run data of this version.
    pub fn read(&self, scenario: &str) -> Result<Option<RunData>> {
        Ok(read(&self.root.join(RUN_FOLDER), Path::new(&file_of(scenario)?), MOST)?.map(|(run, _)| run))
    }

    /// The last run of each scenario, sorted by name.
    ///
    /// # Errors
    /// As [`Runs::read`].
    pub fn all(&self) -> Result<Vec<RunData>> {
        in_folder(&self.root, &Path::new(RUN_FOLDER).join(FOLDER))
    }

    /// The runs that began at this time or later, sorted by name. Other runs may have been left by an older version.
    pub fn since(&self, begun: &str) -> Vec<RunData> {
        let folder = self.folder();
        let names = files::names(&folder, ".json").unwrap_or_default();
        let runs = names.iter().filter_map(|name| read(&folder, &json(name), MOST).ok().flatten());
        runs.map(|(run, _)| run).filter(|run| run.started.as_str() >= begun).collect()
    }

    /// The runs that another CI job left in a folder: its `.retake`, the `runs` in there, or a folder that contains `.retake`.
    ///
    /// # Errors
    /// If this is no folder of a job, or as [`Runs::read`].
    pub fn of_other_jobs(folder: &Path) -> Result<Vec<RunData>> {
        for place in [PathBuf::new(), FOLDER.into(), Path::new(RUN_FOLDER).join(FOLDER)] {
            let runs = in_folder(folder, &place)?;
            if !runs.is_empty() {
                return Ok(runs);
            }
        }
        // A job whose share of the scenarios was empty leaves nothing, or a folder without runs.
        let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten();
        let left = [RUN_FOLDER, FOLDER, "shard-times"];
        let of_retake = entries().any(|entry| left.iter().any(|name| entry.file_name() == *name));
        let named = [FOLDER, RUN_FOLDER].iter().any(|name| folder.ends_with(name));
        if folder.is_dir() && (named || of_retake || entries().next().is_none()) {
            return Ok(Vec::new());
        }
        let error = Error::new("found no run data").in_file(folder);
        Err(error.help("expected the files of `.retake/runs`, one for each scenario"))
    }

    /// Deletes the runs of scenarios that no longer exist.
    pub fn keep_only(&self, is_scenario: impl Fn(&str) -> bool) {
        // Each file by itself: one that an older version wrote does not keep the others.
        let folder = self.folder();
        for name in files::names(&folder, ".json").unwrap_or_default() {
            // Almost all files are called as their scenarios, or as their worlds.
            if is_scenario(&name) || is_scenario(&name.replace("--", "::")) {
                continue;
            }
            let run = read(&folder, &json(&name), MOST);
            if run.is_ok_and(|run| run.is_some_and(|(run, _)| !is_scenario(&run.scenario))) {
                let _ = files::remove(&folder.join(json(&name)));
            }
        }
    }

    fn folder(&self) -> PathBuf {
        self.root.join(RUN_FOLDER).join(FOLDER)
    }
}

/// The folder of all runs, in `.retake`.
const FOLDER: &str = "runs";

/// The most bytes of a name: file systems allow 255 for a file.
const LONGEST: usize = 240;

/// The most bytes of the file of a run.
const MOST: u64 = 64 << 20;
/// The most that is read of all runs together.
const MOST_OF_ALL: u64 = 512 << 20;

/// The file of a scenario's run, in `.retake`.
/// Fails if no scenario has this name: data of another job could name any file.
fn file_of(scenario: &str) -> Result<String> {
    // `retake::no_orphans` is not a valid file name on every system.
    let name = scenario.replace(':', "-");
    let is_file = Path::new(&name).file_name() == Some(name.as_ref());
    if !is_file || name.len() > LONGEST || name.starts_with('.') || name.contains(|c: char| c == '\\' || c.is_control())
    {
        return Err(Error::new(format!("`{scenario}` cannot be the name of a scenario")));
    }
    Ok(format!("{FOLDER}/{name}.json"))
}

fn json(name: &str) -> PathBuf {
    format!("{name}.json").into()
}

/// A run as JSON, without secrets.
///
/// # Errors
/// If it cannot be expressed in JSON.
pub fn printed(run: &RunData) -> Result<String> {
    let mut json = as_json(run)?;
    shown_json(&mut json);
    Ok(json.print(Layout::Pretty))
}

/// A value as JSON, whose objects are sorted.
///
/// # Errors
/// If it cannot be expressed in JSON.
pub fn as_json(value: &impl Serialize) -> Result<Json> {
    let text = serde_json::to_vec(value).map_err(|e| Error::new(e.to_string()))?;
    Json::parse(&text).map_err(|e| Error::new(e.message))
}

/// Reads all runs of a folder, which is in another one that may come from another job.
fn in_folder(root: &Path, folder: &Path) -> Result<Vec<RunData>> {
    files::inside(root, folder)?;
    let (mut runs, mut left) = (Vec::new(), MOST_OF_ALL);
    for name in files::names(&root.join(folder), ".json")? {
        let Some((run, length)) = read(root, &folder.join(json(&name)), left.min(MOST))? else { continue };
        left -= length;
        runs.push(run);
    }
    Ok(runs)
}

/// Reads a run of at most `most` bytes, and returns how many there were. `None` if there is no such file: another process may just
/// have begun a run, and forgotten the last one.
fn read(root: &Path, below: &Path, most: u64) -> Result<Option<(RunData, u64)>> {
    let Some(bytes) = files::read_inside(root, below, most)? else { return Ok(None) };
    let file = &root.join(below);
    let unreadable = |what: String| Error::new(what).in_file(file).help("run the scenario again to rewrite its data");
    let json = Json::parse(&bytes).map_err(|e| unreadable(format!("not JSON: {}", e.message)))?;
    match json.str_of("format") {
        Some(FORMAT) => {
            let run: RunData = serde_json::from_slice(&bytes).map_err(|e| unreadable(format!("not run data: {e}")))?;
            file_of(&run.scenario).map_err(|error| error.in_file(file))?;
            Ok(Some((run, bytes.len() as u64)))
        }
        Some(OLD_FORMAT) => Err(Error::new("this run was written by an older version of Retake")
            .in_file(file)
            .help(format!("its data has another form; to write it anew, run the scenario again: {RETAKE} test"))),
        Some(other) => Err(unreadable(format!("unknown version {other:?}, this version of Retake reads {FORMAT:?}"))),
        None => Err(unreadable("not run data: it has no `format`".to_owned())),
    }
}

#[cfg(test)]
mod tests;

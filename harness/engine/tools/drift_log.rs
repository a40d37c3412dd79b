//! The log of one run: a line of JSON for each action, and next to it a file about the run as a whole.
//!
//! ```text
//! {"Action": …, "Actual Observation": […], "Drift from expected observation": "No drift"}
//! {"Action": …, "Actual Observation": […], "Drift from expected observation":
//!     {"Difference": [{"actual": …, "expected": …, "pointer": "/0/observation/content"}], "Drift Present": true, "Expected": […]}}
//! {"User": {"content": …}}
//! ```

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::difference::Difference;
use super::observed::Observed;
use super::script::Action;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_core::json::{Json, Layout};
use retake_core::secrets::{Fired, Scrub};

/// A log that is being written. The line of an action is written before the next action begins.
#[derive(Debug)]
pub struct DriftLog {
    file: File,
    /// The file of the log.
    pub path: PathBuf,
    scrub: Scrub,
}

impl DriftLog {
    /// Creates a log at this path.
    /// Fails if the file already exists, because a log holds one run.
    pub fn create(path: PathBuf, scrub: &Scrub) -> Result<DriftLog> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|e| files::failed("make", folder, &e))?;
        }
        match File::options().append(true).create_new(true).open(&path) {
            Ok(file) => Ok(DriftLog { file, path, scrub: scrub.clone() }),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                let error = Error::new("the file already exists, and a drift log holds only one run").in_file(&path);
                Err(error.help("name another file, or remove it"))
            }
            Err(e) => Err(files::failed("make", &path, &e)),
        }
    }

    /// Creates the next log in a folder of logs: `drift-0001.jsonl`, and so on.
    /// Fails if the folder cannot be written to.
    pub fn next_in(folder: &Path, scrub: &Scrub) -> Result<DriftLog> {
        let numbers = files::names(folder, ".jsonl")?;
        let last = numbers.iter().filter_map(|name| name.strip_prefix("drift-")?.parse::<u64>().ok()).max();
        let mut number = last.unwrap_or(0) + 1;
        loop {
            let path = folder.join(format!("drift-{number:04}.jsonl"));
            let taken = path.exists();
            match DriftLog::create(path, scrub) {
                // Another run created this file in the meantime.
                Err(_) if taken => number += 1,
                made => return made,
            }
        }
    }

    /// Writes the line of an action.
    /// Fails if the file cannot be written.
    pub(crate) fn action(&mut self, action: &Action, actual: &[Observed], differences: &[Difference]) -> Result<()> {
        let drift = if differences.is_empty() {
            "No drift".into()
        } else {
            Json::object([
                ("Difference", Json::Array(differences.iter().map(Difference::to_json).collect())),
                ("Drift Present", true.into()),
                ("Expected", Json::Array(action.expected.clone())),
            ])
        };
        let actual = actual.iter().map(|observed| observed.event(&action.tool)).collect();
        self.line(Json::object([
            ("Action", action.record.clone()),
            ("Actual Observation", Json::Array(actual)),
            ("Drift from expected observation", drift),
        ]))
    }

    /// Writes a line with what the user said.
    /// Fails if the file cannot be written.
    pub(crate) fn user(&mut self, said: Json) -> Result<()> {
        self.line(Json::object([("User", said)]))
    }

    /// Writes the file about the run as a whole, which has the log's name with the extension `run.json`.
    /// Fails if the file cannot be written.
    pub(crate) fn run(&self, mut run: Json) -> Result<()> {
        self.scrub.json(&mut run, &mut Fired::new());
        files::write_whole(&self.path.with_extension("run.json"), (run.print(Layout::Pretty) + "\n").as_bytes())
    }

    fn line(&mut self, mut line: Json) -> Result<()> {
        self.scrub.json(&mut line, &mut Fired::new());
        let mut text = line.print(Layout::Python);
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|e| files::failed("write", &self.path, &e))
    }
}

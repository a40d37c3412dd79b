//! The file of a journal: one line that names the format, then one line for each step. Each line is appended with one write
//! and synced.
//!
//! There are other lines too. `failed` records a step that failed, so it has no result. `gone` says that the recorded result
//! of a step must no longer be served. `diverged` says how many steps each run had when an attempt diverged: all other steps
//! in earlier lines are stale. So the program only appends to the file, and the file is valid after each line.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::number::StepNumber;
use retake_base::error::{Error, Place, Result};
use retake_base::files;

const FORMAT: &str = "retake-steps/1";

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileLine<'a> {
    Format(Cow<'a, str>),
    #[serde(borrow)]
    Step(StepLine<'a>),
    Failed(FailedLine),
    Gone(Cow<'a, str>),
    Diverged(DivergedLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepLine<'a> {
    step: String,
    kind: Kind,
    name: String,
    fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<String, String>,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// A step that failed: the request, without a result.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedLine {
    step: String,
    kind: Kind,
    name: String,
    fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DivergedLine {
    at: String,
    /// For each run, how many of its steps had been given a number by then.
    asked: BTreeMap<String, usize>,
}

/// Whether a step calls a model or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Model,
    Tool,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Tool => "tool",
        }
    }
}

/// The request of a step.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The fingerprint in hexadecimal; `None` if the request cannot be fingerprinted.
    pub(super) fingerprint: Option<String>,
    /// A short fingerprint of each part that is there, which tells what differs. Older files have none.
    pub(super) parts: BTreeMap<String, String>,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Asked) -> bool {
        (self.kind, &self.name, &self.fingerprint) == (other.kind, &other.name, &other.fingerprint)
    }
}

/// A step of an earlier attempt.
#[derive(Clone, Debug)]
pub(super) struct RecordedStep {
    pub(super) asked: Asked,
    /// The JSON of the result; `None` if the step failed.
    pub(super) value: Option<Box<RawValue>>,
}

/// The open file, locked against other writers.
#[derive(Debug)]
pub(super) struct StepFile {
    path: PathBuf,
    file: File,
    /// The offset at which the complete lines end.
    end: u64,
    /// The bytes to write next, including those that could not be written before.
    unsaved: Vec<u8>,
}

impl Drop for StepFile {
    fn drop(&mut self) {
        // If another thread is starting a program right now, that process has inherited the file, and closing it here would
        // leave it locked.
        let _ = self.file.unlock();
    }
}

/// A file that was opened, and the steps of earlier attempts that it contains.
pub(super) struct Opened {
    pub(super) file: StepFile,
    pub(super) steps: HashMap<StepNumber, RecordedStep>,
    /// A warning about a torn last line.
    pub(super) torn: Option<String>,
}

impl StepFile {
    pub(super) fn open(path: &Path) -> Result<Opened> {
        let mut file = lock(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| files::failed("read", path, &e))?;
        let read = read(&bytes).map_err(|e| e.in_file(path))?;
        let mut unsaved = Vec::new();
        if read.end == 0 {
            unsaved = line_of(&FileLine::Format(FORMAT.into())).map_err(|e| Error::new(e.to_string()).in_file(path))?;
        } else if bytes[read.end - 1] != b'\n' {
            unsaved.push(b'\n');
        }
        let torn = read.torn.map(|(line, reason)| {
            format!("{}:{line}: torn while it was written, and left out: {reason}", path.display())
        });
        let file = StepFile { path: path.to_owned(), file, end: read.end as u64, unsaved };
        Ok(Opened { file, steps: read.steps, torn })
    }

    /// Appends a step. If writing fails, the line is written together with the next one.
    pub(super) fn append(&mut self, number: &StepNumber, asked: &Asked, value: &RawValue) -> Result<()> {
        let (step, Asked { kind, name, fingerprint, parts }) = (number.to_string(), asked.clone());
        self.note(&FileLine::Step(StepLine { step, kind, name, fingerprint, parts, value }))?;
        self.save().map_err(|e| files::failed("append to", &self.path, &e))
    }

    /// Records that a step failed. The line is written together with the next step, since nothing needs it before.
    pub(super) fn failed(&mut self, number: &StepNumber, asked: &Asked) -> Result<()> {
        let (step, Asked { kind, name, fingerprint, parts }) = (number.to_string(), asked.clone());
        self.note(&FileLine::Failed(FailedLine { step, kind, name, fingerprint, parts }))
    }

    /// Records that the result of a step is stale. The line is written with the next step, or immediately if `now`.
    pub(super) fn gone(&mut self, number: &StepNumber, now: bool) -> Result<()> {
        self.note(&FileLine::Gone(number.to_string().into()))?;
        if now { self.save().map_err(|e| files::failed("append to", &self.path, &e)) } else { Ok(()) }
    }

    /// Records a divergence. The line is written with the next step: if the process is killed before, the next attempt
    /// diverges at the same step again.
    pub(super) fn diverged(&mut self, at: &StepNumber, asked: BTreeMap<String, usize>) -> Result<()> {
        self.note(&FileLine::Diverged(DivergedLine { at: at.to_string(), asked }))
    }

    fn note(&mut self, line: &FileLine<'_>) -> Result<()> {
        let line = line_of(line).map_err(|e| files::failed("append to", &self.path, &io::Error::other(e)))?;
        self.unsaved.extend(line);
        Ok(())
    }

    fn save(&mut self) -> io::Result<()> {
        if !is_at(&self.file, &self.path)? {
            return Err(io::Error::other("the file was removed or replaced while it was in use"));
        }
        // Removes what a torn line or a failed write left behind.
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&self.unsaved).and_then(|()| self.file.sync_data()).inspect_err(|_| {
            let _ = self.file.set_len(self.end);
        })?;
        self.end += self.unsaved.len() as u64;
        self.unsaved.clear();
        Ok(())
    }

    /// Removes the file. If that is impossible, empties it, so no later attempt is served from it.
    pub(super) fn remove(&self) -> Result<()> {
        // A different file at this path belongs to another writer.
        if !is_at(&self.file, &self.path).unwrap_or(true) {
            return Ok(());
        }
        files::remove(&self.path).or_else(|e| self.file.set_len(0).map_err(|_| e))
    }
}

/// Opens the file and locks it against other writers.
fn lock(path: &Path) -> Result<File> {
    let failed = |e: io::Error| files::failed("open", path, &e);
    loop {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // Only the owner may read the results of models and tools.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Error::new("expected a file, found something else").in_file(path));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new("another writer has this journal open").in_file(path).help(
                    "two writers would overwrite each other: wait for the first to end, or give each run its own file",
                ));
            }
            Err(TryLockError::Error(e)) => return Err(files::failed("lock", path, &e)),
        }
        // The previous writer may have removed the file after it was opened here and before it was locked.
        if is_at(&file, path).map_err(failed)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

#[derive(Default)]
struct ReadSteps {
    steps: HashMap<StepNumber, RecordedStep>,
    /// The offset at which the complete lines end; 0 if even the format is missing.
    end: usize,
    /// The line number of a torn last line, and what is wrong with it.
    torn: Option<(usize, String)>,
}

fn read(bytes: &[u8]) -> Result<ReadSteps> {
    let mut read = ReadSteps::default();
    for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        let number = i + 1;
        let end = read.end + line.len();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let taken = if i == 0 { check_format(text) } else { read.take(text) };
        match taken {
            Ok(()) => read.end = end,
            // A last line that is incomplete, or in which some blocks never reached the disk.
            Err(wrong)
                if end == bytes.len()
                    && (line.last() != Some(&b'\n') || text.contains(&0))
                    && (i > 0 || wrong.begins_well) =>
            {
                read.torn = Some((number, wrong.reason));
            }
            Err(wrong) => {
                let place = Place { line: number, column: wrong.column };
                return Err(Error::new(wrong.reason).at(place).help(wrong.help));
            }
        }
    }
    Ok(read)
}

struct Wrong {
    reason: String,
    column: usize,
    help: &'static str,
    /// Whether the text is a beginning of the expected line.
    begins_well: bool,
}

const DAMAGED: &str =
    "the file was not changed; if you delete it, the run starts from scratch and pays for each step again";

impl Wrong {
    fn new(reason: String, column: usize) -> Wrong {
        Wrong { reason, column: column.max(1), help: DAMAGED, begins_well: false }
    }
}

impl ReadSteps {
    fn take(&mut self, text: &[u8]) -> Result<(), Wrong> {
        let number = |step: String| step.parse().map_err(|e| Wrong::new(e, 1));
        match serde_json::from_slice(text).map_err(|e| Wrong::new(json_reason(&e), e.column()))? {
            FileLine::Format(_) => return Err(Wrong::new("expected a step, found a second `format`".to_owned(), 1)),
            FileLine::Step(StepLine { step, kind, name, fingerprint, parts, value }) => {
                let asked = Asked { kind, name, fingerprint, parts };
                self.steps.insert(number(step)?, RecordedStep { asked, value: Some(value.to_owned()) });
            }
            FileLine::Failed(FailedLine { step, kind, name, fingerprint, parts }) => {
                let asked = Asked { kind, name, fingerprint, parts };
                self.steps.insert(number(step)?, RecordedStep { asked, value: None });
            }
            FileLine::Gone(step) => _ = self.steps.remove(&number(step.into_owned())?),
            FileLine::Diverged(DivergedLine { asked, .. }) => {
                self.steps.retain(|number, _| asked.get(&number.run).is_some_and(|asked| number.position < *asked));
            }
        }
        Ok(())
    }
}

fn check_format(text: &[u8]) -> Result<(), Wrong> {
    let ours = line_of(&FileLine::Format(FORMAT.into())).unwrap_or_default();
    let wrong = |reason: String, help| {
        Err(Wrong { reason, column: 1, help, begins_well: ours.starts_with(text) && text.len() < ours.len() - 1 })
    };
    match serde_json::from_slice(text) {
        Ok(FileLine::Format(format)) if format == FORMAT => Ok(()),
        Ok(FileLine::Format(format)) => wrong(
            format!("expected the format {FORMAT}, found {format}: it was written by another version of Retake"),
            "the file was not changed; retry with that version of Retake",
        ),
        _ => wrong(
            "expected a journal of steps, found something else".to_owned(),
            "the file was not changed; give the journal its own file",
        ),
    }
}

/// Returns the message of serde_json without its position, which would be relative to the line.
fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

fn line_of(line: &FileLine<'_>) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests;

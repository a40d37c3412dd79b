//! The journal of an agent's steps: opening it, starting runs, finishing it.

use std::path::Path;
use std::sync::Arc;

use super::attempt::{Attempt, Counters, Unverified};
use super::file::StepFile;
use super::run::Run;
use retake_base::error::Result;
use retake_base::lock::Mutex;

/// The results of an agent's steps, in a file that survives the process. See the [module](super) for what it guarantees.
///
/// Dropping the journal keeps the file for the next attempt; [`finish`](Journal::finish) removes it.
#[derive(Debug)]
pub struct Journal {
    attempt: Arc<Mutex<Attempt>>,
}

/// The result of [`Journal::finish`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How many steps were served and how many ran live.
    pub counters: Counters,
    /// All warnings of the attempt, each of one line.
    pub warnings: Vec<String>,
}

impl Journal {
    /// Opens a journal. Creates the file if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be opened, another writer has it open, another version of Retake wrote it, it is not a journal, or
    /// it is damaged. A torn last line is not damage: it only causes a [warning](Journal::warnings).
    pub fn open(path: &Path) -> Result<Journal> {
        let attempt = Attempt::new(StepFile::open(path)?);
        Ok(Journal { attempt: Arc::new(Mutex::new(attempt)) })
    }

    /// Sets what to do with recorded steps that cannot be fingerprinted.
    #[must_use]
    pub fn unverified(self, unverified: Unverified) -> Journal {
        self.attempt.lock().unverified = unverified;
        self
    }

    /// Starts a run of an agent. Runs are numbered from 0, in the order in which they are started.
    pub fn run(&self) -> Run {
        let mut attempt = self.attempt.lock();
        attempt.top_runs += 1;
        Run::new(Arc::clone(&self.attempt), (attempt.top_runs - 1).to_string())
    }

    /// Returns how many steps were served and how many ran live so far.
    pub fn counters(&self) -> Counters {
        self.attempt.lock().counters.clone()
    }

    /// Returns the warnings so far, each of one line: about a torn line, about a step that could not be fingerprinted, decoded
    /// or written, and about why the attempt diverged.
    pub fn warnings(&self) -> Vec<String> {
        self.attempt.lock().warnings.clone()
    }

    /// Removes the journal's file. Call it when the run has succeeded and its result is stored: after an earlier crash, a
    /// retry is served every step. It never fails; if the file cannot be removed, there is a warning. If runs of this journal
    /// still exist, their further steps run live and are not recorded.
    pub fn finish(self) -> Finished {
        let mut attempt = self.attempt.lock();
        attempt.finished = true;
        attempt.recorded.clear();
        if let Err(e) = attempt.file.remove() {
            attempt.warnings.push(format!("the journal of a finished run could not be removed: {e}"));
        }
        Finished { counters: attempt.counters.clone(), warnings: attempt.warnings.clone() }
    }
}

//! The journal of an agent's steps: opened, asked, finished.

use std::path::Path;
use std::sync::Arc;

use super::attempt::{Counters, SharedAttempt, Unverified};
use super::file::StepFile;
use super::run::Run;
use crate::error::Result;

/// The results of an agent's steps, in a file that survives the process; see the [module](super) for what it promises.
///
/// Dropped, it keeps the file for the next attempt; [`finish`](Journal::finish) removes it.
#[derive(Debug)]
pub struct Journal {
    attempt: Arc<SharedAttempt>,
}

/// The end of a run that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What became of the steps.
    pub counters: Counters,
    /// What a person should know, each a line.
    pub warnings: Vec<String>,
}

impl Journal {
    /// Opens a journal, or starts one where there is no file yet.
    ///
    /// # Errors
    /// The file and the reason: another writer has it open, it is damaged (a torn last line is not damage, but a
    /// [warning](Journal::warnings)), another version of Retake wrote it, it is not a journal, or it cannot be opened.
    pub fn open(path: &Path) -> Result<Journal> {
        let opened = StepFile::open(path)?;
        let attempt = SharedAttempt::new(opened);
        Ok(Journal { attempt: Arc::new(attempt) })
    }

    /// Decides about recorded steps that cannot be fingerprinted.
    #[must_use]
    pub fn unverified(self, unverified: Unverified) -> Journal {
        self.attempt.lock().unverified = unverified;
        self
    }

    /// Starts a run of an agent. Runs are numbered from 0 in the order in which they are started.
    pub fn run(&self) -> Run {
        let mut attempt = self.attempt.lock();
        attempt.top_runs += 1;
        Run::new(Arc::clone(&self.attempt), (attempt.top_runs - 1).to_string())
    }

    /// What became of the steps so far.
    pub fn counters(&self) -> Counters {
        self.attempt.lock().counters.clone()
    }

    /// What a person should know, each a line: a torn line, a step that could not be fingerprinted, decoded or written,
    /// and why the attempt diverged.
    pub fn warnings(&self) -> Vec<String> {
        self.attempt.lock().warnings.clone()
    }

    /// Removes the journal's file. To be called when the run has succeeded and its result is where it has to be: a crash
    /// before that is a retry in which every step is served. Never fails; where the file cannot be removed there is a
    /// warning. Steps of runs that are still there run live from here on, and are not recorded.
    pub fn finish(self) -> Finished {
        let mut attempt = self.attempt.lock();
        attempt.finished = true;
        attempt.recorded.clear();
        if let Err(e) = attempt.file.remove() {
            attempt.warn(format!("the journal of a finished run could not be removed: {e}"));
        }
        Finished { counters: attempt.counters.clone(), warnings: attempt.warnings.clone() }
    }
}

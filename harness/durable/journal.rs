//! The journal of an agent's steps: opened, asked, finished.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::file::{Asked, Entry, StepFile};
use super::number::StepNumber;
use super::run::Run;
use crate::error::Result;

/// The results of an agent's steps, in a file that survives the process; see the [module](super) for what it promises.
///
/// Dropped, it keeps the file for the next attempt; [`finish`](Journal::finish) removes it.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
}

/// What becomes of a recorded step that cannot be fingerprinted, and so cannot be compared with what is asked now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unverified {
    /// It is served, with a warning, if the step before it in its run was.
    #[default]
    Serve,
    /// It is never served: it runs live each time.
    Refuse,
}

/// What became of the steps so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Steps that were served from the journal.
    pub replayed: usize,
    /// Steps that were run, those that failed included.
    pub live: usize,
    /// The number of the first step that differed from the recorded one.
    pub diverged_at: Option<String>,
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
    /// The file and the reason: another writer has it open, it is damaged (a torn last line is no damage, but a
    /// [warning](Journal::warnings)), another version of Retake wrote it, it is no journal, or it cannot be opened.
    pub fn open(path: &Path) -> Result<Journal> {
        let opened = StepFile::open(path)?;
        let state = State {
            file: opened.file,
            unverified: Unverified::default(),
            recorded: opened.entries,
            runs: BTreeMap::new(),
            top_runs: 0,
            counters: Counters::default(),
            warnings: opened.torn.into_iter().collect(),
            finished: false,
        };
        Ok(Journal { shared: Arc::new(Shared(Mutex::new(state))) })
    }

    /// Decides about recorded steps that cannot be fingerprinted.
    #[must_use]
    pub fn unverified(self, unverified: Unverified) -> Journal {
        self.shared.lock().unverified = unverified;
        self
    }

    /// Starts a run of an agent. Runs are numbered from 0 in the order in which they are started.
    pub fn run(&self) -> Run {
        let mut state = self.shared.lock();
        state.top_runs += 1;
        Run::new(Arc::clone(&self.shared), (state.top_runs - 1).to_string())
    }

    /// What became of the steps so far.
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters.clone()
    }

    /// What a person should know, each a line: a torn line, a step that could not be fingerprinted, decoded or written,
    /// and why the attempt diverged.
    pub fn warnings(&self) -> Vec<String> {
        self.shared.lock().warnings.clone()
    }

    /// Removes the journal's file. To be called when the run has succeeded and its result is where it has to be: a crash
    /// before that is a retry in which every step is served. Never fails; where the file cannot be removed there is a
    /// warning. Steps of runs that are still there run live from here on, and are not recorded.
    pub fn finish(self) -> Finished {
        let mut state = self.shared.lock();
        state.finished = true;
        state.recorded.clear();
        if let Err(e) = state.file.remove() {
            state.warn(format!("the journal of a finished run could not be removed: {e}"));
        }
        Finished { counters: state.counters.clone(), warnings: state.warnings.clone() }
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} replayed, {} live", self.replayed, self.live)?;
        self.diverged_at.as_ref().map_or(Ok(()), |at| write!(f, ", diverged at {at}"))
    }
}

/// What the journal and its runs share. Held for moments only, never while a step runs.
#[derive(Debug)]
pub(super) struct Shared(Mutex<State>);

#[derive(Debug)]
struct State {
    file: StepFile,
    unverified: Unverified,
    recorded: HashMap<StepNumber, Entry>,
    runs: BTreeMap<String, RunState>,
    top_runs: usize,
    counters: Counters,
    warnings: Vec<String>,
    finished: bool,
}

#[derive(Debug, Default)]
struct RunState {
    /// How many steps have a number.
    asked: usize,
    /// Whether the last of them was served.
    served: bool,
}

/// A step that has its number.
pub(super) enum Claim<T> {
    /// Its recorded result.
    Served(T),
    /// It has to run.
    Live(StepNumber),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a step its number and decides, in one, whether it is served.
    pub(super) fn claim<T: DeserializeOwned>(
        &self,
        run: &str,
        asked: &Asked,
        no_fingerprint: Option<&str>,
        replayable: bool,
    ) -> Claim<T> {
        self.lock().claim(run, asked, no_fingerprint, replayable)
    }

    /// Counts a step that runs.
    pub(super) fn runs_live(&self) {
        self.lock().counters.live += 1;
    }

    /// Stores the result of a step that succeeded.
    pub(super) fn store(&self, number: &StepNumber, asked: &Asked, value: &impl Serialize) {
        let value = serde_json::value::to_raw_value(value);
        let mut state = self.lock();
        if state.finished {
            return;
        }
        let stored = match value {
            Ok(value) => state.file.append(number, asked, &value).map_err(|e| e.to_string()),
            Err(e) => Err(format!("its result is no JSON: {e}")),
        };
        if let Err(reason) = stored {
            state.warn(format!("{}: not recorded, so a retry runs it again: {reason}", named(number, asked)));
        }
    }
}

impl State {
    fn claim<T: DeserializeOwned>(
        &mut self,
        run: &str,
        asked: &Asked,
        no_fingerprint: Option<&str>,
        replayable: bool,
    ) -> Claim<T> {
        let state = self.runs.entry(run.to_owned()).or_default();
        let number = StepNumber { run: run.to_owned(), position: state.asked };
        state.asked += 1;
        let before_was_served = std::mem::take(&mut state.served);
        let trusted = no_fingerprint.is_none() || (before_was_served && self.unverified == Unverified::Serve);

        let served = match self.recorded.remove(&number) {
            Some(entry) if entry.asked != *asked => {
                self.diverge(&number, asked, &difference(&entry.asked, asked));
                None
            }
            Some(entry) if replayable && trusted => match serde_json::from_str(entry.value.get()) {
                Ok(value) => Some(value),
                Err(e) => {
                    self.diverge(&number, asked, &format!("the recorded result is not what is expected: {e}"));
                    None
                }
            },
            _ => None,
        };
        if let Some(reason) = no_fingerprint {
            let so = if served.is_some() { "served unverified, as the step before it was served" } else { "run live" };
            self.warn(format!("{}: cannot be fingerprinted, {so}: {reason}", named(&number, asked)));
        }
        let Some(value) = served else { return Claim::Live(number) };
        self.counters.replayed += 1;
        self.runs.entry(number.run).or_default().served = true;
        Claim::Served(value)
    }

    /// From this step on nothing is served, now and in later attempts.
    fn diverge(&mut self, at: &StepNumber, asked: &Asked, why: &str) {
        self.recorded.clear();
        self.counters.diverged_at = Some(at.to_string());
        self.warn(format!("{}: {why}; it and all later steps run live", named(at, asked)));
        let mut kept: BTreeMap<String, usize> =
            self.runs.iter().map(|(run, state)| (run.clone(), state.asked)).collect();
        kept.insert(at.run.clone(), at.position);
        if let Err(e) = self.file.diverged(at, kept) {
            self.warn(e.to_string());
        }
    }

    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

fn difference(recorded: &Asked, asked: &Asked) -> String {
    if (recorded.kind, &recorded.name) != (asked.kind, &asked.name) {
        return format!("the last attempt had {} `{}` here", recorded.kind.word(), recorded.name);
    }
    match asked.kind {
        super::file::Kind::Model => {
            "its model, messages, settings, tools or output schema differ from the last attempt's"
        }
        super::file::Kind::Tool => "its arguments or call id differ from the last attempt's",
    }
    .to_owned()
}

/// A step as warnings name it.
fn named(number: &StepNumber, asked: &Asked) -> String {
    format!("step {number} ({} `{}`)", asked.kind.word(), asked.name)
}

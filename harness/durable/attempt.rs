//! One attempt of an agent: which of its steps are served, which run, and what the file is told of them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::file::{Asked, Kind, Opened, RecordedStep, StepFile};
use super::number::StepNumber;

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

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} replayed, {} live", self.replayed, self.live)?;
        self.diverged_at.as_ref().map_or(Ok(()), |at| write!(f, ", diverged at {at}"))
    }
}

/// An attempt as the journal and its runs share it. Held for moments only, never while a step runs.
#[derive(Debug)]
pub(super) struct SharedAttempt(Mutex<Attempt>);

/// What is left of the attempts before, and what became of this one so far.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) file: StepFile,
    pub(super) unverified: Unverified,
    pub(super) recorded: HashMap<StepNumber, RecordedStep>,
    runs: BTreeMap<String, RunProgress>,
    pub(super) top_runs: usize,
    pub(super) counters: Counters,
    pub(super) warnings: Vec<String>,
    pub(super) finished: bool,
}

#[derive(Debug, Default)]
struct RunProgress {
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

impl SharedAttempt {
    pub(super) fn new(opened: Opened) -> SharedAttempt {
        SharedAttempt(Mutex::new(Attempt {
            file: opened.file,
            unverified: Unverified::default(),
            recorded: opened.steps,
            runs: BTreeMap::new(),
            top_runs: 0,
            counters: Counters::default(),
            warnings: opened.torn.into_iter().collect(),
            finished: false,
        }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Attempt> {
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
        let mut attempt = self.lock();
        if attempt.finished {
            return;
        }
        let stored = match value {
            Ok(value) => attempt.file.append(number, asked, &value).map_err(|e| e.to_string()),
            Err(e) => Err(format!("its result is no JSON: {e}")),
        };
        if let Err(reason) = stored {
            attempt.warn(format!("{}: not recorded, so a retry runs it again: {reason}", named(number, asked)));
        }
    }
}

impl Attempt {
    fn claim<T: DeserializeOwned>(
        &mut self,
        run: &str,
        asked: &Asked,
        no_fingerprint: Option<&str>,
        replayable: bool,
    ) -> Claim<T> {
        let progress = self.runs.entry(run.to_owned()).or_default();
        let number = StepNumber { run: run.to_owned(), position: progress.asked };
        progress.asked += 1;
        let before_was_served = std::mem::take(&mut progress.served);
        let trusted = no_fingerprint.is_none() || (before_was_served && self.unverified == Unverified::Serve);

        let served = match self.recorded.remove(&number) {
            Some(step) if step.asked != *asked => {
                self.diverge(&number, asked, &difference(&step.asked, asked));
                None
            }
            Some(step) if replayable && trusted => match serde_json::from_str(step.value.get()) {
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
            self.runs.iter().map(|(run, progress)| (run.clone(), progress.asked)).collect();
        kept.insert(at.run.clone(), at.position);
        if let Err(e) = self.file.diverged(at, kept) {
            self.warn(e.to_string());
        }
    }

    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

fn difference(recorded: &Asked, asked: &Asked) -> String {
    if (recorded.kind, &recorded.name) != (asked.kind, &asked.name) {
        return format!("the last attempt had {} `{}` here", recorded.kind.word(), recorded.name);
    }
    match asked.kind {
        Kind::Model => "its model, messages, settings, tools or output schema differ from the last attempt's",
        Kind::Tool => "its arguments or call id differ from the last attempt's",
    }
    .to_owned()
}

/// A step as warnings name it.
fn named(number: &StepNumber, asked: &Asked) -> String {
    format!("step {number} ({} `{}`)", asked.kind.word(), asked.name)
}

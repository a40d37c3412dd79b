//! One attempt of an agent: decides which of its steps are served and which run live, and records them in the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::file::{Asked, Kind, Opened, RecordedStep, StepFile};
use super::finite::Search;
use super::number::StepNumber;

/// What to do with a recorded step that cannot be fingerprinted, and so cannot be compared with the present request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unverified {
    /// The step is served, with a warning, if the previous step of its run was served.
    #[default]
    Serve,
    /// The step is never served, and runs live each time.
    Refuse,
}

/// How many steps were served and how many ran live so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of steps that were served from the journal.
    pub replayed: usize,
    /// The number of steps that ran live, including those that failed.
    pub live: usize,
    /// The number (such as `0.2`) of the first step that differed from the recorded one.
    pub diverged_at: Option<String>,
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} replayed, {} live", self.replayed, self.live)?;
        self.diverged_at.as_ref().map_or(Ok(()), |at| write!(f, ", diverged at {at}"))
    }
}

/// The recorded steps of earlier attempts that can still be served, and the progress of this attempt. The journal and its runs share it under
/// a lock, which is held only briefly, never while a step runs.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) file: StepFile,
    pub(super) unverified: Unverified,
    pub(super) recorded: HashMap<StepNumber, RecordedStep>,
    runs: BTreeMap<String, RunProgress>,
    /// The nested steps that finished in this attempt. If the step around them fails and is tried again, they are served.
    inside: HashMap<StepNumber, RecordedStep>,
    pub(super) top_runs: usize,
    pub(super) counters: Counters,
    pub(super) warnings: Vec<String>,
    pub(super) finished: bool,
}

#[derive(Debug, Default)]
struct RunProgress {
    /// How many steps have been given a number.
    asked: usize,
    /// Whether the last step was served.
    served: bool,
    /// The steps that failed, with their positions. A retry of the same request gets the position of the failed step.
    failed: Vec<(usize, Asked)>,
}

/// How a step that was given a number goes on.
pub(super) enum Claim<T> {
    /// The step is served with its recorded result.
    Served(T),
    /// The step has to run.
    Live(StepNumber),
}

/// Returns a result as JSON, or the reason why it could not be read back from JSON.
pub(super) fn readable_json<T: Serialize + DeserializeOwned>(value: &T) -> Result<Box<RawValue>, String> {
    let of_value = Search::of(value);
    if let Some(number) = of_value.not_finite.first() {
        return Err(format!("its result contains a float that JSON cannot express (float {number})"));
    }
    let json = serde_json::value::to_raw_value(value).map_err(|e| format!("its result is not JSON: {e}"))?;
    match serde_json::from_str::<T>(json.get()) {
        Ok(read) if Search::of(&read).somes == of_value.somes => Ok(json),
        Ok(_) => {
            Err("its result contains a `Some` that JSON cannot express, such as `Some(None)`: it would come back as \
                      `None`"
                .to_owned())
        }
        Err(e) => Err(format!("its result cannot be read back: {e}")),
    }
}

impl Attempt {
    pub(super) fn new(opened: Opened) -> Attempt {
        Attempt {
            file: opened.file,
            unverified: Unverified::default(),
            recorded: opened.steps,
            runs: BTreeMap::new(),
            inside: HashMap::new(),
            top_runs: 0,
            counters: Counters::default(),
            warnings: opened.torn.into_iter().collect(),
            finished: false,
        }
    }

    /// Records that a step failed. A retry of the same request gets its number.
    pub(super) fn failed(&mut self, number: &StepNumber, asked: &Asked, replayable: bool) {
        self.runs.entry(number.run.clone()).or_default().failed.push((number.position, asked.clone()));
        if replayable && !self.finished {
            self.warnings.extend(self.file.failed(number, asked).err().map(|e| e.to_string()));
        }
    }

    /// Stores the result of a step that succeeded, as [`readable_json`] returns it.
    pub(super) fn store(&mut self, number: &StepNumber, asked: &Asked, value: Result<Box<RawValue>, String>) {
        self.inside.retain(|inside, _| !number.holds(&inside.run));
        if self.finished {
            return;
        }
        let stored =
            value.and_then(|value| self.file.append(number, asked, &value).map(|()| value).map_err(|e| e.to_string()));
        match stored {
            Ok(value) if number.run.contains('.') => {
                let step = RecordedStep { asked: asked.clone(), value: Some(value) };
                self.inside.insert(number.clone(), step);
            }
            Ok(_) => {}
            Err(reason) => {
                self.warnings
                    .push(format!("{}: not recorded, so a retry runs it again: {reason}", named(number, asked)));
            }
        }
    }

    /// Gives a step its number and decides whether it is served.
    pub(super) fn claim<T: DeserializeOwned>(
        &mut self,
        run: &str,
        asked: &Asked,
        no_fingerprint: Option<&str>,
        replayable: bool,
    ) -> Claim<T> {
        let (number, before_was_served) = self.number(run, asked);
        let trusted = no_fingerprint.is_none() || (before_was_served && self.unverified == Unverified::Serve);

        let served = match self.recorded.remove(&number) {
            Some(step) if step.asked != *asked => {
                self.diverge(&number, asked, &difference(&step.asked, asked));
                None
            }
            Some(RecordedStep { value: Some(value), .. }) if replayable && trusted => {
                let read = serde_json::from_str(value.get());
                read.inspect_err(|e| {
                    self.diverge(&number, asked, &format!("the recorded result does not have the expected type: {e}"));
                })
                .ok()
            }
            Some(RecordedStep { value: Some(_), .. }) => {
                self.warnings.extend(self.file.gone(&number, true).err().map(|e| e.to_string()));
                None
            }
            _ => None,
        };
        if let Some(reason) = no_fingerprint {
            let so = if served.is_some() {
                "and is served unverified because the step before it was served"
            } else {
                "so it runs live"
            };
            self.warnings.push(format!("{}: cannot be fingerprinted, {so}: {reason}", named(&number, asked)));
        }
        let Some(value) = served else {
            self.forget_unverifiable_after(&number);
            return Claim::Live(number);
        };
        self.counters.replayed += 1;
        self.runs.entry(number.run).or_default().served = true;
        Claim::Served(value)
    }

    /// Returns the number of a step, and whether the step before it was served. A retry of a request that failed gets the
    /// number of the failed step, so the numbers agree with those of a later attempt, which makes the request only once. A
    /// step without a fingerprint always gets a new number, since it may be a different request.
    fn number(&mut self, run: &str, asked: &Asked) -> (StepNumber, bool) {
        let progress = self.runs.entry(run.to_owned()).or_default();
        let again = progress.failed.iter().position(|(_, failed)| failed == asked && asked.fingerprint.is_some());
        let before_was_served = std::mem::take(&mut progress.served);
        let Some(again) = again else {
            progress.asked += 1;
            return (StepNumber { run: run.to_owned(), position: progress.asked - 1 }, before_was_served);
        };
        let number = StepNumber { run: run.to_owned(), position: progress.failed.remove(again).0 };
        // The agents inside the step start again, and are served what they finished, as they would be after a crash.
        self.runs.retain(|run, _| !number.holds(run));
        self.recorded.extend(self.inside.extract_if(|inside, _| number.holds(&inside.run)));
        (number, false)
    }

    /// Forgets the recorded step after a live one if it has no fingerprint: a live step may have a different result
    /// than the recorded one, and nothing shows that the step after it is still the same.
    fn forget_unverifiable_after(&mut self, live: &StepNumber) {
        let next = StepNumber { run: live.run.clone(), position: live.position + 1 };
        if self.recorded.get(&next).is_some_and(|step| step.asked.fingerprint.is_none()) {
            self.recorded.remove(&next);
            self.warnings.extend(self.file.gone(&next, false).err().map(|e| e.to_string()));
        }
    }

    /// Stops serving recorded steps from this step on, in this attempt and in later ones.
    fn diverge(&mut self, at: &StepNumber, asked: &Asked, why: &str) {
        self.recorded.clear();
        self.counters.diverged_at = Some(at.to_string());
        self.warnings.push(format!("{}: {why}; this step and all later ones run live", named(at, asked)));
        let mut kept: BTreeMap<String, usize> =
            self.runs.iter().map(|(run, progress)| (run.clone(), progress.asked)).collect();
        kept.insert(at.run.clone(), at.position);
        self.warnings.extend(self.file.diverged(at, kept).err().map(|e| e.to_string()));
    }
}

fn difference(recorded: &Asked, asked: &Asked) -> String {
    if (recorded.kind, &recorded.name) != (asked.kind, &asked.name) {
        return format!("the last attempt had {} `{}` here", recorded.kind.as_str(), recorded.name);
    }
    let parts: BTreeSet<&String> = recorded.parts.keys().chain(asked.parts.keys()).collect();
    let differs = |part: &&String| recorded.parts.get(*part) != asked.parts.get(*part);
    let parts: Vec<&str> = parts.into_iter().filter(differs).map(|part| said(part)).collect();
    match (asked.kind, parts.is_empty() || recorded.parts.is_empty()) {
        // An older version did not note the parts.
        (Kind::Model, true) => {
            "its model, messages, settings, tools, output schema or params differ from the last attempt's".to_owned()
        }
        (Kind::Tool, true) => "its arguments or call id differ from the last attempt's".to_owned(),
        _ => format!("its request differs from the last attempt's in its {}", parts.join(", ")),
    }
}

/// A part of a request in words.
fn said(part: &str) -> &str {
    match part {
        "output_schema" => "output schema",
        "args" => "arguments",
        "call_id" => "call id",
        part => part,
    }
}

/// Returns the name of a step for warnings.
fn named(number: &StepNumber, asked: &Asked) -> String {
    format!("step {number} ({} `{}`)", asked.kind.as_str(), asked.name)
}

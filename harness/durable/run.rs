//! A run of an agent, and its steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attempt::{Attempt, Claim, readable_json};
use super::file::{Asked, Kind};
use super::number::StepNumber;
use super::request::{Fingerprint, ModelRequest, ToolRequest};
use retake_base::lock::Mutex;

/// A run of an agent. Its steps are numbered in the order in which they are started. Clones share the counter.
#[derive(Clone, Debug)]
pub struct Run {
    attempt: Arc<Mutex<Attempt>>,
    number: Arc<str>,
}

/// A step that runs live. It can start the runs of agents that work inside it.
#[derive(Debug)]
pub struct Step {
    attempt: Arc<Mutex<Attempt>>,
    number: StepNumber,
    runs: AtomicUsize,
}

impl Run {
    pub(super) fn new(attempt: Arc<Mutex<Attempt>>, number: String) -> Run {
        Run { attempt, number: number.into() }
    }

    /// Returns the number of the run: `0` for the first run of the journal, `0.2.1` for the second run that step 2 of run 0
    /// started.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Calls a model, or serves its recorded answer.
    ///
    /// The step gets its number here, before the future is polled. `name` says what the call is for, and must be the same in
    /// each attempt. `call` makes the call; it does not run if the answer is served.
    ///
    /// # Errors
    /// Only errors that `call` returns. A failed step runs again in the next attempt. If this attempt makes the same request
    /// again, the retry gets the number of the failed step.
    pub fn model<T, E, F, Fut>(
        &self,
        name: &str,
        request: &ModelRequest,
        call: F,
    ) -> impl Future<Output = Result<T, E>> + use<T, E, F, Fut>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce(Step) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.step(Kind::Model, name, &request.fingerprint(), true, call)
    }

    /// Calls a tool, or serves its recorded result. Everything else is as in [`Run::model`].
    ///
    /// # Errors
    /// Only errors that `call` returns.
    pub fn tool<T, E, F, Fut>(
        &self,
        request: &ToolRequest,
        call: F,
    ) -> impl Future<Output = Result<T, E>> + use<T, E, F, Fut>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce(Step) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.step(Kind::Tool, &request.name, &request.fingerprint(), request.replayable, call)
    }

    fn step<T, E, F, Fut>(
        &self,
        kind: Kind,
        name: &str,
        fingerprint: &Result<Fingerprint, String>,
        replayable: bool,
        call: F,
    ) -> impl Future<Output = Result<T, E>> + use<T, E, F, Fut>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce(Step) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let attempt = Arc::clone(&self.attempt);
        let no_fingerprint = fingerprint.as_ref().err().map(String::as_str);
        let (hash, parts) = fingerprint.as_ref().ok().map(|(hash, parts)| (hash.to_string(), parts.clone())).unzip();
        let asked = Asked { kind, name: name.to_owned(), fingerprint: hash, parts: parts.unwrap_or_default() };
        let claim = attempt.lock().claim(&self.number, &asked, no_fingerprint, replayable);
        async move {
            let number = match claim {
                Claim::Served(value) => return Ok(value),
                Claim::Live(number) => number,
            };
            attempt.lock().counters.live += 1;
            let step = Step { attempt: Arc::clone(&attempt), number: number.clone(), runs: AtomicUsize::new(0) };
            let mut running =
                Running { attempt: &attempt, number: &number, asked: &asked, replayable, succeeded: false };
            let value = call(step).await?;
            running.succeeded = true;
            if replayable {
                let json = readable_json(&value);
                attempt.lock().store(&number, &asked, json);
            }
            Ok(value)
        }
    }
}

/// A step that is running. If it is dropped before it succeeded, it has failed: by an error, by a panic, or because its future
/// was dropped, for example at a timeout.
struct Running<'a> {
    attempt: &'a Mutex<Attempt>,
    number: &'a StepNumber,
    asked: &'a Asked,
    replayable: bool,
    succeeded: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.succeeded {
            self.attempt.lock().failed(self.number, self.asked, self.replayable);
        }
    }
}

impl Step {
    /// Returns the number of the step: `0.2` is step 2 of run 0.
    pub fn number(&self) -> String {
        self.number.to_string()
    }

    /// Starts the run of an agent inside this step, for a tool that is an agent itself. The number of the new run consists of
    /// this step's number and the number of runs that this step started before. Once this step itself is recorded, the steps
    /// inside it are not needed again.
    pub fn nested(&self) -> Run {
        let n = self.runs.fetch_add(1, Ordering::Relaxed);
        Run::new(Arc::clone(&self.attempt), format!("{}.{n}", self.number))
    }
}

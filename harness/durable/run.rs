//! A run of an agent, and the steps it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attempt::{Claim, SharedAttempt};
use super::file::{Asked, Kind};
use super::number::StepNumber;
use super::request::{ModelRequest, ToolRequest};
use crate::key::Hash;

/// A run of an agent. Its steps are numbered in the order in which they are started; clones share the numbers.
#[derive(Clone, Debug)]
pub struct Run {
    attempt: Arc<SharedAttempt>,
    number: Arc<str>,
}

/// A step while it runs live. It starts the runs of other agents that work inside it.
#[derive(Debug)]
pub struct Step {
    attempt: Arc<SharedAttempt>,
    number: StepNumber,
    runs: AtomicUsize,
}

impl Run {
    pub(super) fn new(attempt: Arc<SharedAttempt>, number: String) -> Run {
        Run { attempt, number: number.into() }
    }

    /// The run's number: `0` of the journal's first run, `0.2.1` of the second that step 2 of it started.
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Calls a model, or serves its recorded answer.
    ///
    /// The step takes its number here, before the future is polled. `name` says what the call is for and is the same in
    /// each attempt; `call` makes it, and is not called where the answer is served.
    ///
    /// # Errors
    /// Only what `call` returns. A step that fails runs again in the next attempt; who asks the same in this one takes its
    /// number.
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
    /// Only what `call` returns.
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
        fingerprint: &Result<Hash, String>,
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
        let asked =
            Asked { kind, name: name.to_owned(), fingerprint: fingerprint.as_ref().ok().map(ToString::to_string) };
        let claim = attempt.claim(&self.number, &asked, no_fingerprint, replayable);
        async move {
            let number = match claim {
                Claim::Served(value) => return Ok(value),
                Claim::Live(number) => number,
            };
            attempt.runs_live();
            let step = Step { attempt: Arc::clone(&attempt), number: number.clone(), runs: AtomicUsize::new(0) };
            let running = Running { attempt: &attempt, number: &number, asked: &asked, replayable, succeeded: false };
            let value = call(step).await?;
            running.succeeded(&value);
            Ok(value)
        }
    }
}

/// A step while it runs. One that ends in any other way than by succeeding has failed: by an error, a panic, or as it was
/// dropped at a time limit.
struct Running<'a> {
    attempt: &'a SharedAttempt,
    number: &'a StepNumber,
    asked: &'a Asked,
    replayable: bool,
    succeeded: bool,
}

impl Running<'_> {
    fn succeeded<T: Serialize + DeserializeOwned>(mut self, value: &T) {
        self.succeeded = true;
        if self.replayable {
            self.attempt.store(self.number, self.asked, value);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.succeeded {
            self.attempt.failed(self.number, self.asked, self.replayable);
        }
    }
}

impl Step {
    /// The step's number: `0.2` is step 2 of run 0.
    pub fn number(&self) -> String {
        self.number.to_string()
    }

    /// Starts the run of an agent inside this step: a tool that is an agent itself. It has the number of this step's
    /// run, this step's position, and how many were started in this step before it. Once the step itself is recorded,
    /// the steps inside are not asked for again.
    pub fn nested(&self) -> Run {
        let n = self.runs.fetch_add(1, Ordering::Relaxed);
        Run::new(Arc::clone(&self.attempt), self.number.nested(n))
    }
}

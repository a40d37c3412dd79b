//! What all calls of one recording share: the options, the journal, the tally, and whether calls may still be sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::pending_call::PendingCall;
use super::relay::{Relay, undeclared};
use super::resume::Resume;
use retake_base::lock::Mutex;
use retake_core::conversation::{Answer, Usage};
use retake_core::json::Json;
use retake_core::places::Places;
use retake_core::secrets::{Fired, Secrets};
use retake_wire::fixture::call_log::CallLog;
use retake_wire::{Api, Known, Response, Target};

/// The options of a recording.
#[derive(Clone)]
pub struct RecorderOptions {
    /// The secrets, which must not be written.
    pub secrets: Secrets,
    /// Whether a provider's errors become turns.
    pub errors: bool,
    /// Whether the delays of answers are kept. They differ in every recording.
    pub delays: bool,
    /// Is called with the tally at each call that comes and each answer that ends.
    pub watch: Arc<dyn Fn(&Tally) + Send + Sync>,
    /// The earlier recording that answers calls that equal a recorded one.
    pub resume: Option<Arc<Resume>>,
}

pub(super) struct RecorderState {
    pub(super) relay: Relay,
    pub(super) journal: CallLog,
    pub(super) options: RecorderOptions,
    pub(super) places: OnceLock<Arc<Places>>,
    pub(super) begun: AtomicUsize,
    pub(super) answered: AtomicUsize,
    pub(super) troubles: Mutex<Vec<String>>,
    /// Whether what calls is being ended with the recording: a client that leaves then does not do so by itself.
    pub(super) is_over: AtomicBool,
    /// Why no more calls are passed on; `None` while they are.
    pub(super) stopped: Mutex<Option<String>>,
    pub(super) tally: Mutex<Tally>,
    /// The answers so far, for requests that refer to them by id.
    pub(super) known: RwLock<Known>,
}

impl RecorderState {
    pub(super) fn new(relay: Relay, journal: CallLog, options: RecorderOptions) -> RecorderState {
        let (places, begun, answered, troubles, is_over, stopped, tally, known) = Default::default();
        RecorderState { relay, journal, options, places, begun, answered, troubles, is_over, stopped, tally, known }
    }

    /// Notes what went wrong, with secrets removed.
    pub(super) fn note(&self, line: &str) {
        let line = self.options.secrets.scrub().text(line, &mut Fired::new()).into_owned();
        self.troubles.lock().push(line);
    }

    /// Returns the call as the journal holds it, with secrets removed. Only a resumed recording needs this; otherwise the call
    /// is returned unchanged.
    pub(super) fn scrubbed(&self, call: &PendingCall) -> PendingCall {
        let (scrub, mut fired) = (self.options.secrets.scrub(), Fired::new());
        let mut scrubbed = call.clone();
        if self.resume().is_some() {
            scrub.json(&mut scrubbed.request, &mut fired);
            for text in [Some(&mut scrubbed.path), scrubbed.caller.as_mut()].into_iter().flatten() {
                *text = scrub.text(text, &mut fired).into_owned();
            }
        }
        scrubbed
    }

    /// Notes an answer, if later requests over the API may refer to it.
    pub(super) fn learn(&self, api: Api, target: Target<'_>, request: &Json, response: &Response) {
        if Known::learns_of(api) {
            self.known.write().unwrap_or_else(PoisonError::into_inner).learn(api, target, request, response);
        }
    }

    /// The earlier recording that answers calls that equal a recorded one.
    pub(super) fn resume(&self) -> Option<&Resume> {
        self.options.resume.as_deref()
    }

    /// Changes the tally, and reports it to the watcher.
    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        let mut tally = self.tally.lock();
        change(&mut tally);
        (self.options.watch)(&tally);
    }

    /// Ends the recording: no more calls are passed on. The first reason is the one that is told.
    pub(super) fn stop(&self, reason: &str) {
        let mut stopped = self.stopped.lock();
        if stopped.is_none() {
            *stopped = Some(reason.to_owned());
            self.note(reason);
        }
    }

    /// Returns why a call is not passed on: this call or an earlier one holds an undeclared secret, or an earlier one could not
    /// be saved. `None` if it may be sent.
    pub(super) fn refusal(&self, call: &PendingCall) -> Option<String> {
        if let Some(name) = self.options.secrets.undeclared_in(&call.request, &call.path) {
            let reason = undeclared(name, false);
            self.stop(&reason);
        }
        self.stopped.lock().clone()
    }
}

/// What a recording has asked providers for so far, for the person who waits and pays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many calls have come.
    pub calls: usize,
    /// How many of them are not answered yet.
    pub in_flight: usize,
    /// The callers that are known.
    pub callers: BTreeSet<String>,
    /// The calls of each model.
    pub models: BTreeMap<String, OfModel>,
}

/// The calls of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfModel {
    /// How many calls have ended, including those that failed.
    pub calls: usize,
    /// The tokens of the calls whose answers report them.
    pub tokens: Usage,
}

impl Tally {
    pub(super) fn begin(&mut self, caller: Option<&str>) {
        self.calls += 1;
        self.in_flight += 1;
        self.callers.extend(caller.map(str::to_owned));
    }

    /// Counts a call that ended. `asked` is the model that the call named; if the answer names one, that one counts. Embeddings are no answer,
    /// but have a number of tokens.
    pub(super) fn paid(&mut self, asked: &str, answer: Option<&Answer>, tokens: Option<u64>) {
        let named = answer.and_then(|answer| answer.model.as_deref()).filter(|model| !model.is_empty());
        let name = named.unwrap_or(if asked.is_empty() { "(no model)" } else { asked });
        let of_model = self.models.entry(name.to_owned()).or_default();
        of_model.calls += 1;
        let embedded = Usage { input: tokens.unwrap_or(0), ..Usage::default() };
        let Usage { input, output, .. } = answer.and_then(|answer| answer.usage).unwrap_or(embedded);
        of_model.tokens.input = of_model.tokens.input.saturating_add(input);
        of_model.tokens.output = of_model.tokens.output.saturating_add(output);
    }
}

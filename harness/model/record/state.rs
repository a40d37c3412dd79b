//! What all calls of one recording share: the options, the journal, the tally, and whether calls may still be sent.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError, RwLock};

use super::pending_call::PendingCall;
use super::relay::{Relay, undeclared};
use super::resume::Resume;
use super::tally::Tally;
use retake_base::lock::Mutex;
use retake_core::json::Json;
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

impl fmt::Debug for RecorderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderOptions").field("errors", &self.errors).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct RecorderState {
    pub(super) relay: Relay,
    pub(super) journal: CallLog,
    pub(super) options: RecorderOptions,
    pub(super) begun: AtomicUsize,
    pub(super) answered: AtomicUsize,
    troubles: Mutex<Vec<String>>,
    /// Why no more calls are passed on; `None` while they are.
    stopped: Mutex<Option<String>>,
    tally: Mutex<Tally>,
    /// The answers so far, for requests that refer to them by id.
    pub(super) known: RwLock<Known>,
}

impl RecorderState {
    pub(super) fn new(relay: Relay, journal: CallLog, options: RecorderOptions) -> RecorderState {
        RecorderState {
            relay,
            journal,
            options,
            begun: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            troubles: Mutex::default(),
            stopped: Mutex::default(),
            tally: Mutex::default(),
            known: RwLock::default(),
        }
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

    /// Whether no more calls are passed on.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.lock().is_some()
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

    /// What has gone wrong so far, one line for each problem.
    pub(super) fn troubles(&self) -> Vec<String> {
        self.troubles.lock().clone()
    }

    /// The calls so far.
    pub(super) fn tally(&self) -> Tally {
        self.tally.lock().clone()
    }
}

//! What all calls of one recording share: how to record, the journal, the tally, and whether any more calls go out.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::pending_call::PendingCall;
use super::resume::Resume;
use super::tally::Tally;
use crate::fixture::call_log::CallLog;
use crate::json::Json;
use crate::secrets::{Fired, Secrets};
use crate::wire::{Api, Known, Response, Target};

/// How to record.
#[derive(Clone)]
pub struct RecorderOptions {
    /// What must not be written.
    pub secrets: Secrets,
    /// Whether a provider's errors become turns.
    pub errors: bool,
    /// Whether the delays of streams are kept. No two recordings have the same.
    pub delays: bool,
    /// Is told of each call that comes and of each answer that is complete.
    pub watch: Arc<dyn Fn(&Tally) + Send + Sync>,
    /// What calls are answered from that equal a recorded one.
    pub resume: Option<Arc<Resume>>,
}

impl fmt::Debug for RecorderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderOptions").field("errors", &self.errors).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct RecorderState {
    pub(super) journal: CallLog,
    pub(super) options: RecorderOptions,
    pub(super) begun: AtomicUsize,
    troubles: Mutex<Vec<String>>,
    /// Why no call is passed on any more.
    stopped: Mutex<Option<String>>,
    tally: Mutex<Tally>,
    /// What was answered, for requests that refer to it.
    pub(super) known: RwLock<Known>,
}

impl RecorderState {
    pub(super) fn new(journal: CallLog, options: RecorderOptions) -> RecorderState {
        RecorderState {
            journal,
            options,
            begun: AtomicUsize::new(0),
            troubles: Mutex::default(),
            stopped: Mutex::default(),
            tally: Mutex::default(),
            known: RwLock::default(),
        }
    }

    /// Notes what went wrong, without secrets.
    pub(super) fn note(&self, line: &str) {
        let line = self.options.secrets.scrub().text(line, &mut Fired::new()).into_owned();
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The call as the journal holds it.
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

    /// Notes an answer, where later requests may refer to it.
    pub(super) fn learn(&self, api: Api, target: Target<'_>, request: &Json, response: &Response) {
        if Known::learns_of(api) {
            self.known.write().unwrap_or_else(PoisonError::into_inner).learn(api, target, request, response);
        }
    }

    /// What calls are answered from that equal a recorded one.
    pub(super) fn resume(&self) -> Option<&Resume> {
        self.options.resume.as_deref()
    }

    /// Changes the tally and tells of it.
    pub(super) fn count(&self, change: impl FnOnce(&mut Tally)) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut tally);
        (self.options.watch)(&tally);
    }

    /// Why a call is not passed on: it holds a secret that nobody declared, or one before it did.
    pub(super) fn refusal(&self, call: &PendingCall) -> Option<String> {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = self.options.secrets.undeclared_in(&call.request, &call.path) {
            let reason = format!(
                "a model call holds the value of the environment variable {name}, which looks like a secret, so recording \
                 stopped before it was sent.\n  Add to scenarios/suite.toml: secrets = [\"{name}\"]\n  Then <{name}> is \
                 stored in its place. A system that is started is given it by env = {{ {name} = \"{{{{ secret.{name} }}}}\" }}"
            );
            if stopped.is_none() {
                *stopped = Some(reason.clone());
                self.note(&reason);
            }
        }
        stopped.clone()
    }

    /// What went wrong so far.
    pub(super) fn troubles(&self) -> Vec<String> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The calls so far.
    pub(super) fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

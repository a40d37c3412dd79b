//! The recorder passes each call on to its provider, through the relay.
//!
//! The relay adds the provider's own key, and the answer is streamed to the system while it arrives. Both are written to
//! the journal when the answer is complete, or with the reason why it is not. Secrets are removed from what is written, but not
//! from what the system gets.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock};

use axum::response::Response as HttpResponse;

use super::branch::Branch;
use super::call_writer::CallWriter;
use super::cost::Cost;
use super::pending_call::PendingCall;
use super::relay::{self, Relay, provider_of};
use super::resume::Recall;
use super::state::{RecorderOptions, RecorderState, Tally};
use super::stream;
use crate::activity::InFlight;
use crate::clients::{Clients, reqwest_reason};
use crate::http;
use crate::miss::MissReason;
use retake_base::error::Result;
use retake_core::key::attributed;
use retake_core::places::Places;
use retake_core::secrets::Secrets;
use retake_wire::fixture::call_log::{CallLog, Cut, CutBy};
use retake_wire::{self as wire, Api, Known, Response};

/// Passes calls on and writes the journal.
pub struct Recorder {
    clients: Clients,
    state: Arc<RecorderState>,
    /// Called at the first call of a resumed recording that equals no recorded one. It gets how the call came, and the expected cost from
    /// there on.
    pub before_paying: Option<Box<Tell>>,
    /// The earlier recording from which this one branches off, if it does.
    pub branch: Option<Arc<Branch>>,
}

/// Why a call got no answer, and whether no other one may be sent either.
struct Undelivered {
    why: String,
    refused: bool,
}

type Tell = dyn Fn(&str, Cost) + Send + Sync;

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder") // of a call or an option nothing is shown: they hold keys
    }
}

impl Recorder {
    /// Makes a recorder that passes calls on to this relay, and writes to this journal.
    pub fn new(relay: Relay, journal: CallLog, options: RecorderOptions) -> Recorder {
        let state = Arc::new(RecorderState::new(relay, journal, options));
        Recorder { clients: Clients::keeping(usize::MAX), state, before_paying: None, branch: None }
    }

    /// Says what the places of the stage are, before its system can call.
    pub fn on_stage(&self, places: &Places) {
        let _ = self.state.places.set(Arc::new(places.clone()));
        self.branch.iter().for_each(|branch| branch.prefix.on_stage(places));
        self.state.resume().into_iter().for_each(|resume| resume.on_stage(places));
    }

    /// The places of the stage, as far as they are known.
    pub fn places(&self) -> Arc<Places> {
        self.state.places.get().cloned().unwrap_or_default()
    }

    /// What has gone wrong with calls so far, one line for each problem.
    pub fn troubles(&self) -> Vec<String> {
        self.state.troubles.lock().clone()
    }

    /// Says that what calls is about to be ended.
    pub(crate) fn ends(&self) {
        self.state.is_over.store(true, Ordering::SeqCst);
    }

    /// Whether the recording ended before all calls were made, because a call holds a secret or the journal cannot be written.
    pub fn is_stopped(&self) -> bool {
        self.state.stopped.lock().is_some()
    }

    /// The secrets, which must not be written.
    pub fn secrets(&self) -> &Secrets {
        &self.state.options.secrets
    }

    /// How many calls have got an answer so far, or the beginning of one.
    pub fn answered(&self) -> usize {
        self.state.answered.load(Ordering::Relaxed)
    }

    /// The calls so far, and what they cost.
    pub fn tally(&self) -> Tally {
        self.state.tally.lock().clone()
    }

    /// Notes in the journal that a fixture was made from it.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn close(&self) -> Result<()> {
        self.state.journal.close()
    }

    /// The answers so far, for requests that refer to them by id.
    pub fn known(&self) -> &RwLock<Known> {
        &self.state.known
    }

    /// Whether the provider of an API is configured.
    pub fn reaches(&self, provider: Api) -> bool {
        self.state.relay.reaches.iter().any(|reached| reached == provider_of(provider))
    }

    /// Notes a request that is not a call.
    pub fn refuse(&self, via: &str, reason: &MissReason) {
        let line = format!("{via}: {reason}");
        // A client may try again and again what is not supported.
        if !self.state.troubles.lock().contains(&line) {
            self.state.note(&line);
        }
    }

    /// Answers a call from an earlier recording, or from its provider.
    pub async fn pass_on(&self, call: PendingCall, in_flight: InFlight) -> HttpResponse {
        if let Some(reason) = self.state.refusal(&call) {
            return http::final_error(&wire::error_response(call.provider, 400, "record_error", &reason), in_flight);
        }
        let mut writer = CallWriter::begin(&self.state, &call);
        // The recorded calls were scrubbed too, so both are compared without secrets.
        let scrubbed = self.state.scrubbed(&call);
        match self.state.resume().map(|resume| resume.find(&scrubbed)) {
            Some(Recall::Recorded(response)) => return recalled(writer, &response, in_flight),
            Some(Recall::New(Some(expected))) => {
                if let Some(tell) = &self.before_paying {
                    let whose = attributed(" of", call.caller.as_deref());
                    // The query may hold a key.
                    let path = call.path.split('?').next().unwrap_or_default();
                    tell(&format!("{} {path}{whose}", call.method), expected);
                }
            }
            Some(Recall::New(None)) | None => {}
        }
        let provider = call.provider;
        match self.send(call).await {
            Ok(answer) => stream::sent_on(answer, writer, in_flight),
            Err(Undelivered { why, refused }) => {
                if refused {
                    self.state.stop(&why);
                } else {
                    self.state.note(&why);
                }
                let status = if refused { 400 } else { 502 };
                let error = wire::error_response(provider, status, "record_error", &why);
                // If this cannot be saved, nothing is lost.
                let _ = writer.write(Some(Cut { by: CutBy::Provider, why }));
                http::final_error(&error, in_flight)
            }
        }
    }

    /// Answers a call with a recorded response, and writes both to the journal.
    pub(crate) fn answer_recorded(&self, call: &PendingCall, recorded: &Response, in_flight: InFlight) -> HttpResponse {
        recalled(CallWriter::begin(&self.state, call), recorded, in_flight)
    }

    /// Sends a call to its provider, and waits until the answer begins.
    /// An error says why there is no answer.
    async fn send(&self, call: PendingCall) -> Result<reqwest::Response, Undelivered> {
        let client = self.clients.plain().map_err(|e| Undelivered { why: e.to_string(), refused: false })?;
        let gone = |e| {
            let why = format!("the command through which calls reach the provider has ended: {}", reqwest_reason(e));
            Undelivered { why, refused: false }
        };
        let answer = self.state.relay.request(client, &call).send().await.map_err(gone)?;
        let Some(mark) = answer.headers().get(relay::MARK).cloned() else { return Ok(answer) };
        Err(Undelivered { why: answer.text().await.map_err(gone)?, refused: mark == relay::REFUSED })
    }
}

/// Writes the response of a recorded call to the journal, and returns it.
fn recalled(mut writer: CallWriter, response: &Response, in_flight: InFlight) -> HttpResponse {
    let api = writer.entry.api;
    match writer.write_recalled(response.clone()) {
        Ok(()) => http::answer(response, in_flight),
        Err(why) => http::final_error(&wire::error_response(api, 400, "record_error", &why), in_flight),
    }
}

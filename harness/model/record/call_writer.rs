//! Writes the journal line of a call, and names the reason if its answer is not complete.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::arrivals::Arrivals;
use super::clock;
use super::pending_call::PendingCall;
use super::state::RecorderState;
use crate::http;
use retake_core::secrets::Fired;
use retake_wire::fixture::call_log::{Cut, CutBy, LoggedCall};
use retake_wire::{self as wire, Body, Response};

/// Writes the journal line of a call: at the end of the answer, or when the call is dropped.
pub(super) struct CallWriter {
    state: Arc<RecorderState>,
    /// The line, of whose response only the head is there until it is written.
    pub(super) entry: LoggedCall,
    is_written: bool,
    /// The number of calls that had come when an error was passed on, whose client may ask again without reading it to its end.
    failed: Option<usize>,
    model: String,
    pub(super) bytes: Vec<u8>,
    /// When the answer's head and bytes arrived, counted from the call.
    arrivals: Arrivals,
}

/// Notes that the client closed the connection before the end.
pub(super) fn client_left() -> Cut {
    Cut { by: CutBy::Client, why: "the client left before the end".to_owned() }
}

/// Notes that the recording ended before the answer did.
fn recording_ended() -> Cut {
    Cut { by: CutBy::Recording, why: "recording ended before the answer did".to_owned() }
}

impl CallWriter {
    /// Begins a call. From here on it gets a line in the journal, however it ends.
    pub(super) fn begin(state: &Arc<RecorderState>, call: &PendingCall) -> CallWriter {
        let began = state.begun.fetch_add(1, Ordering::Relaxed);
        state.count(|tally| tally.begin(call.caller.as_deref()));
        let entry = LoggedCall {
            began,
            ended: began,
            at: Some(clock::now()),
            api: call.api,
            caller: call.caller.clone(),
            method: call.method.to_string(),
            path: call.target().stored().into_owned(),
            request: call.request.clone(),
            headers: http::checked_headers(&call.headers),
            response: Response::of(0, "", Body::Text(String::new())),
            cut: None,
            errors: state.options.errors,
            scrub: Fired::new(),
            places: Arc::default(),
        };
        let (state, model, arrivals) = (state.clone(), call.model.clone(), Arrivals::begin());
        CallWriter { state, entry, is_written: false, failed: None, model, bytes: Vec::new(), arrivals }
    }

    /// Notes the status and the content type of the answer.
    pub(super) fn begin_answer(&mut self, status: u16, content_type: &str) {
        self.state.answered.fetch_add(1, Ordering::Relaxed);
        self.failed = (status >= 400).then(|| self.state.begun.load(Ordering::Relaxed));
        self.entry.response = Response::of(status, content_type, Body::Text(String::new()));
        self.arrivals.note(0);
    }

    /// Whether a good answer comes as a stream.
    pub(super) fn streams(&self) -> bool {
        self.entry.response.status < 400 && self.received(Vec::new()).is_stream()
    }

    /// The response with these bytes, or with none and the status 0 if it has not begun.
    fn received(&self, bytes: Vec<u8>) -> Response {
        let Response { status, content_type, .. } = &self.entry.response;
        Response::received(*status, content_type, bytes)
    }

    /// Adds the next bytes of the answer.
    pub(super) fn take(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.arrivals.note(self.bytes.len());
    }

    /// Whether the bytes so far are a complete answer. Some providers keep the connection open after it.
    pub(super) fn is_whole(&self) -> bool {
        wire::decode_response(self.entry.api, &self.received(self.bytes.clone())).is_ok()
    }

    /// Writes the line with the answer as far as it came. `cut` says why it is not complete.
    /// Fails if the journal cannot be written, with what the client is told. The recording has ended then.
    pub(super) fn write(&mut self, cut: Option<Cut>) -> Result<(), String> {
        let bytes = std::mem::take(&mut self.bytes);
        let mut response = self.received(bytes);
        match &mut response.body {
            _ if !self.state.options.delays => {}
            Body::Frames(frames) => *frames = frames.clone().with_delays(&self.arrivals.delays(frames)),
            _ => response.delay = self.arrivals.whole(),
        }
        self.append(response, cut, false)
    }

    /// Writes the line with an answer from an earlier recording, for which the provider was not asked again.
    /// Fails if the journal cannot be written, as [`CallWriter::write`] does.
    pub(super) fn write_recalled(&mut self, response: Response) -> Result<(), String> {
        self.state.answered.fetch_add(1, Ordering::Relaxed);
        self.append(response, None, true)
    }

    fn append(&mut self, response: Response, cut: Option<Cut>, recalled: bool) -> Result<(), String> {
        if std::mem::replace(&mut self.is_written, true) {
            return Ok(());
        }
        let CallWriter { state, entry, .. } = self;
        let is_over = state.is_over.load(Ordering::SeqCst);
        entry.cut = cut.map(|cut| if is_over && cut.by == CutBy::Client { recording_ended() } else { cut });
        let answer = if entry.cut.is_none() { wire::decode_response(entry.api, &response).ok() } else { None };
        entry.ended = self.failed.unwrap_or_else(|| state.begun.load(Ordering::Relaxed));
        entry.response = response;
        entry.places = state.places.get().cloned().unwrap_or_default();
        entry.scrub_with(state.options.secrets.scrub());
        let scrubbed = state.relay.scrub(entry).map(|scrubbed| scrubbed.into_iter().for_each(|it| *entry = it));
        let saved = scrubbed.and_then(|()| state.journal.append(entry));
        let saved = saved.inspect_err(|why| state.stop(why));
        // This comes before the client gets the end of the answer, because then it can refer to the answer.
        state.learn(entry.api, entry.target(), &entry.request, &entry.response);
        if let Some(resume) = state.resume() {
            resume.learn(entry.api, entry.target(), &entry.request, &entry.response);
        }
        state.count(|tally| {
            tally.in_flight = tally.in_flight.saturating_sub(1);
            // Only calls to a model cost something.
            if !recalled && entry.target().is_post() {
                // Embeddings are no answer, but cost something.
                let input = || entry.response.body.value()?.pointer("/usage/prompt_tokens")?.as_u64();
                tally.paid(&self.model, answer.as_ref(), input());
            }
        });
        saved
    }
}

impl Drop for CallWriter {
    fn drop(&mut self) {
        let left = || Cut { by: CutBy::Client, why: "the client left before the answer began".to_owned() };
        let _ = self.write(Some(if self.entry.response.status == 0 { left() } else { recording_ended() }));
    }
}

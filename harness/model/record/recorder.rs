//! Recording: the only place that reaches a provider.
//!
//! A call goes on with the provider's own key, its answer streams through as it comes, and both are written to the
//! journal when the answer is complete, or with the reason why it is not. What is written has lost its secrets; what the
//! system gets has not.

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderMap, Response as HttpResponse, StatusCode, header};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::last_frame;
use super::resume::{Cost, Found, Resume};
use super::tally::Tally;
use super::upstream::Upstreams;
use crate::clients::Clients;
use crate::clients::reqwest_reason;
use crate::error::Result;
use crate::fixture::call_log::{CallLog, LoggedCall};
use crate::json::Json;
use crate::model::activity::InFlight;
use crate::model::http;
use crate::model::miss::Reason;
use crate::secrets::{Fired, Secrets};
use crate::wire::{self, Api, Body, Response};

/// Passes calls on and writes the journal.
#[derive(Debug)]
pub struct Recorder {
    upstreams: Upstreams,
    clients: Clients,
    shared: Arc<Shared>,
    before_paying: Option<BeforePaying>,
}

/// How to record.
#[derive(Clone)]
pub struct RecorderOptions {
    /// What must not be written.
    pub secrets: Secrets,
    /// Whether a provider's errors become turns.
    pub errors: bool,
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
struct Shared {
    journal: CallLog,
    options: RecorderOptions,
    begun: AtomicUsize,
    troubles: Mutex<Vec<String>>,
    /// Why no call is passed on any more.
    stopped: Mutex<Option<String>>,
    tally: Mutex<Tally>,
}

/// Told before the first call of a resumed recording goes to the provider: how the call came, and what is to be expected.
struct BeforePaying(Box<Tell>);

type Tell = dyn Fn(&str, Cost) + Send + Sync;

impl std::fmt::Debug for BeforePaying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BeforePaying")
    }
}

/// How long the end of a stream is waited for behind the frame that ends the answer.
const END_OF_STREAM: Duration = Duration::from_millis(250);

/// A call that is passed on.
#[derive(Clone)]
pub(crate) struct PendingCall {
    pub(crate) api: Api,
    pub(crate) provider: Api,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) caller: Option<String>,
    pub(crate) model: String,
    pub(crate) request: Json,
}

impl Recorder {
    /// A recorder that writes to a journal. A provider's key follows no redirect: it is for the address that was configured.
    #[must_use]
    pub fn new(upstreams: Upstreams, journal: CallLog, options: RecorderOptions) -> Recorder {
        let shared = Shared {
            journal,
            options,
            begun: AtomicUsize::new(0),
            troubles: Mutex::default(),
            stopped: Mutex::default(),
            tally: Mutex::default(),
        };
        Recorder { upstreams, clients: Clients::keeping(usize::MAX), shared: Arc::new(shared), before_paying: None }
    }

    /// Tells of the first call of a resumed recording that equals no recorded one: how it came, and what is to be expected
    /// from there on.
    #[must_use]
    pub fn before_paying(self, tell: impl Fn(&str, Cost) + Send + Sync + 'static) -> Recorder {
        Recorder { before_paying: Some(BeforePaying(Box::new(tell))), ..self }
    }

    /// What went wrong with calls so far: each a line.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        self.shared.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many calls came so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.shared.begun.load(Ordering::Relaxed)
    }

    /// The calls so far, and what they cost.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes in the journal that a fixture was made of it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn close(&self) -> Result<()> {
        self.shared.journal.close()
    }

    pub(crate) fn refuse(&self, via: &str, reason: &Reason) {
        self.shared.note(&format!("{via}: {reason}"));
    }

    pub(crate) async fn pass_on(&self, call: PendingCall, in_flight: InFlight) -> HttpResponse<HttpBody> {
        if let Some(reason) = self.shared.refusal(&call) {
            return plain(&wire::error_response(call.provider, 400, "record_error", &reason));
        }
        let began = self.shared.begun.fetch_add(1, Ordering::Relaxed);
        self.shared.count(|tally| tally.begin(call.caller.as_deref()));
        // Both were scrubbed alike, so what was recorded and what is asked for are compared without secrets.
        let scrubbed = self.shared.scrubbed(&call);
        // From here on the call is journaled, however it ends.
        let mut writer = Writer {
            shared: self.shared.clone(),
            began,
            api: call.api,
            caller: call.caller.clone(),
            path: call.path_alone().to_owned(),
            model: call.model.clone(),
            request: Some(call.request.clone()),
            status: 0,
            content_type: String::new(),
            bytes: Vec::new(),
        };
        match self.shared.resume().map(|resume| resume.find(&scrubbed)) {
            Some(Found::Recorded(recorded, rendered)) => {
                writer.append(recorded, None, true);
                return http::answer(&rendered, in_flight);
            }
            Some(Found::New(Some(expected))) => {
                if let Some(BeforePaying(tell)) = &self.before_paying {
                    let caller = call.caller.as_deref().unwrap_or("unknown");
                    tell(&format!("POST {} of `{caller}`", call.path_alone()), expected);
                }
            }
            Some(Found::New(None)) | None => {}
        }
        let sent = match self.upstreams.of(call.provider) {
            Ok(upstream) => match upstream.request(&self.clients, &call.path, &call.headers) {
                Ok(request) => {
                    let unreachable =
                        |e| format!("the provider at {upstream} cannot be reached: {}", reqwest_reason(e));
                    request.body(call.body).send().await.map_err(unreachable)
                }
                Err(no_client) => Err(no_client.to_string()),
            },
            Err(unknown) => Err(unknown),
        };
        let answer = match sent {
            Ok(answer) => answer,
            Err(message) => {
                self.shared.note(&message);
                writer.write(Some(message.clone()));
                return plain(&wire::error_response(call.provider, 502, "record_error", &message));
            }
        };
        writer.status = answer.status().as_u16();
        let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        content_type.unwrap_or_default().clone_into(&mut writer.content_type);
        let (status, content_type) = (writer.status, writer.content_type.clone());
        let (sender, mut receiver) = mpsc::channel::<Bytes>(64);
        tokio::spawn(async move {
            stream_through(answer, writer, sender).await;
            drop(in_flight);
        });
        let chunks = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
        // An empty chunk is the mark of a stream that broke off.
        let chunks = chunks.map(|chunk| {
            if chunk.is_empty() { Err(std::io::Error::other("the provider left before the end")) } else { Ok(chunk) }
        });
        let mut out = HttpResponse::new(HttpBody::from_stream(chunks));
        *out.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        if let Ok(value) = content_type.parse() {
            out.headers_mut().insert(header::CONTENT_TYPE, value);
        }
        out
    }
}

/// Sends an answer on as it comes, and writes its line before the client sees the end: what it was given is then on disk.
async fn stream_through(answer: reqwest::Response, mut writer: Writer, sender: mpsc::Sender<Bytes>) {
    let api = writer.api;
    let mut stream = answer.bytes_stream();
    // A client takes the answer for whole at its last frame: that goes out when the line is written.
    let mut last: Option<Bytes> = None;
    let cut = loop {
        let next = async {
            match &last {
                None => stream.next().await,
                // Where the end does not follow, the client need not wait for it.
                Some(_) => match tokio::time::timeout(END_OF_STREAM, stream.next()).await {
                    Ok(chunk) => chunk,
                    Err(_) => Some(Ok(Bytes::new())),
                },
            }
        };
        let chunk = tokio::select! {
            chunk = next => chunk,
            () = sender.closed() => break Some(CLIENT_LEFT.to_owned()),
        };
        let out = match chunk {
            None => break None,
            Some(Err(e)) => break Some(format!("the provider left before the end: {}", reqwest_reason(e))),
            Some(Ok(chunk)) => {
                writer.bytes.extend_from_slice(&chunk);
                let is_last = !chunk.is_empty() && last_frame::is_in_last(api, &writer.bytes, chunk.len());
                match last.take() {
                    held if is_last => {
                        last = Some(chunk);
                        held
                    }
                    Some(held) => Some([held, chunk].concat().into()),
                    None => Some(chunk),
                }
            }
        };
        // An empty one would be the mark of a stream that broke off.
        let Some(out) = out.filter(|out| !out.is_empty()) else { continue };
        if sender.send(out).await.is_err() {
            break Some(CLIENT_LEFT.to_owned());
        }
    };
    let broken = cut.as_ref().is_some_and(|reason| reason != CLIENT_LEFT);
    writer.write(cut);
    if let Some(last) = last {
        // Where the client has left, it has all that it wanted.
        let _ = sender.send(last).await;
    }
    if broken {
        // The client sees what the recorder saw: a stream that breaks off.
        let _ = sender.send(Bytes::new()).await;
    }
}

const CLIENT_LEFT: &str = "the client left before the end";
const ENDED: &str = "recording ended before the answer did";

impl Shared {
    fn note(&self, line: &str) {
        let line = self.options.secrets.scrub().text(line, &mut Fired::new()).into_owned();
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The call as the journal holds it.
    fn scrubbed(&self, call: &PendingCall) -> PendingCall {
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

    fn resume(&self) -> Option<&Resume> {
        self.options.resume.as_deref()
    }

    fn count(&self, change: impl FnOnce(&mut Tally)) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut tally);
        (self.options.watch)(&tally);
    }

    /// Why a call is not passed on: it holds a secret that nobody declared, or one before it did.
    fn refusal(&self, call: &PendingCall) -> Option<String> {
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
}

impl PendingCall {
    fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

/// Writes a call's line: at its end, or when the call is dropped because its client left before the answer began.
struct Writer {
    shared: Arc<Shared>,
    began: usize,
    api: Api,
    caller: Option<String>,
    path: String,
    model: String,
    /// Taken when the line is written.
    request: Option<Json>,
    status: u16,
    content_type: String,
    bytes: Vec<u8>,
}

impl Writer {
    fn write(&mut self, cut: Option<String>) {
        let response = if self.status == 0 {
            // No answer began.
            Response { status: 0, content_type: String::new(), body: Body::Text(String::new()) }
        } else {
            Response::received(self.status, &self.content_type, std::mem::take(&mut self.bytes))
        };
        self.append(response, cut, false);
    }

    /// `recalled` is an answer that nobody was asked for anew.
    fn append(&mut self, response: Response, cut: Option<String>, recalled: bool) {
        let Some(request) = self.request.take() else { return };
        let answer = if cut.is_none() { wire::decode_response(self.api, &response).ok() } else { None };
        let mut entry = LoggedCall {
            began: self.began,
            ended: self.shared.begun.load(Ordering::Relaxed),
            api: self.api,
            caller: self.caller.take(),
            path: std::mem::take(&mut self.path),
            request,
            response,
            cut,
            errors: self.shared.options.errors,
            scrub: Fired::new(),
        };
        entry.scrub_with(self.shared.options.secrets.scrub());
        if let Err(e) = self.shared.journal.append(&entry) {
            self.shared.note(&e.to_string());
        }
        if let Some(resume) = self.shared.resume() {
            resume.learn(entry.api, &entry.request, &entry.response);
        }
        self.shared.count(|tally| {
            tally.in_flight = tally.in_flight.saturating_sub(1);
            if !recalled {
                tally.paid(&self.model, answer.as_ref());
            }
        });
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let cut = if self.status == 0 { "the client left before the answer began" } else { ENDED };
        self.write(Some(cut.to_owned()));
    }
}

fn plain(response: &Response) -> HttpResponse<HttpBody> {
    let mut out = HttpResponse::new(HttpBody::from(response.bytes()));
    *out.status_mut() = StatusCode::from_u16(response.status).unwrap_or_default();
    out.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    out.headers_mut().insert("x-should-retry", header::HeaderValue::from_static("false"));
    out
}

//! Recording: the only place that reaches a provider.
//!
//! A call goes on with the provider's own key, its answer streams through as it comes, and both are written to the
//! journal when the answer is complete, or with the reason why it is not.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderMap, Response as HttpResponse, StatusCode, header};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::activity::InFlight;
use super::last_frame;
use super::miss::Reason;
use super::resume::{Cost, Found, Resume};
use super::upstream::Upstreams;
use crate::error::{Error, Result, reqwest_reason};
use crate::fixture::journal::{Entry, Journal};
use crate::json::Json;
use crate::wire::{self, Api, Response};

/// Passes calls on and writes the journal.
#[derive(Debug)]
pub struct Recorder {
    upstreams: Upstreams,
    journal: Arc<Journal>,
    client: reqwest::Client,
    begun: Arc<AtomicUsize>,
    troubles: Arc<Mutex<Vec<String>>>,
    resume: Option<Arc<Resume>>,
    before_paying: Option<BeforePaying>,
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
pub(super) struct Passed {
    pub(super) api: Api,
    pub(super) provider: Api,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) caller: Option<String>,
    pub(super) request: Json,
}

impl Recorder {
    /// A recorder that writes to a journal.
    ///
    /// # Errors
    /// Where the HTTP client cannot be made.
    pub fn new(upstreams: Upstreams, journal: Journal) -> Result<Recorder> {
        let client = reqwest::Client::builder().no_proxy().build();
        let client = client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))?;
        let begun = Arc::new(AtomicUsize::new(0));
        let (journal, troubles) = (Arc::new(journal), Arc::default());
        Ok(Recorder { upstreams, journal, client, begun, troubles, resume: None, before_paying: None })
    }

    /// Answers what equals a recorded call from the recording. `before_paying` is told of the first call that does not:
    /// how it came, and what is to be expected from there on.
    #[must_use]
    pub fn resuming(self, resume: Arc<Resume>, before_paying: impl Fn(&str, Cost) + Send + Sync + 'static) -> Recorder {
        Recorder { resume: Some(resume), before_paying: Some(BeforePaying(Box::new(before_paying))), ..self }
    }

    /// What went wrong with calls so far: each a line.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many calls came so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Notes in the journal that a fixture was made of it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn close(&self) -> Result<()> {
        self.journal.close()
    }

    pub(super) fn refuse(&self, via: &str, reason: &Reason) {
        note(&self.troubles, format!("{via}: {reason}"));
    }

    pub(super) async fn pass_on(&self, call: Passed, in_flight: InFlight) -> HttpResponse<HttpBody> {
        let began = self.begun.fetch_add(1, Ordering::Relaxed);
        match self.resume.as_ref().map(|resume| resume.find(&call)) {
            Some(Found::Recorded(recorded, rendered)) => {
                self.writer(began, &call).append(recorded, None);
                return super::server::http(rendered, false, in_flight);
            }
            Some(Found::New(Some(expected))) => {
                if let Some(BeforePaying(tell)) = &self.before_paying {
                    let caller = call.caller.as_deref().unwrap_or("unknown");
                    tell(&format!("POST {} of `{caller}`", call.path_alone()), expected);
                }
            }
            Some(Found::New(None)) | None => {}
        }
        let writer = self.writer(began, &call);
        let sent = match self.upstreams.of(call.provider) {
            Ok(upstream) => {
                let request = upstream.request(&self.client, &call.path, &call.headers).body(call.body);
                let unreachable = |e| format!("the provider at {upstream} cannot be reached: {}", reqwest_reason(e));
                request.send().await.map_err(unreachable)
            }
            Err(unknown) => Err(unknown),
        };
        let answer = match sent {
            Ok(answer) => answer,
            Err(message) => {
                note(&self.troubles, message.clone());
                return plain(&wire::error_response(call.provider, 502, "record_error", &message));
            }
        };
        let status = answer.status().as_u16();
        let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let (sender, mut receiver) = mpsc::channel::<Bytes>(64);
        let api = writer.api;
        let content_type_sent = content_type.clone();
        tokio::spawn(async move {
            let _until_written = in_flight;
            let mut stream = answer.bytes_stream();
            let (mut bytes, mut cut) = (Vec::new(), None);
            // A client takes the answer for whole at its last frame: that goes out when the line is written.
            let mut last: Option<Bytes> = None;
            loop {
                let chunk = match (&last, stream.next()) {
                    (None, next) => next.await,
                    // Where the end does not follow, the client need not wait for it.
                    (Some(_), next) => match tokio::time::timeout(END_OF_STREAM, next).await {
                        Ok(chunk) => chunk,
                        Err(_) => Some(Ok(Bytes::new())),
                    },
                };
                let out = match chunk {
                    Some(Ok(chunk)) => {
                        bytes.extend_from_slice(&chunk);
                        let is_last = !chunk.is_empty() && last_frame::is_in_last(api, &bytes, chunk.len());
                        match last.take() {
                            held if is_last => {
                                last = Some(chunk);
                                held
                            }
                            Some(held) => Some([held, chunk].concat().into()),
                            None => Some(chunk),
                        }
                    }
                    Some(Err(e)) => {
                        cut = Some(format!("the provider left before the end: {}", reqwest_reason(e)));
                        break;
                    }
                    None => break,
                };
                let Some(out) = out else { continue };
                if sender.send(out).await.is_err() {
                    cut = Some("the client left before the end".to_owned());
                    break;
                }
            }
            // The line is written before the client sees the end: what it was given is then on disk.
            writer.write(status, &content_type, bytes, cut);
            if let Some(last) = last {
                // Where the client has left, it has all that it wanted.
                let _ = sender.send(last).await;
            }
            drop(sender);
        });
        let chunks = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
        let mut out = HttpResponse::new(HttpBody::from_stream(chunks.map(Ok::<_, std::convert::Infallible>)));
        *out.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        if let Ok(value) = content_type_sent.parse() {
            out.headers_mut().insert(header::CONTENT_TYPE, value);
        }
        out
    }
}

impl Passed {
    fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

impl Recorder {
    fn writer(&self, began: usize, call: &Passed) -> Writer {
        Writer {
            journal: self.journal.clone(),
            resume: self.resume.clone(),
            begun: self.begun.clone(),
            troubles: self.troubles.clone(),
            began,
            api: call.api,
            caller: call.caller.clone(),
            path: call.path_alone().to_owned(),
            request: call.request.clone(),
        }
    }
}

struct Writer {
    journal: Arc<Journal>,
    resume: Option<Arc<Resume>>,
    begun: Arc<AtomicUsize>,
    troubles: Arc<Mutex<Vec<String>>>,
    began: usize,
    api: Api,
    caller: Option<String>,
    path: String,
    request: Json,
}

impl Writer {
    fn write(self, status: u16, content_type: &str, bytes: Vec<u8>, cut: Option<String>) {
        let response = Response::received(status, content_type, bytes);
        if let Some(resume) = &self.resume {
            resume.learn(self.api, &self.request, &response);
        }
        self.append(response, cut);
    }

    fn append(self, response: Response, cut: Option<String>) {
        let entry = Entry {
            began: self.began,
            ended: self.begun.load(Ordering::Relaxed),
            api: self.api,
            caller: self.caller,
            path: self.path,
            request: self.request,
            response,
            cut,
        };
        if let Err(e) = self.journal.append(&entry) {
            note(&self.troubles, e.to_string());
        }
    }
}

fn note(troubles: &Mutex<Vec<String>>, line: String) {
    troubles.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

fn plain(response: &Response) -> HttpResponse<HttpBody> {
    let mut out = HttpResponse::new(HttpBody::from(response.bytes()));
    *out.status_mut() = StatusCode::from_u16(response.status).unwrap_or_default();
    out.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    out.headers_mut().insert("x-should-retry", header::HeaderValue::from_static("false"));
    out
}

//! Recording: the only place that reaches a provider.
//!
//! A call goes on with the provider's own key, its answer streams through as it comes, and both are written to the
//! journal when the answer is complete, or with the reason why it is not.

use std::env;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderMap, Response as HttpResponse, StatusCode, header};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::activity::InFlight;
use super::miss::Reason;
use crate::error::{Error, Result, reqwest_reason};
use crate::fixture::journal::{Entry, Journal};
use crate::json::Json;
use crate::wire::{self, Api, Response};

/// A provider's address and key.
#[derive(Clone)]
pub struct Upstream {
    base: String,
    key: String,
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Upstream({})", self.base)
    }
}

impl Upstream {
    /// OpenAI, or what `RETAKE_UPSTREAM_OPENAI` names; the key is that of `OPENAI_API_KEY`.
    ///
    /// # Errors
    /// Where neither variable is set: there is then nobody to ask.
    pub fn openai() -> Result<Upstream> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let (base, key) = (set("RETAKE_UPSTREAM_OPENAI"), set("OPENAI_API_KEY"));
        if base.is_none() && key.is_none() {
            return Err(Error::new("recording needs a provider, and none is configured")
                .help("set OPENAI_API_KEY for OpenAI itself")
                .help("or RETAKE_UPSTREAM_OPENAI for another address that speaks OpenAI's API: https://host/v1"));
        }
        let base = base.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
        let base = base.trim_end_matches('/').to_owned();
        url::Url::parse(&base).map_err(|e| Error::new(format!("RETAKE_UPSTREAM_OPENAI: {base:?} is no URL: {e}")))?;
        Ok(Upstream { base, key: key.unwrap_or_default() })
    }

    /// The address of a call that came to a path of ours: what follows `/v1` is appended to the base.
    fn url(&self, path: &str) -> String {
        format!("{}{}", self.base, path.strip_prefix("/v1").unwrap_or(path))
    }
}

/// Passes calls on and writes the journal.
#[derive(Debug)]
pub struct Recorder {
    upstream: Upstream,
    journal: Arc<Journal>,
    client: reqwest::Client,
    begun: Arc<AtomicUsize>,
    troubles: Arc<Mutex<Vec<String>>>,
}

/// A call that is passed on.
pub(super) struct Passed {
    pub(super) api: Api,
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
    pub fn new(upstream: Upstream, journal: Journal) -> Result<Recorder> {
        let client = reqwest::Client::builder().no_proxy().build();
        let client = client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))?;
        let begun = Arc::new(AtomicUsize::new(0));
        Ok(Recorder { upstream, journal: Arc::new(journal), client, begun, troubles: Arc::default() })
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

    pub(super) fn refuse(&self, via: &str, reason: &Reason) {
        note(&self.troubles, format!("{via}: {reason}"));
    }

    pub(super) async fn pass_on(&self, call: Passed, in_flight: InFlight) -> HttpResponse<HttpBody> {
        let began = self.begun.fetch_add(1, Ordering::Relaxed);
        let url = self.upstream.url(&call.path);
        let mut request = self.client.post(&url).body(call.body);
        for name in [header::CONTENT_TYPE, header::ACCEPT] {
            if let Some(value) = call.headers.get(&name) {
                request = request.header(name, value);
            }
        }
        let answer = match request.bearer_auth(&self.upstream.key).send().await {
            Ok(answer) => answer,
            Err(e) => {
                let message =
                    format!("the provider at {} cannot be reached: {}", self.upstream.base, reqwest_reason(e));
                note(&self.troubles, message.clone());
                let body = wire::error_response(call.api, 502, "record_error", &message);
                return plain(&body);
            }
        };
        let status = answer.status().as_u16();
        let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let (sender, mut receiver) = mpsc::channel::<Bytes>(64);
        let writer = Writer {
            journal: self.journal.clone(),
            begun: self.begun.clone(),
            troubles: self.troubles.clone(),
            began,
            api: call.api,
            caller: call.caller,
            request: call.request,
        };
        let content_type_sent = content_type.clone();
        tokio::spawn(async move {
            let _until_written = in_flight;
            let mut stream = answer.bytes_stream();
            let (mut bytes, mut cut) = (Vec::new(), None);
            while let Some(chunk) = stream.next().await {
                match chunk {
                    Ok(chunk) => {
                        bytes.extend_from_slice(&chunk);
                        if sender.send(chunk).await.is_err() {
                            cut = Some("the client left before the end".to_owned());
                            break;
                        }
                    }
                    Err(e) => {
                        cut = Some(format!("the provider left before the end: {}", reqwest_reason(e)));
                        break;
                    }
                }
            }
            // The line is written before the client sees the end: what it was given is then on disk.
            writer.write(status, &content_type, &bytes, cut);
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

struct Writer {
    journal: Arc<Journal>,
    begun: Arc<AtomicUsize>,
    troubles: Arc<Mutex<Vec<String>>>,
    began: usize,
    api: Api,
    caller: Option<String>,
    request: Json,
}

impl Writer {
    fn write(self, status: u16, content_type: &str, bytes: &[u8], cut: Option<String>) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let entry = Entry {
            began: self.began,
            ended: self.begun.load(Ordering::Relaxed),
            api: self.api,
            caller: self.caller,
            request: self.request,
            response: Response::received(status, content_type, text),
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
    let mut out = HttpResponse::new(HttpBody::from(response.body_text()));
    *out.status_mut() = StatusCode::from_u16(response.status).unwrap_or_default();
    out.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    out.headers_mut().insert("x-should-retry", header::HeaderValue::from_static("false"));
    out
}

//! A real tool server, to which requests pass through as they are.

use std::collections::HashMap;
use std::sync::Mutex as Lock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, WriteHalf};
use tokio::net::UnixStream;
use tokio::sync::{Mutex, oneshot};

use crate::clients::{Clients, reqwest_reason};
use crate::json::{Json, Layout};
use crate::system::Guarded;

/// A connection to a real server.
pub(super) enum Upstream {
    Stdio(Stdio),
    Http(Http),
}

/// A server that is one of our processes.
pub(super) struct Stdio {
    writer: Mutex<WriteHalf<UnixStream>>,
    waiting: Arc<Lock<HashMap<u64, oneshot::Sender<Json>>>>,
    next: AtomicU64,
    process: Guarded,
}

/// A server that runs already.
pub(super) struct Http {
    url: String,
    headers: Vec<(String, String)>,
    clients: Clients,
    session: Lock<Option<String>>,
}

impl Upstream {
    pub(super) fn stdio(process: Guarded, stream: UnixStream) -> Upstream {
        let (reader, writer) = tokio::io::split(stream);
        let waiting: Arc<Lock<HashMap<u64, oneshot::Sender<Json>>>> = Arc::default();
        let answered = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Ok(message) = Json::parse(line.as_bytes()) else { continue };
                let id = message.get("id").and_then(Json::as_u64).filter(|_| message.get("method").is_none());
                let waiting = id.and_then(|id| answered.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
                if let Some(waiting) = waiting {
                    // Who asked may have gone.
                    let _ = waiting.send(message);
                }
            }
            answered.lock().unwrap_or_else(PoisonError::into_inner).clear();
        });
        Upstream::Stdio(Stdio { writer: Mutex::new(writer), waiting, next: AtomicU64::new(1), process })
    }

    pub(super) fn http(url: String, headers: Vec<(String, String)>) -> Upstream {
        Upstream::Http(Http { url, headers, clients: Clients::keeping(8), session: Lock::default() })
    }

    /// Sends a request and waits for its answer: the whole JSON-RPC message.
    pub(super) async fn ask(&self, message: Json) -> Result<Json, String> {
        match self {
            Upstream::Stdio(stdio) => {
                let id = stdio.next.fetch_add(1, Ordering::Relaxed);
                let (sender, answer) = oneshot::channel();
                stdio.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
                stdio.write(with_id(message, id)).await?;
                answer.await.map_err(|_| "the server ended".to_owned())
            }
            Upstream::Http(http) => {
                let answer = http.post(&message).await?;
                answer.ok_or_else(|| "the server did not answer".to_owned())
            }
        }
    }

    /// Sends what wants no answer.
    pub(super) async fn tell(&self, message: Json) -> Result<(), String> {
        match self {
            Upstream::Stdio(stdio) => stdio.write(message).await,
            Upstream::Http(http) => http.post(&message).await.map(drop),
        }
    }

    /// Ends the server, where it is ours.
    pub(super) async fn end(&self) {
        if let Upstream::Stdio(stdio) = self {
            stdio.process.end().await;
        }
    }
}

impl Stdio {
    async fn write(&self, message: Json) -> Result<(), String> {
        let line = message.print(Layout::Compact) + "\n";
        let mut writer = self.writer.lock().await;
        writer.write_all(line.as_bytes()).await.map_err(|e| format!("the server cannot be written to: {e}"))
    }
}

impl Http {
    async fn post(&self, message: &Json) -> Result<Option<Json>, String> {
        let client = self.clients.of(&self.url).map_err(|e| e.to_string())?;
        let mut request = client.post(&self.url);
        request = request.header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        let response = request.body(message.print(Layout::Compact)).send().await.map_err(reqwest_reason)?;
        if let Some(session) = response.headers().get("mcp-session-id").and_then(|value| value.to_str().ok()) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.to_owned());
        }
        let status = response.status();
        let bytes = response.bytes().await.map_err(reqwest_reason)?;
        if !status.is_success() {
            return Err(format!("HTTP status {}: {}", status.as_u16(), String::from_utf8_lossy(&bytes)));
        }
        Ok(answer_in(&bytes, message.get("id")))
    }
}

/// The answer of this id in a body: the body itself, or one of its events.
fn answer_in(body: &[u8], id: Option<&Json>) -> Option<Json> {
    if let Ok(json) = Json::parse(body) {
        return Some(json);
    }
    let text = std::str::from_utf8(body).ok()?;
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| Json::parse(data.trim().as_bytes()).ok())
        .find(|message| message.get("id") == id && message.get("method").is_none())
}

fn with_id(mut message: Json, id: u64) -> Json {
    if let Json::Object(fields) = &mut message {
        fields.insert("id", id.into());
    }
    message
}

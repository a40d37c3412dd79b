//! The connection to a real tool server, to which requests are passed on unchanged.

use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use super::pipe::Pipe;
use retake_core::json::{Json, Layout};
use retake_model::clients::{Clients, reqwest_reason};

/// A connection to a real server.
pub(super) enum Upstream {
    /// To a server that Retake started.
    #[cfg(unix)]
    Pipe(Pipe),
    /// To a server that already runs.
    Http(Http),
}

/// A connection to a server that already runs.
pub(super) struct Http {
    url: String,
    headers: Vec<(String, String)>,
    clients: Clients,
    session: Mutex<Option<String>>,
}

impl Upstream {
    pub(super) fn http(url: String, headers: Vec<(String, String)>) -> Upstream {
        Upstream::Http(Http { url, headers, clients: Clients::keeping(8), session: Mutex::default() })
    }

    /// Sends a request, and returns the whole JSON-RPC message that answers it.
    pub(super) async fn ask(&self, message: Json) -> Result<Json, String> {
        match self {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => pipe.ask(message).await,
            Upstream::Http(http) => {
                let answer = http.post(&message).await?;
                answer.ok_or_else(|| "the server did not answer".to_owned())
            }
        }
    }

    /// Sends a notification, which gets no answer.
    pub(super) async fn tell(&self, message: Json) -> Result<(), String> {
        match self {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => pipe.tell(&message).await,
            Upstream::Http(http) => http.post(&message).await.map(drop),
        }
    }

    /// Ends the server if Retake started it.
    pub(super) async fn end(&self) {
        match self {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => pipe.end().await,
            Upstream::Http(_) => {}
        }
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

/// Returns the answer with this id from a response body, which is either the answer itself or a stream of events.
fn answer_in(body: &[u8], id: Option<&Json>) -> Option<Json> {
    if let Ok(json) = Json::parse(body) {
        return Some(json);
    }
    let text = std::str::from_utf8(body).ok()?;
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| Json::parse(data.trim().as_bytes()).ok())
        .find(|message| message.get("id") == id && message.get("method").is_none())
}

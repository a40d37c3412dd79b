//! The connection to a real tool server, to which messages are passed on unchanged.

use axum::http::{HeaderMap, Method, StatusCode};
use futures_util::StreamExt as _;
use reqwest::{RequestBuilder, Response};

use super::out::{Out, SESSION};
#[cfg(unix)]
use super::pipe::Pipe;
use super::plain::{self, Plain};
use super::traffic::{Traffic, Via};
use crate::tools::executor::Http;
use retake_core::events::{Capture, Format, Payload};
use retake_core::json::{Json, Layout};
use retake_model::clients::{reqwest_reason, sent};

/// A connection to a real server.
pub(super) enum Upstream {
    /// To a server that Retake started.
    #[cfg(unix)]
    Pipe(Pipe),
    /// To a server that already runs.
    Http(Http),
}

impl Upstream {
    /// Sends a notification or an answer, which gets no answer. Returns the server's HTTP status.
    pub(super) async fn tell(&self, message: &Json, headers: &HeaderMap) -> Result<StatusCode, String> {
        match self {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => pipe.tell(message).await.map(|()| StatusCode::ACCEPTED),
            Upstream::Http(http) => Ok(http.send(message, headers).await?.status()),
        }
    }

    /// Ends the server if Retake started it.
    pub(super) async fn end(&self) {
        match self {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => pipe.process.end().await,
            Upstream::Http(_) => {}
        }
    }
}

/// A connection to a server that already runs.
impl Http {
    /// Passes on the request of an exchange, and takes everything that the server sends in response.
    pub(super) async fn ask(&self, exchange: usize, message: &Json, headers: &HeaderMap, traffic: &Traffic, out: &Out) {
        let exchanged = async {
            let response = self.send(message, headers).await?;
            if let Some(session) = response.headers().get(SESSION).and_then(|value| value.to_str().ok()) {
                out.set_session(session);
            }
            let status = response.status();
            if !status.is_success() {
                let body = response.bytes().await.map_err(reqwest_reason)?;
                traffic.refused(exchange, status.as_u16(), &body);
                return Ok(());
            }
            if is_stream(&response) {
                return each_message(response, |message| traffic.came(&Via::Answer(exchange), message)).await;
            }
            let body = response.bytes().await.map_err(reqwest_reason)?;
            let answer = Json::parse(&body).map_err(|_| format!("the server's answer is not JSON: {status}"))?;
            traffic.came(&Via::Answer(exchange), answer);
            Ok(())
        };
        let exchanged: Result<(), String> = exchanged.await;
        // A server that closes the stream of a subscription does not answer.
        let unanswered = || "the server's response ended without an answer".to_owned();
        traffic.failed(exchange, &exchanged.err().unwrap_or_else(unanswered));
    }

    /// Passes on a request to a plain HTTP tool, and takes its answer. The suite's headers replace the agent's.
    pub(super) async fn pass_on(&self, exchange: usize, plain: &Plain, traffic: &Traffic) {
        let passed_on = async {
            // Between the agent and the double alone; and answers come as they are read.
            let mut headers = plain.headers.clone();
            for name in ["host", "connection", "content-length", "transfer-encoding", "accept-encoding"] {
                headers.remove(name);
            }
            let request = self.request(plain.method.clone(), &plain.below, headers)?;
            let response = sent(request.body(plain.body.clone())).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = response.bytes().await.map_err(reqwest_reason)?;
            traffic.returned(exchange, status, plain::result(&headers, &body));
            Ok(())
        };
        let passed_on: Result<(), String> = passed_on.await;
        if let Err(reason) = passed_on {
            traffic.failed(exchange, &reason);
        }
    }

    /// Opens the stream for what the server sends without being asked. Returns the status with which the server refused it, if it
    /// did.
    pub(super) async fn listen(&self, headers: &HeaderMap) -> Result<Result<Response, StatusCode>, String> {
        let response = self.of_protocol(Method::GET, headers)?.header("accept", "text/event-stream");
        let response = sent(response).await?;
        let status = response.status();
        Ok(if status.is_success() && is_stream(&response) { Ok(response) } else { Err(status) })
    }

    /// Ends a session.
    pub(super) async fn delete(&self, headers: &HeaderMap) -> Result<StatusCode, String> {
        Ok(sent(self.of_protocol(Method::DELETE, headers)?).await?.status())
    }

    async fn send(&self, message: &Json, headers: &HeaderMap) -> Result<Response, String> {
        let request = self.of_protocol(Method::POST, headers)?.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        sent(request.body(message.print(Layout::Compact))).await
    }

    /// A request with the suite's headers, and with those of the agent that belong to the protocol: its version, the session, and
    /// the parts of the message that are repeated there.
    fn of_protocol(&self, method: Method, headers: &HeaderMap) -> Result<RequestBuilder, String> {
        let of_protocol = headers.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
        self.request(method, "", of_protocol.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().starts_with("text/event-stream")
}

/// Takes each JSON-RPC message of a stream of server-sent events as it comes.
pub(super) async fn each_message(response: Response, mut take: impl FnMut(Json)) -> Result<(), String> {
    let mut capture = Capture::with_format(Format::Sse);
    let mut body = response.bytes_stream();
    while let Some(bytes) = body.next().await {
        for event in capture.push(&bytes.map_err(reqwest_reason)?) {
            if let Payload::Data(data) = &event.payload
                && let Ok(message) = Json::parse(data.as_bytes())
            {
                take(message);
            }
        }
    }
    Ok(())
}

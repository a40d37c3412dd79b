//! The way on which a double sends an agent messages, and the HTTP responses that carry them.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::plain;
use retake_core::json::{Json, Layout};

/// The header in which a server gives a client its session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The way to an agent: the answer to one of its requests over HTTP, or a stream that it keeps open.
#[derive(Clone, Debug)]
pub(super) struct Out {
    sender: UnboundedSender<Sent>,
    session: Arc<OnceLock<String>>,
}

/// The other end of an [`Out`].
pub(super) struct Outlet {
    receiver: UnboundedReceiver<Sent>,
    session: Arc<OnceLock<String>>,
}

/// A JSON-RPC message, or a string that is the whole body; with the HTTP status if it is not 200.
type Sent = (Json, Option<u16>);

pub(super) fn channel() -> (Out, Outlet) {
    let (sender, receiver) = unbounded_channel();
    let session = Arc::default();
    (Out { sender, session: Arc::clone(&session) }, Outlet { receiver, session })
}

impl Out {
    /// Sends a message. If the agent has hung up, nobody needs it.
    pub(super) fn send(&self, message: Json) {
        let _ = self.sender.send((message, None));
    }

    /// Sends the answer to a request.
    pub(super) fn answer(&self, id: &Json, answer: &Result<Json, Json>, status: Option<u16>) {
        let message = match answer {
            Err(Json::Str(body)) if status.is_some() => Json::Str(body.clone()),
            Ok(result) => message([("id", id.clone()), ("result", result.clone())]),
            Err(error) => message([("id", id.clone()), ("error", error.clone())]),
        };
        let _ = self.sender.send((message, status));
    }

    /// Closes the connection without an answer.
    pub(super) fn lose(&self) {
        self.send(Json::Null);
    }

    /// Gives the agent a session. It has to be set before the first message.
    pub(super) fn set_session(&self, session: &str) {
        // An answer belongs to one session only.
        let _ = self.session.set(session.to_owned());
    }

    /// Waits until the agent hangs up.
    pub(super) async fn closed(&self) {
        self.sender.closed().await;
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    pub(super) fn is_same(&self, other: &Out) -> bool {
        self.sender.same_channel(&other.sender)
    }
}

pub(super) fn message<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::object([("jsonrpc", Json::from("2.0"))].into_iter().chain(fields))
}

/// A response whose connection is closed before its head is written, by an error at the very beginning of its body.
fn lost() -> Response {
    Response::new(Body::from_stream(stream::once(async { Err::<Bytes, _>(std::fmt::Error) })))
}

impl Outlet {
    /// The response to a request to a plain HTTP tool.
    pub(super) async fn plain(mut self) -> Response {
        let Some((message, status)) = self.receiver.recv().await else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        match (message.get("result"), message.get("error")) {
            (Some(result), _) => plain::response(Ok(result), status),
            (_, Some(error)) => plain::response(Err(error), status),
            (None, None) => lost(),
        }
    }

    /// The response to a request: the answer alone as JSON, or a stream if the server sends something before its answer.
    pub(super) async fn response(mut self) -> Response {
        let Some((message, status)) = self.receiver.recv().await else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let session = self.session.get().and_then(|session| HeaderValue::from_str(session).ok());
        let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
        let mut response = match message {
            Json::Str(text) => (status, text).into_response(),
            Json::Null => lost(),
            answer if answer.get("method").is_none() => {
                let body = answer.print(Layout::Compact);
                (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
            }
            first => self.events(Some(first)),
        };
        if let Some(session) = session {
            response.headers_mut().insert(SESSION, session);
        }
        response
    }

    /// A stream of server-sent events, which begins with a message that was already received.
    pub(super) fn events(self, first: Option<Json>) -> Response {
        let event = |message: &Json| format!("event: message\ndata: {}\n\n", message.print(Layout::Compact));
        ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], self.body(first, event))
            .into_response()
    }

    /// A stream with one message on each line.
    pub(super) fn lines(self) -> Response {
        self.body(None, |message| message.print(Layout::Compact) + "\n").into_response()
    }

    fn body(self, first: Option<Json>, print: fn(&Json) -> String) -> Body {
        Body::from_stream(stream::unfold((self, first), move |(mut outlet, first)| async move {
            let next = match first {
                Some(first) => first,
                None => outlet.receiver.recv().await?.0,
            };
            Some((Ok::<Bytes, Infallible>(print(&next).into()), (outlet, None)))
        }))
    }
}

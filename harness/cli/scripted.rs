//! A provider in this process: a server that answers calls of models by a function.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_wire::{self as wire, Api, Target};

/// The most that one request may hold.
const LIMIT: usize = 256 << 20;

/// A free port of loopback.
pub(crate) const FREE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Listens at an address until the runtime ends.
/// Fails if it is in use.
pub(crate) async fn listen<F>(address: SocketAddr, answer: F) -> Result<SocketAddr>
where
    F: Fn(&Parts, &Bytes) -> wire::Response + Clone + Send + Sync + 'static,
{
    let failed = |e: std::io::Error| Error::new(format!("failed to listen on {address}: {e}"));
    let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let answer = move |request: Request| {
        let answer = answer.clone();
        async move {
            let (parts, body) = request.into_parts();
            match axum::body::to_bytes(body, LIMIT).await {
                Ok(body) => respond(&answer(&parts, &body)),
                Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
            }
        }
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    Ok(address)
}

/// The path of a request, with its query.
pub(crate) fn path(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |path| path.as_str())
}

/// Reads the API and the body of a call.
/// The error is the answer to what is not one.
pub(crate) fn chat(target: Target<'_>, body: &Bytes) -> Result<(Api, Json), wire::Response> {
    let Some(api) = target.api() else {
        return Err(refused(Api::OpenAiChat, &format!("{} {} is not a chat call", target.method, target.path)));
    };
    let body = wire::chat_body(body).map_err(|reason| refused(api, &format!("the request is {reason}")))?;
    Ok((api, body))
}

/// An answer that no client tries to get again.
pub(crate) fn refused(api: Api, what: &str) -> wire::Response {
    wire::error_response(api, 404, "replay_miss", what)
}

fn respond(response: &wire::Response) -> Response {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = HeaderMap::new();
    headers.extend(response.content_type.parse().ok().map(|kind| (header::CONTENT_TYPE, kind)));
    // Official SDKs try again otherwise.
    headers.extend("false".parse().ok().map(|no| (header::HeaderName::from_static("x-should-retry"), no)));
    (status, headers, response.bytes()).into_response()
}

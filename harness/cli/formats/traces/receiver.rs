//! A receiver of OTLP over HTTP, which a service is pointed at instead of its collector.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;

use retake::__private::report::terminal;
use retake::__private::run::Signals;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::{Json, Layout};
use retake_core::secrets::Scrub;

use super::imported::Traces;
use super::redact::Redactor;
use super::span::Span;
use super::{otlp, protobuf};
use crate::formats::body::unpacked;

/// The most that one request may hold.
const LIMIT: usize = 256 << 20;

type Received = Arc<Mutex<Vec<Span>>>;

/// Receives traces and log records until a signal ends it. Prints one line of JSON when it is ready.
/// Fails if the address is not loopback, or is in use.
pub(crate) fn receive(address: SocketAddr, redactor: &mut Redactor, scrub: &Scrub) -> Result<Traces> {
    if !address.ip().is_loopback() {
        return Err(Error::new(format!("{address} is not a loopback address, so others could send traces"))
            .help("use 127.0.0.1:4318"));
    }
    let received = Received::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
    let served = runtime.block_on(async {
        // Listen before printing the line that says it is ready: its reader may send a signal at once.
        let mut ended = Signals::listen()?;
        let failed = |e: std::io::Error| Error::new(format!("failed to listen on {address}: {e}"));
        let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let endpoint = format!("http://{address}");
        terminal::out(Json::object([("endpoint", Json::from(endpoint.as_str()))]).print(Layout::Python));
        terminal::note(format!(
            "set OTEL_EXPORTER_OTLP_ENDPOINT={endpoint} for the service; Ctrl-C writes the fixture"
        ));
        let (traces, logs) = (received.clone(), received.clone());
        let router = Router::new()
            .route(
                "/v1/traces",
                post(move |headers: HeaderMap, body: Bytes| async move { answer(false, &headers, &body, &traces) }),
            )
            .route(
                "/v1/logs",
                post(move |headers: HeaderMap, body: Bytes| async move { answer(true, &headers, &body, &logs) }),
            )
            // A service that is told one endpoint sends its metrics there too; they hold no calls.
            .route("/v1/metrics", post(|headers: HeaderMap| async move { accepted(&headers) }))
            .layer(DefaultBodyLimit::max(LIMIT));
        tokio::select! {
            served = axum::serve(listener, router) => served.map_err(failed),
            _ = ended.wait() => Ok(()),
        }
    });
    served?;
    let spans = std::mem::take(&mut *received.lock());
    Ok(Traces::of_spans(otlp::join_records(spans), redactor, scrub))
}

fn answer(logs: bool, headers: &HeaderMap, body: &[u8], received: &Received) -> Response {
    match spans(logs, headers, body) {
        Ok(spans) => {
            received.lock().extend(spans);
            accepted(headers)
        }
        Err(reason) => {
            terminal::note(format!("refused: {reason}"));
            (StatusCode::BAD_REQUEST, reason).into_response()
        }
    }
}

/// An empty response of the same type as the request.
fn accepted(headers: &HeaderMap) -> Response {
    let json = is_json(headers);
    let kind = HeaderValue::from_static(if json { "application/json" } else { "application/x-protobuf" });
    ([(header::CONTENT_TYPE, kind)], if json { "{}" } else { "" }).into_response()
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).is_some_and(|kind| kind.contains("json"))
}

fn spans(logs: bool, headers: &HeaderMap, body: &[u8]) -> Result<Vec<Span>, String> {
    let encodings = headers.get(header::CONTENT_ENCODING).and_then(|encoding| encoding.to_str().ok());
    let body = &unpacked(body.to_vec(), encodings.unwrap_or_default())?;
    let message = if is_json(headers) {
        Json::parse_request(body).map_err(|e| format!("not JSON: {e}"))?
    } else {
        protobuf::to_json(logs, body)?
    };
    otlp::spans(&message)
}

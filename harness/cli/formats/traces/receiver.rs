//! A receiver of OTLP over HTTP, which a service is pointed at instead of its collector.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use axum::http::request::Parts;
use opentelemetry_proto::tonic::logs::v1::LogsData;
use opentelemetry_proto::tonic::trace::v1::TracesData;
use prost::Message;
use retake_wire::{Body, Response};
use serde::Serialize;

use retake::__private::report::terminal;
use retake::__private::run::Signals;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::{Json, Layout};
use retake_model::kept;

use super::otlp;
use super::span::Span;
use crate::formats::body::unpacked;
use crate::scripted;

/// Receives traces and log records until a signal ends it. Prints one line of JSON when it is ready.
/// Fails if the address is not loopback, or is in use.
pub(crate) fn receive(address: SocketAddr) -> Result<Vec<Span>> {
    if !address.ip().is_loopback() {
        return Err(Error::new(format!("{address} is not a loopback address, so others could send traces"))
            .help("use 127.0.0.1:4318"));
    }
    let received: Arc<Mutex<Vec<Span>>> = Arc::default();
    let of_requests = received.clone();
    kept::outliving()?.block_on(async {
        // Listen before printing the line that says it is ready: its reader may send a signal at once.
        let mut ended = Signals::listen()?;
        let address = scripted::listen(address, move |parts, body| answer(parts, body, &of_requests)).await?;
        let endpoint = format!("http://{address}");
        terminal::out(Json::object([("endpoint", Json::from(endpoint.as_str()))]).print(Layout::Python));
        let set = format!("set OTEL_EXPORTER_OTLP_ENDPOINT={endpoint} for the service");
        terminal::note(format!("{set}; Ctrl-C writes the fixture"));
        ended.wait().await;
        Ok::<_, Error>(())
    })?;
    let spans = std::mem::take(&mut *received.lock());
    Ok(otlp::join_records(spans))
}

fn answer(parts: &Parts, body: &[u8], received: &Mutex<Vec<Span>>) -> Response {
    let header = |name: &HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_json = header(&CONTENT_TYPE).contains("json");
    let read = unpacked(body.to_vec(), header(&CONTENT_ENCODING)).and_then(|body| match parts.uri.path() {
        // A service that is told one endpoint sends its metrics there too; they hold no calls.
        "/v1/metrics" => Ok(Vec::new()),
        _ if is_json => otlp::spans(&Json::parse_request(&body).map_err(|e| format!("not JSON: {e}"))?),
        "/v1/logs" => otlp::spans(&of_protobuf::<LogsData>(&body)?),
        "/v1/traces" => otlp::spans(&of_protobuf::<TracesData>(&body)?),
        other => Err(format!("{other} is none of /v1/traces, /v1/logs, /v1/metrics")),
    });
    match read {
        Ok(spans) => {
            received.lock().extend(spans);
            let (kind, body) = if is_json { ("application/json", "{}") } else { ("application/x-protobuf", "") };
            Response::of(200, kind, Body::Text(body.to_owned()))
        }
        Err(reason) => {
            terminal::note(format!("refused: {reason}"));
            Response::of(400, "text/plain", Body::Text(reason))
        }
    }
}

/// The JSON that OTLP has for a message of protobuf, so that one reader serves both.
/// An error says what is wrong with the bytes.
pub(super) fn of_protobuf<M: Message + Default + Serialize>(bytes: &[u8]) -> Result<Json, String> {
    let message = M::decode(bytes).map_err(|e| format!("not an OTLP message: {e}"))?;
    let json = serde_json::to_vec(&message).map_err(|e| e.to_string())?;
    Json::parse(&json).map_err(|e| e.to_string())
}

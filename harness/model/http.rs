//! Reads HTTP requests and writes HTTP responses.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response as HttpResponse, Uri, header};
use futures_util::{Stream, StreamExt as _};
use tokio::time::Instant;

use super::activity::InFlight;
use super::route;
use retake_wire::{self as wire, Api, Body, Frames, Response, Target};

/// The largest request that is read, in bytes.
const MAX_BODY: usize = 256 << 20;

/// A request that was read to its end.
pub(super) struct Incoming {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Why the body cannot be read, or `None` if it can.
    pub(super) unreadable: Option<String>,
    /// When its last byte came.
    pub(super) arrived: Instant,
}

impl Incoming {
    /// Reads a request to its end.
    pub(super) async fn read(request: Request<HttpBody>) -> Incoming {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, MAX_BODY).await;
        let body = body.map_err(|_| format!("the body broke off, or is larger than {} MB", MAX_BODY >> 20));
        let body = body.and_then(|body| unpacked(&parts.headers, body));
        let unreadable = body.as_ref().err().cloned();
        let (method, uri, headers) = (parts.method, parts.uri, parts.headers);
        Incoming { method, uri, headers, body: body.unwrap_or_default(), unreadable, arrived: Instant::now() }
    }

    /// Returns the method and path: `POST /v1/chat/completions`. The query is left out, because it may hold a key.
    pub(super) fn via(&self) -> String {
        [self.method.as_str(), " ", self.uri.path()].concat()
    }

    /// The path with its query.
    pub(super) fn path_and_query(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The method, and the path with its query.
    pub(super) fn target(&self) -> Target<'_> {
        Target { method: self.method.as_str(), path: self.path_and_query() }
    }

    /// Returns the API that decides the form of error responses.
    pub(super) fn provider(&self) -> Api {
        if (&self.method, self.uri.path()) == (&Method::HEAD, "/") {
            // This is how Ollama's clients check whether it is running.
            return Api::Ollama;
        }
        self.target().api().unwrap_or_else(|| route::provider(self.uri.path(), &self.headers))
    }

    /// Whether the request brings the key, in any of the ways in which providers accept it. A server that `records` spends
    /// money, so it does not accept a key in the query from a page in a browser: any page could send such a request.
    pub(super) fn brings_key(&self, key: &str, records: bool) -> bool {
        let header = |name: &HeaderName| self.headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = || header(&header::AUTHORIZATION)?.split_once(' ').map(|(_, token)| token.trim());
        let in_query = |query: &str| {
            url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "key" && value == key)
        };
        bearer() == Some(key)
            || KEY_HEADERS.iter().any(|name| header(name) == Some(key))
            || (self.uri.query().is_some_and(in_query) && !(records && self.is_of_a_page()))
    }

    /// Whether the request names a loopback host. Any other name could be that of a page that leads to this machine.
    pub(super) fn names_loopback(&self) -> bool {
        let host = self.uri.host().or_else(|| {
            let host = self.headers.get(header::HOST)?.to_str().ok()?;
            // Without the port; an IPv6 address is in brackets.
            Some(host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(host, _)| host))
        });
        let Some(host) = host.map(|host| host.trim_end_matches('.').to_ascii_lowercase()) else { return false };
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        address.map_or_else(|_| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
    }

    /// Whether a browser sent the request on behalf of another server's page.
    pub(super) fn is_of_a_page(&self) -> bool {
        let header = |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok());
        let own = header("host").map(|host| format!("http://{host}"));
        header("origin").is_some_and(|origin| Some(origin) != own.as_deref())
            || matches!(header("sec-fetch-site"), Some("cross-site" | "same-site"))
    }
}

/// The headers that may hold a key, in addition to `Authorization`.
static KEY_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// Returns the HTTP response. The call is under way until the last byte of the body is taken.
pub(super) fn answer(response: &Response, in_flight: InFlight) -> HttpResponse<HttpBody> {
    answer_in(response, Vec::new(), in_flight)
}

/// The same as [`answer`], but each piece of the body waits for as many milliseconds as `delays` says, and the head for as many as
/// the first piece.
pub(super) async fn answer_in_time(
    response: &Response,
    mut delays: Vec<u32>,
    in_flight: InFlight,
) -> HttpResponse<HttpBody> {
    if let Some(first) = delays.first_mut() {
        tokio::time::sleep(Duration::from_millis(std::mem::take(first).into())).await;
    }
    answer_in(response, delays, in_flight)
}

fn answer_in(response: &Response, delays: Vec<u32>, in_flight: InFlight) -> HttpResponse<HttpBody> {
    let body = match &response.body {
        Body::Frames(frames) if frames.is_open() || delays.iter().any(|delay| *delay > 0) => {
            HttpBody::from_stream(in_time(frames, delays, in_flight))
        }
        // Each frame is a chunk of its own, as it was while recording: a system has to be able to read that.
        Body::Frames(frames) => {
            let frames = futures_util::stream::iter(frames.bytes()).map(move |frame| {
                let _until_sent = &in_flight;
                Ok::<_, Infallible>(frame)
            });
            HttpBody::from_stream(frames)
        }
        body => {
            drop(in_flight);
            bytes_of(body)
        }
    };
    headed(response, body)
}

/// Returns a body that is sent as a whole.
pub(super) fn bytes_of(body: &Body) -> HttpBody {
    match body {
        Body::Json(json) => json.bytes().into(),
        Body::Text(text) => text.clone().into(),
        Body::Binary(bytes) => bytes.clone().into(),
        Body::Frames(frames) => frames.text().into(),
    }
}

/// Returns an HTTP response with the status and content type of `response`.
pub(super) fn headed(response: &Response, body: HttpBody) -> HttpResponse<HttpBody> {
    let mut out = HttpResponse::new(body);
    *out.status_mut() = axum::http::StatusCode::from_u16(response.status).unwrap_or_default();
    if let Some(content_type) = content_type(&response.content_type) {
        out.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    out
}

/// Streams frames, each after its wait, and without an end if the client left before the end when they were recorded.
fn in_time(
    frames: &Frames,
    delays: Vec<u32>,
    in_flight: InFlight,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
    let open = frames.is_open();
    let state = (frames.bytes(), delays.into_iter(), Some(in_flight));
    futures_util::stream::unfold(state, move |(mut frames, mut waits, mut in_flight)| async move {
        let Some(frame) = frames.next() else {
            if open {
                // The stream stays open until the client leaves, but the call no longer counts as under way.
                let _held = in_flight.take().map(InFlight::hold);
                std::future::pending::<()>().await;
            }
            return None;
        };
        if let Some(wait @ 1..) = waits.next() {
            tokio::time::sleep(Duration::from_millis(wait.into())).await;
        }
        Some((Ok(frame), (frames, waits, in_flight)))
    })
}

/// Returns the HTTP response for one of Retake's own errors, which SDKs neither retry nor hide.
pub(super) fn final_error(response: &Response, in_flight: InFlight) -> HttpResponse<HttpBody> {
    let mut out = answer(response, in_flight);
    out.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    out
}

/// Returns a content type as a header value, or `None` if it is not valid in a header.
fn content_type(text: &str) -> Option<HeaderValue> {
    // The common content types need neither a check nor a copy.
    ["application/json", "text/event-stream; charset=utf-8", "text/event-stream"]
        .into_iter()
        .find(|common| *common == text)
        .map_or_else(|| text.parse().ok(), |common| Some(HeaderValue::from_static(common)))
}

/// Returns the body of a request without its content encoding.
/// Fails if it cannot be read, or is not one of HTTP.
fn unpacked(headers: &HeaderMap, body: Bytes) -> Result<Bytes, String> {
    let says = |name: HeaderName, word: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().starts_with(word))
    };
    if says(header::UPGRADE, "websocket") {
        return Err("it opens a websocket, and realtime is not supported".to_owned());
    }
    if says(header::CONTENT_TYPE, "application/grpc") {
        return Err("it is a call of gRPC, which is not supported".to_owned());
    }
    let codings = headers.get_all(header::CONTENT_ENCODING).iter().map(|coding| coding.to_str().unwrap_or("?"));
    match codings.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => Ok(body),
        codings => wire::Decoder::whole(&codings, body).map_err(|why| format!("its body {why}")),
    }
}

//! Reads HTTP requests and writes HTTP responses.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::Response as HttpResponse;
use futures_util::{Stream, StreamExt as _};
use subtle::ConstantTimeEq as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::activity::InFlight;
use super::hold::HeldPiece;
use super::route;
use retake_core::json::Json;
use retake_core::places::RunValues;
use retake_wire::{self as wire, Api, Body, Frames, Response, Target};

/// The largest request that is read, in bytes.
const MAX_BODY: usize = 256 << 20;
/// Bodies up to this size, in bytes, are read at once, and larger ones when there is room for them.
const SMALL: usize = 1 << 20;
/// How much of the body of a refused request is taken, in bytes. A client that is still sending would not read why it was refused.
const REFUSED: usize = 16 << 20;

/// The room for large bodies of one server. A call keeps its room until it is answered.
#[derive(Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    /// Room for two of the largest bodies.
    fn default() -> Room {
        Room(Arc::new(Semaphore::new(2 * MAX_BODY)))
    }
}

impl Room {
    /// Waits until there is room for a body.
    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        // All of its room is taken at once: two that each wait for the rest would wait forever.
        self.0.clone().acquire_many_owned(u32::try_from(bytes).ok()?).await.ok()
    }
}

/// A request: its head, and its body once that is read.
pub(super) struct Incoming {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Why the body cannot be read, or `None` if it can.
    pub(super) unreadable: Option<String>,
    /// When its last byte came.
    pub(super) arrived: Instant,
    /// The values of the run that were taken back from the body.
    pub(super) values: RunValues,
    room: Option<OwnedSemaphorePermit>,
}

impl Incoming {
    /// Parts a request into its head and its body, which is not read yet.
    pub(super) fn new(request: Request) -> (Incoming, HttpBody) {
        let (parts, sent) = request.into_parts();
        let (method, uri, headers) = (parts.method, parts.uri, parts.headers);
        let (body, values) = (Bytes::new(), RunValues::default());
        (Incoming { method, uri, headers, body, unreadable: None, arrived: Instant::now(), values, room: None }, sent)
    }

    /// Reads the body.
    pub(super) async fn read(&mut self, body: HttpBody, room: &Room) {
        let (least, most) = (body.size_hint().lower(), body.size_hint().upper());
        let least = usize::try_from(least).unwrap_or(usize::MAX);
        let read = if least > MAX_BODY {
            None
        } else if most.is_some_and(|most| most == least as u64) {
            if least > SMALL {
                self.room = room.take(least).await;
            }
            axum::body::to_bytes(body, MAX_BODY).await.ok()
        } else {
            self.pieces(body, room).await
        };
        let read = read.ok_or_else(|| format!("the body broke off, or is larger than {} MB", MAX_BODY >> 20));
        match read.and_then(|body| unpacked(&self.headers, body)) {
            Ok(body) => self.body = body,
            Err(what) => self.unreadable = Some(what),
        }
        self.arrived = Instant::now();
    }

    /// Reads a body that does not say how long it is. `None` if it breaks off, or is too large.
    async fn pieces(&mut self, body: HttpBody, room: &Room) -> Option<Bytes> {
        let (mut pieces, mut read) = (body.into_data_stream(), Vec::new());
        while let Some(piece) = pieces.next().await {
            let piece = piece.ok()?;
            let length = read.len() + piece.len();
            if length > MAX_BODY {
                return None;
            }
            if length > SMALL && self.room.is_none() {
                self.room = room.take(MAX_BODY).await;
            }
            read.extend_from_slice(&piece);
        }
        Some(read.into())
    }

    /// Returns the method and path: `POST /v1/chat/completions`. The query is left out, because it may hold a key.
    pub(super) fn via(&self) -> String {
        [self.method.as_str(), " ", self.uri.path()].concat()
    }

    /// The method, and the path with its query.
    pub(super) fn target(&self) -> Target<'_> {
        Target { method: self.method.as_str(), path: self.uri.path_and_query().map_or("/", |path| path.as_str()) }
    }

    /// Returns the API that decides the form of error responses.
    pub(super) fn provider(&self) -> Api {
        if (&self.method, self.uri.path()) == (&Method::HEAD, "/") {
            // This is how Ollama's clients check whether it is running.
            return Api::Ollama;
        }
        let spoken = self.target().api().filter(|api| api.is_spoken());
        spoken.unwrap_or_else(|| route::provider(self.uri.path(), &self.headers))
    }

    /// Whether the request brings the key, in any of the ways in which providers accept it.
    pub(super) fn brings_key(&self, key: &str) -> bool {
        self.keys().any(|brought| is_same_key(&brought, key))
    }

    /// The keys that the request brings, the right one or another.
    pub(super) fn keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let bearer = self.header("authorization").and_then(|header| {
            let (scheme, value) = header.split_once(' ')?;
            // AWS's clients sign with a secret that nobody has here: the id of the key is the key.
            let signed = value.split(',').find_map(|part| part.trim().strip_prefix("Credential=")?.split('/').next());
            if scheme == "AWS4-HMAC-SHA256" { signed } else { Some(value.trim()) }
        });
        let named = KEY_HEADERS.iter().filter_map(|name| self.headers.get(name)?.to_str().ok());
        let query = url::form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes());
        let in_query = query.filter_map(|(name, value)| (name == "key").then_some(value));
        bearer.into_iter().chain(named).map(Cow::Borrowed).chain(in_query).filter(|key| !key.is_empty())
    }

    /// Why the request may come from a page that has nothing to do with this server; `None` if it does not. A program that has the
    /// key may reach the server by any name, as from a container. A browser sends what any page tells it to.
    pub(super) fn foreign(&self, has_key: bool) -> Option<&'static str> {
        let origin = self.header("origin");
        let site = self.header("sec-fetch-site");
        // Node sends `Sec-Fetch-Mode` too, but no other header of a browser.
        let is_of_a_browser = origin.is_some()
            || ["site", "dest", "user"].iter().any(|what| self.headers.contains_key(format!("sec-fetch-{what}")));
        if has_key && !is_of_a_browser {
            return None;
        }
        let host = self.uri.authority().map(Authority::as_str).or_else(|| self.header("host"));
        if !host.is_some_and(is_loopback) {
            return Some("this answers only to loopback names: http://127.0.0.1 or http://localhost");
        }
        let own = host.map(|host| format!("http://{host}"));
        let is_near = |origin: &str| {
            // A service on this machine may pass on what its page sent, and add the key.
            let of_machine = || origin.split_once("://").is_some_and(|(_, host)| is_loopback(host));
            Some(origin) == own.as_deref() || (has_key && of_machine())
        };
        let is_far = origin.map_or(site == Some("cross-site"), |origin| !is_near(origin));
        let far = is_far || (!has_key && matches!(site, Some("cross-site" | "same-site")));
        far.then_some("a page of another server may not ask this")
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Takes what a client still sends of a request that was refused, and keeps nothing of it.
pub(super) async fn drain(body: HttpBody) {
    let (mut left, mut pieces) = (REFUSED, body.into_data_stream());
    while let Some(Ok(piece)) = pieces.next().await {
        let Some(rest) = left.checked_sub(piece.len()) else { return };
        left = rest;
    }
}

/// Compares keys in a time that does not tell how much of them is the same.
pub fn is_same_key(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Whether a host, with or without a port, is a loopback name or address. Any other name could be that of a page that leads to this
/// machine.
fn is_loopback(host: &str) -> bool {
    // An IPv6 address is in brackets.
    let host = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(host, _)| host);
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or_else(|_| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

/// The headers that may hold a key, in addition to `Authorization`.
static KEY_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// Returns the HTTP response. The call is under way until the last byte of the body is taken.
pub(super) fn answer(response: &Response, in_flight: InFlight) -> HttpResponse {
    answer_in(response, Vec::new(), None, in_flight)
}

/// The same as [`answer`], but each piece of the body waits for as many milliseconds as `delays` says, and the head for as many as
/// the first piece. One of them may be held back.
pub(super) async fn answer_in_time(
    response: &Response,
    mut delays: Vec<u32>,
    held: Option<HeldPiece>,
    in_flight: InFlight,
) -> HttpResponse {
    if let Some(first) = delays.first_mut() {
        tokio::time::sleep(Duration::from_millis(std::mem::take(first).into())).await;
    }
    answer_in(response, delays, held, in_flight)
}

fn answer_in(response: &Response, delays: Vec<u32>, held: Option<HeldPiece>, in_flight: InFlight) -> HttpResponse {
    let body = match &response.body {
        Body::Frames(frames) if frames.is_open() || held.is_some() || delays.iter().any(|delay| *delay > 0) => {
            HttpBody::from_stream(in_time(frames, delays, held, in_flight))
        }
        // Each frame is a chunk of its own, as it was while recording: a system has to be able to read that.
        Body::Frames(frames) => {
            let frames = futures_util::stream::iter(frames.bytes()).map(move |frame| {
                let _until_sent = &in_flight;
                Ok::<_, Infallible>(frame)
            });
            HttpBody::from_stream(frames)
        }
        _ => {
            drop(in_flight);
            response.bytes().into()
        }
    };
    headed(response, body)
}

/// Returns an HTTP response with the status and content type of `response`.
pub(super) fn headed(response: &Response, body: HttpBody) -> HttpResponse {
    let mut out = HttpResponse::new(body);
    *out.status_mut() = axum::http::StatusCode::from_u16(response.status).unwrap_or_default();
    if let Ok(content_type) = response.content_type.parse() {
        out.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    out
}

/// Adds the headers in which the API counts the tokens of a turn's response.
pub(super) fn counted(sent: HttpResponse, api: Api, response: &Response) -> HttpResponse {
    with_headers(sent, wire::count_headers(api, response))
}

/// Adds headers to a response. Values that a header cannot have are left out.
pub(super) fn with_headers(
    mut response: HttpResponse,
    headers: impl IntoIterator<Item = (&'static str, String)>,
) -> HttpResponse {
    for (name, value) in headers {
        let Ok(value) = HeaderValue::try_from(value) else { continue };
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
    response
}

/// Streams frames, each after its wait. Without an end if the client left before the end when they were recorded: where the stage asks
/// whether it has left, the last frame comes again.
fn in_time(
    frames: &Frames,
    delays: Vec<u32>,
    held: Option<HeldPiece>,
    in_flight: InFlight,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
    let last = frames.bytes().last().filter(|_| frames.is_open());
    let state = (frames.bytes().enumerate(), delays.into_iter(), held, Some(in_flight), None, last);
    futures_util::stream::unfold(state, |(mut frames, mut waits, mut held, mut in_flight, open, last)| async move {
        let Some((nth, frame)) = frames.next() else {
            let again = last.clone()?;
            // The stream stays open until the client leaves, but the call no longer counts as under way.
            let open = open.or_else(|| in_flight.take().map(InFlight::hold))?;
            open.more().await;
            return Some((Ok(again), (frames, waits, held, in_flight, Some(open), last)));
        };
        if let Some(wait @ 1..) = waits.next() {
            tokio::time::sleep(Duration::from_millis(wait.into())).await;
        }
        if let Some(held) = held.take_if(|held| held.nth == nth) {
            held.until_it_may_go().await;
        }
        Some((Ok(frame), (frames, waits, held, in_flight, open, last)))
    })
}

/// Returns the HTTP response for one of Retake's own errors, which SDKs neither retry nor hide.
pub(super) fn final_error(response: &Response, in_flight: InFlight) -> HttpResponse {
    let mut out = answer(response, in_flight);
    out.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    out
}

/// Returns the headers that count for the check `extra`.
pub(super) fn checked_headers(headers: &HeaderMap) -> Json {
    wire::checked_headers(|name| {
        let lines: Option<Vec<&str>> = headers.get_all(name).iter().map(|line| line.to_str().ok()).collect();
        lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join(", "))
    })
}

/// Returns the body of a request without its content encoding.
/// Fails if it cannot be read, or is not one of HTTP.
fn unpacked(headers: &HeaderMap, body: Bytes) -> Result<Bytes, String> {
    let says = |name: HeaderName, word: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().starts_with(word))
    };
    if says(header::UPGRADE, "websocket") {
        let why = "it opens a WebSocket, over which neither Responses nor realtime is spoken: only HTTP is";
        return Err(why.to_owned());
    }
    if says(header::CONTENT_TYPE, "application/grpc") {
        return Err("it is a call of gRPC, which is not spoken: only HTTP with JSON is".to_owned());
    }
    let codings = headers.get_all(header::CONTENT_ENCODING).iter().map(|coding| coding.to_str().unwrap_or("?"));
    match codings.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => Ok(body),
        codings => wire::Decoder::whole(&codings, body).map_err(|why| format!("its body {why}")),
    }
}

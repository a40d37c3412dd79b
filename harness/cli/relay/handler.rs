//! Handles each request to the relay: a call for a provider, or a question to the relay itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::uri::{Parts, PathAndQuery, Scheme};
use axum::http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use tokio::sync::watch;

use super::answer;
use super::keys::Keys;
use super::outward::Outward;
use super::providers::Upstreams;
use retake_model::is_same_key;
use retake_model::relay::{FAILED, KEY, MARK, OWN, REFUSED, undeclared};

/// The largest call, in bytes. The model server reads no larger one either.
const MAX_BODY: usize = 256 << 20;

/// What is shorter than this, in bytes, is searched at once.
const SHORT: usize = 8 << 10;

/// The headers of a request that belong to its connection with the relay.
const OF_THE_RELAY: [&str; 8] = [
    KEY,
    "host",
    "te",
    "connection",
    "content-length",
    "transfer-encoding",
    // What is compressed cannot be searched for secrets as it arrives.
    "accept-encoding",
    "user-agent",
];

/// What all requests to the relay share.
#[derive(Debug)]
pub(super) struct RelayState {
    pub(super) key: String,
    pub(super) upstreams: Upstreams,
    pub(super) keys: Keys,
    pub(super) to_providers: Outward,
    pub(super) to_systems: Outward,
    /// The exit code of the signal that has come.
    pub(super) ended: watch::Receiver<Option<u8>>,
    /// Whether a runner hears of signals.
    pub(super) is_heard: AtomicBool,
}

pub(super) async fn handle(State(relay): State<Arc<RelayState>>, request: Request<Body>) -> Response<Body> {
    // What went wrong between the relay and a provider.
    answered(&relay, request).await.unwrap_or_else(|why| marked(FAILED, &why))
}

async fn answered(relay: &Arc<RelayState>, request: Request<Body>) -> Result<Response<Body>, String> {
    let (parts, body) = request.into_parts();
    let brings = |name: &str| {
        parts.headers.get(name).and_then(|key| key.to_str().ok()).is_some_and(|key| is_same_key(key, &relay.key))
    };
    if parts.uri.scheme().is_some() {
        if !brings(header::PROXY_AUTHORIZATION.as_str()) {
            return Ok(said(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "the relay's key is missing"));
        }
        return forward(&relay.to_systems, Request::from_parts(parts, body)).await;
    }
    if !brings(KEY) {
        return Ok(said(StatusCode::FORBIDDEN, "the relay's key is missing"));
    }
    let body = axum::body::to_bytes(body, MAX_BODY).await.map_err(|e| format!("the call could not be read: {e}"))?;
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let (first, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    if first == OWN {
        return own(relay, rest, &body).await;
    }
    let upstream = relay.upstreams.of(first)?;
    let path = &path[1 + first.len()..];
    let (asked, in_path) = (body.clone(), path.to_owned());
    let look = move |keys: &Keys| keys.undeclared_in(&in_path, &asked).map(str::to_owned);
    if let Some(name) = aside(relay, body.len(), look).await? {
        return Ok(marked(REFUSED, &undeclared(&name, true)));
    }
    let (mut head, ()) = Request::new(()).into_parts();
    (head.method, head.headers, head.uri) = (parts.method, parts.headers, upstream.uri(path)?);
    for name in OF_THE_RELAY {
        head.headers.remove(name);
    }
    head.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    head.headers.extend(upstream.key_header()?);
    upstream.sign(&head.method, &head.uri, &body, &mut head.headers)?;
    let answer = relay.to_providers.send(Request::from_parts(head, Body::from(body))).await;
    let answer = answer.map_err(|why| upstream.unreachable(&why))?;
    answer::passed_on(answer, relay.keys.censor()).map_err(|name| {
        format!(
            "the provider at {upstream} answered, but its answer is compressed as `{name}`, although `identity` was asked for; \
             Retake unpacks gzip, deflate, br and zstd"
        )
    })
}

/// Looks for keys in a text of this length. A long one is searched in another thread, since this one passes on the frames of all
/// answers.
async fn aside<T: Send + 'static>(
    relay: &Arc<RelayState>,
    length: usize,
    look: impl FnOnce(&Keys) -> T + Send + 'static,
) -> Result<T, String> {
    if length < SHORT {
        return Ok(look(&relay.keys));
    }
    let relay = relay.clone();
    tokio::task::spawn_blocking(move || look(&relay.keys)).await.map_err(|e| format!("the relay failed: {e}"))
}

/// Answers for the relay itself.
async fn own(relay: &Arc<RelayState>, what: &str, body: &Bytes) -> Result<Response<Body>, String> {
    Ok(match what.split_once('/') {
        Some(("try", provider)) => {
            let upstream = relay.upstreams.of(provider)?;
            let tried = relay.to_providers.try_out(upstream.uri("/")?).await;
            tried.map_err(|why| upstream.unreachable(&why))?;
            said(StatusCode::NO_CONTENT, "")
        }
        None if what == "scrub" => {
            let line = body.clone();
            let scrubbed = aside(relay, body.len(), move |keys| keys.scrubbed(&line)).await??;
            scrubbed.map_or_else(|| said(StatusCode::NO_CONTENT, ""), |line| Response::new(line.into()))
        }
        None if what == "life" => {
            relay.is_heard.store(true, Ordering::Relaxed);
            let ended = relay.ended.clone();
            let lines = futures_util::stream::unfold(Some(ended), async |ended| {
                let code = ended?.wait_for(Option::is_some).await.ok().and_then(|code| *code)?;
                Some((Ok::<_, Infallible>(Bytes::from(format!("{code}\n"))), None))
            });
            // The connection stays open after the line: its end says that the relay is gone.
            let open = futures_util::stream::pending();
            Response::new(Body::from_stream(futures_util::StreamExt::chain(lines, open)))
        }
        _ => said(StatusCode::NOT_FOUND, "the relay does not know that"),
    })
}

fn marked(mark: &'static str, why: &str) -> Response<Body> {
    let mut out = said(StatusCode::BAD_GATEWAY, why);
    out.headers_mut().insert(MARK, HeaderValue::from_static(mark));
    out
}

fn said(status: StatusCode, text: &str) -> Response<Body> {
    let mut out = Response::new(text.to_owned().into());
    *out.status_mut() = status;
    out
}

/// The headers that belong to one connection.
const OF_A_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-authorization", "proxy-connection", "transfer-encoding", "upgrade"];

/// Sends a request on, unchanged but for TLS.
async fn forward(outward: &Outward, mut request: Request<Body>) -> Result<Response<Body>, String> {
    let uri = secure(request.uri().clone()).ok_or("the request has no address")?;
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    *request.uri_mut() = uri;
    for name in OF_A_CONNECTION {
        request.headers_mut().remove(name);
    }
    let named = || host.parse().unwrap_or(header::HeaderValue::from_static(""));
    request.headers_mut().entry(header::HOST).or_insert_with(named);
    let answer = outward.send(request).await;
    let mut answer = answer.map_err(|why| format!("https://{host} cannot be reached: {why}"))?;
    for name in OF_A_CONNECTION {
        answer.headers_mut().remove(name);
    }
    Ok(answer)
}

/// Returns the same address over TLS.
fn secure(uri: Uri) -> Option<Uri> {
    let Parts { authority, path_and_query, .. } = uri.into_parts();
    let mut parts = Parts::default();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority?);
    parts.path_and_query = path_and_query.or_else(|| Some(PathAndQuery::from_static("/")));
    Uri::from_parts(parts).ok()
}

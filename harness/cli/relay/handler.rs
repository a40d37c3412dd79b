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
use super::providers::{Upstream, Upstreams};
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
    let (parts, body) = request.into_parts();
    let brings = |name: &str| {
        parts.headers.get(name).and_then(|key| key.to_str().ok()).is_some_and(|key| is_same_key(key, &relay.key))
    };
    if parts.uri.scheme().is_some() {
        if !brings(header::PROXY_AUTHORIZATION.as_str()) {
            return said(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "the relay's key is missing");
        }
        return forward(&relay.to_systems, Request::from_parts(parts, body)).await;
    }
    if !brings(KEY) {
        return said(StatusCode::FORBIDDEN, "the relay's key is missing");
    }
    let body = match axum::body::to_bytes(body, MAX_BODY).await {
        Ok(body) => body,
        Err(e) => return failed(&format!("the call could not be read: {e}")),
    };
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let (first, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    if first == OWN {
        return own(&relay, rest, &body).await;
    }
    let upstream = match relay.upstreams.of(first) {
        Ok(upstream) => upstream,
        Err(why) => return failed(&why),
    };
    let path = &path[1 + first.len()..];
    let (asked, in_path) = (body.clone(), path.to_owned());
    match aside(&relay, asked.len(), move |keys| keys.undeclared_in(&in_path, &asked).map(str::to_owned)).await {
        Ok(None) => {}
        Ok(Some(name)) => return marked(REFUSED, &undeclared(&name, true)),
        Err(why) => return failed(&why),
    }
    let mut call = Request::new(body);
    *call.method_mut() = parts.method;
    *call.headers_mut() = parts.headers;
    for name in OF_THE_RELAY {
        call.headers_mut().remove(name);
    }
    match pass_on(&relay, upstream, path, call).await {
        Ok(answer) => answer,
        Err(why) => failed(&why),
    }
}

async fn pass_on(
    relay: &RelayState,
    upstream: &Upstream,
    path: &str,
    mut call: Request<Bytes>,
) -> Result<Response<Body>, String> {
    *call.uri_mut() = upstream.uri(path)?;
    call.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    call.headers_mut().extend(upstream.key_header()?);
    let (mut head, body) = call.into_parts();
    upstream.sign(&head.method, &head.uri, &body, &mut head.headers)?;
    let call = Request::from_parts(head, Body::from(body));
    let answer = relay.to_providers.send(call).await;
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
async fn own(relay: &Arc<RelayState>, what: &str, body: &Bytes) -> Response<Body> {
    match what.split_once('/') {
        Some(("try", provider)) => match try_out(relay, provider).await {
            Ok(()) => said(StatusCode::NO_CONTENT, ""),
            Err(why) => failed(&why),
        },
        None if what == "scrub" => {
            let line = body.clone();
            match aside(relay, line.len(), move |keys| keys.scrubbed(&line)).await.flatten() {
                Ok(None) => said(StatusCode::NO_CONTENT, ""),
                Ok(Some(line)) => Response::new(line.into()),
                Err(why) => failed(&why),
            }
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
    }
}

async fn try_out(relay: &RelayState, provider: &str) -> Result<(), String> {
    let upstream = relay.upstreams.of(provider)?;
    let uri: Uri = upstream.uri("/")?;
    let tried = relay.to_providers.try_out(uri).await;
    tried.map_err(|why| upstream.unreachable(&why))
}

/// What went wrong between the relay and a provider.
pub(super) fn failed(why: &str) -> Response<Body> {
    marked(FAILED, why)
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
pub(super) async fn forward(outward: &Outward, mut request: Request<Body>) -> Response<Body> {
    let Some(uri) = secure(request.uri().clone()) else { return failed("the request has no address") };
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    *request.uri_mut() = uri;
    for name in OF_A_CONNECTION {
        request.headers_mut().remove(name);
    }
    let named = || host.parse().unwrap_or(header::HeaderValue::from_static(""));
    request.headers_mut().entry(header::HOST).or_insert_with(named);
    match outward.send(request).await {
        Ok(mut answer) => {
            for name in OF_A_CONNECTION {
                answer.headers_mut().remove(name);
            }
            answer
        }
        Err(why) => failed(&format!("https://{host} cannot be reached: {why}")),
    }
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

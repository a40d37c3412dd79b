//! One request and its answer.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use futures_util::StreamExt as _;

use super::cookies::Cookies;
use super::{Progress, excerpt};
use crate::error::{Error, Result, reqwest_reason};
use crate::events::{Capture, Event, Payload};
use crate::json::{Json, Layout};
use crate::scenario::{Step, StreamSpec};

/// A rendered request.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Json>,
}

/// An answer: a plain body is one event, named `body`.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) headers: HeaderMap,
    pub(super) cookies: BTreeMap<String, String>,
    pub(super) events: Vec<Event>,
}

/// One client for the process: making one costs milliseconds where TLS is compiled in. Each scenario has a runtime of its
/// own, and a connection belongs to the runtime that made it, so none is kept for later.
static CLIENT: LazyLock<Result<reqwest::Client>> = LazyLock::new(|| {
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0);
    let client = client.redirect(reqwest::redirect::Policy::none()).build();
    client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))
});

/// The status of a GET, without its body.
pub(crate) async fn get(url: &str) -> Result<u16> {
    let client = CLIENT.as_ref().map_err(Clone::clone)?;
    let response = client.get(url).send().await.map_err(|e| Error::new(reqwest_reason(e)))?;
    Ok(response.status().as_u16())
}

/// Sends a request and reads its answer, as a stream where the step says so.
pub(super) async fn exchange(
    request: Request,
    step: &Step,
    cookies: &mut Cookies,
    progress: &Progress,
) -> Result<Answered> {
    let response = send(&request, cookies).await?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let cookies = cookies.store(&request.url, &headers);
    let right = match &step.status {
        Some(wanted) => wanted.contains(&status),
        None => (200..300).contains(&status),
    };
    let mut answered = Answered { status, content_type, headers, cookies, events: Vec::new() };
    match &step.stream {
        Some(stream) if right => read_stream(response, stream, &mut answered, progress).await?,
        _ => {
            let body = response.bytes().await.map_err(|e| broken_off(e, &answered))?;
            answered.events.push(Event::body(&body));
        }
    }
    if right {
        return Ok(answered);
    }
    let wanted = step.status.as_ref().map_or("a status of 200 to 299".to_owned(), |wanted| {
        let wanted: Vec<String> = wanted.iter().map(u16::to_string).collect();
        format!("status {}", wanted.join(" or "))
    });
    let error = Error::new(format!("expected {wanted}, found {status}"));
    Err(match answered.headers.get(header::LOCATION).and_then(|v| v.to_str().ok()) {
        Some(location) => error.help(format!("it redirects to {location}, and steps do not follow redirects")),
        None => error.help(format!("the answer was: {}", excerpt(&answered))),
    })
}

async fn send(request: &Request, cookies: &Cookies) -> Result<reqwest::Response> {
    let client = CLIENT.as_ref().map_err(Clone::clone)?;
    let method = reqwest::Method::from_bytes(request.method.as_bytes())
        .map_err(|_| Error::new(format!("{} is no HTTP method", request.method)))?;
    let mut sending = client.request(method, &request.url);
    let named = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    for (name, value) in &request.headers {
        sending = sending.header(name, value);
    }
    if let Some(cookie) = cookies.header(&request.url).filter(|_| !named("cookie")) {
        sending = sending.header(header::COOKIE, cookie);
    }
    if let Some(body) = &request.body {
        if !named("content-type") {
            sending = sending.header(header::CONTENT_TYPE, "application/json");
        }
        sending = sending.body(body.print(Layout::Compact));
    }
    sending.send().await.map_err(|e| Error::new(reqwest_reason(e)))
}

/// Reads a stream up to its `last` event, or to its end.
async fn read_stream(
    response: reqwest::Response,
    wanted: &StreamSpec,
    answered: &mut Answered,
    progress: &Progress,
) -> Result<()> {
    let mut chunks = response.bytes_stream();
    let mut capture = Capture::new();
    let is_last = |event: &Event| wanted.last.as_deref().is_some_and(|last| event.label() == last);
    loop {
        let (events, ended) = match chunks.next().await {
            Some(Ok(chunk)) => (capture.push(&chunk), false),
            Some(Err(e)) => {
                answered.events.extend(capture.finish());
                return Err(broken_off(e, answered));
            }
            None => (capture.finish(), true),
        };
        for event in events {
            let last = is_last(&event);
            answered.events.push(event);
            if last {
                return check_first(wanted, answered);
            }
        }
        progress.events(answered.events.len());
        if ended {
            break;
        }
    }
    check_first(wanted, answered)?;
    match &wanted.last {
        None => Ok(()),
        Some(last) => {
            let came = answered.events.len();
            let final_one = answered.events.last().map_or("(none)", Event::label);
            Err(Error::new(format!("the stream ended before its last event `{last}`"))
                .help(format!("{came} events came, the last was `{final_one}`")))
        }
    }
}

fn check_first(wanted: &StreamSpec, answered: &Answered) -> Result<()> {
    let real = |event: &&Event| !matches!(event.payload, Payload::Comment(_) | Payload::Tail(_));
    let Some(first) = answered.events.iter().find(real) else {
        let error = Error::new(format!("no event came: the stream of type {:?} is empty", answered.content_type));
        return Err(error);
    };
    match &wanted.first {
        Some(name) if name != first.label() => {
            Err(Error::new(format!("expected `{name}` as the first event, found `{}`", first.label())))
        }
        _ => Ok(()),
    }
}

fn broken_off(error: reqwest::Error, answered: &Answered) -> Error {
    let events = answered.events.len();
    Error::new(format!("the answer broke off: {}", reqwest_reason(error)))
        .help(format!("status {}, {events} events had come", answered.status))
}

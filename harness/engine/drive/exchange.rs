//! Sends a request and reads its answer.

use std::time::Duration;

use axum::http::header;
use tokio::time::Instant;

use super::afterwards::Afterwards;
use super::answered::Answered;
use super::cookies::Cookies;
use super::driver::{Driver, Outcome};
use super::listen::Listener;
use super::request::Request;
use super::stream::{EVENT_LIMIT, Stream, lacks, megabytes, unreadable};
use super::underway::Underway;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_base::text::counted;
use retake_core::events::{AfterLast, Event, Status};
use retake_core::json::Layout;
use retake_model::clients::{self, reqwest_reason};
use retake_scenario::{self as scenario, AnswerAs, RenderedBody, Scenario, Upload};

/// The first and the longest pause before a request with `wait` is repeated.
const PERIOD: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(250)];

impl Driver<'_> {
    /// Sends the request of a step and reads its answer; a stream to which the scenario listens, while later steps run.
    pub(super) async fn request(&self, step: &scenario::Request, underway: &Underway) -> Result<Outcome> {
        let request = self.rendered(step)?;
        let awaited = match &step.answer {
            AnswerAs::Until(wait) => Some((&wait.json, wait.is.render(&self.context)?)),
            _ => None,
        };
        let mut pause = PERIOD[0];
        let mut before: (Vec<Event>, Instant) = (Vec::new(), Instant::now());
        let reading = step.stream().map(|_| underway.reads());
        loop {
            // While a request is repeated, it waits for the value.
            if awaited.is_none() || pause == PERIOD[0] {
                underway.awaits("no answer came".to_owned());
            }
            let (mut answered, mut response) = open(&request, &self.cookies, underway).await?;
            underway.status(answered.status);
            match &step.answer {
                AnswerAs::Listen(wanted) => {
                    let listener = Listener::start(answered, response, wanted, underway, reading);
                    return Ok(Outcome::Listening(Box::new(listener)));
                }
                AnswerAs::Stream(wanted) => {
                    underway.awaits(lacks(wanted.last.as_ref(), "stream"));
                    let mut stream = Stream::new(wanted, None);
                    let read = read_on(&mut response, &mut stream, &answered, underway, |_| false).await;
                    underway.keep(&stream.events);
                    read?;
                    take_stream(&mut stream, &mut answered)?;
                    // Not if the client leaves after the last event, or if the stage does not stay.
                    let Scenario { golden, options, .. } = self.scenario;
                    let reads_on = !golden.until_last && !options.linger.is_zero() && !wanted.cancel && stream.done;
                    let after = reads_on.then(|| Afterwards::start(response, stream));
                    return Ok(Outcome::Answered(Box::new(answered), after));
                }
                AnswerAs::Body => underway.awaits("the answer did not end".to_owned()),
                AnswerAs::Until(_) => {}
            }
            read_body(response, &mut answered).await?;
            if let Some((pointer, wanted)) = &awaited {
                let body = answered.events.first().and_then(|event| underway.json_of(event));
                let found = body.as_ref().and_then(|body| pointer.find(body));
                if found != Some(wanted) {
                    let found = found.map_or_else(|| "not there".to_owned(), |found| found.print(Layout::Compact));
                    let wanted = wanted.print(Layout::Compact);
                    underway.awaits(format!("{pointer} did not become {wanted}, but is {found}"));
                    if before.0 != answered.events {
                        before = (answered.events.clone(), Instant::now());
                    }
                    if !underway.gives_up(|| answered.clone().into_captured(), before.1) {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(PERIOD[1]);
                        continue;
                    }
                }
            }
            return Ok(Outcome::Answered(Box::new(answered), None));
        }
    }
}

/// Sends a request and checks the status and headers of its answer. The body is not read yet.
pub(super) async fn open(
    request: &Request,
    cookies: &Mutex<Cookies>,
    underway: &Underway,
) -> Result<(Answered, reqwest::Response)> {
    let earlier_cookies = cookies.lock().values();
    let response = send(request, cookies).await?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    if let Some(coding) = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let what = format!("the answer has the content encoding {coding:?}, and steps decode none");
        let help = "a step asks for none, unless it has the header `Accept-Encoding`: leave that out, or have the service heed it";
        return Err(Error::new(what).help(help));
    }
    let cookies = cookies.lock().store(&request.url, &headers);
    let mut answered = Answered {
        request: request.title.clone(),
        status: Status::Http(status),
        content_type,
        headers,
        cookies,
        earlier_cookies,
        events: Vec::new(),
        after: AfterLast::default(),
    };
    let right = request.status.as_ref().map_or((200..300).contains(&status), |wanted| wanted.contains(&status));
    if right {
        return Ok((answered, response));
    }
    underway.status(answered.status);
    read_body(response, &mut answered).await?;
    let wanted = request.status.as_ref().map_or("a status of 200 to 299".to_owned(), |wanted| {
        let wanted: Vec<String> = wanted.iter().map(u16::to_string).collect();
        format!("status {}", wanted.join(" or "))
    });
    let error = Error::new(format!("expected {wanted}, found {status}"));
    let error = error.because((status >= 400).then(|| format!("{} answered {status}", request.title)));
    Err(match (answered.headers.get(header::LOCATION).and_then(|v| v.to_str().ok()), status) {
        (Some(to), 300..400) => error.help(format!("the service redirects to {to}, but steps do not follow redirects")),
        _ => error.help(format!("the answer was: {}", answered.excerpt())),
    })
}

async fn send(request: &Request, cookies: &Mutex<Cookies>) -> Result<reqwest::Response> {
    let method = reqwest::Method::from_bytes(request.method.as_bytes())
        .map_err(|_| Error::new(format!("{} is not an HTTP method", request.method)))?;
    let mut sending = clients::OF_SYSTEMS.request(method, &request.url)?;
    for (name, value) in &request.headers {
        sending = sending.header(name, value);
    }
    let cookie = cookies.lock().header(&request.url).filter(|_| !request.has_header("cookie"));
    if let Some(cookie) = cookie {
        sending = sending.header(header::COOKIE, cookie);
    }
    let typed = |sending: reqwest::RequestBuilder, kind: &str| {
        if request.has_header("content-type") { sending } else { sending.header(header::CONTENT_TYPE, kind) }
    };
    sending = match &request.body {
        RenderedBody::None => sending,
        RenderedBody::Json(json) => typed(sending, "application/json").body(json.print(Layout::Compact)),
        RenderedBody::Form(fields) => {
            let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            typed(sending, "application/x-www-form-urlencoded").body(body)
        }
        RenderedBody::Files(fields, files) => sending.multipart(multipart(fields, files)?),
    };
    clients::sent(sending).await.map_err(Error::new)
}

fn multipart(fields: &[(String, String)], files: &[Upload]) -> Result<reqwest::multipart::Form> {
    let mut form = reqwest::multipart::Form::new();
    for (name, value) in fields {
        form = form.text(name.clone(), value.clone());
    }
    for Upload { field, path, content } in files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = mime_guess::from_path(path).first_or_octet_stream();
        let part = reqwest::multipart::Part::bytes(content.clone()).file_name(name).mime_str(kind.as_ref());
        form = form.part(field.clone(), part.map_err(|e| Error::new(reqwest_reason(e)))?);
    }
    Ok(form)
}

async fn read_body(mut response: reqwest::Response, answered: &mut Answered) -> Result<()> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| broken_off(e, answered, &[]))? {
        body.extend_from_slice(&chunk);
        if body.len() > EVENT_LIMIT {
            let text: String = String::from_utf8_lossy(&body).chars().take(60).collect();
            let error = Error::new(format!("the answer is longer than {} and had not ended", megabytes(EVENT_LIMIT)));
            return Err(error.help(format!("status {}; it begins: {text:?}…", answered.status)));
        }
    }
    // A body that is not JSON may be any kind of file.
    if let (true, Err(error)) = (answered.content_type.contains("json"), std::str::from_utf8(&body)) {
        let (at, byte) = (error.valid_up_to(), body.get(error.valid_up_to()).copied().unwrap_or_default());
        return Err(Error::new(format!("the answer is not UTF-8: its byte {at} is 0x{byte:02x}")));
    }
    let body = Event::body(&body);
    let unreadable = unreadable(&body);
    answered.events.push(body);
    unreadable.map_or(Ok(()), Err)
}

/// Reads a stream on until it has enough, or to its last event or its end, if it is not there yet.
pub(super) async fn read_on(
    response: &mut reqwest::Response,
    stream: &mut Stream,
    answered: &Answered,
    underway: &Underway,
    has_enough: impl Fn(&Stream) -> bool,
) -> Result<()> {
    while !stream.done
        && let Some(chunk) = response.chunk().await.map_err(|e| broken_off(e, answered, &stream.events))?
    {
        let known = stream.events.len();
        let is_over = stream.push(&chunk);
        underway.events(&stream.events, known);
        if is_over || has_enough(stream) {
            return Ok(());
        }
    }
    let known = stream.events.len();
    if !stream.done {
        stream.end();
    }
    underway.events(&stream.events, known);
    Ok(())
}

/// Checks a stream that was read, and adds its events to the answer.
pub(super) fn take_stream(stream: &mut Stream, answered: &mut Answered) -> Result<()> {
    stream.check()?;
    answered.events = std::mem::take(&mut stream.events);
    stream.add_retry(&mut answered.headers);
    Ok(())
}

fn broken_off(error: reqwest::Error, answered: &Answered, events: &[Event]) -> Error {
    let error_of = Error::new(match events.last() {
        Some(last) => format!("the stream stopped after {} (`{}`)", counted(events.len(), "event"), last.label()),
        None => "the answer broke off".to_owned(),
    });
    error_of.help(format!("status {}: {}", answered.status, reqwest_reason(error)))
}

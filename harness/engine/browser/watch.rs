//! Watches a page while it is open: its console, its requests that fail or go to other machines, and the answers to keep.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chromiumoxide::cdp::browser_protocol::log::EventEntryAdded;
use chromiumoxide::cdp::browser_protocol::network::{
    EventLoadingFailed, EventLoadingFinished, EventRequestWillBeSent, EventResponseReceived,
};
use chromiumoxide::cdp::browser_protocol::page::EventJavascriptDialogOpening;
use chromiumoxide::cdp::js_protocol::runtime::{EventConsoleApiCalled, EventExceptionThrown};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::connection::{Call, failed};
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;

/// The number of lines of each kind that are kept.
const LINES: usize = 100;

/// Watches one page.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(super) seen: Arc<Mutex<Seen>>,
    /// Changes whenever an answer has ended.
    changed: watch::Receiver<()>,
}

/// What a page has printed and requested so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) console: Vec<String>,
    pub(super) failed: Vec<String>,
    /// The first request of its scripts that was answered with an error, with the status.
    pub(super) refused: Option<String>,
    /// The requested URLs of other machines.
    pub(super) elsewhere: Vec<String>,
    /// The texts of the dialogs that it has opened.
    pub(super) dialogs: Vec<String>,
    /// Whether its dialogs are accepted.
    accepts: bool,
    /// The status of the document.
    pub(super) document: Option<u16>,
    /// The requests, each as its id, method and URL.
    asked: Vec<(String, String, String)>,
    /// The requests whose answers are kept.
    patterns: Vec<String>,
    traffic: Vec<Traffic>,
    /// The ids of the requests that the page waits for: not those of streams, which go on as long as they like.
    pub(super) awaited: Vec<String>,
}

/// The kinds of requests whose end a page waits for.
const AWAITED: [&str; 7] = ["Document", "Stylesheet", "Image", "Font", "Script", "XHR", "Fetch"];

/// A request of the page whose answer is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    id: String,
    /// The pattern that it matches.
    pub pattern: String,
    pub status: u16,
    pub content_type: String,
    /// The body of the answer, once it has ended.
    pub body: Vec<u8>,
    /// `None` while the answer goes on; then whether it ended by itself, and did not break off.
    pub ended: Option<bool>,
}

impl Watch {
    /// Watches a page, on the runtime of the browser's connection.
    /// Fails if Chromium is gone.
    pub(super) async fn start(page: &chromiumoxide::Page, runtime: &Handle) -> Result<Watch> {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (change, changed) = watch::channel(());
        let to_listen = |e| failed("to be watched", &e);
        let mut sent = page.event_listener::<EventRequestWillBeSent>().await.map_err(to_listen)?;
        let mut answered = page.event_listener::<EventResponseReceived>().await.map_err(to_listen)?;
        let mut finished = page.event_listener::<EventLoadingFinished>().await.map_err(to_listen)?;
        let mut broken = page.event_listener::<EventLoadingFailed>().await.map_err(to_listen)?;
        let mut console = page.event_listener::<EventConsoleApiCalled>().await.map_err(to_listen)?;
        let mut thrown = page.event_listener::<EventExceptionThrown>().await.map_err(to_listen)?;
        let mut logged = page.event_listener::<EventEntryAdded>().await.map_err(to_listen)?;
        let mut dialogs = page.event_listener::<EventJavascriptDialogOpening>().await.map_err(to_listen)?;
        let watch = Watch { seen: seen.clone(), changed };
        let page = page.clone();
        runtime.spawn(async move {
            loop {
                // In this order, because the connection delivers several messages at once: the events of a request come in
                // the order in which they happened.
                tokio::select! {
                    biased;
                    Some(event) = dialogs.next() => {
                        // The page stands still until its dialog is answered. A question whether to leave is always agreed to.
                        let kind = format!("{:?}", event.r#type).to_lowercase();
                        let accepts = seen.lock().accepts || kind == "beforeunload";
                        keep(&mut seen.lock().console, format!("dialog ({kind}): {}", event.message));
                        keep(&mut seen.lock().dialogs, event.message.clone());
                        let answer = json!({ "accept": accepts, "promptText": event.default_prompt.clone().unwrap_or_default() });
                        let _ = page.execute(Call { method: "Page.handleJavaScriptDialog", params: answer }).await;
                    }
                    Some(event) = sent.next() => seen.lock().sent(&event),
                    Some(event) = answered.next() => seen.lock().answered(&event),
                    Some(event) = finished.next() => end(&page, event.request_id.inner(), true, &seen, &change).await,
                    Some(event) = broken.next() => {
                        seen.lock().broken(&event);
                        end(&page, event.request_id.inner(), false, &seen, &change).await;
                    }
                    Some(event) = console.next() => {
                        let words = event.args.iter().map(|arg| match &arg.value {
                            Some(serde_json::Value::String(text)) => text.clone(),
                            Some(value) => value.to_string(),
                            None => arg.description.clone().unwrap_or_default(),
                        });
                        let line = format!("{:?}: {}", event.r#type, words.collect::<Vec<_>>().join(" ")).to_lowercase();
                        keep(&mut seen.lock().console, line);
                    }
                    Some(event) = thrown.next() => {
                        let details = &event.exception_details;
                        let text = details.exception.as_ref().and_then(|thrown| thrown.description.clone());
                        keep(&mut seen.lock().console, format!("thrown: {}", text.unwrap_or_else(|| details.text.clone())));
                    }
                    Some(event) = logged.next() => {
                        let entry = &event.entry;
                        let of = entry.url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
                        keep(&mut seen.lock().console, format!("{:?}: {}{of}", entry.level, entry.text).to_lowercase());
                    }
                    else => break,
                }
            }
        });
        Ok(watch)
    }

    /// Says whether dialogs are accepted from here on, and forgets earlier ones.
    pub(super) fn accept_dialogs(&self, accepts: bool) {
        let mut seen = self.seen.lock();
        seen.accepts = accepts;
        seen.dialogs.clear();
    }

    /// Keeps the answers to these requests from here on, and forgets earlier ones. A pattern is a method and a path, in which
    /// `*` matches any text without a slash.
    pub(crate) fn listen_for(&self, patterns: &[String]) {
        let mut seen = self.seen.lock();
        seen.patterns = patterns.to_vec();
        seen.traffic.clear();
    }

    /// Waits until each pattern has an answer and all kept answers have ended, and returns them.
    pub(crate) async fn traffic(&self) -> Vec<Traffic> {
        let mut changed = self.changed.clone();
        loop {
            {
                let seen = self.seen.lock();
                if seen.missing().next().is_none() && seen.traffic.iter().all(|traffic| traffic.ended.is_some()) {
                    return seen.traffic.clone();
                }
            }
            if changed.changed().await.is_err() {
                return self.seen.lock().traffic.clone();
            }
        }
    }

    /// Returns the error that says why the traffic is not complete.
    pub(crate) fn without_traffic(&self) -> Error {
        let seen = self.seen.lock();
        if let Some(pattern) = seen.missing().next() {
            let asked: Vec<String> = seen.asked.iter().map(|(_, method, url)| format!("{method} {url}")).collect();
            return Error::new(format!("the page did not send `{pattern}`"))
                .help(format!("it sent {}", asked.join(", ")));
        }
        Error::new("the page is still receiving an answer, and `traffic` waits until it has ended")
    }
}

impl Seen {
    /// Returns the patterns that no request matches yet.
    fn missing(&self) -> impl Iterator<Item = &String> {
        let has = |pattern: &&String| self.traffic.iter().any(|traffic| traffic.pattern == **pattern);
        self.patterns.iter().filter(move |pattern| !has(pattern))
    }

    fn sent(&mut self, event: &EventRequestWillBeSent) {
        let (id, request) = (event.request_id.inner(), &event.request);
        if is_elsewhere(&request.url) {
            keep(&mut self.elsewhere, request.url.clone());
        }
        let kind = event.r#type.as_ref().map(|kind| format!("{kind:?}")).unwrap_or_default();
        if AWAITED.iter().any(|awaited| awaited.eq_ignore_ascii_case(&kind)) && !self.awaited.contains(id) {
            self.awaited.push(id.clone());
        }
        self.asked.push((id.clone(), request.method.clone(), request.url.clone()));
    }

    /// Notes the status and the headers of an answer.
    fn answered(&mut self, event: &EventResponseReceived) {
        let (id, response) = (event.request_id.inner(), &event.response);
        let status = u16::try_from(response.status).unwrap_or_default();
        if format!("{:?}", event.r#type) == "Document" && self.document.is_none() {
            self.document = Some(status);
        }
        if response.mime_type.eq_ignore_ascii_case("text/event-stream") {
            self.awaited.retain(|awaited| awaited != id);
        }
        let Some((_, method, url)) = self.asked.iter().rev().find(|(asked, ..)| asked == id) else { return };
        if status >= 400 {
            keep(&mut self.failed, format!("{method} {url}: status {status}"));
        }
        let Ok(parsed) = url::Url::parse(url) else { return };
        let line = format!("{method} {}", parsed.path());
        if status >= 400 && matches!(&*format!("{:?}", event.r#type), "XHR" | "Fetch") {
            self.refused.get_or_insert_with(|| format!("{line} answered {status}"));
        }
        let Some(pattern) = self.patterns.iter().find(|pattern| fits(pattern, &line)) else { return };
        let headers = response.headers.inner().as_object();
        let content_type = headers.into_iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = content_type.and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned();
        self.traffic.push(Traffic {
            id: id.clone(),
            pattern: pattern.clone(),
            status,
            content_type,
            ..Traffic::default()
        });
    }

    fn broken(&mut self, event: &EventLoadingFailed) {
        // What the page itself gave up, such as a prefetch or a stream that it no longer needs, has not failed.
        if event.canceled == Some(true) {
            return;
        }
        let id = event.request_id.inner();
        let Some((_, method, url)) = self.asked.iter().rev().find(|(asked, ..)| asked == id) else { return };
        keep(&mut self.failed, format!("{method} {url}: {}", event.error_text));
    }

    fn end(&mut self, id: &str, body: Vec<u8>, by_itself: bool) {
        self.awaited.retain(|awaited| awaited != id);
        let Some(traffic) = self.traffic.iter_mut().find(|traffic| traffic.id == id) else { return };
        (traffic.body, traffic.ended) = (body, Some(by_itself));
    }
}

/// Whether a request like `POST /runs/7/stream` matches a pattern like `POST /runs/*/stream`.
fn fits(pattern: &str, line: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == line };
    let Some(line) = line.strip_prefix(head) else { return false };
    let part = line.find('/').unwrap_or(line.len());
    (0..=part).filter(|end| line.is_char_boundary(*end)).any(|end| fits(rest, &line[end..]))
}

/// Whether a URL leads to another machine.
fn is_elsewhere(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name != "localhost",
        Some(url::Host::Ipv4(address)) => !address.is_loopback(),
        Some(url::Host::Ipv6(address)) => !address.is_loopback(),
        None => false,
    }
}

/// Notes that an answer has ended, with its body if it is kept.
async fn end(page: &chromiumoxide::Page, id: &str, by_itself: bool, seen: &Mutex<Seen>, change: &watch::Sender<()>) {
    let is_kept = seen.lock().traffic.iter().any(|traffic| traffic.id == id);
    let body = if is_kept { body_of(page, id).await } else { Vec::new() };
    seen.lock().end(id, body, by_itself);
    let _ = change.send(());
}

/// Returns the body of an answer that has ended. It is empty if Chromium has not kept it, for example because the answer broke
/// off.
async fn body_of(page: &chromiumoxide::Page, id: &str) -> Vec<u8> {
    let call = Call { method: "Network.getResponseBody", params: json!({ "requestId": id }) };
    let Ok(answer) = page.execute(call).await else { return Vec::new() };
    let body = answer.result["body"].as_str().unwrap_or_default();
    if answer.result["base64Encoded"] == true {
        BASE64_STANDARD.decode(body).unwrap_or_default()
    } else {
        body.as_bytes().to_vec()
    }
}

fn keep(lines: &mut Vec<String>, line: String) {
    if lines.len() < LINES && !lines.contains(&line) {
        lines.push(line);
    }
}

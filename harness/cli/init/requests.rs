//! The requests of a probe: which route of the service calls its model, and what has to be sent there.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};

use super::body;
use super::corrected::corrected;
use super::model::Model;
use super::routes::Route;
use super::sources::Sources;
use retake::__private::report::terminal;
use retake_base::text::clipped;
use retake_model::clients::{self, OF_SYSTEMS};

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a service that has said yes may take until it calls its model.
const BEGINNING: Duration = Duration::from_millis(400);
/// How long is waited before another look.
pub(super) const PERIOD: Duration = Duration::from_millis(50);
/// How much is shown of what a refusal says.
const SHOWN: usize = 160;
/// How much of an answer is read.
const MOST: usize = 4 << 20;
/// The most bodies of a route: what a service asks for next may have no end.
const BODIES: usize = 200;

/// A request that was sent to the service once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tried {
    pub(super) path: String,
    pub(super) body: Value,
    /// How the body is sent: the field of a step that holds it, `json` or `form`.
    pub(super) sent_as: &'static str,
    pub(super) status: u16,
    pub(super) streams: bool,
    /// Whether the service called its model, and whether it said there what the person says.
    pub(super) called: bool,
    pub(super) says: bool,
}

impl Tried {
    /// How good a first scenario it is.
    fn rank(&self) -> (bool, bool, bool) {
        (self.called, (200..300).contains(&self.status), self.says)
    }
}

/// An answer of the service.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Sends each route bodies until one makes the service call its model. Returns the best, with a body of which nothing can be left out,
/// and the routes that there are.
pub(super) async fn found(
    address: SocketAddr,
    routes: Vec<Route>,
    model: &Model,
    sources: &Sources,
) -> (Option<Tried>, Vec<String>) {
    // What is answered where no route is, which is not 404 everywhere.
    let nothing = no_route_in(address, "").await;
    let (mut best, mut posts): (Option<Tried>, Vec<String>) = (None, Vec::new());
    let mut closed = BTreeSet::new();
    for route in routes {
        let mut path = with_listed(address, route.path).await;
        let near = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        let shown = sources.examples(&path).into_iter();
        // A validator says of an empty body what it lacks.
        let bodies = route.body.into_iter().chain(shown).chain([json!({})]).map(|body| (body, route.form));
        let mut guesses = std::iter::once_with(|| {
            let guessed = body::bodies(&sources.fields(&near), &|field| sources.choice(field));
            // It may as well take a form. In one, each field is a text, so the first guess is enough.
            let form = guessed.first().cloned().map(|body| (body, true));
            guessed.into_iter().map(|body| (body, route.form)).chain(form)
        });
        let (mut bodies, mut known) = (bodies.collect::<VecDeque<_>>(), Vec::new());
        let mut of_route: Option<(Tried, Answer)> = None;
        loop {
            if bodies.is_empty() {
                bodies.extend(guesses.by_ref().flatten());
            }
            let Some((body, form)) = bodies.pop_front() else { break };
            if known.len() >= BODIES || known.contains(&(form, body.clone())) {
                continue;
            }
            known.push((form, body.clone()));
            let Some(tried) = tried(address, &path, body, form, model).await else { continue };
            // Who has to say first who he is gets the same answer where no route is, so it tells of none.
            let status = tried.0.status;
            let mut folder = path.rsplit_once('/').filter(|_| matches!(status, 401 | 403));
            let mut highest = None;
            while let Some((of, _)) = folder
                && no_route_in(address, of).await.0 == status
            {
                (highest, folder) = (Some(of.to_owned()), of.rsplit_once('/'));
            }
            if let Some(folder) = highest {
                path = format!("{folder}/*");
                of_route = Some(tried).filter(|_| closed.insert(folder));
                break;
            }
            let is_nothing = !tried.0.called && (tried.0.status, &tried.1.kind) == (nothing.0, &nothing.1);
            if is_nothing || matches!(tried.0.status, 404 | 405) {
                break;
            }
            if posts.last() != Some(&path) {
                posts.push(path.clone());
            }
            // No body tells who sends it.
            if tried.0.status == 401 {
                of_route = Some(tried);
                break;
            }
            if (400..500).contains(&tried.0.status)
                && let Some(better) = corrected(&tried.0.body, &tried.1.body)
            {
                bodies.push_front((better, form));
            }
            if of_route.as_ref().is_none_or(|(before, ..)| tried.0.rank() > before.rank()) {
                of_route = Some(tried);
            }
            if of_route.as_ref().is_some_and(|(tried, _)| tried.rank() == BEST) {
                break;
            }
        }
        let Some((tried, answer)) = of_route else { continue };
        let kind = if tried.streams { " (a stream)" } else { "" };
        let called = match () {
            () if tried.called => ", and it called its model".to_owned(),
            () if tried.status >= 400 => format!(": {}", clipped(&one_line(&answer.body), SHOWN)),
            () => String::new(),
        };
        terminal::out(format!("  tried  POST {path}: {}{kind}{called}", tried.status));
        let is_best = tried.rank() == BEST;
        if tried.called && best.as_ref().is_none_or(|before| tried.rank() > before.rank()) {
            best = Some(tried);
        }
        if is_best {
            break;
        }
    }
    let Some(mut best) = best else { return (None, posts) };
    for part in body::parts(&best.body) {
        let Some(less) = body::without(&best.body, &part) else { continue };
        let again = tried(address, &best.path, less, best.sent_as == FORM, model).await;
        let seen = |tried: &Tried| (tried.rank(), tried.status, tried.streams);
        if let Some((again, ..)) = again.filter(|(again, ..)| seen(again) == seen(&best)) {
            best = again;
        }
    }
    (Some(best), posts)
}

/// What is answered in a folder where no route is.
async fn no_route_in(address: SocketAddr, folder: &str) -> (u16, String) {
    let path = format!("{folder}/retake-no-such-route");
    let answer = ask(address, Method::POST, &path, Some((&json!({}), false))).await;
    answer.map_or((404, String::new()), |answer| (answer.status, answer.kind))
}

/// What a refusal says, in one line.
fn one_line(body: &[u8]) -> String {
    String::from_utf8_lossy(body).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rank of a request that is as it should be.
const BEST: (bool, bool, bool) = (true, true, true);

/// A path with the first of what the path before it lists in the place of each parameter, or `1`.
async fn with_listed(address: SocketAddr, mut path: String) -> String {
    while let Some((at, length)) = path.find("/{").and_then(|at| Some((at, path[at..].find('}')?))) {
        let listed = ask(address, Method::GET, &path[..at], None).await.filter(Answer::is_good);
        let first = listed.and_then(|listed| first_of(&serde_json::from_slice(&listed.body).ok()?));
        path.replace_range(at + 1..=at + length, &first.unwrap_or_else(|| "1".to_owned()));
    }
    path
}

/// Sends a route a body. A stream without any event is no good answer.
async fn tried(address: SocketAddr, path: &str, body: Value, form: bool, model: &Model) -> Option<(Tried, Answer)> {
    let before = model.calls();
    let answer = ask(address, Method::POST, path, Some((&body, form))).await?;
    // A service that has begun a run answers before it calls its model.
    let until = Instant::now() + BEGINNING;
    while answer.is_good() && model.calls() == before && Instant::now() < until {
        tokio::time::sleep(PERIOD).await;
    }
    let after = model.calls();
    let streams = answer.kind.contains("event-stream") || answer.kind.contains("ndjson");
    let status = if streams && answer.body.trim_ascii().is_empty() { 0 } else { answer.status };
    let (called, says) = (after.0 > before.0, after.1 > before.1);
    let sent_as = if form { FORM } else { "json" };
    Some((Tried { path: path.to_owned(), body, sent_as, status, streams, called, says }, answer))
}

/// The name of the first of several things, however they are listed.
fn first_of(listed: &Value) -> Option<String> {
    match listed {
        Value::String(name) => Some(name.clone()),
        Value::Number(id) => Some(id.to_string()),
        Value::Array(all) => first_of(all.first()?),
        Value::Object(fields) => {
            let named = ["id", "name"].into_iter().find_map(|field| fields.get(field)).filter(|name| !name.is_object());
            let list = || fields.values().find(|value| value.is_array());
            named.or_else(list).map_or_else(|| fields.keys().next().cloned(), first_of)
        }
        _ => None,
    }
}

const FORM: &str = "form";

/// The fields of a body as a form.
fn as_form(body: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = body.as_object().into_iter().flatten().map(|(name, value)| (name, text(value)));
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Sends a request. `None` if nothing answers, or not in time. Of a stream that goes on, what came in that time counts.
pub(super) async fn ask(
    address: SocketAddr,
    method: Method,
    path: &str,
    body: Option<(&Value, bool)>,
) -> Option<Answer> {
    let mut request = OF_SYSTEMS.request(method, &format!("http://{address}{path}")).ok()?;
    if let Some((body, form)) = body {
        let (kind, text) = if form {
            ("application/x-www-form-urlencoded", as_form(body))
        } else {
            ("application/json", body.to_string())
        };
        request = request.header("content-type", kind).body(text);
    }
    let until = tokio::time::Instant::now() + PATIENCE;
    let mut response = tokio::time::timeout_at(until, clients::sent(request)).await.ok()?.ok()?;
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().to_owned();
    let mut answer = Answer { status: response.status().as_u16(), kind, body: Vec::new() };
    while let Ok(Ok(Some(bytes))) = tokio::time::timeout_at(until, response.chunk()).await {
        answer.body.extend_from_slice(&bytes);
        if answer.body.len() > MOST {
            break;
        }
    }
    Some(answer)
}

#[cfg(test)]
mod tests;

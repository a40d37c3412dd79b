//! Starts the service once, before anything is written, to see what of a proposal holds: on which port it listens, which path
//! answers, and which route calls the model.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::Value;

use super::model::Model;
use super::routes::{self, Route};
use super::start::Start;
use retake::__private::report::terminal;
use retake::__private::system::{Probe, end_probes};
use retake_base::error::{Error, Result};
use retake_model::clients::{self, OF_SYSTEMS};

/// How long a service may take until it answers on a port. A framework's development server compiles first.
const LIMIT: Duration = Duration::from_secs(90);
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// From which time on `ready` needs more than its usual 30 seconds.
const SLOW: Duration = Duration::from_secs(10);
const PERIOD: Duration = Duration::from_millis(50);
/// How much of an answer is read.
const MOST: usize = 4 << 20;
/// The paths by which services say that they are ready, and those where frameworks describe their routes.
const PATHS: [&str; 11] = [
    "/health",
    "/healthz",
    "/api/health",
    "/ok",
    "/ready",
    "/openapi.json",
    "/api/openapi.json",
    "/doc",
    "/docs",
    "/api",
    "/",
];

/// What a start of the service showed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// The way of starting it that works, with what is ready first.
    pub(super) start: Start,
    /// The port that it always takes, whichever it is given.
    pub(super) port: Option<u16>,
    pub(super) slow: bool,
    /// The addresses besides its model that it tried to reach.
    pub(super) reached: Vec<String>,
    /// The request for the first scenario; `None` if no path answers.
    pub(super) request: Option<Tried>,
}

/// A request that was sent to the service once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tried {
    pub(super) path: String,
    /// The body of a POST request; `None` for GET.
    pub(super) body: Option<Value>,
    pub(super) status: u16,
    pub(super) streams: bool,
    /// Whether the service called its model.
    pub(super) called: bool,
}

/// An answer of the service.
struct Answer {
    status: u16,
    kind: String,
    body: Vec<u8>,
}

impl Answer {
    fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Starts the service in each of these ways until one works, and says what was tried. `{{ model.… }}` in the variables is a model
/// that says the same few words to each call.
/// Fails if it starts in none of these ways. The error is that of the first one, and quotes what it printed.
pub(super) fn probe(ways: Vec<Start>, env: &[(String, String)], folder: &Path) -> Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
    let mut first: Option<Error> = None;
    for way in ways {
        let command = way.command.join(" ");
        terminal::note(format!("starting {command}"));
        let seen = runtime.block_on(seen(way, env, folder));
        match seen {
            Ok(seen) => {
                end_probes();
                return Ok(seen);
            }
            Err(error) => {
                let error = error.while_doing(&format!("start the service once with `{command}`"));
                first = first.or(Some(error));
            }
        }
    }
    end_probes();
    Err(first.unwrap_or_else(|| Error::new("no file here says how the service is started")))
}

async fn seen(start: Start, env: &[(String, String)], folder: &Path) -> Result<Seen> {
    let model = Model::start().await?;
    let url = format!("http://{}", model.address);
    let values = [
        ("{{ model.openai }}", format!("{url}/v1")),
        ("{{ model.anthropic }}", url.clone()),
        ("{{ model.gemini }}", url.clone()),
        ("{{ model.ollama }}", url.clone()),
        ("{{ model.bedrock }}", url.clone()),
        ("{{ model.key }}", "retake".to_owned()),
    ];
    let filled = |text: &str| values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let env: Vec<(String, String)> = env.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    start.built(folder)?;
    let begun = Instant::now();
    let probe = Probe::start(&start.command, &env, folder, model.address).await?;
    let seen = match reached(&probe).await {
        Ok(address) => Ok(looked_at(&probe, start, address, begun.elapsed() > SLOW, &model).await),
        Err(error) => Err(error),
    };
    let reached = probe.end().await;
    if seen.is_ok() && !reached.is_empty() {
        terminal::out(format!("  tried  to reach, besides its model: {}", reached.join(", ")));
    }
    seen.map(|seen| Seen { reached, ..seen })
}

/// Waits until the service answers on a port.
async fn reached(probe: &Probe) -> Result<SocketAddr> {
    let until = Instant::now() + LIMIT;
    loop {
        for address in probe.listening() {
            if ask(address, Method::GET, "/", None).await.is_some() {
                return Ok(address);
            }
        }
        if let Some(error) = probe.ended() {
            return Err(error);
        }
        if Instant::now() > until {
            let what = format!("it did not answer on any port within {} seconds", LIMIT.as_secs());
            let error = Error::new(what).help(format!("it was told to listen on port {} (PORT)", probe.given()));
            return Err(probe.explained(error));
        }
        tokio::time::sleep(PERIOD).await;
    }
}

async fn looked_at(probe: &Probe, mut start: Start, address: SocketAddr, slow: bool, model: &Model) -> Seen {
    let own = (address.port() != probe.given()).then(|| address.port());
    terminal::out(match own {
        Some(port) => format!("  tried  {}: it listens on port {port}, whichever it is given", start.command.join(" ")),
        None => format!("  tried  {}: it listens on the port that it is given", start.command.join(" ")),
    });
    let (mut ready, mut page, mut api) = (None, None, None);
    let proposed = start.path().map(str::to_owned);
    let mut paths: Vec<&str> = proposed.as_deref().into_iter().chain(PATHS).collect();
    let mut known = std::collections::BTreeSet::new();
    paths.retain(|path| known.insert(*path));
    for path in paths {
        let Some(answer) = ask(address, Method::GET, path, None).await else { continue };
        if !answer.is_good() {
            continue;
        }
        let described = serde_json::from_slice::<Value>(&answer.body).ok().filter(|json| json.get("paths").is_some());
        terminal::out(format!("  tried  GET {path}: {} {}", answer.status, answer.kind));
        api = api.or(described);
        if page.is_none() || path == "/" {
            let (path, status) = (path.to_owned(), answer.status);
            page = Some(Tried { path, body: None, status, streams: false, called: false });
        }
        ready = ready.or_else(|| Some(path.to_owned()));
    }
    let api_routes = api.as_ref().map(routes::routes).unwrap_or_default();
    let usual = Route { path: "/chat".to_owned(), body: serde_json::json!({ "message": routes::PROMPT }) };
    let usual = start.route.clone().unwrap_or(usual);
    let candidates =
        if api.is_some() && start.route.is_none() { api_routes } else { [vec![usual], api_routes].concat() };
    let mut request: Option<Tried> = None;
    for route in candidates {
        let Some((tried, is_good)) = try_route(address, route, model).await else { continue };
        let called = if tried.called { ", and it called its model" } else { "" };
        let kind = if tried.streams { " (a stream)" } else { "" };
        terminal::out(format!("  tried  POST {}: {}{kind}{called}", tried.path, tried.status));
        if tried.called {
            request = Some(tried);
            break;
        }
        let better = request.as_ref().is_none_or(|before| tried.streams && !before.streams);
        if is_good && better {
            let streams = tried.streams;
            request = Some(tried);
            if streams {
                break;
            }
        }
    }
    let request = request.or(page);
    start.ready = ready.map_or_else(|| "port = true".to_owned(), |path| format!("http = {path:?}"));
    Seen { start, port: own, slow, reached: Vec::new(), request }
}

/// Sends a route its body. Returns also whether the answer is one: a stream without any event is none. A parameter that is left in its path is the first of what the path before it lists.
async fn try_route(address: SocketAddr, route: Route, model: &Model) -> Option<(Tried, bool)> {
    let Route { mut path, body } = route;
    while let Some(at) = path.find("/{") {
        let listed = ask(address, Method::GET, &path[..at], None).await.filter(Answer::is_good)?;
        let first = first_of(&serde_json::from_slice(&listed.body).ok()?)?;
        let end = at + path[at..].find('}')? + 1;
        path = format!("{}/{first}{}", &path[..at], &path[end..]);
    }
    let before = model.calls();
    let answer = ask(address, Method::POST, &path, Some(&body)).await?;
    let called = model.calls() > before;
    let streams = answer.kind.contains("event-stream") || answer.kind.contains("ndjson");
    let is_good = answer.is_good() && !(streams && answer.body.trim_ascii().is_empty());
    Some((Tried { path, body: Some(body), status: answer.status, streams, called }, is_good))
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

/// Sends a request. `None` if nothing answers, or not in time. Of a stream that goes on, what came in that time counts.
async fn ask(address: SocketAddr, method: Method, path: &str, body: Option<&Value>) -> Option<Answer> {
    let mut request = OF_SYSTEMS.request(method, &format!("http://{address}{path}")).ok()?;
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_string());
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

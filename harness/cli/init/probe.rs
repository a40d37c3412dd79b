//! Starts the service once, before anything is written, to see what of a proposal holds: on which port it listens, which path
//! answers, and which route calls the model.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};

use super::body;
use super::corrected::corrected;
use super::model::Model;
use super::routes::{self, Route};
use super::sources::Sources;
use super::start::Start;
use retake::__private::report::terminal;
use retake::__private::system::{Probe, end_probes};
use retake_base::error::{Error, Result};
use retake_base::text::clipped;
use retake_model::clients::{self, OF_SYSTEMS};

/// How long a service may take until it answers on a port. A framework's development server compiles first.
const LIMIT: Duration = Duration::from_secs(90);
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// From which time on `ready` needs more than its usual 30 seconds.
const SLOW: Duration = Duration::from_secs(10);
/// How long a service that has said yes may take until it calls its model.
const BEGINNING: Duration = Duration::from_millis(400);
const PERIOD: Duration = Duration::from_millis(50);
/// How much is shown of what a refusal says.
const SHOWN: usize = 160;
/// How much of an answer is read.
const MOST: usize = 4 << 20;
/// The paths by which services say that they are ready, and those where frameworks describe their routes.
const PATHS: [&str; 14] = [
    "/health",
    "/healthz",
    "/api/health",
    "/ok",
    "/ready",
    "/gradio_api/openapi.json",
    "/openapi.json",
    "/api/openapi.json",
    "/schema/openapi.json",
    "/api-json",
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
    /// The request for the first scenario; `None` if none was found that calls the model.
    pub(super) request: Option<Tried>,
    /// The routes that take a POST request.
    pub(super) posts: Vec<String>,
    /// Where it speaks Socket.IO.
    pub(super) socket: Option<&'static str>,
}

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

    fn is_like(&self, other: &Tried) -> bool {
        self.rank() == other.rank() && (self.status, self.streams) == (other.status, other.streams)
    }
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
pub(super) fn probe(ways: Vec<Start>, env: &[(String, String)], folder: &Path, sources: &Sources) -> Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
    let mut first: Option<Error> = None;
    for way in ways {
        let command = way.command.join(" ");
        terminal::note(format!("starting {command}"));
        let seen = runtime.block_on(seen(way, env, folder, sources));
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

async fn seen(start: Start, env: &[(String, String)], folder: &Path, sources: &Sources) -> Result<Seen> {
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
    let folder = &folder.join(&start.folder);
    let probe = Probe::start(&start.command, &env, folder, model.address).await?;
    let seen = match reached(&probe).await {
        Ok(address) => Ok(looked_at(&probe, start, address, begun.elapsed() > SLOW, &model, sources).await),
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

async fn looked_at(
    probe: &Probe,
    mut start: Start,
    address: SocketAddr,
    slow: bool,
    model: &Model,
    sources: &Sources,
) -> Seen {
    let own = (address.port() != probe.given()).then(|| address.port());
    terminal::out(match own {
        Some(port) => format!("  tried  {}: it listens on port {port}, whichever it is given", start.command.join(" ")),
        None => format!("  tried  {}: it listens on the port that it is given", start.command.join(" ")),
    });
    let (mut ready, mut api) = (None, None);
    let proposed = start.path().map(str::to_owned);
    let mut paths: Vec<&str> = proposed.as_deref().into_iter().chain(PATHS).collect();
    let mut known = BTreeSet::new();
    paths.retain(|path| known.insert(*path));
    for path in paths {
        let Some(answer) = ask(address, Method::GET, path, None).await else { continue };
        if !answer.is_good() {
            continue;
        }
        let described = serde_json::from_slice::<Value>(&answer.body).ok().filter(|json| json.get("paths").is_some());
        terminal::out(format!("  tried  GET {path}: {} {}", answer.status, answer.kind));
        api = api.or(described);
        ready = ready.or_else(|| Some(path.to_owned()));
    }
    let polled = ask(address, Method::GET, "/socket.io/?EIO=4&transport=polling", None).await;
    let socket =
        polled.is_some_and(|answer| answer.is_good() && answer.body.starts_with(b"0{")).then_some("/socket.io/");
    let routes = candidates(&start, api.as_ref(), sources);
    let (request, posts) = found(address, routes, model, sources).await;
    start.ready = ready.map_or_else(|| "port = true".to_owned(), |path| format!("http = {path:?}"));
    Seen { start, port: own, slow, reached: Vec::new(), request, posts, socket }
}

/// The routes that may call the model, the likeliest first: what the framework says, what its document says, what the sources say, and
/// where such services usually have it.
fn candidates(start: &Start, api: Option<&Value>, sources: &Sources) -> Vec<Route> {
    let unknown = |path: String| Route { path, body: None, form: false };
    let mut routes: Vec<Route> =
        start.route.iter().cloned().chain(api.map(routes::routes).unwrap_or_default()).collect();
    // A document names all routes. Where there is none, the sources and habit do.
    if api.is_none() && start.route.is_none() {
        let mut paths: Vec<String> = USUAL.iter().map(|path| (*path).to_owned()).chain(sources.paths()).collect();
        paths.retain(|path| !routes::is_harmful(path));
        paths.sort_by_key(|path| (std::cmp::Reverse(routes::telling(path)), path.len()));
        routes.extend(paths.into_iter().map(unknown));
    }
    let mut known = BTreeSet::new();
    routes.retain(|route| known.insert(route.path.clone()));
    routes.truncate(MOST_ROUTES);
    routes
}

/// Where services have their route if nothing says it.
const USUAL: [&str; 8] =
    ["/chat", "/api/chat", "/v1/chat/completions", "/v1/responses", "/invoke", "/agent", "/", "/chatkit"];
const MOST_ROUTES: usize = 300;

/// Sends each route bodies until one makes the service call its model. Returns the best, with a body of which nothing can be left out,
/// and the routes that there are.
async fn found(
    address: SocketAddr,
    routes: Vec<Route>,
    model: &Model,
    sources: &Sources,
) -> (Option<Tried>, Vec<String>) {
    // What is answered where no route is, which is not 404 everywhere.
    let nothing = ask(address, Method::POST, "/retake/no/such/route", Some((&json!({}), false))).await;
    let nothing = nothing.map_or((404, String::new()), |answer| (answer.status, answer.kind));
    let (mut best, mut posts): (Option<Tried>, Vec<String>) = (None, Vec::new());
    for route in routes {
        let Some(path) = with_listed(address, route.path).await else { continue };
        let near = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        let shown = sources.examples(&path).into_iter();
        let guessed = body::bodies(&sources.fields(&near), &|field| sources.choice(field));
        // What no document describes may as well be a form. In one, each field is a text, so the first guess is enough.
        let forms: Vec<Value> = guessed.first().cloned().into_iter().collect();
        // A validator says of an empty body what it lacks.
        let bodies = route.body.into_iter().chain(shown).chain([json!({})]).chain(guessed);
        let bodies = bodies.map(|body| (body, route.form)).chain(forms.into_iter().map(|body| (body, true)));
        let (mut bodies, mut known) = (bodies.collect::<VecDeque<_>>(), Vec::new());
        let mut of_route: Option<(Tried, String, String)> = None;
        while let Some((body, form)) = bodies.pop_front() {
            if known.contains(&(form, body.clone())) {
                continue;
            }
            known.push((form, body.clone()));
            let Some(tried) = tried(address, &path, body, form, model).await else { continue };
            if matches!(tried.0.status, 404 | 405)
                || (!tried.0.called && (tried.0.status, &tried.1) == (nothing.0, &nothing.1))
            {
                break;
            }
            if posts.last() != Some(&path) {
                posts.push(path.clone());
            }
            if (400..500).contains(&tried.0.status)
                && let Some(better) = corrected(&tried.0.body, &tried.2)
            {
                bodies.push_front((better, form));
            }
            if of_route.as_ref().is_none_or(|(before, ..)| tried.0.rank() > before.rank()) {
                of_route = Some(tried);
            }
            if of_route.as_ref().is_some_and(|(tried, ..)| tried.rank() == BEST) {
                break;
            }
        }
        let Some((tried, _, said)) = of_route else { continue };
        let (kind, called) = (
            if tried.streams { " (a stream)" } else { "" },
            match () {
                () if tried.called => ", and it called its model".to_owned(),
                () if (400..500).contains(&tried.status) => format!(": {}", clipped(&said, SHOWN)),
                () => String::new(),
            },
        );
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
        if let Some((again, ..)) = again.filter(|(again, ..)| again.is_like(&best)) {
            best = again;
        }
    }
    (Some(best), posts)
}

/// The rank of a request that is as it should be.
const BEST: (bool, bool, bool) = (true, true, true);

/// A path with the first of what the path before it lists in the place of each parameter.
async fn with_listed(address: SocketAddr, mut path: String) -> Option<String> {
    while let Some(at) = path.find("/{") {
        let listed = ask(address, Method::GET, &path[..at], None).await.filter(Answer::is_good)?;
        let first = first_of(&serde_json::from_slice(&listed.body).ok()?)?;
        let end = at + path[at..].find('}')? + 1;
        path = format!("{}/{first}{}", &path[..at], &path[end..]);
    }
    Some(path)
}

/// Sends a route a body. Returns also the type of the answer and what it says. A stream without any event is no good answer.
async fn tried(
    address: SocketAddr,
    path: &str,
    body: Value,
    form: bool,
    model: &Model,
) -> Option<(Tried, String, String)> {
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
    Some((
        Tried { path: path.to_owned(), body, sent_as: if form { FORM } else { "json" }, status, streams, called, says },
        answer.kind,
        String::from_utf8_lossy(&answer.body).into_owned(),
    ))
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
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in body.as_object().into_iter().flatten() {
        form.append_pair(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str());
    }
    form.finish()
}

/// Sends a request. `None` if nothing answers, or not in time. Of a stream that goes on, what came in that time counts.
async fn ask(address: SocketAddr, method: Method, path: &str, body: Option<(&Value, bool)>) -> Option<Answer> {
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

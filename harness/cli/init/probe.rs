//! Starts the service once, before anything is written, to see what of a proposal holds: on which port it listens, which path
//! answers, and which route calls the model.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::Value;

use super::model::Model;
use super::requests::{Answer, PERIOD, Tried, ask, found};
use super::routes::{self, Route};
use super::sources::Sources;
use super::start::Start;
use retake::__private::report::terminal;
use retake::__private::system::{Probe, end_probes};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;

/// How long a service may take until it answers on a port. A framework's development server compiles first.
const LIMIT: Duration = Duration::from_secs(90);
/// From which time on `ready` needs more than its usual 30 seconds.
const SLOW: Duration = Duration::from_secs(10);
/// The paths by which services say that they are ready, and those where frameworks describe their routes.
const PATHS: &str = "\
    /health /healthz /api/health /ok /ready /gradio_api/openapi.json /openapi.json /api/openapi.json \
    /schema/openapi.json /api-json /doc /docs /api /";

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
    /// The variables that it was seen to need besides those that it was given.
    pub(super) env: Vec<(String, String)>,
    /// The routes that take a POST request.
    pub(super) posts: Vec<String>,
    /// Where it speaks Socket.IO.
    pub(super) socket: Option<&'static str>,
}

/// Starts the service in each of these ways until one works, and says what was tried. `{{ model.… }}` in the variables is a model
/// that says the same few words to each call.
/// Fails if it starts in none of these ways. The error is that of the first one, and quotes what it printed.
pub(super) fn probe(ways: Vec<Start>, env: &[(String, String)], folder: &Path, sources: &Sources) -> Result<Seen> {
    let runtime = retake_model::threads::runtime()?;
    let mut first: Option<Error> = None;
    let found = ways.into_iter().filter(|way| way.exists_in(folder)).find_map(|way| {
        let command = way.command.join(" ");
        terminal::note(format!("starting {command}"));
        let mut needs = Vec::new();
        let seen = loop {
            let seen = runtime.block_on(seen(way.clone(), &[env, &needs].concat(), folder, sources));
            // What it says when it ends names the variables that it lacks. The project may have a value for them.
            let told = |error: &Error| sources.told(&error.to_string()).into_iter().find(|pair| !needs.contains(pair));
            match seen.as_ref().err().and_then(told) {
                Some(pair) => needs.push(pair),
                None => break seen.map(|seen| Seen { env: [needs, seen.env].concat(), ..seen }),
            }
        };
        let failed = |error: Error| error.while_doing(&format!("start the service once with `{command}`"));
        seen.map_err(|error| first.get_or_insert_with(|| failed(error))).ok()
    });
    end_probes();
    let untold = || {
        let error = Error::new("no file here says how the service is started");
        error.help(format!("say it, with {{{{ port }}}} in the place of its port: {RETAKE} init --probe -- COMMAND"))
    };
    found.ok_or_else(|| first.unwrap_or_else(untold))
}

async fn seen(start: Start, env: &[(String, String)], folder: &Path, sources: &Sources) -> Result<Seen> {
    let model = Model::start().await?;
    let url = format!("http://{}", model.address);
    let filled = |text: &str| {
        let text = text.replace("{{ model.openai }}", &format!("{url}/v1")).replace("{{ model.key }}", "retake");
        let others = ["anthropic", "gemini", "ollama", "bedrock"].map(|name| format!("{{{{ model.{name} }}}}"));
        others.iter().fold(text, |text, name| text.replace(name, &url))
    };
    let env: Vec<(String, String)> = env.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    start.built(folder)?;
    let begun = Instant::now();
    let folder = &folder.join(&start.folder);
    let before = files::names(folder, "")?;
    let probe = Probe::start(&start.command, &env, folder, model.address).await?;
    let seen = match reached(&probe).await {
        Ok(address) => Ok(looked_at(&probe, start, address, begun.elapsed() > SLOW, &model, sources).await),
        Err(error) => Err(error),
    };
    let reached = probe.end().await;
    if seen.is_ok() && !reached.is_empty() {
        terminal::out(format!("  tried  to reach, besides its model: {}", reached.join(", ")));
    }
    let is_new = |name: &String| !before.contains(name) && name != "__pycache__";
    let written: Vec<String> = files::names(folder, "")?.into_iter().filter(is_new).collect();
    if !written.is_empty() {
        let what = written.join(", ");
        terminal::out(format!(
            "  found  {what}, which the service wrote here: give it {{{{ workdir }}}} for what no run is to find"
        ));
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
    let port = own.map(|port| format!("port {port}, whichever it is given"));
    let port = port.as_deref().unwrap_or("the port that it is given");
    terminal::out(format!("  tried  {}: it listens on {port}", start.command.join(" ")));
    let (mut ready, mut api) = (None, None);
    let proposed = start.path().map(str::to_owned);
    let mut paths: Vec<&str> = proposed.as_deref().into_iter().chain(PATHS.split(' ')).collect();
    let mut known = BTreeSet::new();
    paths.retain(|path| known.insert(*path));
    // Where the pages of an application answer, they answer on every path.
    let nothing = ask(address, Method::GET, "/retake/no/such/route", None).await.filter(Answer::is_good);
    for path in paths {
        let Some(answer) = ask(address, Method::GET, path, None).await else { continue };
        let is_known = path == "/" || nothing.as_ref().is_none_or(|nothing| nothing.body != answer.body);
        if !answer.is_good() || !is_known {
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
    let (request, seen) = found(address, routes, model, sources).await;
    // A document names those, too, that need what another one gives.
    let posts = api.as_ref().map(routes::posts).filter(|posts| !posts.is_empty()).unwrap_or(seen);
    start.ready = ready.map_or_else(|| "port = true".to_owned(), |path| format!("http = {path:?}"));
    Seen {
        start,
        port: own,
        slow,
        reached: Vec::new(),
        request,
        env: super::written::variables(&model.apis()),
        posts,
        socket,
    }
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

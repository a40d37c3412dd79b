//! The doubles of one stage, and the HTTP server that they share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::answers::{self, Answers};
#[cfg(unix)]
use super::pipe::Pipe;
use super::stdio;
use super::upstream::Upstream;
use crate::system::Folder;
use crate::tools::difference::{Difference, differences};
use crate::tools::on_stage::OnStage;
use retake_base::cause::{Cause, CauseKind};
use retake_base::error::{Error, Result};
use retake_base::text::clipped;
use retake_core::json::{Json, Layout, Object};
use retake_core::key::Normalizer;
use retake_core::secrets::{Fired, Scrub};
use retake_model::kept::outliving;
use retake_model::{Miss, Pacing, Scope};
use retake_scenario::{Suite, ToolBy};
use retake_wire::fixture::{ToolExchange, ToolExchanges};

/// Where answers come from.
#[derive(Clone, Debug)]
pub(crate) enum ToolsMode {
    /// From the recording. Misses are registered in this scope.
    Replay(Scope),
    /// From the real servers, whose answers are recorded.
    Record,
    /// From the real servers, whose answers are compared with the recorded ones.
    Live,
}

/// Everything that is needed to start the doubles of a stage.
pub(crate) struct Given<'a> {
    pub suite: &'a Suite,
    /// The servers that the scenario and its systems name. If real servers answer, only these are started.
    pub used: &'a BTreeSet<String>,
    /// How long answers are held back.
    pub pacing: Pacing,
    pub root: &'a Path,
    /// The path of the fixture, for messages.
    pub fixture: &'a Path,
    pub recorded: &'a ToolExchanges,
    pub mode: ToolsMode,
    /// The secrets that templates of real servers use as `{{ secret.NAME }}`.
    pub secrets: &'a Json,
    pub normalizer: &'a Normalizer,
    pub scrub: Scrub,
}

/// The doubles of a stage, while it runs.
pub(crate) struct Doubles {
    state: Arc<Servers>,
    address: SocketAddr,
    names: Vec<(String, bool)>,
    task: JoinHandle<()>,
    _folder: Option<TempDir>,
}

struct Servers {
    /// The first part of each URL path. Only the stage's system knows it.
    key: String,
    mode: ToolsMode,
    fixture: std::path::PathBuf,
    scrub: Scrub,
    by_name: BTreeMap<String, Server>,
    seen: Mutex<Vec<ToolRequest>>,
    pacing: Pacing,
    asked: AtomicU64,
}

struct Server {
    answers: Mutex<Answers>,
    upstream: Option<Upstream>,
    recorded: Mutex<Vec<ToolExchange>>,
    drift: Mutex<Vec<String>>,
}

impl Doubles {
    /// Starts a double for each MCP server that is used; in replay on a thread that outlives the stage. If answers come from the
    /// real servers, these are started too. Returns `None` if no MCP server is used.
    ///
    /// # Errors
    /// If a double or a real server cannot be started.
    pub(crate) async fn start(given: Given<'_>) -> Result<Option<Doubles>> {
        let of_mcp = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_));
        // In replay all servers have a double, so that recorded exchanges of a server that is no longer used count as unused.
        let is_used = |name: &str| matches!(given.mode, ToolsMode::Replay(_)) || given.used.contains(name);
        let specs: Vec<_> =
            given.suite.tools.iter().filter(|(name, spec)| of_mcp(&spec.by) && is_used(name.as_str())).collect();
        if specs.is_empty() {
            return Ok(None);
        }
        let live = !matches!(given.mode, ToolsMode::Replay(_));
        let made = if live { Some(Folder::make().await?) } else { None };
        let mut by_name = BTreeMap::new();
        for (name, spec) in &specs {
            let upstream = if let Some((folder, _)) = &made {
                let stage = OnStage::new(given.root, folder, given.secrets)?;
                let of_tool = |error: Error| error.of(&format!("tool `{name}`:")).in_file(&given.suite.path);
                Some(match &spec.by {
                    #[cfg(unix)]
                    ToolBy::McpCommand(command) => {
                        let command = stage.command(command).map_err(of_tool)?;
                        let (process, stream, _) = command.speak(spec.timeout).await.map_err(of_tool)?;
                        Upstream::Pipe(Pipe::new(process, stream))
                    }
                    ToolBy::McpUrl(url) => {
                        let (url, headers) = stage.url(url).map_err(of_tool)?;
                        Upstream::http(url, headers)
                    }
                    #[cfg(not(unix))]
                    ToolBy::McpCommand(_) => {
                        return Err(of_tool(Error::new(
                            "a server that is started as a command needs Linux or macOS for now",
                        )));
                    }
                    _ => continue,
                })
            } else {
                None
            };
            let exchanges = given.recorded.get(*name).map(Vec::as_slice).unwrap_or_default();
            let answers = Mutex::new(Answers::new(exchanges, given.normalizer, &given.scrub));
            let server = Server { answers, upstream, recorded: Mutex::default(), drift: Mutex::default() };
            by_name.insert((*name).clone(), server);
        }
        let key = uuid::Uuid::new_v4().simple().to_string();
        let Given { mode, scrub, fixture, pacing, .. } = given;
        let (fixture, seen, asked) = (fixture.to_owned(), Mutex::default(), AtomicU64::new(0));
        let state = Arc::new(Servers { key, mode, fixture, scrub, by_name, seen, pacing, asked });
        let failed = |e: std::io::Error| Error::new(format!("failed to listen for tools: {e}"));
        let router = axum::Router::new().fallback(any(handle)).with_state(Arc::clone(&state));
        let serving = async move {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            Ok((address, tokio::spawn(async move { drop(axum::serve(listener, router).await) })))
        };
        // In replay, a call after the end of the stage is a miss, just as a late model call is.
        let replays = matches!(state.mode, ToolsMode::Replay(_));
        let served = if replays { outliving()?.spawn(serving).await } else { Ok(serving.await) };
        let (address, task) =
            served.map_err(|e| Error::new(format!("the tool server did not start: {e}")))?.map_err(failed)?;
        let is_command = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_));
        let names = specs.iter().map(|(name, spec)| ((*name).clone(), is_command(&spec.by))).collect();
        Ok(Some(Doubles { state, address, names, task, _folder: made.map(|(_, handle)| handle) }))
    }

    /// Returns what templates use as `tools`: for each server its URL, or the command that starts its double.
    pub(crate) fn context(&self) -> Json {
        let value = |(name, is_command): &(String, bool)| {
            let url = format!("http://{}/{}/{name}", self.address, self.state.key);
            let command = stdio::command(&url).filter(|_| *is_command);
            let value = command.map_or(Json::Str(url), |words| Json::Array(words.into_iter().map(Json::Str).collect()));
            (name.clone(), value)
        };
        Json::object(self.names.iter().map(value))
    }

    /// Returns what differs from run to run, with the names that replace it in goldens.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        vec![(format!("{}/{}", self.address, self.state.key), "<tools>".to_owned())]
    }

    /// Ends the doubles and the real servers, and returns what they were asked. In replay, the doubles still answer late calls.
    pub(crate) async fn end(self) -> Asked {
        match self.state.mode {
            ToolsMode::Replay(_) => keep(self.task),
            ToolsMode::Live => self.task.abort(),
            ToolsMode::Record => self.task.abort(),
        }
        let requests = self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut asked = Asked { requests, ..Asked::default() };
        for (name, server) in &self.state.by_name {
            if let Some(upstream) = &server.upstream {
                upstream.end().await;
            }
            let lock = |lines: &Mutex<Vec<String>>| lines.lock().unwrap_or_else(PoisonError::into_inner).clone();
            asked.drift.extend(lock(&server.drift).into_iter().map(|line| format!("`{name}`: {line}")));
            let unused = server.answers.lock().unwrap_or_else(PoisonError::into_inner).unused();
            asked.unused.extend(unused.into_iter().map(|line| format!("`{name}`: {line}")));
            let recorded = server.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
            asked.recorded.insert(name.clone(), recorded);
        }
        asked
    }
}

/// The doubles of the stages that ended last. Each of them occupies a port, so only the last ones are kept.
static ENDED: Mutex<VecDeque<JoinHandle<()>>> = Mutex::new(VecDeque::new());
const ENDED_KEPT: usize = 64;

/// Keeps the doubles of a stage that ended, so that they answer late calls.
fn keep(task: JoinHandle<()>) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.push_back(task);
    if ended.len() > ENDED_KEPT {
        ended.pop_front().into_iter().for_each(|oldest| oldest.abort());
    }
}

/// What the doubles of a stage were asked.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Recorded requests that the system did not make.
    pub unused: Vec<String>,
    /// Answers of live servers that differ from the recorded ones, one line for each.
    pub drift: Vec<String>,
    /// The exchanges with real servers.
    pub recorded: ToolExchanges,
    /// The first requests, in the order in which they were answered.
    pub requests: Vec<ToolRequest>,
}

/// A request to a double, and its answer.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub came: Instant,
    pub answered: Instant,
    pub server: String,
    /// The method, and the beginning of the parameters.
    pub what: String,
    /// The beginning of the answer, or of the error.
    pub answer: Result<String, String>,
}

/// The most requests that are kept. Nobody reads more.
const REQUESTS: usize = 2_000;
/// How much of an answer is kept, in characters.
const ANSWER: usize = 400;

async fn handle(State(servers): State<Arc<Servers>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let name = uri.path().strip_prefix('/').and_then(|path| path.split_once('/'));
    let name = name.filter(|(key, _)| *key == servers.key).map(|(_, name)| name);
    let Some((name, server)) = name.and_then(|name| servers.by_name.get_key_value(name)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match method {
        Method::POST => {}
        // There is no session to end, and a double never sends anything unasked.
        Method::DELETE => return StatusCode::OK.into_response(),
        _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
    let Ok(message) = Json::parse(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let Some(asked) = message.str_of("method") else { return StatusCode::ACCEPTED.into_response() };
    let Some(id) = message.get("id").cloned() else {
        if let Some(upstream) = &server.upstream {
            // If the server cannot be reached, the next request reports it.
            let _ = upstream.tell(message).await;
        }
        return StatusCode::ACCEPTED.into_response();
    };
    servers.pacing.hold_back(servers.asked.fetch_add(1, Ordering::Relaxed), 0).await;
    let params = without_meta(message.get("params"));
    let (came, what) = (Instant::now(), answers::asked(asked, &params));
    let answer = if asked == "ping" {
        Ok(Json::Object(Object::new()))
    } else if let Some(upstream) = &server.upstream {
        servers.pass_on(server, upstream, asked, params, &message).await
    } else {
        servers.replay(name, server, asked, &params)
    };
    servers.note(came, name, what, &answer);
    let answer = match answer {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    let body = Json::object([("jsonrpc", Json::from("2.0")), ("id", id), answer]).print(Layout::Compact);
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

impl Servers {
    /// Notes a request that came at this time and is answered now.
    fn note(&self, came: Instant, server: &str, what: String, answer: &Result<Json, Json>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < REQUESTS {
            let short = |json: &Json| clipped(&json.print(Layout::Python), ANSWER).into_owned();
            let answer = answer.as_ref().map(short).map_err(short);
            seen.push(ToolRequest { came, answered: Instant::now(), server: server.to_owned(), what, answer });
        }
    }

    fn replay(&self, name: &str, server: &Server, method: &str, params: &Json) -> Result<Json, Json> {
        let mut answers = server.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.take(method, params).map_or_else(
            |(reason, evidence)| {
                let message = format!("replay miss: {reason}");
                if let ToolsMode::Replay(scope) = &self.mode {
                    let cause = Cause::new(CauseKind::ToolRequest, reason.to_string());
                    let via = format!("MCP {method}, server `{name}`");
                    let miss = Miss::of_tool(scope.name(), &self.fixture, via, cause, reason, evidence);
                    scope.add_miss(Arc::new(miss));
                }
                Err(Json::object([("code", Json::Int(-32000)), ("message", message.into())]))
            },
            |exchange| exchange.answer.clone(),
        )
    }

    async fn pass_on(
        &self,
        server: &Server,
        upstream: &Upstream,
        method: &str,
        params: Json,
        message: &Json,
    ) -> Result<Json, Json> {
        let failed = |reason: String| Json::object([("code", Json::Int(-32001)), ("message", reason.into())]);
        let answered = upstream.ask(message.clone()).await.map_err(failed)?;
        let answer = match (answered.get("result"), answered.get("error")) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Err(failed("the server answered with neither a result nor an error".to_owned())),
        };
        if let ToolsMode::Live = self.mode {
            let mut answers = server.answers.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(recorded) = answers.take(method, &params) {
                let changed = changed(recorded, &answer);
                server.drift.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
            }
        }
        let mut exchange = ToolExchange { method: method.to_owned(), params, answer: answer.clone() };
        let fired = &mut Fired::new();
        self.scrub.json(&mut exchange.params, fired);
        match &mut exchange.answer {
            Ok(json) | Err(json) => self.scrub.json(json, fired),
        }
        server.recorded.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        answer
    }
}

/// Describes in one line how the answer to a tool call differs from the recorded one. `None` if it does not.
fn changed(recorded: &ToolExchange, answer: &Result<Json, Json>) -> Option<String> {
    if recorded.method != "tools/call" {
        return None;
    }
    let side = |answer: &Result<Json, Json>| match answer {
        Ok(json) | Err(json) => json.clone(),
    };
    let mut found: Vec<Difference> = Vec::new();
    differences("", &side(&recorded.answer), &side(answer), &mut found);
    let Difference { pointer, expected, actual } = found.first()?;
    let shown = |value: &Option<Json>| {
        let text = value.as_ref().map_or("nothing".to_owned(), |value| value.print(Layout::Python));
        retake_base::text::clipped(&text, 120).into_owned()
    };
    let tool = recorded.params.str_of("name").unwrap_or_default();
    Some(format!("the tool `{tool}` changed at {pointer}: {} → {}", shown(expected), shown(actual)))
}

/// Returns the parameters of a request without `_meta`, which differs in every request.
fn without_meta(params: Option<&Json>) -> Json {
    let mut params = params.cloned().unwrap_or(Json::Null);
    if let Json::Object(fields) = &mut params {
        fields.remove("_meta");
    }
    params
}

#[cfg(test)]
mod tests;

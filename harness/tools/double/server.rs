//! The doubles of one stage.

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
use crate::cause::{Cause, CauseKind};
use crate::error::{Error, Result};
use crate::fixture::{ToolExchange, ToolExchanges};
use crate::json::{Json, Layout, Object};
use crate::key::Normalizer;
use crate::model::kept::outliving;
use crate::model::{Miss, Pacing, Scope};
use crate::scenario::{Suite, ToolBy};
use crate::secrets::{Fired, Scrub};
use crate::system::Folder;
use crate::text::clipped;
use crate::tools::difference::{Difference, differences};
use crate::tools::on_stage::OnStage;

/// Where answers come from.
#[derive(Clone, Debug)]
pub(crate) enum ToolsMode {
    /// From what was recorded; a miss is of this scope.
    Replay(Scope),
    /// From the real servers; what they answer is kept.
    #[cfg(feature = "record")]
    Record,
    /// From the real servers, and compared with what was recorded.
    Live,
}

/// What doubles are made from.
pub(crate) struct Given<'a> {
    pub(crate) suite: &'a Suite,
    /// The servers that the scenario and its systems name; only these are started where they answer themselves.
    pub(crate) used: &'a BTreeSet<String>,
    /// How long answers are held back.
    pub(crate) pacing: Pacing,
    pub(crate) root: &'a Path,
    /// The fixture, for errors.
    pub(crate) fixture: &'a Path,
    pub(crate) recorded: &'a ToolExchanges,
    pub(crate) mode: ToolsMode,
    /// What templates of real servers take as `{{ secret.NAME }}`.
    pub(crate) secrets: &'a Json,
    pub(crate) normalizer: &'a Normalizer,
    pub(crate) scrub: Scrub,
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
    /// A part of the path that only the stage's system knows.
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
    /// Starts a double for each MCP server that is used, on a thread that outlives the stage; `None` where it has none. A real server is
    /// started too where answers come from it.
    ///
    /// # Errors
    /// Where one of them cannot be started.
    pub(crate) async fn start(given: Given<'_>) -> Result<Option<Doubles>> {
        let of_mcp = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_));
        // In replay all are there: what is recorded of one that nobody uses any more is unused.
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
                        return Err(of_tool(Error::new("a server that is a command needs Linux or macOS, so far")));
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
        // Where answers are recorded ones, a call after the stage's end is a miss, as the model's are.
        let replays = matches!(state.mode, ToolsMode::Replay(_));
        let served = if replays { outliving()?.spawn(serving).await } else { Ok(serving.await) };
        let (address, task) =
            served.map_err(|e| Error::new(format!("the tool server did not start: {e}")))?.map_err(failed)?;
        let is_command = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_));
        let names = specs.iter().map(|(name, spec)| ((*name).clone(), is_command(&spec.by))).collect();
        Ok(Some(Doubles { state, address, names, task, _folder: made.map(|(_, handle)| handle) }))
    }

    /// What templates take as `tools`: of each server its address, or the command that starts it.
    pub(crate) fn context(&self) -> Json {
        let value = |(name, is_command): &(String, bool)| {
            let url = format!("http://{}/{}/{name}", self.address, self.state.key);
            let command = stdio::command(&url).filter(|_| *is_command);
            let value = command.map_or(Json::Str(url), |words| Json::Array(words.into_iter().map(Json::Str).collect()));
            (name.clone(), value)
        };
        Json::object(self.names.iter().map(value))
    }

    /// What differs from run to run, and what goldens call it.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        vec![(format!("{}/{}", self.address, self.state.key), "<tools>".to_owned())]
    }

    /// Ends them, and gives what came of them.
    pub(crate) async fn end(self) -> Asked {
        match self.state.mode {
            ToolsMode::Replay(_) => keep(self.task),
            ToolsMode::Live => self.task.abort(),
            #[cfg(feature = "record")]
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

/// The doubles of the last stages that have ended: each holds a port.
static ENDED: Mutex<VecDeque<JoinHandle<()>>> = Mutex::new(VecDeque::new());
const ENDED_KEPT: usize = 64;

/// Keeps the doubles of a stage that ended, for calls that come late.
fn keep(task: JoinHandle<()>) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.push_back(task);
    if ended.len() > ENDED_KEPT {
        ended.pop_front().into_iter().for_each(|oldest| oldest.abort());
    }
}

/// What came of doubles.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Recorded requests that nobody made.
    pub(crate) unused: Vec<String>,
    /// What live servers did that was not recorded so: a line each.
    pub(crate) drift: Vec<String>,
    /// What real servers answered.
    pub(crate) recorded: ToolExchanges,
    /// The first requests that were made, in the order in which they were answered.
    pub(crate) requests: Vec<ToolRequest>,
}

/// A request that a double got.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub(crate) came: Instant,
    pub(crate) answered: Instant,
    pub(crate) server: String,
    /// Its method, and the beginning of its parameters.
    pub(crate) what: String,
    /// The beginning of the answer, or of the error.
    pub(crate) answer: Result<String, String>,
}

/// How many requests are kept: of a flood nobody reads more.
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
        // Nothing comes by itself, and there is no session to end.
        Method::DELETE => return StatusCode::OK.into_response(),
        _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
    let Ok(message) = Json::parse(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let Some(asked) = message.str_of("method") else { return StatusCode::ACCEPTED.into_response() };
    let Some(id) = message.get("id").cloned() else {
        if let Some(upstream) = &server.upstream {
            // What goes wrong shows in the next request.
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
    /// Notes a request that came at a time and is answered now.
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
                    scope.add_miss(Arc::new(Miss {
                        scenario: scope.name().to_owned(),
                        fixture: self.fixture.clone(),
                        via: format!("MCP {method}, server `{name}`"),
                        caller: None,
                        key: None,
                        causes: vec![Cause::new(CauseKind::ToolRequest, reason.to_string())],
                        reason,
                        evidence,
                        number: 0,
                    }));
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
            (None, None) => Err(failed("the server answered neither a result nor an error".to_owned())),
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

/// What a call answers now that it did not, in a line.
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
        crate::text::clipped(&text, 120).into_owned()
    };
    let tool = recorded.params.str_of("name").unwrap_or_default();
    Some(format!("the tool `{tool}` changed at {pointer}: {} → {}", shown(expected), shown(actual)))
}

/// The parameters of a request without what is of that request alone.
fn without_meta(params: Option<&Json>) -> Json {
    let mut params = params.cloned().unwrap_or(Json::Null);
    if let Json::Object(fields) = &mut params {
        fields.remove("_meta");
    }
    params
}

#[cfg(test)]
mod tests;

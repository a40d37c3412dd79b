//! The HTTP server that the doubles of a stage share. Agents speak streamable HTTP with it, in all versions of the protocol, or plain
//! HTTP with tools that do not speak MCP. The double of a server on standard input and output speaks the former, with one connection for
//! everything that is sent to the agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tokio::time::Instant;

use super::answers::{self};
use super::out::{self, channel};
use super::plain::Plain;
use super::single::{Live, Request, Server};
use super::traffic::{Answering, Traffic, token_of};
use super::upstream::Upstream;
use super::world::{self, ToolWorld};
use retake_base::cause::{Cause, CauseKind};
use retake_base::line::Line;
use retake_base::lock::Mutex;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout, Object};
use retake_model::{Branch, FaultKind, Miss, MissReason, Pacing, Scope};
use retake_scenario::ForkTools;
use retake_wire::fixture::{ToolExchange, is_call, is_of_http};

/// Where answers come from.
#[derive(Clone, Debug)]
pub enum ToolsMode {
    /// From the recording. Misses are registered in this scope.
    Replay(Scope),
    /// From the real servers, whose answers are recorded.
    Record,
    /// From the real servers, whose answers are compared with the recorded ones.
    Live,
    /// From the recording as long as it has them. Then from the real servers if they are started, otherwise the branch ends.
    Fork(Arc<Branch>, ForkTools),
}

/// The doubles of a stage.
pub(super) struct Servers {
    /// The first part of each URL path. Only the stage's system knows it.
    pub(super) key: String,
    pub(super) mode: ToolsMode,
    pub(super) fixture: PathBuf,
    pub(super) by_name: BTreeMap<String, Server>,
    /// What becomes of calls of tools.
    pub(super) world: Mutex<Arc<ToolWorld>>,
    /// The first requests, in the order in which they were answered.
    pub(super) seen: Mutex<Vec<ToolRequest>>,
    pub(super) pacing: Pacing,
    /// How many requests came.
    pub(super) asked: AtomicU64,
}

/// A request to a double, and its answer.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// When it came.
    pub came: Instant,
    /// When its answer was sent.
    pub answered: Instant,
    /// The server, by its name in the suite.
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

pub(super) fn router(servers: Arc<Servers>) -> axum::Router {
    // What an agent sends to a tool may be a file.
    axum::Router::new().fallback(any(handle)).layer(DefaultBodyLimit::disable()).with_state(servers)
}

async fn handle(
    State(servers): State<Arc<Servers>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = uri.path().strip_prefix('/').and_then(|path| path.split_once('/'));
    let asked = asked.filter(|(key, _)| *key == servers.key).map(|(_, asked)| asked);
    let whole = asked.and_then(|name| servers.by_name.get_key_value(name).map(|(name, server)| (name, server, "")));
    let Some((name, server, below)) = whole.or_else(|| servers.plain_of(asked?)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if server.is_plain {
        let below = uri.query().map_or_else(|| below.to_owned(), |query| format!("{below}?{query}"));
        let plain = Plain { method, below, headers: headers.clone(), body };
        let (out, outlet) = channel();
        let asked = ToolExchange {
            method: plain.method.to_string(),
            params: plain.params(),
            headers: plain.chosen(),
            ids: plain.ids(),
            ..ToolExchange::default()
        };
        let (id, token, plain) = (Json::Null, None, Some(plain));
        let request = Request { came: Instant::now(), name: name.clone(), asked, id, token, out, plain };
        servers.answer(request, Json::Object(Object::new()), headers, true).await;
        return outlet.plain().await;
    }
    let connection = uri.query().and_then(|query| query.strip_prefix("stdio="));
    match (method, connection) {
        (Method::POST, _) => {}
        (Method::GET, Some(connection)) => {
            let (out, outlet) = channel();
            server.streams.open(connection, out);
            return outlet.lines();
        }
        (Method::DELETE, Some(connection)) => {
            server.streams.close(connection);
            return StatusCode::OK.into_response();
        }
        (Method::GET, None) => return server.listen(&headers).await,
        (Method::DELETE, None) => {
            let Some(live) = server.http() else { return StatusCode::OK.into_response() };
            return live.delete(&headers).await.unwrap_or(StatusCode::BAD_GATEWAY).into_response();
        }
        _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
    let Ok(message) = Json::parse(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    if message.as_array().is_some() {
        let text = "Retake's doubles of tool servers do not support batches of messages: send each on its own";
        let error = Json::object([("code", Json::Int(-32600)), ("message", text.into())]);
        let refusal = out::message([("id", Json::Null), ("error", error)]);
        let body = refusal.print(Layout::Compact);
        if let Some(out) = connection.and_then(|connection| server.streams.of(connection)) {
            out.send(refusal);
        }
        return (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], body).into_response();
    }
    let Some(asked) = message.str_of("method") else { return server.replied(&message, &headers).await };
    let Some(id) = message.get("id").cloned() else { return server.notified(&message, &headers).await };
    let (out, outlet) = match connection {
        None => {
            let (out, outlet) = channel();
            (out, Some(outlet))
        }
        Some(connection) => {
            let Some(out) = server.streams.of(connection) else { return StatusCode::GONE.into_response() };
            (out, None)
        }
    };
    let params = without_meta(message.get("params"));
    let asked = ToolExchange { method: asked.to_owned(), params, ..ToolExchange::default() };
    let token = token_of(&message);
    let request = Request { came: Instant::now(), name: name.clone(), asked, id, token, out, plain: None };
    servers.answer(request, message, headers, outlet.is_some()).await;
    match outlet {
        Some(outlet) => outlet.response().await,
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// A request in the order in which it came: with the recorded exchange that answers it, or passed on to the real server.
enum Begun {
    Known(Result<Json, Json>),
    Recorded(Box<ToolExchange>),
    /// It meets a fault.
    Fails(FaultKind),
    PassedOn(Passed),
}

/// A request that is noted as an exchange with the real server.
struct Passed {
    exchange: usize,
    /// What has to be sent over HTTP.
    message: Option<Json>,
    answer: Answering,
    traffic: Arc<Traffic>,
}

impl Drop for Passed {
    fn drop(&mut self) {
        // Over HTTP, an agent that hangs up gives its request up.
        if self.message.is_some() {
            self.traffic.given_up(self.exchange);
        }
    }
}

impl Servers {
    /// The plain HTTP tool whose address a path is below, with the rest of the path.
    fn plain_of<'a>(&self, path: &'a str) -> Option<(&String, &Server, &'a str)> {
        let (name, below) = path.split_at(path.find('/')?);
        let (name, server) = self.by_name.get_key_value(name)?;
        server.is_plain.then_some((name, server, below))
    }

    /// Begins a request, and answers it while others come.
    async fn answer(self: &Arc<Self>, request: Request, message: Json, headers: HeaderMap, holds: bool) {
        let begun = self.begin(&request, message).await;
        let work = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = work.serve(&request, begun, &headers, holds) => {}
                () = request.out.closed() => {}
            }
        });
    }

    /// Begins a request, before the next one of this agent is read.
    async fn begin(&self, request: &Request, message: Json) -> Begun {
        let Request { name, asked, .. } = request;
        let (server, method) = (&self.by_name[name], &asked.method);
        if method == "ping" {
            return Begun::Known(Ok(Json::Object(Object::new())));
        }
        let forks = matches!(self.mode, ToolsMode::Fork(..)) && answers::is_use(method);
        let Live { upstream, traffic } = match &server.live {
            Some(live) if !forks => live,
            live => {
                let (mut answers, world) = (server.answers.lock(), self.world.lock().clone());
                match (answers.take(asked, world.repeats), live) {
                    (Ok((index, exchange)), _) => {
                        answers.note_ids(index, asked.ids.clone());
                        let (fails, acts) =
                            if is_call(method) { world.comes(&(name.clone(), index)) } else { (None, true) };
                        if !acts {
                            answers.open(index);
                        }
                        return fails.map_or_else(|| Begun::Recorded(Box::new(exchange)), Begun::Fails);
                    }
                    (Err(missed), None) => return Begun::Known(Err(self.miss(name, method, missed))),
                    (Err(_), Some(live)) => live,
                }
            }
        };
        let (exchange, message, answer) = traffic.ask(message, request);
        let message = match upstream {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => {
                if let Err(reason) = pipe.tell(&message).await {
                    traffic.failed(exchange, &reason);
                }
                None
            }
            Upstream::Http(_) => Some(message),
        };
        Begun::PassedOn(Passed { exchange, message, answer, traffic: Arc::clone(traffic) })
    }

    async fn serve(&self, request: &Request, begun: Begun, headers: &HeaderMap, holds: bool) {
        let Request { came, name, asked, id, out, plain, .. } = request;
        let server = &self.by_name[name];
        self.pacing.hold_back(self.asked.fetch_add(1, Ordering::Relaxed), 0).await;
        let answer = match begun {
            Begun::Known(answer) => {
                out.answer(id, &answer, None);
                answer
            }
            Begun::Fails(kind) => match world::answer(kind, plain.is_some()) {
                Some((answer, status)) => {
                    let answer = Ok(answer);
                    out.answer(id, &answer, status);
                    answer
                }
                None if holds && kind == FaultKind::ToolLost => return out.lose(),
                None if holds => return out.closed().await,
                None => return,
            },
            Begun::Recorded(exchange) => match server.replay(request, *exchange).await {
                Some(answer) => answer,
                // The recorded server had not answered when the recording ended.
                None if holds => return out.closed().await,
                None => return,
            },
            Begun::PassedOn(mut passed) => {
                let asking = async {
                    match (server.http(), plain, &passed.message) {
                        (Some(http), Some(plain), _) => http.pass_on(passed.exchange, plain, &passed.traffic).await,
                        (Some(http), None, Some(message)) => {
                            http.ask(passed.exchange, message, headers, &passed.traffic, out).await;
                        }
                        _ => std::future::pending().await,
                    }
                };
                let answered = tokio::select! {
                    biased;
                    answered = &mut passed.answer => answered.ok(),
                    () = asking => None,
                };
                let Some(answer) = answered.or_else(|| passed.answer.try_recv().ok()) else { return };
                if let ToolsMode::Live = self.mode {
                    server.compare(request, &answer);
                }
                answer
            }
        };
        self.note(*came, name, answers::asked(&asked.method, &asked.params), &answer);
    }

    /// Notes a request that came at this time and is answered now.
    fn note(&self, came: Instant, server: &str, what: String, answer: &Result<Json, Json>) {
        let mut seen = self.seen.lock();
        if seen.len() < REQUESTS {
            let short = |json: &Json| clipped(&json.print(Layout::Python), ANSWER).into_owned();
            let answer = answer.as_ref().map(short).map_err(short);
            seen.push(ToolRequest { came, answered: Instant::now(), server: server.to_owned(), what, answer });
        }
    }

    /// Registers a miss, and returns the error that the agent gets.
    fn miss(&self, name: &str, method: &str, (reason, evidence): (MissReason, Vec<String>)) -> Json {
        let what = format!("server `{name}`: {reason}");
        if let ToolsMode::Fork(branch, _) = &self.mode {
            branch.end(&what);
        }
        if let ToolsMode::Replay(scope) = &self.mode {
            let scope = self.world.lock().scope.as_ref().unwrap_or(scope).clone();
            let cause = Cause::new(CauseKind::ToolRequest, what.clone());
            let protocol = if is_of_http(method) { "HTTP" } else { "MCP" };
            let via = format!("{protocol} {method}, server `{name}`");
            let mut miss = Miss::new(&scope.name, &self.fixture, via, reason, cause);
            (miss.lines, miss.evidence) = (evidence.iter().map(Line::from).collect(), evidence);
            scope.add_miss(Arc::new(miss));
        }
        Json::object([("code", Json::Int(-32000)), ("message", format!("replay miss: {what}").into())])
    }
}

/// Returns the parameters of a request without `_meta`, which differs in every request.
fn without_meta(params: Option<&Json>) -> Json {
    let mut params = params.cloned().unwrap_or(Json::Null);
    if let Json::Object(fields) = &mut params {
        fields.remove("_meta");
    }
    params
}

//! The HTTP server that the doubles of a stage share. Agents speak streamable HTTP with it, in all versions of the protocol; the
//! double of a server on standard input and output speaks it too, with one connection for everything that is sent to the agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::answers::{self, Answers};
use super::out::{self, Out, channel, message};
use super::questions::Questions;
use super::streams::{Streams, opened_by, set_subscription, subscription_of};
use super::traffic::{Traffic, Via, token_of};
use super::upstream::{Http, Upstream, each_message};
use super::world::{self, ToolWorld};
use crate::tools::difference::{Difference, differences};
use retake_base::cause::{Cause, CauseKind};
use retake_base::lock::Mutex;
use retake_base::text::clipped;
use retake_core::json::{Json, Layout, Object};
use retake_model::{Branch, FaultKind, Miss, MissReason, Pacing, Scope};
use retake_scenario::ForkTools;
use retake_wire::fixture::{Reply, ToolExchange, ToolMessage};

/// Where answers come from.
#[derive(Clone, Debug)]
pub(crate) enum ToolsMode {
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
    fixture: PathBuf,
    pub(super) by_name: BTreeMap<String, Server>,
    /// What becomes of calls of tools.
    pub(super) world: Mutex<Arc<ToolWorld>>,
    seen: Mutex<Vec<ToolRequest>>,
    pacing: Pacing,
    asked: AtomicU64,
}

/// Made when the first request comes: by then it is known what the recorded exchanges say on this stage.
pub(super) type LazyAnswers = LazyLock<Mutex<Answers>, Box<dyn FnOnce() -> Mutex<Answers> + Send>>;

/// The double of one server.
pub(super) struct Server {
    answers: LazyAnswers,
    pub(super) live: Option<Live>,
    streams: Arc<Streams>,
    questions: Questions,
    drift: Mutex<Vec<String>>,
}

/// The real server.
pub(super) struct Live {
    pub(super) upstream: Upstream,
    pub(super) traffic: Arc<Traffic>,
}

/// A request to a double, and its answer.
#[derive(Clone, Debug)]
pub(crate) struct ToolRequest {
    pub came: Instant,
    pub(crate) answered: Instant,
    pub(crate) server: String,
    /// The method, and the beginning of the parameters.
    pub(crate) what: String,
    /// The beginning of the answer, or of the error.
    pub(crate) answer: Result<String, String>,
}

/// The most requests that are kept. Nobody reads more.
const REQUESTS: usize = 2_000;
/// How much of an answer is kept, in characters.
const ANSWER: usize = 400;

pub(super) fn router(servers: Arc<Servers>) -> axum::Router {
    axum::Router::new().fallback(any(handle)).with_state(servers)
}

async fn handle(
    State(servers): State<Arc<Servers>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let name = uri.path().strip_prefix('/').and_then(|path| path.split_once('/'));
    let name = name.filter(|(key, _)| *key == servers.key).map(|(_, name)| name);
    let Some((name, server)) = name.and_then(|name| servers.by_name.get_key_value(name)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
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
        connection
            .and_then(|connection| server.streams.of(connection))
            .into_iter()
            .for_each(|out| out.send(refusal.clone()));
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
    let (name, method) = (name.clone(), asked.to_owned());
    let request = Request { came: Instant::now(), name, method, params, id, token: token_of(&message), out };
    let begun = servers.begin(&request, message).await;
    let work = Arc::clone(&servers);
    let holds = outlet.is_some();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = work.serve(&request, begun, &headers, holds) => {}
            () = request.out.closed() => {}
        }
    });
    match outlet {
        Some(outlet) => outlet.response().await,
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// A request of an agent.
struct Request {
    came: Instant,
    name: String,
    method: String,
    params: Json,
    id: Json,
    /// With this token the agent asks for reports on progress.
    token: Option<Json>,
    out: Out,
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
    answer: oneshot::Receiver<Result<Json, Json>>,
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
    pub(super) fn new(
        key: String,
        mode: ToolsMode,
        fixture: PathBuf,
        by_name: BTreeMap<String, Server>,
        pacing: Pacing,
    ) -> Servers {
        Servers {
            key,
            mode,
            fixture,
            by_name,
            world: Mutex::default(),
            seen: Mutex::default(),
            pacing,
            asked: AtomicU64::new(0),
        }
    }

    /// Returns the first requests, in the order in which they were answered.
    pub(super) fn seen(&self) -> Vec<ToolRequest> {
        self.seen.lock().clone()
    }

    /// Begins a request, before the next one of this agent is read.
    async fn begin(&self, request: &Request, message: Json) -> Begun {
        let Request { name, method, params, out, .. } = request;
        let server = &self.by_name[name];
        if method == "ping" {
            return Begun::Known(Ok(Json::Object(Object::new())));
        }
        if let (Some(_), ToolsMode::Fork(..), true) = (&server.live, &self.mode, answers::is_once(method)) {
            let taken = server.answers.lock().take(method, params, false);
            if let Ok((_, exchange)) = taken {
                return Begun::Recorded(Box::new(exchange));
            }
        }
        let Some(Live { upstream, traffic }) = &server.live else {
            let mut answers = server.answers.lock();
            let world = self.world.lock().clone();
            return match answers.take(method, params, world.repeats()) {
                Ok((index, exchange)) => {
                    let (fails, acts) = match &**method {
                        "tools/call" => world.comes(&(name.clone(), index)),
                        _ => (None, true),
                    };
                    if !acts {
                        answers.open(index);
                    }
                    fails.map_or_else(|| Begun::Recorded(Box::new(exchange)), Begun::Fails)
                }
                Err(missed) => Begun::Known(Err(self.miss(name, method, missed))),
            };
        };
        let noted = traffic.ask(message, method, params, out);
        let exchange = noted.exchange;
        let message = match upstream {
            #[cfg(unix)]
            Upstream::Pipe(pipe) => {
                if let Err(reason) = pipe.tell(&noted.message).await {
                    traffic.failed(exchange, &reason);
                }
                None
            }
            Upstream::Http(_) => Some(noted.message),
        };
        Begun::PassedOn(Passed { exchange, message, answer: noted.answer, traffic: Arc::clone(traffic) })
    }

    async fn serve(&self, request: &Request, begun: Begun, headers: &HeaderMap, holds: bool) {
        let Request { came, name, method, params, id, out, .. } = request;
        let server = &self.by_name[name];
        self.pacing.hold_back(self.asked.fetch_add(1, Ordering::Relaxed), 0).await;
        let answer = match begun {
            Begun::Known(answer) => {
                out.answer(id, &answer, None);
                answer
            }
            Begun::Fails(kind) => match world::answer(kind) {
                Some(answer) => {
                    out.answer(id, &Ok(answer.clone()), None);
                    Ok(answer)
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
                    match (server.http(), &passed.message) {
                        (Some(http), Some(message)) => {
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
                    server.compare(method, params, &answer);
                }
                answer
            }
        };
        self.note(*came, name, answers::asked(method, params), &answer);
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
        let message = format!("replay miss: {reason}");
        if let ToolsMode::Fork(branch, _) = &self.mode {
            branch.end(format!(
                "server `{name}`: {reason}, and the suite does not allow live tools: fork = {{ tools = \"live\" }}"
            ));
        }
        if let ToolsMode::Replay(scope) = &self.mode {
            let cause = Cause::new(CauseKind::ToolRequest, reason.to_string());
            let via = format!("MCP {method}, server `{name}`");
            let miss = Miss::of_tool(scope.name(), &self.fixture, via, cause, reason, evidence);
            scope.add_miss(Arc::new(miss));
        }
        Json::object([("code", Json::Int(-32000)), ("message", message.into())])
    }
}

impl Server {
    pub(super) fn new(
        answers: impl FnOnce() -> Answers + Send + 'static,
        live: Option<Live>,
        streams: Arc<Streams>,
    ) -> Server {
        let answers = LazyLock::new(Box::new(|| Mutex::new(answers())) as Box<dyn FnOnce() -> Mutex<Answers> + Send>);
        Server { answers, live, streams, questions: Questions::default(), drift: Mutex::default() }
    }

    /// What differed from the recording, one line each.
    pub(super) fn drift(&self) -> Vec<String> {
        self.drift.lock().clone()
    }

    pub(super) fn served(&self) -> Vec<ToolExchange> {
        self.answers.lock().served()
    }

    /// Opens all recorded exchanges again, for another run.
    pub(super) fn anew(&self) {
        self.answers.lock().anew();
    }

    /// The recorded requests that nobody made.
    pub(super) fn unused(&self) -> Vec<(usize, String)> {
        self.answers.lock().unused()
    }

    /// The methods of the server's requests that the agent has not answered.
    pub(super) fn open_questions(&self) -> Vec<String> {
        self.live.as_ref().map_or_else(|| self.questions.open(), |live| live.traffic.open_questions())
    }

    /// The connection to the real server, if it is one over HTTP.
    fn http(&self) -> Option<&Http> {
        match &self.live.as_ref()?.upstream {
            Upstream::Http(http) => Some(http),
            #[cfg(unix)]
            Upstream::Pipe(_) => None,
        }
    }

    /// Takes an agent's answer to a request of the server.
    async fn replied(&self, message: &Json, headers: &HeaderMap) -> Response {
        if let Some(Live { upstream, traffic }) = &self.live {
            traffic.replied(message);
            return upstream.tell(message, headers).await.unwrap_or(StatusCode::BAD_GATEWAY).into_response();
        }
        let reduce = |json: &mut Json| self.answers.lock().reduce(json);
        let differs = self.questions.replied(message, reduce);
        self.drift.lock().extend(differs);
        StatusCode::ACCEPTED.into_response()
    }

    /// Takes a notification of an agent.
    async fn notified(&self, message: &Json, headers: &HeaderMap) -> Response {
        let Some(Live { upstream, traffic }) = &self.live else { return StatusCode::ACCEPTED.into_response() };
        traffic.notified(message);
        // If the server cannot be reached, the next request reports it.
        upstream.tell(message, headers).await.unwrap_or(StatusCode::ACCEPTED).into_response()
    }

    /// Opens the stream for what the server sends without being asked.
    async fn listen(&self, headers: &HeaderMap) -> Response {
        let (out, outlet) = channel();
        if let (Some(http), Some(live)) = (self.http(), &self.live) {
            let response = match http.listen(headers).await {
                Ok(Ok(response)) => response,
                Ok(Err(status)) => return status.into_response(),
                Err(_) => return StatusCode::BAD_GATEWAY.into_response(),
            };
            let traffic = Arc::clone(&live.traffic);
            tokio::spawn(async move {
                tokio::select! {
                    _ = each_message(response, |message| traffic.came(&Via::Stream(&out), message)) => {}
                    () = out.closed() => {}
                }
            });
            return outlet.events(None);
        }
        if !self.answers.lock().any_unasked() {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        }
        self.streams.open("", out);
        outlet.events(None)
    }

    /// Sends what the recorded server sent. Returns its answer; `None` if it did not answer, or if the agent has hung up.
    async fn replay(&self, request: &Request, exchange: ToolExchange) -> Option<Result<Json, Json>> {
        let Request { method, id, token, out, .. } = request;
        let unasked = self.answers.lock().any_unasked();
        if method == "initialize" && unasked {
            // Some clients only open a stream if they have a session.
            out.set_session(&uuid::Uuid::new_v4().simple().to_string());
        }
        for ToolMessage { method, mut params, reply } in exchange.messages {
            if let Json::Object(fields) = &mut params
                && let Some(at) = fields.get_mut("progressToken")
            {
                // An agent that gives no token gets no reports.
                let Some(token) = token else { continue };
                *at = token.clone();
            }
            if let Some(recorded) = opened_by(Some(&method), &params).cloned() {
                set_subscription(&mut params, id);
                out.send(notification(&method, params));
                self.streams.subscribe(recorded, id.clone(), out.clone());
                continue;
            }
            match reply {
                None if subscription_of(&params).is_some() => self.streams.send(notification(&method, params)),
                None => out.send(notification(&method, params)),
                Some(reply) => {
                    let waits = reply != Reply::Nothing;
                    let (question, answered) = self.questions.ask(&method, reply);
                    out.send(asking(question, &method, params));
                    if waits && answered.await.is_err() {
                        return None;
                    }
                }
            }
        }
        let answer = exchange.answer?;
        out.answer(id, &answer, exchange.status);
        for ToolMessage { method, params, reply } in exchange.then {
            self.streams.send(match reply {
                None => notification(&method, params),
                Some(reply) => asking(self.questions.ask(&method, reply).0, &method, params),
            });
        }
        Some(answer)
    }

    /// Notes how the answer of a live server differs from the recorded one.
    fn compare(&self, method: &str, params: &Json, answer: &Result<Json, Json>) {
        let recorded = self.answers.lock().take(method, params, false);
        let changed = recorded.ok().and_then(|(_, recorded)| changed(&recorded, answer));
        self.drift.lock().extend(changed);
    }
}

fn notification(method: &str, params: Json) -> Json {
    with_params(message([("method", method.into())]), params)
}

fn asking(id: Json, method: &str, params: Json) -> Json {
    with_params(message([("id", id), ("method", method.into())]), params)
}

fn with_params(mut message: Json, params: Json) -> Json {
    if let (Json::Object(fields), true) = (&mut message, params != Json::Null) {
        fields.insert("params", params);
    }
    message
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
    differences("", &side(recorded.answer.as_ref()?), &side(answer), &mut found);
    let first = found.first()?;
    let [then, now] = first.shown(120);
    let tool = recorded.params.str_of("name").unwrap_or_default();
    Some(format!("the tool `{tool}` changed at {}: {then} → {now}", first.pointer))
}

/// Returns the parameters of a request without `_meta`, which differs in every request.
fn without_meta(params: Option<&Json>) -> Json {
    let mut params = params.cloned().unwrap_or(Json::Null);
    if let Json::Object(fields) = &mut params {
        fields.remove("_meta");
    }
    params
}

//! The double of one server: what it has recorded, and the real server if there is one.

use std::sync::{Arc, LazyLock};

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::answers::Answers;
use super::out::{Out, channel, message};
use super::plain::Plain;
use super::questions::Questions;
use super::streams::{Streams, opened_by, set_subscription, subscription_of};
use super::traffic::{Traffic, Via};
use super::upstream::{Upstream, each_message};
use crate::tools::difference::differences;
use crate::tools::executor::Http;
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_wire::fixture::{Reply, ToolExchange, ToolMessage, is_call};

/// Made when the first request comes: by then it is known what the recorded exchanges say on this stage.
pub(super) type LazyAnswers = LazyLock<Mutex<Answers>, Box<dyn FnOnce() -> Mutex<Answers> + Send>>;

/// The double of one server.
pub(super) struct Server {
    pub(super) answers: LazyAnswers,
    pub(super) live: Option<Live>,
    pub(super) streams: Arc<Streams>,
    /// Whether it is an HTTP server that does not speak MCP.
    pub(super) is_plain: bool,
    pub(super) questions: Questions,
    /// What differed from the recording, one line each.
    pub(super) drift: Mutex<Vec<String>>,
}

/// The real server.
pub(super) struct Live {
    pub(super) upstream: Upstream,
    pub(super) traffic: Arc<Traffic>,
}

/// A request of an agent.
pub(super) struct Request {
    pub(super) came: Instant,
    pub(super) name: String,
    /// What is kept of it: the method and the parameters, and of a request to a plain HTTP tool the headers that the agent chose, and ids.
    pub(super) asked: ToolExchange,
    pub(super) id: Json,
    /// With this token the agent asks for reports on progress.
    pub(super) token: Option<Json>,
    pub(super) out: Out,
    /// The request as it came, if the server does not speak MCP.
    pub(super) plain: Option<Plain>,
}

impl Server {
    /// The methods of the server's requests that the agent has not answered.
    pub(super) fn open_questions(&self) -> Vec<String> {
        self.live.as_ref().map_or_else(|| self.questions.open(), |live| live.traffic.open_questions())
    }

    /// The connection to the real server, if it is one over HTTP.
    pub(super) fn http(&self) -> Option<&Http> {
        match &self.live.as_ref()?.upstream {
            Upstream::Http(http) => Some(http),
            #[cfg(unix)]
            Upstream::Pipe(_) => None,
        }
    }

    /// Takes an agent's answer to a request of the server.
    pub(super) async fn replied(&self, message: &Json, headers: &HeaderMap) -> Response {
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
    pub(super) async fn notified(&self, message: &Json, headers: &HeaderMap) -> Response {
        let Some(Live { upstream, traffic }) = &self.live else { return StatusCode::ACCEPTED.into_response() };
        traffic.notified(message);
        // If the server cannot be reached, the next request reports it.
        upstream.tell(message, headers).await.unwrap_or(StatusCode::ACCEPTED).into_response()
    }

    /// Opens the stream for what the server sends without being asked.
    pub(super) async fn listen(&self, headers: &HeaderMap) -> Response {
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
    pub(super) async fn replay(&self, request: &Request, exchange: ToolExchange) -> Option<Result<Json, Json>> {
        let Request { asked, id, token, out, .. } = request;
        if asked.method == "initialize" && self.answers.lock().any_unasked() {
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
    pub(super) fn compare(&self, request: &Request, answer: &Result<Json, Json>) {
        let recorded = self.answers.lock().take(&request.asked, false);
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
        fields.insert("params".into(), params);
    }
    message
}

/// Describes in one line how the answer to a tool call differs from the recorded one. `None` if it does not.
fn changed(recorded: &ToolExchange, answer: &Result<Json, Json>) -> Option<String> {
    if !is_call(&recorded.method) {
        return None;
    }
    let side = |answer| match answer {
        Ok(json) | Err(json) => json,
    };
    let found = differences("", Some(side(recorded.answer.as_ref()?.as_ref())), Some(side(answer.as_ref())));
    let first = found.first()?;
    let [then, now] = first.shown(120);
    let tool = recorded.tool();
    Some(format!("the tool `{tool}` changed at {}: {then} → {now}", first.pointer))
}

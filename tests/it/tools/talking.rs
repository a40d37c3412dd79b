//! A tool server that talks: it reports progress and logs, asks the agent something in the middle of a call, and announces a
//! change after it. It speaks the protocol with sessions on standard input and output and over HTTP, and the one without.

#![allow(clippy::print_stdout, reason = "it writes its protocol to standard output")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::support::loopback::Service;

/// The argument that makes this binary the server.
pub(crate) const SERVER: &str = "serve-as-a-talking-server";

pub(crate) const VERSION: &str = "2026-07-28";
const CHANGED: &str = "notifications/tools/list_changed";

fn result(message: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

fn text(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

/// The answers that need nothing from the agent.
fn simple(message: &Value) -> Option<Value> {
    let known = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "talking", "version": "1"}}),
        "server/discover" => json!({"resultType": "complete", "supportedVersions": [VERSION], "capabilities": {},
            "serverInfo": {"name": "talking", "version": "1"}}),
        "tools/list" => {
            json!({"resultType": "complete", "tools": [{"name": "book", "inputSchema": {"type": "object"}}]})
        }
        _ => return None,
    };
    Some(result(message, &known))
}

/// What the server sends during a call: a report with the token of the call, a log line, and a question.
fn during(call: &Value) -> [Value; 3] {
    let token = &call["params"]["_meta"]["progressToken"];
    [
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "looking"}}),
        json!({"jsonrpc": "2.0", "id": 41, "method": "elicitation/create",
            "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}}),
    ]
}

fn booked(call: &Value, reply: &Value) -> Value {
    result(call, &text(&format!("booked: {}", reply["result"]["action"].as_str().unwrap_or("refused"))))
}

/// The `main` of the server on standard input and output.
pub(crate) fn serve() -> ExitCode {
    let say = |message: &Value| {
        println!("{message}");
        std::io::stdout().flush().unwrap();
    };
    let mut lines = std::io::stdin().lock().lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    while let Some(message) = lines.next() {
        if let Some(answer) = simple(&message) {
            say(&answer);
        } else if message["method"] == "tools/call" {
            during(&message).iter().for_each(say);
            let reply = lines.next().unwrap();
            assert_eq!(reply["id"], 41);
            say(&booked(&message, &reply));
            say(&json!({"jsonrpc": "2.0", "method": CHANGED}));
        }
    }
    ExitCode::SUCCESS
}

type Sender = UnboundedSender<Value>;
/// A stream, and the id of the subscription to which it belongs.
type Listening = (Option<Value>, Sender);

/// What the server over HTTP remembers: the question that waits for an answer, and the stream for what nobody asked for.
#[derive(Clone, Default)]
struct Memory {
    questions: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    listening: Arc<Mutex<Option<Listening>>>,
}

/// Starts the server with sessions over HTTP. It refuses requests without its session.
pub(crate) fn serve_with_sessions() -> Service {
    let memory = Memory::default();
    let asked = memory.clone();
    let handle = move |headers: HeaderMap, body: String| {
        let memory = asked.clone();
        async move {
            let message: Value = serde_json::from_str(&body).unwrap();
            if message["method"] == "initialize" {
                return ([("mcp-session-id", "s1")], simple(&message).unwrap().to_string()).into_response();
            }
            if headers.get("mcp-session-id").is_none_or(|session| session != "s1") {
                return (StatusCode::NOT_FOUND, "no such session").into_response();
            }
            if message.get("method").is_none() {
                memory.questions.lock().unwrap().remove("41").unwrap().send(message).unwrap();
                return StatusCode::ACCEPTED.into_response();
            }
            if let Some(answer) = simple(&message) {
                return ([("content-type", "application/json")], answer.to_string()).into_response();
            }
            if message["method"] != "tools/call" {
                return StatusCode::ACCEPTED.into_response();
            }
            let (sender, receiver) = unbounded_channel();
            let (ask, reply) = oneshot::channel();
            memory.questions.lock().unwrap().insert("41".to_owned(), ask);
            tokio::spawn(async move {
                for said in during(&message) {
                    sender.send(said).unwrap();
                }
                sender.send(booked(&message, &reply.await.unwrap())).unwrap();
                memory.announce();
            });
            events(receiver)
        }
    };
    let listen = move || async move {
        let (sender, receiver) = unbounded_channel();
        *memory.listening.lock().unwrap() = Some((None, sender));
        events(receiver)
    };
    Service::start(Router::new().route("/v1", post(handle).get(listen)))
}

/// Starts the server of the version without sessions. It refuses requests without the headers of this version.
pub(crate) fn serve_without_sessions() -> Service {
    let memory = Memory::default();
    let handle = move |headers: HeaderMap, body: String| {
        let memory = memory.clone();
        async move {
            let message: Value = serde_json::from_str(&body).unwrap();
            let header =
                |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
            let fits = header("mcp-protocol-version") == VERSION && header("mcp-method") == message["method"];
            let named = message["method"] != "tools/call" || header("mcp-name") == message["params"]["name"];
            if !fits || !named || !header("mcp-session-id").is_empty() {
                return StatusCode::NOT_FOUND.into_response();
            }
            if message["method"] == "subscriptions/listen" {
                let (sender, receiver) = unbounded_channel();
                let id = message["id"].clone();
                let acknowledged = "notifications/subscriptions/acknowledged";
                sender.send(of_subscription(acknowledged, &id)).unwrap();
                *memory.listening.lock().unwrap() = Some((Some(id), sender));
                return events(receiver);
            }
            let answer = if let Some(answer) = simple(&message) {
                answer
            } else if message["method"] != "tools/call" {
                let error =
                    json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}});
                return (StatusCode::NOT_FOUND, [("content-type", "application/json")], error.to_string())
                    .into_response();
            } else if let Some(reply) = message["params"]["inputResponses"].get("sure") {
                memory.announce();
                booked(&message, &json!({"result": reply}))
            } else {
                let question = &during(&message)[2];
                let asks = json!({"method": question["method"], "params": question["params"]});
                result(
                    &message,
                    &json!({"resultType": "input_required", "inputRequests": {"sure": asks}, "requestState": "one"}),
                )
            };
            ([("content-type", "application/json")], answer.to_string()).into_response()
        }
    };
    Service::start(Router::new().route("/v1", post(handle)))
}

impl Memory {
    fn announce(&self) {
        if let Some((subscription, sender)) = &*self.listening.lock().unwrap() {
            let changed = json!({"jsonrpc": "2.0", "method": CHANGED});
            // The agent may have gone.
            let _ = sender.send(subscription.as_ref().map_or(changed, |id| of_subscription(CHANGED, id)));
        }
    }
}

fn of_subscription(method: &str, id: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}})
}

fn events(receiver: UnboundedReceiver<Value>) -> Response {
    let body = stream::unfold(receiver, |mut receiver| async move {
        let message = receiver.recv().await?;
        Some((Ok::<Bytes, Infallible>(format!("event: message\ndata: {message}\n\n").into()), receiver))
    });
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}

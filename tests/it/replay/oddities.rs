//! The service `oddities`: each route does something that real services do when they go wrong.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use retake::Stage;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::replay::mutation;
use crate::support::loopback::client;

pub(crate) fn router(stage: Stage) -> Router {
    Router::new()
        .route("/ask", post(ask))
        .route("/silent", post(async || ()))
        .route("/hang", post(async || std::future::pending::<()>().await))
        .route("/block", post(block))
        .route("/endless", post(endless))
        .route("/fail", post(async || (StatusCode::INTERNAL_SERVER_ERROR, "the database is gone")))
        .route("/panic", post(panics))
        .route("/mint", post(mint))
        .route("/ask-and-go-on/{millis}", post(ask_and_go_on))
        .route("/go-on-in-a-thread/{millis}", post(go_on_in_a_thread))
        .route("/go-on-blocking/{millis}", post(go_on_blocking))
        .route("/panic-behind", post(panic_behind))
        .route("/panic-blocking", post(panic_blocking))
        .route("/call-later", post(call_later))
        .route("/call-now", post(call_now))
        .with_state(stage)
}

fn sse(events: &[(&str, Value)]) -> Response {
    let text = mutation::print(events.iter().map(|(name, data)| (*name, data)));
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// Passes the question on to the model. An error of the model is an answer like any other.
async fn ask(State(stage): State<Stage>, question: String) -> Response {
    let said = model(&stage, json!([{ "role": "user", "content": question }])).await;
    sse(&[("answer", json!({ "text": said })), ("end", Value::Null)])
}

/// Blocks the only thread of the system forever.
async fn block() {
    loop {
        std::thread::park();
    }
}

async fn endless() -> Response {
    let ticks = stream::unfold(tokio::time::interval(Duration::from_millis(5)), async |mut ticks| {
        ticks.tick().await;
        Some((Ok::<_, Infallible>("event: tick\ndata: {}\n\n"), ticks))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(ticks)).into_response()
}

async fn panics() {
    panic!("a handler that panics");
}

/// Passes the question on to the model if there is one, and calls the model again that long after the last event.
async fn ask_and_go_on(Path(millis): Path<u64>, State(stage): State<Stage>, question: String) -> Response {
    let said = if question.is_empty() {
        "nothing was asked".to_owned()
    } else {
        model(&stage, json!([{ "role": "user", "content": question }])).await
    };
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        model(&stage, json!([{ "role": "user", "content": "A title for this?" }])).await
    });
    sse(&[("answer", json!({ "text": said })), ("end", Value::Null)])
}

/// Responds, and calls the model that long after the last event, on a thread that no runtime knows.
async fn go_on_in_a_thread(Path(millis): Path<u64>, State(stage): State<Stage>) -> Response {
    std::thread::spawn(move || call_after(millis, &stage));
    sse(&[("end", Value::Null)])
}

/// The same on a thread for blocking calls.
async fn go_on_blocking(Path(millis): Path<u64>, State(stage): State<Stage>) -> Response {
    tokio::task::spawn_blocking(move || call_after(millis, &stage));
    sse(&[("end", Value::Null)])
}

fn call_after(millis: u64, stage: &Stage) {
    std::thread::sleep(Duration::from_millis(millis));
    let _ = call_blocking(stage.model().url.strip_prefix("http://").unwrap().parse().unwrap(), stage.key());
}

/// Responds, and then a background task panics.
async fn panic_behind() {
    tokio::spawn(async { panic!("the title task found no title") });
}

async fn panic_blocking() {
    tokio::task::spawn_blocking(|| panic!("the index is broken"));
}

/// Calls the model, and again with a tool result that contains a new random id each time.
async fn mint(State(stage): State<Stage>) -> Response {
    let ticket = Uuid::new_v4().simple().to_string()[..8].to_owned();
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": "ticket", "arguments": "{}" } });
    let mut messages = vec![json!({ "role": "user", "content": "Open a ticket" })];
    let first = model(&stage, json!(messages)).await;
    messages.push(json!({ "role": "assistant", "content": first, "tool_calls": [call] }));
    messages.push(json!({ "role": "tool", "tool_call_id": "call_1", "content": format!("opened T-{ticket}") }));
    let second = model(&stage, json!(messages)).await;
    sse(&[("answer", json!({ "text": second })), ("end", Value::Null)])
}

/// Calls the model and returns its text, or an apology if there is none.
pub(crate) async fn model(stage: &Stage, messages: Value) -> String {
    model_with(stage, messages, json!({})).await
}

/// The same with more fields in the request.
pub(crate) async fn model_with(stage: &Stage, messages: Value, more: Value) -> String {
    let client = client();
    let request = client.post(format!("{}/chat/completions", stage.model().openai));
    let request = request.header("content-type", "application/json").bearer_auth(stage.key());
    let mut body = json!({ "model": "gpt-4o-mini", "messages": messages });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let body = body.to_string();
    let answer: Option<Value> = async { request.body(body).send().await.ok()?.text().await.ok() }
        .await
        .and_then(|text| serde_json::from_str(&text).ok());
    let said = answer.as_ref().and_then(|answer| answer["choices"][0]["message"]["content"].as_str());
    said.unwrap_or("I'm sorry, something went wrong.").to_owned()
}

/// A thread of an earlier scenario's system. It calls the model on demand, and reports the response.
struct Straggler {
    go: Sender<()>,
    told: Receiver<String>,
}

static STRAGGLER: Mutex<Option<Straggler>> = Mutex::new(None);

/// Responds, and leaves a thread behind that calls the model when a later scenario requests `/call-now`. By then, this
/// scenario has its verdict.
async fn call_later(State(stage): State<Stage>) -> Response {
    let (go, wait) = channel();
    let (tell, told) = channel();
    *STRAGGLER.lock().unwrap() = Some(Straggler { go, told });
    std::thread::spawn(move || {
        wait.recv().unwrap();
        let address = stage.model().url.strip_prefix("http://").unwrap().parse().unwrap();
        tell.send(call_blocking(address, stage.key()).unwrap_or_else(|e| e.to_string())).unwrap();
    });
    sse(&[("answer", json!({ "text": "done" })), ("end", Value::Null)])
}

async fn call_now() -> String {
    let Straggler { go, told } = STRAGGLER.lock().unwrap().take().unwrap();
    go.send(()).unwrap();
    told.recv().unwrap()
}

fn call_blocking(model: SocketAddr, key: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(model)?;
    let body = json!({ "model": "gpt-4o-mini", "messages": [{ "role": "user", "content": "One more thing" }] });
    let body = body.to_string();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: model\r\nconnection: close\r\nx-retake-caller: straggler";
    write!(stream, "{head}\r\nauthorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

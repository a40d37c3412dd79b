//! A small agent service and a command-line agent. A test starts this binary again, with an argument that selects one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints its log")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures_util::stream::{self, Stream, StreamExt as _};
use tokio::sync::broadcast;

use crate::support::loopback::client;

/// The argument that makes this binary the service.
pub(crate) const SERVICE: &str = "serve-as-a-system";
/// The argument that makes it the command-line agent.
pub(crate) const AGENT: &str = "work-as-an-agent";

/// Returns the command for `suite.toml` that starts the service, as a TOML list.
pub(crate) fn command() -> String {
    let program = std::env::current_exe().unwrap();
    format!("[{:?}, {SERVICE:?}]", program.to_str().unwrap())
}

/// Returns the command for a step that runs the command-line agent, as a TOML list.
pub(crate) fn agent() -> String {
    command().replace(SERVICE, AGENT)
}

/// The `main` of the command-line agent.
pub(crate) fn work() -> ExitCode {
    let message = std::env::var("MESSAGE").unwrap();
    let set = |name: &str| std::env::var(name).ok();
    println!();
    let cwd = std::env::current_dir().unwrap();
    println!("{}", serde_json::json!({"type": "started", "home": set("HOME"), "cwd": cwd.to_str()}));
    spawn_helpers();
    if set("HANGS").is_some() {
        std::thread::sleep(Duration::from_secs(600));
    }
    if let Some(code) = set("FAILS") {
        eprintln!("cannot reach the model");
        #[expect(clippy::disallowed_methods, reason = "an agent that fails")]
        std::process::exit(code.parse().unwrap());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(ask(&message)).unwrap_or_else(|reason| reason);
    println!("{}", serde_json::json!({"type": "answer", "text": answer}));
    println!("{}", serde_json::json!({"type": "done"}));
    ExitCode::SUCCESS
}

/// The `main` of the service.
pub(crate) fn serve() -> ExitCode {
    let port = std::env::var("PORT").unwrap();
    println!("working in {}", std::env::current_dir().unwrap().display());
    if let Ok(code) = std::env::var("DIES") {
        println!("cannot go on: the database is locked");
        #[expect(clippy::disallowed_methods, reason = "a system that dies")]
        std::process::exit(code.parse().unwrap());
    }
    spawn_helpers();
    if let Ok(millis) = std::env::var("ENDS_AFTER") {
        let millis = millis.parse().unwrap();
        std::thread::spawn(move || end_after(millis, 4));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if let Ok(asks) = std::env::var("ASKS_AT_THE_END") {
            let mut end = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
            tokio::spawn(async move {
                end.recv().await;
                println!("asked at the end");
                let _ = ask(if asks == "in vain" { "say nothing" } else { "anything to remember?" }).await;
                end_after(0, 0);
            });
        }
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
        println!("listening on {port}");
        axum::serve(listener, router()).await.unwrap();
    });
    ExitCode::SUCCESS
}

/// A shell loop that SIGTERM does not end.
const STUBBORN: &str = "trap '' TERM; while :; do sleep 1; done";

/// Starts the additional processes that `HELPERS` names: `stubborn` ignores SIGTERM, and `away` is also in its own session.
fn spawn_helpers() {
    let helpers = std::env::var("HELPERS").unwrap_or_default();
    let spawn = |program: &str, args: &[&str]| {
        #[expect(clippy::zombie_processes, reason = "it has to be left behind")]
        Command::new(program).args(args).stdin(Stdio::null()).spawn().unwrap();
    };
    for helper in helpers.split_whitespace() {
        match helper {
            "stubborn" => spawn("sh", &["-c", STUBBORN]),
            "away" => spawn("setsid", &["-f", "sh", "-c", STUBBORN]),
            other => panic!("{other}"),
        }
    }
}

struct Service {
    /// A client of `/meet` waits here until a second one comes.
    door: tokio::sync::Barrier,
    asked: AtomicUsize,
    chats: broadcast::Sender<String>,
    counted: tokio::sync::Notify,
}

fn router() -> Router {
    let service = Arc::new(Service {
        door: tokio::sync::Barrier::new(2),
        asked: AtomicUsize::new(0),
        chats: broadcast::channel(64).0,
        counted: tokio::sync::Notify::new(),
    });
    Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/environment", get(environment))
        .route("/chat", post(chat))
        .route("/events", get(events))
        .route("/count", get(count))
        .route("/job", get(job))
        .route("/meet", get(meet))
        .route("/numbers", get(numbers))
        .route("/afterthought", get(afterthought))
        .route("/after/{how}", get(after))
        .route("/zeros", get(zeros))
        .route("/echo", post(echo))
        .route("/request", any(request))
        .route(
            "/heartbeat",
            get(|| async { sse(stream::iter([": alive\n\n", "event: end\ndata: {}\n\n"].map(str::to_owned))) }),
        )
        .route("/model", post(model))
        .route("/relay", post(relay))
        .route("/suggest/{millis}", post(suggest))
        .route("/crash", post(crash))
        .route("/pid", get(|| async { json(&serde_json::json!({"pid": std::process::id()})) }))
        .route("/hang", post(hang))
        .route("/go-on/{millis}", post(go_on))
        .route("/end-soon/{code}", post(end_soon))
        .with_state(service)
}

fn json(value: &serde_json::Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn sse(events: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(|event| Ok::<_, Infallible>(Bytes::from(event))));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

async fn environment() -> Response {
    let cwd = std::env::current_dir().unwrap().display().to_string();
    // The names of the machine and its user are other ones in the second replay of a proof.
    let told = ["PORT", "USER", "LOGNAME", "HOSTNAME"];
    let variables =
        std::env::vars().filter(|(name, _)| !told.contains(&name.as_str())).chain([("cwd".to_owned(), cwd)]);
    let variables: BTreeMap<String, String> = variables.collect();
    json(&serde_json::json!(variables))
}

/// Asks the model, sends the answer to all listeners, and responds with a stream.
async fn chat(State(service): State<Arc<Service>>, body: String) -> Response {
    let asked: serde_json::Value = serde_json::from_str(&body).unwrap();
    let message = asked["message"].as_str().unwrap();
    service.asked.fetch_add(1, Ordering::Relaxed);
    println!("asked: {message}");
    let answer = match ask(message).await {
        Ok(answer) => answer,
        Err(reason) => format!("sorry: {reason}"),
    };
    let told = format!("event: chat\ndata: {}\n\n", serde_json::json!({"answer": answer}));
    let _ = service.chats.send(told);
    let data = serde_json::json!({"answer": answer});
    sse(stream::iter(["event: answer\ndata: ".to_owned() + &data.to_string() + "\n\n", "event: end\n\n".into()]))
}

pub(super) async fn ask(message: &str) -> Result<String, String> {
    let set = |name: &str| std::env::var(name).map_err(|e| format!("{name}: {e}"));
    // An agent that sends a secret to its model.
    let message = std::env::var("STRIPE").map_or(message.to_owned(), |key| format!("{message} with {key}"));
    let call = serde_json::json!({"model": "small", "messages": [{"role": "user", "content": message}]});
    let request = client().post(set("OPENAI_BASE_URL")? + "/chat/completions").bearer_auth(set("OPENAI_API_KEY")?);
    let answer = request.header(CONTENT_TYPE, "application/json").body(call.to_string()).send().await;
    let answer = answer.map_err(|e| e.to_string())?.text().await.map_err(|e| e.to_string())?;
    let answer: serde_json::Value = serde_json::from_str(&answer).map_err(|e| e.to_string())?;
    let text = answer["choices"][0]["message"]["content"].as_str().map(str::to_owned);
    text.ok_or_else(|| answer["error"]["message"].as_str().unwrap_or("no answer").to_owned())
}

/// Streams the answers to all chats, as they happen.
async fn events(State(service): State<Arc<Service>>) -> Response {
    let chats =
        stream::unfold(service.chats.subscribe(), |mut chats| async { Some((chats.recv().await.ok()?, chats)) });
    sse(stream::once(async { "event: hello\ndata: {}\n\n".to_owned() }).chain(chats))
}

/// Returns the number of chats in this process, and wakes the tasks of `/hang`.
async fn count(State(service): State<Arc<Service>>) -> Response {
    service.counted.notify_waiters();
    json(&serde_json::json!({"chats": service.asked.load(Ordering::Relaxed)}))
}

async fn meet(State(service): State<Arc<Service>>) -> Response {
    service.door.wait().await;
    json(&serde_json::json!({"met": 2}))
}

/// A job that is done at the third request.
async fn job(State(service): State<Arc<Service>>) -> Response {
    let asked = service.asked.fetch_add(1, Ordering::Relaxed);
    json(&serde_json::json!({"status": if asked < 2 { "running" } else { "done" }, "result": {"pages": 3}}))
}

/// Streams the numbers up to 5, starting after `Last-Event-ID`, and then stays open.
async fn numbers(headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).unwrap_or(0);
    let numbers = stream::iter(last + 1..=5).map(|n| {
        let name = if n == 5 { "last" } else { "number" };
        format!("event: {name}\nid: {n}\ndata: {}\n\n", serde_json::json!({"n": n}))
    });
    // Each number is sent in its own chunk.
    let numbers = numbers.then(|number| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        number
    });
    sse(numbers.chain(stream::pending()))
}

/// Streams an event, and another one after a long pause.
async fn afterthought() -> Response {
    let events = stream::iter(["hello", "late"]).then(|name| async move {
        tokio::time::sleep(Duration::from_millis(if name == "late" { 1500 } else { 0 })).await;
        format!("event: {name}\ndata: {{}}\n\n")
    });
    sse(events.chain(stream::pending()))
}

/// Streams an `end` event, and after it what the path says: nothing, more events, or an error.
async fn after(Path(how): Path<String>) -> Response {
    let again = if how == "again" { "event: end\ndata: null\n\n: alive\n\nevent: beat\ndata: 1\n\n" } else { "" };
    let events = stream::iter(["event: end\ndata: null\n\n", again].map(|event| Ok(Bytes::from(event))));
    let broken = stream::iter((how == "break").then(|| Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))));
    // The pause lets the events arrive before the connection breaks.
    let broken = broken.then(|error| async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        error
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events.chain(broken))).into_response()
}

/// Returns a list whose length differs from run to run: it is the port's number.
async fn zeros() -> Response {
    let port: usize = std::env::var("PORT").unwrap().parse().unwrap();
    json(&serde_json::json!({"zeros": vec![0; port], "pair": [1, 2]}))
}

/// Returns the request's content type and body. The boundary of a multipart body is replaced by `B`.
async fn echo(headers: HeaderMap, body: Bytes) -> Response {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    let (content_type, body) = match content_type.split_once("boundary=") {
        Some((before, boundary)) => (before.to_owned() + "boundary=B", body.replace(boundary, "B")),
        None => (content_type.to_owned(), body),
    };
    json(&serde_json::json!({"type": content_type, "body": body}))
}

/// Returns the method of the request and its header `x-team`.
async fn request(method: Method, headers: HeaderMap) -> Response {
    let team = headers.get("x-team").and_then(|value| value.to_str().ok());
    json(&serde_json::json!({"method": method.as_str(), "team": team}))
}

/// Passes the body and the `x-` headers to the model, and returns its answer. It waits one second at most.
async fn model(headers: HeaderMap, body: Bytes) -> Response {
    let set = |name: &str| std::env::var(name).unwrap();
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(1)).build().unwrap();
    let request = client.post(set("OPENAI_BASE_URL") + "/chat/completions").bearer_auth(set("OPENAI_API_KEY"));
    let passed = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-"));
    let request = passed.fold(request, |request, (name, value)| request.header(name, value));
    match request.header(CONTENT_TYPE, "application/json").body(body).send().await {
        Ok(answer) => match answer.text().await {
            Ok(text) => json(&serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))),
            Err(_) => StatusCode::GATEWAY_TIMEOUT.into_response(),
        },
        Err(_) => StatusCode::GATEWAY_TIMEOUT.into_response(),
    }
}

/// Streams an event for each piece of the model's answer. If the client disconnects, the model call ends: at once, with `READS_ON =
/// "looks"` when the next piece comes, and with any other value only with the answer.
async fn relay() -> Response {
    let set = |name: &str| std::env::var(name).unwrap();
    let request = client().post(set("OPENAI_BASE_URL") + "/chat/completions").bearer_auth(set("OPENAI_API_KEY"));
    let call = serde_json::json!({"model": "small", "stream": true, "messages": [{"role": "user", "content": "tell a story"}]});
    let answer = request.header(CONTENT_TYPE, "application/json").body(call.to_string()).send().await.unwrap();
    let mut pieces = answer.bytes_stream().map(|_| "event: piece\ndata: {}\n\n".to_owned());
    let Ok(reads_on) = std::env::var("READS_ON") else { return sse(pieces) };
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(piece) = pieces.next().await {
            if sender.send(piece).is_err() && reads_on == "looks" {
                return;
            }
        }
    });
    sse(futures_util::stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) }))
}

/// Responds, and after that time calls the model as another caller.
async fn suggest(Path(millis): Path<u64>) -> StatusCode {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        let set = |name: &str| std::env::var(name).unwrap();
        let request = client().post(set("OPENAI_BASE_URL") + "/chat/completions").bearer_auth(set("OPENAI_API_KEY"));
        let call = serde_json::json!({"model": "small", "messages": [{"role": "user", "content": "what next?"}]});
        let request = request.header("x-retake-caller", "suggest_agent").header(CONTENT_TYPE, "application/json");
        drop(request.body(call.to_string()).send().await);
    });
    StatusCode::OK
}

async fn crash() -> StatusCode {
    println!("going down");
    #[expect(clippy::disallowed_methods, reason = "a system that crashes")]
    std::process::exit(3)
}

/// Never responds. A background task calls the model as soon as somebody requests `/count`.
async fn hang(State(service): State<Arc<Service>>) -> StatusCode {
    tokio::spawn(async move {
        service.counted.notified().await;
        ask("too late").await
    });
    std::future::pending().await
}

/// Responds, and calls the model after that time.
async fn go_on(Path(millis): Path<u64>) -> StatusCode {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        ask("a title for this?").await
    });
    StatusCode::OK
}

/// Responds, and ends the process with this exit code a moment later.
async fn end_soon(Path(code): Path<i32>) -> StatusCode {
    std::thread::spawn(move || end_after(20, code));
    StatusCode::OK
}

fn end_after(millis: u64, code: i32) {
    std::thread::sleep(Duration::from_millis(millis));
    println!("going down");
    #[expect(clippy::disallowed_methods, reason = "a system that ends by itself")]
    std::process::exit(code)
}

//! An agent whose request lists the rounds that it goes through, and the provider that it is recorded from.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{StreamExt as _, stream};
use retake::Stage;
use serde_json::{Value, json};

use crate::support::loopback::{Service, client};

/// The variable that names a file to which the agent adds a line for each answer that it receives.
pub(crate) const LOG: &str = "RETAKE_IT_LOG";

/// The variable that names the journal. For each answer that it receives, the agent notes how many lines the journal has.
pub(crate) const JOURNAL: &str = "RETAKE_IT_JOURNAL";

/// Serves the agent: `POST /run` takes `{"caller", "rounds": [{"prompt", "model", "tool", "result"}]}`, or a list of such
/// objects, which run at the same time.
pub(crate) fn router(stage: Stage) -> Router {
    Router::new().route("/run", post(run)).with_state(stage)
}

/// Returns a scenario that runs these agents.
pub(crate) fn scenario(agents: &Value) -> String {
    let body = agents.to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "[[step]]\npost = \"/run\"\nheaders = {{ content-type = \"application/json\" }}\n\
         json = \"{{{{ body }}}}\"\nstream = {{ last = \"end\" }}\n[vars]\nbody = \"{body}\"\n"
    )
}

/// Returns an agent with this many rounds, which differ only in the tool's result.
pub(crate) fn agent(caller: &str, rounds: usize) -> Value {
    let round = |n| json!({ "prompt": "Be brief.", "model": "small", "tool": "look", "result": format!("found {n}") });
    json!({ "caller": caller, "rounds": (0..rounds).map(round).collect::<Vec<_>>() })
}

async fn run(State(stage): State<Stage>, body: String) -> Response {
    let agents: Value = serde_json::from_str(&body).unwrap();
    // The scenario's body is a template, which arrives as a JSON string.
    let agents: Value = agents.as_str().map_or(agents.clone(), |text| serde_json::from_str(text).unwrap());
    let agents = agents.as_array().cloned().unwrap_or_else(|| vec![agents.clone()]);
    let answers = futures_util::future::join_all(agents.iter().map(|agent| rounds(&stage, agent))).await;
    let mut text = String::new();
    for answer in answers {
        write!(text, "event: answer\ndata: {}\n\n", json!({ "text": answer })).unwrap();
    }
    ([(header::CONTENT_TYPE, "text/event-stream")], text + "event: end\ndata: null\n\n").into_response()
}

async fn rounds(stage: &Stage, agent: &Value) -> String {
    let caller = agent["caller"].as_str().unwrap();
    let mut messages = vec![json!({ "role": "user", "content": format!("Begin, {caller}") })];
    let mut answer = String::new();
    for (n, round) in agent["rounds"].as_array().unwrap().iter().enumerate() {
        let system = json!({ "role": "system", "content": round["prompt"] });
        let all: Vec<&Value> = std::iter::once(&system).chain(&messages).collect();
        let tool = json!({ "type": "function", "function": { "name": round["tool"], "parameters": {} } });
        let body = json!({ "model": round["model"], "stream": true, "messages": all, "tools": [tool] });
        answer = ask(stage, caller, &body).await;
        if let Ok(log) = std::env::var(LOG) {
            let mut log = std::fs::File::options().create(true).append(true).open(log).unwrap();
            log.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
        if let Ok(journal) = std::env::var(JOURNAL) {
            let lines = std::fs::read_to_string(journal).unwrap();
            answer = format!("{answer}, {} on disk", lines.lines().count());
        }
        let id = format!("call_{n}");
        let call = json!({ "id": id, "type": "function", "function": { "name": "look", "arguments": "{}" } });
        messages.push(json!({ "role": "assistant", "content": answer, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": round["result"] }));
    }
    answer
}

/// Calls the model, and reads the stream as SDKs do: up to `[DONE]`, not to its end.
async fn ask(stage: &Stage, caller: &str, body: &Value) -> String {
    let client = client();
    let request = client.post(format!("{}/chat/completions", stage.model().openai)).bearer_auth(stage.key());
    let request = request.header("content-type", "application/json").header("x-retake-caller", caller);
    let Ok(response) = request.body(body.to_string()).send().await else { return "sorry".to_owned() };
    let (mut text, mut stream) = (String::new(), response.bytes_stream());
    while let Some(Ok(chunk)) = stream.next().await {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if text.contains("[DONE]") {
            break;
        }
    }
    let chunks = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect()
}

/// A provider that keeps the calls that it gets.
pub(crate) struct Provider {
    service: Service,
    asked: Asked,
}

type Asked = Arc<Mutex<Vec<Value>>>;

impl Provider {
    pub(crate) fn start() -> Provider {
        let asked = Asked::default();
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(asked.clone());
        Provider { service: Service::start(router), asked }
    }

    /// Starts a provider that never answers its call of this number, but says that it came.
    pub(crate) fn stopping_at(number: usize, came: std::sync::mpsc::Sender<()>) -> Provider {
        let asked = Asked::default();
        let answer = async move |State(asked): State<Asked>, body: String| {
            if asked.lock().unwrap().len() + 1 == number {
                came.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            complete(State(asked), body).await
        };
        let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(asked.clone());
        Provider { service: Service::start(router), asked }
    }

    pub(crate) fn openai(&self) -> String {
        self.service.openai()
    }

    /// Returns and removes the calls that have come since the last time.
    pub(crate) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    /// Like [`take`](Self::take), but returns the caller and the round of each call, sorted.
    pub(crate) fn take_rounds(&self) -> Vec<(String, usize)> {
        let round = |call: &Value| {
            let messages = call["messages"].as_array().unwrap();
            let asked = messages.iter().find(|message| message["role"] == "user").unwrap();
            let caller = asked["content"].as_str().unwrap().trim_start_matches("Begin, ").to_owned();
            (caller, (messages.len() - 2) / 2)
        };
        let mut rounds: Vec<_> = self.take().iter().map(round).collect();
        rounds.sort();
        rounds
    }
}

/// Streams an answer that depends only on the conversation, word by word.
async fn complete(State(asked): State<Asked>, body: String) -> Response {
    let call: Value = serde_json::from_str(&body).unwrap();
    let said: Vec<&Value> = call["messages"].as_array().unwrap().iter().filter(|m| m["role"] != "system").collect();
    let digest = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, json!(said).to_string().as_bytes());
    asked.lock().unwrap().push(call.clone());
    let words = [format!("answer {} ", said.len()), digest.simple().to_string()[..10].to_owned()];
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": format!("chatcmpl-{}", digest.simple()), "object": "chat.completion.chunk",
            "created": 1, "model": call["model"], "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut frames: Vec<String> = words.iter().map(|word| chunk(json!({ "content": word }), Value::Null)).collect();
    frames.push(chunk(json!({}), json!("stop")));
    frames.push("data: [DONE]\n\n".to_owned());
    // The body ends well after the last frame.
    frames.extend((0..10).map(|_| String::new()));
    let frames = stream::iter(frames).then(async |frame| {
        tokio::time::sleep(Duration::from_millis(3)).await;
        Ok::<_, std::convert::Infallible>(frame)
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
}

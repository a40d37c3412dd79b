//! An agent whose calls are never those of a trace: its prompts hold the date, an id and words that its environment sets. A test
//! starts this binary again to run it.

use std::process::ExitCode;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::support::loopback::client;

/// The argument that makes this binary the agent.
pub(crate) const AGENT: &str = "serve-a-dated-agent";

/// The suite of a project with this agent, whose prompts begin with these words.
pub(crate) fn suite(wording: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "settle = \"100ms\"\n[systems.agent]\ncommand = [{:?}, {AGENT:?}]\n\
         env = {{ PORT = \"{{{{ port }}}}\", OPENAI_BASE_URL = \"{{{{ model.openai }}}}\", \
         OPENAI_API_KEY = \"{{{{ model.key }}}}\", WORDING = \"{wording}\" }}\nready = {{ http = \"/health\" }}\n",
        program.to_str().unwrap()
    )
}

/// The `main` of the agent.
pub(crate) fn serve() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let address = format!("127.0.0.1:{}", std::env::var("PORT").unwrap());
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let router = Router::new().route("/health", get(|| async { "ok" })).route("/chat", post(chat));
        axum::serve(listener, router).await.unwrap();
    });
    ExitCode::SUCCESS
}

/// Answers each question in the body, one after another, until the model calls no tool any more.
async fn chat(body: Bytes) -> axum::response::Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let questions = body["questions"].as_array().cloned().unwrap_or_else(|| vec![body["message"].clone()]);
    let wording = std::env::var("WORDING").unwrap();
    let mut events = String::new();
    for question in questions {
        let question = question.as_str().unwrap();
        let mut messages = vec![
            json!({"role": "system", "content": "Today is 2026-11-23. Be kind."}),
            json!({"role": "user", "content": format!("{wording} {question}")}),
        ];
        loop {
            let Ok(answer) = ask(&messages).await else { break };
            let calls = answer["tool_calls"].as_array().cloned().unwrap_or_default();
            messages.push(answer.clone());
            for call in &calls {
                events += &event("tool", &json!({"name": call["function"]["name"]}));
                messages
                    .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "18 degrees, ticket B-77"}));
            }
            if calls.is_empty() {
                events += &event("answer", &json!({"text": answer["content"]}));
                break;
            }
        }
    }
    events += &event("end", &json!({}));
    ([(CONTENT_TYPE, "text/event-stream")], events).into_response()
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

async fn ask(messages: &[Value]) -> Result<Value, String> {
    let set = |name: &str| std::env::var(name).unwrap();
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let call = json!({"model": "small", "messages": messages, "tools": tools});
    let request = client().post(set("OPENAI_BASE_URL") + "/chat/completions").bearer_auth(set("OPENAI_API_KEY"));
    let request = request.header(CONTENT_TYPE, "application/json").body(call.to_string());
    let answer = request.send().await.map_err(|e| e.to_string())?.text().await.map_err(|e| e.to_string())?;
    let answer: Value = serde_json::from_str(&answer).map_err(|e| e.to_string())?;
    Some(answer["choices"][0]["message"].clone()).filter(|message| !message.is_null()).ok_or(answer.to_string())
}

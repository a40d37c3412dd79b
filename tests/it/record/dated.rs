//! An agent whose calls are never those of a trace: its prompts hold the date, an id and words that its environment sets. It speaks
//! each of four APIs, and can be broken. A test starts this binary again to run it.

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
    suite_over("chat", wording, "")
}

/// The same over another API: `chat`, `responses`, `anthropic` or `gemini`; and broken: `tool` returns something else, `stops` after
/// a tool, `silent` about the answer.
pub(crate) fn suite_over(api: &str, wording: &str, broken: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let base = if ["anthropic", "gemini"].contains(&api) { api } else { "openai" };
    format!(
        "settle = \"100ms\"\n[systems.agent]\ncommand = [{:?}, {AGENT:?}]\n\
         env = {{ PORT = \"{{{{ port }}}}\", BASE_URL = \"{{{{ model.{base} }}}}\", KEY = \"{{{{ model.key }}}}\", \
         API = \"{api}\", WORDING = \"{wording}\", BROKEN = \"{broken}\" }}\nready = {{ http = \"/health\" }}\n",
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

fn set(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// Answers each question in the body, one after another, until the model calls no tool any more.
async fn chat(body: Bytes) -> axum::response::Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let questions = body["questions"].as_array().cloned().unwrap_or_else(|| vec![body["message"].clone()]);
    let (api, broken) = (set("API"), set("BROKEN"));
    let degrees = if broken == "tool" { 30 } else { 18 };
    let mut events = String::new();
    for question in questions {
        let question = format!("{} {}", set("WORDING"), question.as_str().unwrap());
        let mut messages = vec![match &api[..] {
            "gemini" => json!({"role": "user", "parts": [{"text": question}]}),
            _ => json!({"role": "user", "content": question}),
        }];
        while let Ok(answer) = ask(&api, &messages).await {
            let Said { text, calls, again } = said(&api, &answer);
            messages.extend(again);
            for (id, name) in &calls {
                events += &event("tool", &json!({"name": name}));
                messages.push(result(&api, id, name, &format!("{degrees} degrees, ticket B-77")));
            }
            if broken == "stops" {
                break;
            }
            if calls.is_empty() {
                if broken != "silent" {
                    events += &event("answer", &json!({"text": text}));
                }
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

/// An answer: its text, the id and name of each tool call, and what the next call repeats of it.
struct Said {
    text: String,
    calls: Vec<(Value, Value)>,
    again: Vec<Value>,
}

fn said(api: &str, answer: &Value) -> Said {
    let message = &answer["choices"][0]["message"];
    let (parts, again) = match api {
        "gemini" => (&answer["candidates"][0]["content"]["parts"], vec![answer["candidates"][0]["content"].clone()]),
        "anthropic" => (&answer["content"], vec![json!({"role": "assistant", "content": answer["content"]})]),
        "responses" => (&answer["output"], answer["output"].as_array().cloned().unwrap_or_default()),
        _ => (&message["tool_calls"], vec![message.clone()]),
    };
    let parts = parts.as_array().cloned().unwrap_or_default();
    let text_of = |part: &Value| part["text"].as_str().or(part["content"][0]["text"].as_str()).map(str::to_owned);
    let text = message["content"].as_str().map(str::to_owned).or_else(|| parts.iter().find_map(text_of));
    let call = |part: &Value| match part {
        _ if part["function"]["name"].is_string() => Some((part["id"].clone(), part["function"]["name"].clone())),
        _ if part["functionCall"].is_object() => Some((Value::Null, part["functionCall"]["name"].clone())),
        _ if part["type"] == "tool_use" => Some((part["id"].clone(), part["name"].clone())),
        _ if part["type"] == "function_call" => Some((part["call_id"].clone(), part["name"].clone())),
        _ => None,
    };
    Said { text: text.unwrap_or_default(), calls: parts.iter().filter_map(call).collect(), again }
}

/// The message that returns what a tool did.
fn result(api: &str, id: &Value, name: &Value, text: &str) -> Value {
    match api {
        "gemini" => {
            json!({"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"result": text}}}]})
        }
        "anthropic" => {
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
        }
        "responses" => json!({"type": "function_call_output", "call_id": id, "output": text}),
        _ => json!({"role": "tool", "tool_call_id": id, "content": text}),
    }
}

async fn ask(api: &str, messages: &[Value]) -> Result<Value, String> {
    const PROMPT: &str = "Today is 2026-11-23. Be kind.";
    let schema = json!({"type": "object"});
    let (path, call) = match api {
        "gemini" => (
            "/v1beta/models/small:generateContent",
            json!({"contents": messages, "systemInstruction": {"parts": [{"text": PROMPT}]},
                "tools": [{"functionDeclarations": [{"name": "look", "parameters": schema}]}]}),
        ),
        "anthropic" => (
            "/v1/messages",
            json!({"model": "small", "max_tokens": 100, "system": PROMPT, "messages": messages,
                "tools": [{"name": "look", "input_schema": schema}]}),
        ),
        "responses" => (
            "/responses",
            json!({"model": "small", "instructions": PROMPT, "input": messages,
                "tools": [{"type": "function", "name": "look", "parameters": schema}]}),
        ),
        _ => {
            let messages = [&[json!({"role": "system", "content": PROMPT})], messages].concat();
            let tool = json!({"type": "function", "function": {"name": "look", "parameters": schema}});
            ("/chat/completions", json!({"model": "small", "messages": messages, "tools": [tool]}))
        }
    };
    let request = client().post(set("BASE_URL") + path).bearer_auth(set("KEY"));
    let request = request.header("x-api-key", set("KEY")).header("x-goog-api-key", set("KEY"));
    let request = request.header(CONTENT_TYPE, "application/json").body(call.to_string());
    let answer = request.send().await.map_err(|e| e.to_string())?;
    let is_one = answer.status().is_success();
    let answer = answer.text().await.map_err(|e| e.to_string())?;
    if is_one { serde_json::from_str(&answer).map_err(|e| e.to_string()) } else { Err(answer) }
}

//! A travel desk that streams events, and its provider. A test starts this binary again, with an argument that selects it.
//! `CHANGE` names the change that somebody made in the desk. Its model calls declare no caller.

#![allow(clippy::print_stderr, reason = "it prints its log")]

use std::process::ExitCode;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::support::loopback::client;

/// The argument that makes this binary the desk.
pub(crate) const DESK: &str = "serve-as-a-desk";

/// The `main` of the desk, which listens on `PORT`.
pub(crate) fn serve() -> ExitCode {
    if is("no_start") {
        eprintln!("cannot read config: no such file");
        return ExitCode::FAILURE;
    }
    let port = std::env::var("PORT").unwrap();
    let router = Router::new().route("/health", get(health)).route("/plan", post(plan)).route("/ask", post(question));
    let router = router.route("/refuse", post(refuse));
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
        axum::serve(listener, router).await.unwrap();
    });
    ExitCode::SUCCESS
}

/// Whether this is the change that was made.
fn is(change: &str) -> bool {
    std::env::var("CHANGE").is_ok_and(|of| of == change)
}

async fn health() -> StatusCode {
    if is("not_ready") { StatusCode::NOT_FOUND } else { StatusCode::OK }
}

/// Responds with a single body, without calling the model.
async fn question() -> Response {
    let body = if is("error_body") { json!({"error": "no such table: trips"}) } else { json!({"open": true}) };
    ([("content-type", "application/json")], body.to_string()).into_response()
}

/// Responds with an error, as it should.
async fn refuse() -> Response {
    let key = if is("error_key_renamed") { "error" } else { "detail" };
    let body = json!({key: "not found"}).to_string();
    let status = if is("quota_and_then_500") { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::NOT_FOUND };
    (status, [("content-type", "application/json")], body).into_response()
}

async fn plan(body: String) -> Response {
    if is("no_such_path") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let asked: Value = serde_json::from_str(&body).unwrap();
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let desk = Desk { sender };
        if let Err(reason) = desk.plan(asked["questions"].as_array().unwrap()).await {
            if is("wrong_port") || is("wrong_host") {
                // A service that hides what happened.
                return desk.event("end", &json!({}));
            }
            eprintln!("failed: {reason}");
            desk.event("error", &json!({"message": reason}));
            desk.event("end", &json!({}));
        }
    });
    let next = |mut receiver: tokio::sync::mpsc::UnboundedReceiver<_>| async {
        let bytes: Result<Bytes, std::io::Error> = receiver.recv().await?;
        Some((bytes, receiver))
    };
    let status = if is("status") { StatusCode::ACCEPTED } else { StatusCode::OK };
    let kind = if is("content_type") { "application/x-ndjson" } else { "text/event-stream" };
    (status, [("content-type", kind)], Body::from_stream(futures_util::stream::unfold(receiver, next))).into_response()
}

struct Desk {
    sender: UnboundedSender<Result<Bytes, std::io::Error>>,
}

const SAFE: &str = "Is this request safe? ";

impl Desk {
    fn event(&self, name: &str, data: &Value) {
        if name == "answer" && is("answer_lost") {
            return;
        }
        if name == "end" && is("event_before_end") {
            self.event("usage", &json!({"tokens": 3}));
        }
        let name = if name == "tool" && is("event_renamed") { "tool_result" } else { name };
        let text = data.to_string();
        let text = if name == "tool" && is("event_key_renamed") { text.replace("output", "result") } else { text };
        let end = if name == "end" && is("end_unended") { "\n" } else { "\n\n" };
        let _ = self.sender.send(Ok(format!("event: {name}\ndata: {text}{end}").into()));
        if name == "tool" && is("event_twice") {
            let _ = self.sender.send(Ok(format!("event: {name}\ndata: {text}\n\n").into()));
        }
        if name == "end" && is("event_after_end") {
            let _ = self.sender.send(Ok("event: usage\ndata: {\"tokens\": 3}\n\n".into()));
        }
    }

    async fn plan(&self, questions: &[Value]) -> Result<(), String> {
        let mut messages = vec![json!({"role": "system", "content": "You are a travel desk."})];
        for question in questions.iter().filter_map(Value::as_str) {
            let question = if is("question_lowered") { question.to_lowercase() } else { question.to_owned() };
            self.event("start", &json!({"question": question}));
            if is("asks_before") {
                ask(&[json!({"role": "user", "content": format!("{SAFE}{question}")})], true).await?;
            }
            if is("asks_before_without_tools") {
                ask(&[json!({"role": "user", "content": format!("Classify: {question}")})], false).await?;
            }
            let role = match () {
                () if is("role") => "assistant",
                () if is("role_system") => "system",
                () => "user",
            };
            messages.push(json!({"role": role, "content": question}));
            self.turn(&mut messages).await?;
            if is("quota_and_no_end") || is("break_off") {
                return Ok(());
            }
        }
        if is("event_moved") {
            self.event("closed", &json!({}));
        }
        if !is("no_summary") {
            let said: Vec<&str> = messages.iter().skip(1).filter_map(|message| message["content"].as_str()).collect();
            let content = format!("Summarize: {}", said.join(" / "));
            let summary = ask(&[json!({"role": "user", "content": content})], false).await?;
            self.event("summary", &json!({"text": summary["content"]}));
        }
        if is("asks_behind") {
            ask(&[json!({"role": "user", "content": "Rate the trip"})], false).await?;
        }
        if !is("event_moved") {
            self.event("closed", &json!({}));
        }
        self.event("end", &json!({}));
        Ok(())
    }

    /// Calls the model and its tools until there is an answer.
    async fn turn(&self, messages: &mut Vec<Value>) -> Result<(), String> {
        for call in 0.. {
            if is("asks_between") && call == 1 {
                let mut reflecting = messages.clone();
                reflecting.push(json!({"role": "user", "content": "Reflect: is that right?"}));
                ask(&reflecting, true).await?;
            }
            let cut = if is("cut_at_front") && messages.len() > 3 { messages.len() - 2 } else { 1 };
            let mut asked = [&messages[..1], &messages[cut..]].concat();
            if is("reversed") && asked.len() > 4 {
                asked[1..].reverse();
            }
            if is("no_messages") {
                asked.truncate(1);
            }
            let answer = ask(&asked, true).await?;
            messages.push(answer.clone());
            match () {
                () if call == 1 && is("crash") => {
                    eprintln!("fatal: out of memory");
                    std::process::abort();
                }
                () if call == 1 && is("break_off") => {
                    let _ = self.sender.send(Err(std::io::Error::other("gone")));
                    return Ok(());
                }
                () if call == 1 && is("hang") => std::future::pending().await,
                () if call == 1 && (is("quota") || is("quota_and_then_500")) => return Err("quota exceeded".to_owned()),
                () if call == 1 && is("quota_and_no_end") => {
                    self.event("error", &json!({"message": "quota exceeded"}));
                    return Ok(());
                }
                () => {}
            }
            let Some(calls) = answer["tool_calls"].as_array() else { break };
            if is("no_tools") {
                break;
            }
            for (index, call) in calls.iter().enumerate() {
                let (name, at) = (call["function"]["name"].as_str().unwrap(), messages.len() - 1);
                if is("argument_renamed") {
                    let arguments = &mut messages[at]["tool_calls"][index]["function"]["arguments"];
                    *arguments = arguments.as_str().unwrap().replace("city", "town").into();
                }
                let output = match name {
                    "find_train" if is("tool_fails") => return Err("timetable out of reach".to_owned()),
                    "find_train" if is("tool_result") => json!({"train": "IC 512", "at": "09:14"}),
                    "find_train" if is("tool_space") => json!({"train": "IC 512", "at": "08:14 "}),
                    "find_train" if is("tool_field_gone") => json!({"train": "IC 512"}),
                    "find_train" if is("tool_error") => {
                        json!({"train": "IC 512", "at": "08:14", "error": "the timetable is old"})
                    }
                    "find_train" if is("tool_gone") => json!({"error": "There is no tool find_train."}),
                    "find_train" => json!({"train": "IC 512", "at": "08:14"}),
                    _ => json!({"seat": "14A"}),
                };
                self.event("tool", &json!({"name": name, "output": output.to_string()}));
                let id = if is("wrong_call_id") { "call_of_nobody".into() } else { call["id"].clone() };
                if !is("result_not_sent") {
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": output.to_string()}));
                }
            }
        }
        self.event("answer", &json!({"text": messages.last().unwrap()["content"]}));
        Ok(())
    }
}

async fn ask(messages: &[Value], tools: bool) -> Result<Value, String> {
    let base = match () {
        () if is("wrong_port") => "http://127.0.0.1:1/v1".to_owned(),
        () if is("wrong_host") => "http://model.invalid/v1".to_owned(),
        () => std::env::var("OPENAI_BASE_URL").unwrap(),
    };
    let path = match () {
        () if is("wrong_path") => "/llm/ask",
        () if is("wrong_url") => "/chats",
        () if is("version_twice") => "/v1/chat/completions",
        () => "/chat/completions",
    };
    let key = if is("wrong_key") { "sk-other".to_owned() } else { std::env::var("OPENAI_API_KEY").unwrap() };
    let mut body = json!({"model": "m", "messages": messages});
    if tools {
        let tool =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        body["tools"] = json!([tool("find_train"), tool("book_seat")]);
    }
    let request = client().post(base + path).header("content-type", "application/json");
    let request = if is("no_key") { request } else { request.bearer_auth(key) };
    let response = request.body(body.to_string()).send().await.map_err(|e| e.to_string())?;
    let status = response.status();
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    if status.is_success() {
        Ok(answer["choices"][0]["message"].clone())
    } else {
        Err(format!("the model said {status}"))
    }
}

/// The provider that the desk is recorded from.
pub(crate) fn provider() -> Router {
    let answer = |_: HeaderMap, body: String| async move {
        let body: Value = serde_json::from_str(&body).unwrap();
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let text = last["content"].as_str().unwrap();
        let call = |id: &str, name: &str, args: &Value| {
            let function = json!({"name": name, "arguments": args.to_string()});
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
        };
        let said = |text: &str| json!({"role": "assistant", "content": text});
        let message = match text {
            _ if text.starts_with("Summarize") => said("Trip to Ghent, booked."),
            _ if text.contains("IC 512") => call("c2", "book_seat", &json!({"train": "IC 512", "seat": "14A"})),
            _ if last["role"] == "tool" => said("You travel with IC 512, seat 14A."),
            _ if text.contains("Thank") => said("You are welcome."),
            _ => call("c1", "find_train", &json!({"city": "Ghent", "day": "Monday"})),
        };
        let finish = if message["tool_calls"].is_null() { "stop" } else { "tool_calls" };
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let answer = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]});
        ([("content-type", "application/json")], answer.to_string())
    };
    Router::new().fallback(answer)
}

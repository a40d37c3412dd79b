//! A tool server, and an agent that uses one. A test starts this binary again, with an argument that selects one.

#![allow(clippy::print_stdout, reason = "it writes its protocol to standard output")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};

use axum::Router;
use axum::routing::post;
use serde_json::{Value, json};

use crate::support::loopback::{Service, send};

/// The argument that makes this binary the tool server. The next argument is the file that its tool reads.
pub(crate) const SERVER: &str = "serve-as-a-tool-server";
/// The argument that makes it the agent.
pub(crate) const AGENT: &str = "work-with-tools";

/// The `main` of the server on standard input and output.
pub(crate) fn serve() -> ExitCode {
    let file = std::env::args().nth(2).unwrap();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if let Some(answer) = answer(&message, &file) {
            println!("{answer}");
            std::io::stdout().flush().unwrap();
        }
    }
    ExitCode::SUCCESS
}

/// Starts the server over HTTP.
pub(crate) fn serve_over_http(file: String) -> Service {
    let handle = move |body: String| {
        let message: Value = serde_json::from_str(&body).unwrap();
        // MCP allows an event stream in place of JSON.
        let answer = answer(&message, &file).map(|answer| format!("event: message\ndata: {answer}\n\n"));
        async move { ([("content-type", "text/event-stream"), ("mcp-session-id", "s1")], answer.unwrap_or_default()) }
    };
    Service::start(Router::new().route("/v1", post(handle)))
}

fn answer(message: &Value, file: &str) -> Option<Value> {
    let result = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "files", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            let text = std::fs::read_to_string(file).unwrap();
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// Starts the provider: it answers a user's question with a tool call, and then repeats the tool's result.
pub(crate) fn provider() -> Service {
    let answer = |body: String| async move {
        let request: Value = serde_json::from_str(&body).unwrap();
        let last = request["messages"].as_array().unwrap().last().unwrap().clone();
        let message = if last["role"] == "user" {
            let call =
                json!({"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"line\": 1}"}});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        } else {
            json!({"role": "assistant", "content": format!("It says: {}", last["content"].as_str().unwrap())})
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let body = json!({"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice],
            "usage": {"prompt_tokens": 31, "completion_tokens": 17, "total_tokens": 48}});
        ([("content-type", "application/json")], body.to_string())
    };
    Service::start(Router::new().route("/v1/chat/completions", post(answer)))
}

/// A connection to a tool server, which is an address or a command.
enum Tools {
    Http(String),
    Stdio(Child, std::io::Lines<BufReader<std::process::ChildStdout>>),
}

impl Drop for Tools {
    fn drop(&mut self) {
        if let Tools::Stdio(server, _) = self {
            drop(server.stdin.take());
            server.wait().unwrap();
        }
    }
}

impl Tools {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let answer: Value = match self {
            Tools::Http(url) => send(url, &[], Some(&message)).json(),
            Tools::Stdio(server, lines) => {
                writeln!(server.stdin.as_mut().unwrap(), "{message}").unwrap();
                serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
            }
        };
        assert_eq!(answer["id"], 7);
        answer
    }
}

/// The `main` of the agent: it asks one question and makes the tool calls until there is an answer. It passes the error of a
/// tool on to the model.
pub(crate) fn work() -> ExitCode {
    let given = std::env::var("TOOLS").unwrap();
    let mut tools = match serde_json::from_str::<Vec<String>>(&given) {
        Ok(words) => {
            let mut command = Command::new(&words[0]);
            let mut child = command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let output = child.stdout.take().unwrap();
            Tools::Stdio(child, BufReader::new(output).lines())
        }
        Err(_) => Tools::Http(given),
    };
    tools.ask(
        "initialize",
        &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
    );
    tools.ask("tools/list", &json!({}));
    let url = std::env::var("OPENAI_BASE_URL").unwrap() + "/chat/completions";
    let key = format!("Bearer {}", std::env::var("OPENAI_API_KEY").unwrap());
    let mut messages = vec![json!({"role": "user", "content": "What does the file say?"})];
    loop {
        let request = json!({"model": "m", "messages": messages});
        let reply = send(&url, &[("authorization", &key)], Some(&request));
        if reply.status != 200 {
            println!("{}", json!({"type": "answer", "text": "Sorry."}));
            return ExitCode::SUCCESS;
        }
        let message = reply.json()["choices"][0]["message"].clone();
        let Some(call) = message["tool_calls"].get(0) else {
            println!("{}", json!({"type": "answer", "text": message["content"]}));
            return ExitCode::SUCCESS;
        };
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        let answer = tools.ask("tools/call", &json!({"name": call["function"]["name"], "arguments": arguments}));
        let text =
            answer["result"]["content"][0]["text"].as_str().map_or_else(|| answer["error"].to_string(), str::to_owned);
        messages.push(message.clone());
        // An agent may clip or prefix what a tool returns.
        let text = std::env::var("TELLS").unwrap_or_default() + &text;
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": text}));
    }
}

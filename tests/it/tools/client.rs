//! An agent that listens to its tool server: it prints everything that the server says, and answers what the server asks.

#![allow(clippy::print_stdout, reason = "it prints its events")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::talking::VERSION;
use crate::support::loopback::{client, send};

/// The argument that makes this binary the agent.
pub(crate) const AGENT: &str = "listen-to-tools";

/// A connection to a server. What the server sends comes through `said`, no matter on which stream.
struct Server {
    to: To,
    said: Receiver<Value>,
    sender: Sender<Value>,
    session: Option<String>,
    /// What came before something else that was awaited.
    kept: VecDeque<Value>,
}

enum To {
    Http(String),
    Stdio(Child),
}

impl Drop for To {
    fn drop(&mut self) {
        if let To::Stdio(server) = self {
            // A server ends when its agent hangs up.
            drop(server.stdin.take());
            server.wait().unwrap();
        }
    }
}

/// How long the agent waits for a message that has to come. A test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

impl Server {
    fn connect() -> Server {
        let given = std::env::var("TOOLS").unwrap();
        let (sender, said) = channel();
        let to = match serde_json::from_str::<Vec<String>>(&given) {
            Err(_) => To::Http(given),
            Ok(words) => {
                let mut command = Command::new(&words[0]);
                let mut child = command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let (output, sender) = (child.stdout.take().unwrap(), sender.clone());
                std::thread::spawn(move || {
                    for line in BufReader::new(output).lines().map_while(Result::ok) {
                        // The agent may have ended.
                        let _ = sender.send(serde_json::from_str(&line).unwrap());
                    }
                });
                To::Stdio(child)
            }
        };
        Server { to, said, sender, session: None, kept: VecDeque::new() }
    }

    /// Sends a message. Over HTTP, what the server answers comes on a thread of its own.
    fn post(&mut self, message: &Value) {
        let url = match &mut self.to {
            To::Stdio(server) => return writeln!(server.stdin.as_mut().unwrap(), "{message}").unwrap(),
            To::Http(url) => url.clone(),
        };
        let mut headers = vec![("accept", "application/json, text/event-stream".to_owned())];
        headers.extend(self.session.clone().map(|session| ("mcp-session-id", session)));
        if message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some() {
            headers.push(("mcp-protocol-version", VERSION.to_owned()));
            headers.push(("mcp-method", message["method"].as_str().unwrap().to_owned()));
            headers.extend(message["params"]["name"].as_str().map(|name| ("mcp-name", name.to_owned())));
        }
        if message["method"] == "initialize" || message.get("id").is_none() || message.get("method").is_none() {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let reply = send(&url, &headers, Some(message));
            assert!(reply.status < 300, "{}: {}", reply.status, reply.body);
            if message["method"] == "initialize" {
                self.session = reply.headers.get("mcp-session-id").cloned();
                self.sender.send(reply.json()).unwrap();
            }
            return;
        }
        stream(url, headers, Some(message.clone()), self.sender.clone());
    }

    fn next(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let message = self
                .said
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|e| panic!("the server does not say what is awaited: {e}"));
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// Makes a request, and prints what comes until it is answered.
    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next(|message| message["method"] != CHANGED);
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
            print(&message, &params["_meta"]["progressToken"]);
            if message["method"] == "elicitation/create" && reply()["action"] != "nothing" {
                self.post(&json!({"jsonrpc": "2.0", "id": message["id"], "result": reply()}));
            }
        }
    }

    fn changed(&mut self) {
        let message = self.next(|message| message["method"] == CHANGED);
        let subscription = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        println!("{}", json!({"type": "changed", "text": format!("subscription {subscription}")}));
    }
}

const CHANGED: &str = "notifications/tools/list_changed";

fn reply() -> Value {
    json!({"action": std::env::var("REPLY").unwrap_or("accept".to_owned())})
}

fn print(message: &Value, token: &Value) {
    let own = message["params"].get("progressToken").map(|found| found == token);
    let text = match own {
        Some(own) => format!("own token: {own}"),
        None => message["params"]["data"].as_str().or(message["params"]["message"].as_str()).unwrap_or("").to_owned(),
    };
    println!("{}", json!({"type": message["method"], "text": text}));
}

/// Opens a stream, and passes on the messages that come on it.
fn stream(url: String, headers: Vec<(&'static str, String)>, body: Option<Value>, sender: Sender<Value>) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = match body {
                Some(body) => client().post(url).header("content-type", "application/json").body(body.to_string()),
                None => client().get(url),
            };
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let mut response = request.send().await.unwrap();
            let is_stream = response.headers()["content-type"] == "text/event-stream";
            let mut text = String::new();
            while let Ok(Some(bytes)) = response.chunk().await {
                text.push_str(std::str::from_utf8(&bytes).unwrap());
                while let Some((line, rest)) = text.split_once('\n').filter(|_| is_stream) {
                    if let Some(data) = line.strip_prefix("data: ") {
                        // The agent may have ended.
                        let _ = sender.send(serde_json::from_str(data).unwrap());
                    }
                    text = rest.to_owned();
                }
            }
            if !is_stream {
                let _ = sender.send(serde_json::from_str(&text).unwrap());
            }
        });
    });
}

/// The `main` of the agent.
pub(crate) fn work() -> ExitCode {
    let mut server = Server::connect();
    let booked =
        if std::env::var("VERSION").is_ok() { without_session(&mut server) } else { with_session(&mut server) };
    let url = std::env::var("OPENAI_BASE_URL").unwrap() + "/chat/completions";
    let key = format!("Bearer {}", std::env::var("OPENAI_API_KEY").unwrap());
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Book."}]});
    assert_eq!(send(&url, &[("authorization", &key)], Some(&request)).status, 200);
    println!("{}", json!({"type": "answer", "text": booked["result"]["content"][0]["text"]}));
    ExitCode::SUCCESS
}

fn with_session(server: &mut Server) -> Value {
    let about = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "a", "version": "1"}});
    server.ask(1, "initialize", &about);
    server.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    if let (To::Http(url), Some(session)) = (&server.to, &server.session) {
        let headers = vec![("accept", "text/event-stream".to_owned()), ("mcp-session-id", session.clone())];
        stream(url.clone(), headers, None, server.sender.clone());
    }
    server.ask(2, "tools/list", &json!({}));
    // The token differs in each run.
    let meta = json!({"progressToken": format!("token-{}", std::process::id())});
    let booked = server.ask(3, "tools/call", &json!({"name": "book", "arguments": {}, "_meta": meta}));
    server.changed();
    server.ask(4, "tools/list", &json!({}));
    booked
}

fn without_session(server: &mut Server) -> Value {
    let meta =
        json!({"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}});
    let with = |mut params: Value| {
        params["_meta"] = meta.clone();
        params
    };
    server.ask(1, "server/discover", &with(json!({})));
    let subscription = std::env::var("SUBSCRIPTION").map_or(json!(2), Value::String);
    let notifications = with(json!({"notifications": {"toolsListChanged": true}}));
    server.post(
        &json!({"jsonrpc": "2.0", "id": subscription, "method": "subscriptions/listen", "params": notifications}),
    );
    server.next(|message| message["method"] == "notifications/subscriptions/acknowledged");
    let first = server.ask(3, "tools/call", &with(json!({"name": "book", "arguments": {}})));
    let question = &first["result"]["inputRequests"]["sure"];
    print(question, &Value::Null);
    let again = json!({"name": "book", "arguments": {}, "inputResponses": {"sure": reply()}, "requestState": first["result"]["requestState"]});
    let booked = server.ask(4, "tools/call", &with(again));
    server.changed();
    let unknown = server.ask(5, "prompts/list", &with(json!({})));
    assert_eq!(unknown["error"]["code"], -32601);
    booked
}

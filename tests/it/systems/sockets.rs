//! Steps that talk over WebSockets, with a service that speaks all three framings.

#![allow(clippy::print_stdout, reason = "it prints its log")]

use std::process::ExitCode;
use std::sync::LazyLock;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::described::MODEL;
use super::provider::record;
use super::service::ask;
use crate::support::tree::Tree;

tests! {
    a_socket_is_recorded_and_goes_on_in_later_steps,
    changes_of_a_plain_socket_are_noticed,
    socket_io_connects_answers_pings_and_names_its_events,
    a_graphql_subscription_ends_with_complete,
    a_socket_stays_open_while_another_one_is_used,
    what_a_socket_does_wrong_is_told,
}

/// The argument that makes this binary the service.
pub(crate) const SOCKETS: &str = "serve-sockets";

/// The `main` of the service.
pub(crate) fn serve() -> ExitCode {
    let port = std::env::var("PORT").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
        println!("listening on {port}");
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(talk(stream));
        }
    });
    ExitCode::SUCCESS
}

type Socket = WebSocketStream<TcpStream>;

#[expect(clippy::result_large_err, reason = "the callback's type")]
async fn talk(stream: TcpStream) {
    let mut path = String::new();
    let accepted = accept_hdr_async(stream, |request: &Request, mut response: Response| {
        request.uri().path().clone_into(&mut path);
        if let Some(protocols) = request.headers().get("sec-websocket-protocol") {
            let wanted = std::env::var("PROTOCOL").unwrap_or("graphql-transport-ws".to_owned());
            assert!(protocols.to_str().unwrap().contains(&wanted));
            response.headers_mut().insert("sec-websocket-protocol", wanted.parse().unwrap());
        }
        Ok(response)
    });
    let Ok(mut socket) = accepted.await else { return };
    match &*path {
        "/ws" => plain(&mut socket).await,
        "/socket.io/" => socket_io(&mut socket).await,
        "/graphql" => graphql(&mut socket).await,
        "/room" => room(&mut socket).await,
        "/closes" => say(&mut socket, &json!({"type": "bye"})).await,
        _ => {}
    }
    let fails = std::env::var("CHANGE").is_ok_and(|change| change == "fails");
    let frame = CloseFrame { code: CloseCode::Error, reason: "oops".into() };
    let _ = socket.close(fails.then_some(frame)).await;
    while let Some(Ok(_)) = socket.next().await {}
}

async fn say(socket: &mut Socket, message: &Value) {
    let _ = socket.send(Message::text(message.to_string())).await;
}

async fn hear(socket: &mut Socket) -> Option<String> {
    loop {
        match socket.next().await?.ok()? {
            Message::Text(text) => return Some(text.to_string()),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

/// Answers each chat with a piece and an end. `CHANGE` names a mistake in that.
async fn plain(socket: &mut Socket) {
    let change = std::env::var("CHANGE").unwrap_or_default();
    while let Some(text) = hear(socket).await {
        let Ok(chat) = serde_json::from_str::<Value>(&text) else {
            say(socket, &json!({"type": "error", "text": text})).await;
            continue;
        };
        let said = chat["text"].as_str().unwrap_or_default().to_owned();
        let asked = if change == "other question" { format!("{said}!") } else { said };
        let answer = ask(&asked).await.unwrap_or_else(|why| why);
        let name = if change == "renamed" { "piece" } else { "token" };
        say(socket, &json!({"type": name, "text": answer})).await;
        if change != "no end" {
            say(socket, &json!({"type": "end"})).await;
        }
        if change == "late" && asked.contains("you said") {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            say(socket, &json!({"type": "error", "text": "lost"})).await;
        }
    }
}

/// Tells what anybody says to all who are in the room. `CHANGE` may leave the others out.
async fn room(socket: &mut Socket) {
    static ROOM: LazyLock<broadcast::Sender<Value>> = LazyLock::new(|| broadcast::Sender::new(16));
    let (mut all, alone) = (ROOM.subscribe(), std::env::var("CHANGE").is_ok_and(|change| change == "alone"));
    loop {
        tokio::select! {
            text = hear(socket) => {
                let said = json!({"type": "said", "text": text.as_deref()});
                match text {
                    None => return,
                    Some(_) if alone => say(socket, &said).await,
                    Some(_) => drop(ROOM.send(said)),
                }
            }
            Ok(said) = all.recv() => say(socket, &said).await,
        }
    }
}

async fn socket_io(socket: &mut Socket) {
    let send = async |socket: &mut Socket, text: &str| _ = socket.send(Message::text(text.to_owned())).await;
    send(socket, r#"0{"sid":"abc","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#).await;
    let hello = hear(socket).await.unwrap_or_default();
    if !hello.contains("sesame") {
        return send(socket, r#"44{"message":"wrong token"}"#).await;
    }
    send(socket, r#"40{"sid":"def"}"#).await;
    while let Some(text) = hear(socket).await {
        // A client that does not answer is not there any more.
        send(socket, "2").await;
        if hear(socket).await.as_deref() != Some("3") {
            return;
        }
        let message: Value = serde_json::from_str(text.strip_prefix("42").unwrap_or_default()).unwrap_or_default();
        let answer = ask(message[1]["text"].as_str().unwrap_or_default()).await.unwrap_or_else(|why| why);
        send(socket, &format!("42{}", json!(["new_message", {"output": answer}]))).await;
        send(socket, "42[\"task_end\"]").await;
    }
}

async fn graphql(socket: &mut Socket) {
    let old = std::env::var("PROTOCOL").is_ok();
    hear(socket).await;
    say(socket, &json!({"type": "connection_ack"})).await;
    say(socket, &json!({"type": if old { "ka" } else { "ping" }})).await;
    // A client may ask before it answers the ping.
    let (mut pong, mut asked) = (old, None);
    while !pong || asked.is_none() {
        let Some(text) = hear(socket).await else { return };
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        if said["type"] == "pong" { pong = true } else { asked = Some(said) }
    }
    let asked = asked.unwrap_or_default();
    let answer =
        ask(asked["payload"]["variables"]["text"].as_str().unwrap_or_default()).await.unwrap_or_else(|why| why);
    let data = json!({"data": {"answer": answer, "pong": pong}});
    say(socket, &json!({"id": asked["id"], "type": if old { "data" } else { "next" }, "payload": data})).await;
    say(socket, &json!({"id": asked["id"], "type": "complete"})).await;
    hear(socket).await;
}

fn tree(env: &str, steps: &str) -> Tree {
    let program = std::env::current_exe().unwrap();
    let tree = Tree::with_suite(&format!(
        "[systems.sockets]\ncommand = [{:?}, {SOCKETS:?}]\nenv = {{ {MODEL}{env} }}\nready = {{ line = \"listening\" }}\n",
        program.to_str().unwrap()
    ));
    tree.scenario("a", &format!("timeout = \"20s\"\n{steps}[golden]\ndetail = \"values\"\n"));
    tree
}

const CHAT: &str = "[[step]]\nsocket = \"/ws\"\nsend = { type = \"chat\", text = \"hello\" }\nlast = \"end\"\n\
    capture = { said = \"sse:token:/text\" }\n[[step]]\nsend = [{ type = \"chat\", text = \"{{ said }}, you said\" }]\nlast = \"end\"\n";

fn a_socket_is_recorded_and_goes_on_in_later_steps() {
    let tree = tree("", CHAT);
    record(&tree, &["a"]).green();
    let golden = tree.read("goldens/a.snap");
    for part in ["SOCKET /ws\n101 websocket", "SOCKET /ws, continued\n101 websocket", "token", "end"] {
        assert!(golden.contains(part), "{part} is not in {golden}");
    }
    for _ in 0..3 {
        tree.retake().arg("test").run().green();
    }
    tree.write("scenarios/a/said.json", "[{\"type\": \"chat\", \"text\": \"{{ said }}, you said\", \"at\": null}]");
    let send = "send = [{ type = \"chat\", text = \"{{ said }}, you said\" }]";
    tree.replace("scenarios/a/scenario.toml", send, "send_file = \"said.json\"");
    tree.retake().arg("test").run().green();
}

fn changes_of_a_plain_socket_are_noticed() {
    let tree = tree("", CHAT);
    record(&tree, &["a"]).green();
    let cases: [(&str, &[&str]); 4] = [
        ("late", &["the event `error`", "+ error"]),
        ("other question", &["replay miss: ", "hello!"]),
        ("renamed", &["piece", "token"]),
        ("no end", &["the event `end` did not come"]),
    ];
    for (change, says) in cases {
        tree.replace("scenarios/suite.toml", MODEL, &format!("{MODEL}, CHANGE = \"{change}\""));
        if change == "no end" {
            tree.replace("scenarios/a/scenario.toml", "timeout = \"20s\"", "timeout = \"6s\"");
        }
        tree.retake().arg("test").run().red(says);
        tree.replace("scenarios/suite.toml", &format!("{MODEL}, CHANGE = \"{change}\""), MODEL);
    }
}

fn socket_io_connects_answers_pings_and_names_its_events() {
    let steps = "[[step]]\nsocket = \"/socket.io/\"\nframing = \"socket.io\"\nconnect = { token = \"sesame\" }\n\
        [[step]]\nsend = [[\"chat\", { text = \"hello\" }]]\nlast = \"task_end\"\n";
    let tree = tree("", steps);
    record(&tree, &["a"]).green();
    let golden = tree.read("goldens/a.snap");
    assert!(golden.contains("new_message") && golden.contains("task_end"), "{golden}");
    tree.retake().arg("test").run().green();
    tree.replace("scenarios/a/scenario.toml", "sesame", "other");
    tree.retake()
        .arg("test")
        .run()
        .red(&["failed to take step 1 (socket /socket.io/)", "refused the connection: wrong token"]);
}

fn a_graphql_subscription_ends_with_complete() {
    let steps = "[[step]]\nsocket = \"/graphql\"\nframing = \"graphql-ws\"\n\
        send = { query = \"subscription { answer }\", variables = { text = \"hello\" } }\n";
    for env in ["", ", PROTOCOL = \"graphql-ws\""] {
        let tree = tree(env, steps);
        record(&tree, &["a"]).green();
        let golden = tree.read("goldens/a.snap");
        assert!(golden.contains("next") && golden.contains("complete") && golden.contains("true"), "{golden}");
        tree.retake().arg("test").run().green();
    }
}

fn a_socket_stays_open_while_another_one_is_used() {
    let user = |name: &str| format!("[[step]]\nsocket = \"/room\"\nsend = {{ from = \"{name}\" }}\nlast = \"said\"\n");
    let tree = tree("", &format!("fixture = \"none\"\n{}{}", user("ana"), user("bob")));
    tree.retake().args(&["test", "--update"]).run().green();
    let golden = tree.read("goldens/a.snap");
    let (ana, bob) = golden.split_at(golden.rfind("SOCKET /room").unwrap());
    assert!(ana.contains("(after the last event)") && !bob.contains("(after the last event)"), "{golden}");
    tree.retake().arg("test").run().green();
    tree.replace("scenarios/suite.toml", MODEL, &format!("{MODEL}, CHANGE = \"alone\""));
    tree.retake().arg("test").run().red(&["after the last event"]);
}

fn what_a_socket_does_wrong_is_told() {
    let fails = |step: &str, says: &[&str]| {
        let tree = tree("", &format!("fixture = \"none\"\n[[step]]\n{step}\n"));
        tree.retake().arg("test").run().red(says);
    };
    fails("socket = \"/closes\"\nlast = \"end\"", &["the stream ended before its last event `end`", "1 event came"]);
    fails("socket = \"/nothing\"\nlast = \"end\"", &["no event came"]);
    fails(
        "socket = \"/closes\"\nframing = \"socket.io\"",
        &["the service closed the socket before it sent the first message of Socket.IO"],
    );
    // Without `last` the step reads until the service closes.
    let tree = tree("", "fixture = \"none\"\n[[step]]\nsocket = \"/closes\"\nsend = \"x\"\nevent = \"/type\"\n");
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/a.snap").contains("bye"));
    tree.replace("scenarios/suite.toml", MODEL, &format!("{MODEL}, CHANGE = \"fails\""));
    tree.retake().arg("test").run().red(&["golden: the stream now is closed with code 1011"]);
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/a.snap").contains("\n(closed with code 1011)\n"));
    tree.retake().arg("test").run().green();
    let none = Tree::with_suite(&super::described::system("agent", "", super::described::READY));
    none.scenario("a", "fixture = \"none\"\n[[step]]\nsocket = \"/health\"\n");
    none.retake().arg("test").run().red(&["expected status 101, found 200"]);
}

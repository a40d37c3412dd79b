//! An agent whose tool results vary from run to run, as those of real agents do.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use retake::Stage;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::replay::oddities::{model, model_with};
use crate::support::loopback::client;

/// Serves the agent: `POST /look` takes a list of kinds, and the agent makes one tool call for each.
pub(crate) fn router(stage: Stage) -> Router {
    Router::new().route("/look", post(look)).with_state(stage)
}

/// Alternates calls of the model and of the tool, one round for each kind.
async fn look(State(stage): State<Stage>, kinds: String) -> Response {
    let mut messages = vec![json!({ "role": "user", "content": "Look around" })];
    if kinds.contains("prompt") {
        let now = seen("clock", &stage);
        messages.insert(0, json!({ "role": "system", "content": format!("Be brief. In short, {now}.") }));
    }
    if kinds.contains("free") {
        let url = format!("{}/free?day={}", stage.tool("fleet").unwrap(), stage.date());
        client().get(url).send().await.unwrap();
    }
    let beside = if kinds.contains("beside") { beside() } else { json!({}) };
    let mut said = model_with(&stage, json!(messages), beside).await;
    for (n, kind) in kinds.trim_matches('"').split(' ').enumerate() {
        let (id, name) = (format!("call_{n}"), "look");
        let call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": "{}" } });
        messages.push(json!({ "role": "assistant", "content": said, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": seen(kind, &stage) }));
        said = model(&stage, json!(messages)).await;
    }
    // What only the first run sends, which is the recording; and a text that it sends in more pieces.
    let first = !ALREADY.swap(true, Ordering::Relaxed);
    let live = if kinds.contains("live") && first { "event: waiting\ndata: {}\n\n" } else { "" };
    let said_text = said.clone();
    let middle = said_text.char_indices().nth(3).map_or(0, |(at, _)| at);
    let pieces = match kinds.contains("cut") {
        true if first => vec![&said_text[..middle], &said_text[middle..]],
        true => vec![said_text.as_str()],
        false => Vec::new(),
    };
    let pieces = pieces.iter().map(|piece| format!("event: delta\ndata: {}\n\n", json!({ "delta": piece })));
    let live = pieces.collect::<String>() + live;
    let ticket = if kinds.contains("shown") { seen("hex", &stage) } else { "none".to_owned() };
    let text = live
        + &format!("event: answer\ndata: {}\n\nevent: end\ndata: null\n\n", json!({ "text": said, "ticket": ticket }));
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// Returns a tool result of this kind, which varies from run to run.
fn seen(kind: &str, stage: &Stage) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (seconds, nanos) = (since.as_secs(), since.subsec_nanos());
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let id = Uuid::new_v4().simple().to_string();
    let port = stage.address().port();
    let (year, month, day) = (&stage.date()[..4], &stage.date()[5..7], stage.date()[8..].trim_start_matches('0'));
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        [month.parse::<usize>().unwrap() - 1];
    match kind {
        "clock" => format!("it is {clock} now"),
        "clock-alone" => clock,
        "log" => format!("{clock} INFO one\n{clock} INFO two\n{clock} WARN three"),
        "rfc2822" => format!("Date: Sun, 22 Nov 2026 {clock} GMT"),
        "localized" => format!("dimanche 22 novembre 2026 à {clock}"),
        "american" => format!("11/22/2026, {clock} AM"),
        "seconds" => json!({ "created": seconds }).to_string(),
        "float" => format!(r#"{{"created": {seconds}.{nanos:09}, "n": 1}}"#),
        "nanos" => format!("stamp {seconds}{nanos:09}"),
        "nested" => {
            json!({ "meta": json!({ "ts": seconds * 1000 + u64::from(nanos) / 1_000_000 }).to_string() }).to_string()
        }
        "duration" => format!("done in {}.{:04}s.", nanos % 7, nanos / 7 % 10_000),
        "hex" => format!("ticket {}", &id[..8]),
        "simple-uuid" => format!("id={id};"),
        "base62" => format!("key {}", base62(Uuid::new_v4().as_u128())),
        "alone" => id[..12].to_owned(),
        "live" | "cut" | "beside" | "free" => "nothing varies".to_owned(),
        "twelve" => "a conversation about architecture".to_owned(),
        // Hexadecimal digits, the first two of which happen to have no letters.
        "four" => format!("ticket {}", ["4821", "1093", "0a3f", "b1c4", "77ee", "9f20"][next() % 6]),
        "four-places" => {
            let letters = || format!("{}{}", &base62(Uuid::new_v4().as_u128()).to_lowercase()[..11], nanos % 10);
            format!("first {} then {} after {} finally {}", letters(), letters(), letters(), letters())
        }
        "order" => format!("order-{}", nanos % 90_000 + 10_000),
        "path" | "prompt" | "shown" => format!("wrote {}", stage.workdir().join("note.txt").display()),
        "other-path" => format!("wrote /var/lib/agent/job-{}/out.txt", &id[..8]),
        "pid-file" => format!("/run/agent.{}.pid", nanos % 30_000 + 1000),
        "port" => format!("listening on 127.0.0.1:{port}"),
        "port-alone" => format!("port {port} is mine"),
        "localhost" => format!("see http://localhost:{port}/docs"),
        "run" => format!("account {}", stage.run()),
        "set" => format!("{:?}", (0..9).map(|n| format!("file_{n}.txt")).collect::<HashSet<_>>()),
        "listing" => {
            let all: HashSet<u32> = (0..9).collect();
            all.iter().map(|n| format!("file {n}.txt")).collect::<Vec<_>>().join("\n")
        }
        "object" => {
            let all: HashSet<u32> = (0..9).collect();
            format!("{{{}}}", all.iter().map(|n| format!("\"key{n}\":{n}")).collect::<Vec<_>>().join(","))
        }
        "day" => format!("today is {day} {month} {year}"),
        "real-day" => format!("today is {}", today()),
        "words" => {
            ["all is well", "nothing is left"][nanos as usize / 1000 % 2].to_owned()
                + &" ".repeat(nanos as usize % 97 + 1)
                + "!"
        }
        other => panic!("{other}"),
    }
}

/// What is sent beside a call: of these fields, five vary.
fn beside() -> Value {
    let word = || base62(Uuid::new_v4().as_u128());
    let mut metadata = json!({ "team": "a", "trace": word(), "tags": vec!["b"; 1 + next() % 5] });
    if next().is_multiple_of(2) {
        metadata["again"] = json!(word());
    }
    json!({ "seed": next(), "temperature": 1, "user": word(), "metadata": metadata })
}

static ALREADY: AtomicBool = AtomicBool::new(false);

/// Returns a number that is another one each time.
fn next() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn base62(mut number: u128) -> String {
    let letters: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut text = String::new();
    for _ in 0..20 {
        text.push(letters[(number % 62) as usize]);
        number /= 62;
    }
    text
}

/// Returns today's date from the program `date`, in a form that keys do not replace.
fn today() -> String {
    let output = std::process::Command::new("date").args(["-u", "+%d/%m/%Y"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Returns a scenario that posts these kinds to the agent.
pub(crate) fn scenario(kinds: &str) -> String {
    format!(
        "[[step]]\npost = \"/look\"\njson = \"{kinds}\"\nheaders = {{ content-type = \"text/plain\" }}\nstream = {{ last = \"end\" }}\n"
    )
}

/// Returns the text of the rules that a report proposes.
pub(crate) fn proposed(report: &str) -> String {
    let mut rules = String::new();
    let mut lines = report.lines().skip_while(|line| !line.contains("add to scenarios/suite.toml")).skip(1);
    for line in lines.by_ref().take_while(|line| line.is_empty() || line.starts_with("    ")) {
        rules.push_str(line);
        rules.push('\n');
    }
    rules
}

/// Parses rules from TOML.
pub(crate) fn rules_of(text: &str) -> Vec<Value> {
    let table: toml::Table = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
    let rules = table.get("normalize").and_then(|rules| rules.as_array().cloned()).unwrap_or_default();
    rules
        .into_iter()
        .map(|rule| json!({ "pattern": rule["pattern"].as_str(), "replace": rule["replace"].as_str() }))
        .collect()
}

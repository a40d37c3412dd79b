//! `retake check` on the gateway, whose scripted provider was changed since the recording.

use std::fmt::Write as _;

use axum::Router;
use axum::body::Body;
use axum::http::{Response, header};
use serde_json::{Value, json};

use crate::support::loopback::Service;
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! {
    each_of_fifteen_changes_is_found,
    other_texts_ids_and_chunks_are_no_change,
    the_reports_show_what_differs,
    a_sample_takes_one_scenario_of_each_model,
}

const NAME: &str = "write_read_file";

/// The scripted provider, with `change` applied to the data of each frame of its streams, and then `whole` to the stream.
pub(super) fn changed(change: fn(&mut Value), whole: fn(String) -> String) -> Service {
    let map = move |response: Response<Body>| async move {
        let (mut parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let frames = text.split_inclusive("\n\n").map(|frame| {
            let data = frame.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
            data.map_or_else(
                || frame.to_owned(),
                |mut data| {
                    change(&mut data);
                    format!("data: {data}\n\n")
                },
            )
        });
        parts.headers.remove(header::CONTENT_LENGTH);
        let is_stream = text.starts_with("data: ");
        let frames = frames.collect();
        Response::from_parts(parts, Body::from(if is_stream { whole(frames) } else { frames }))
    };
    let inner = gateway::provider::provider();
    Service::start(Router::new().fallback_service(inner).layer(axum::middleware::map_response(map)))
}

pub(super) fn check(tree: &Tree, provider: &str, names: &str, options: &str) -> Program {
    let checker = tree.recorder("gateway", &format!("check{options}"), names);
    checker.env("RETAKE_UPSTREAM_OPENAI", provider).env("OPENAI_API_KEY", "sk-of-the-provider")
}

fn run(change: fn(&mut Value), whole: fn(String) -> String) -> Ran {
    let provider = changed(change, whole);
    let tree = Tree::of(&[NAME]);
    let before = tree.files();
    let ran = check(&tree, &provider.openai(), NAME, "").run();
    assert_eq!(tree.files(), before, "nothing is written but reports");
    ran
}

fn same(text: String) -> String {
    text
}

fn keep(_: &mut Value) {}

fn delta(chunk: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    chunk.pointer_mut("/choices/0/delta")?.as_object_mut()
}

fn function<'a>(chunk: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    chunk.pointer_mut("/choices/0/delta/tool_calls/0/function")?.get_mut(key).filter(|value| *value != "")
}

#[expect(clippy::type_complexity, reason = "a table")]
fn each_of_fifteen_changes_is_found() {
    let changes: [(i32, &str, fn(&mut Value), fn(String) -> String); 17] = [
        (
            1,
            "[]/usage/total_tokens is no longer sent",
            |chunk| drop(chunk.pointer_mut("/usage").and_then(|of| of.as_object_mut()?.remove("total_tokens"))),
            same,
        ),
        (
            1,
            "[]/system_fingerprint is no longer sent",
            |chunk| drop(chunk.as_object_mut().unwrap().remove("system_fingerprint")),
            same,
        ),
        (1, "[]/created: recorded number, today string", |chunk| chunk["created"] = json!("now"), same),
        (1, "[]/id: recorded string, today null", |chunk| chunk["id"] = Value::Null, same),
        (
            1,
            "[]/choices/*/index: recorded number, today string",
            |chunk| {
                if let Some(index) = chunk.pointer_mut("/choices/0/index") {
                    *index = json!("0");
                }
            },
            same,
        ),
        (
            1,
            "[]/choices/*/delta/role is no longer sent",
            |chunk| drop(delta(chunk).and_then(|delta| delta.remove("role"))),
            same,
        ),
        (0, "[]/obfuscation is new", |chunk| chunk["obfuscation"] = json!("x"), same),
        (
            1,
            "[]/choices/*/finish_reason: recorded null or string, today null or number",
            |chunk| {
                if let Some(why) = chunk.pointer_mut("/choices/0/finish_reason").filter(|why| why.is_string()) {
                    *why = json!(7);
                }
            },
            same,
        ),
        (
            1,
            "finish reason: recorded stop, today length",
            |chunk| {
                if let Some(why) = chunk.pointer_mut("/choices/0/finish_reason").filter(|why| *why == "stop") {
                    *why = json!("length");
                }
            },
            same,
        ),
        (
            1,
            "calls `write_the_file`",
            |chunk| {
                if let Some(name) = function(chunk, "name").filter(|name| *name == "write_file") {
                    *name = json!("write_the_file");
                }
            },
            same,
        ),
        (1, "the arguments for `write_file` do not fit the schema that was offered", keep, |text| {
            text.replace(r#"{\"content\""#, r#"{\"contents\""#).replace(r#"{\"path\""#, r#"{\"paths\""#)
        }),
        (
            1,
            "the model answers without a tool today",
            |chunk| {
                if let Some(delta) = delta(chunk)
                    && delta.remove("tool_calls").is_some()
                {
                    delta.insert("content".into(), json!("no"));
                }
            },
            same,
        ),
        (1, "[DONE]: recorded sent, today not sent", keep, |text| text.replace("data: [DONE]\n\n", "")),
        (1, "line ends: recorded LF, today CR LF", keep, |text| text.replace('\n', "\r\n")),
        (0, "comments: recorded not sent, today sent", keep, |text| format!(": hello\n\n{text}")),
        (0, "`event:` line: recorded missing, today `chunk`", keep, |text| {
            text.replace("data: {", "event: chunk\ndata: {")
        }),
        (0, "[heartbeat]/type is new", keep, |text| format!("data: {{\"type\":\"heartbeat\"}}\n\n{text}")),
    ];
    for (code, said, change, whole) in changes {
        run(change, whole).exits(code).says(&[said]);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as the others in the table")]
/// Returns a stream with other texts and ids, cut into other chunks.
fn another(text: String) -> String {
    let mut all = String::new();
    for frame in text.split_inclusive("\n\n") {
        let Some(mut data) = frame.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok())
        else {
            all.push_str(frame);
            continue;
        };
        data["id"] = json!(format!("chatcmpl-{}", uuid::Uuid::new_v4().simple()));
        data["created"] = json!(u32::from_le_bytes(uuid::Uuid::new_v4().as_bytes()[..4].try_into().unwrap()));
        let content = data.pointer("/choices/0/delta/content").and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(content) = content.map(str::to_owned) else {
            write!(all, "data: {data}\n\n").unwrap();
            continue;
        };
        let size = 1 + usize::from(uuid::Uuid::new_v4().as_bytes()[0] % 9);
        for piece in content.to_uppercase().chars().collect::<Vec<_>>().chunks(size) {
            data["choices"][0]["delta"]["content"] = json!(piece.iter().collect::<String>());
            write!(all, "data: {data}\n\n").unwrap();
        }
    }
    all
}

fn other_texts_ids_and_chunks_are_no_change() {
    let rounds = std::env::var("RETAKE_CHECKED_RUNS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let (provider, tree) = (changed(keep, another), Tree::of(&[NAME, "parallel_tools"]));
    for _ in 0..rounds {
        let ran = check(&tree, &provider.openai(), "", " --all").run().exits(0);
        ran.says(&["parallel_tools: still true (4 calls", "write_read_file: still true (4 calls"]).never_says("note:");
    }
}

fn the_reports_show_what_differs() {
    let provider = changed(|chunk| chunk["created"] = json!("now"), same);
    let tree = Tree::of(&[NAME]);
    let ran = check(&tree, &provider.openai(), NAME, " --json").env("GITHUB_ACTIONS", "true").run().exits(1);
    let ran = ran.says(&["expect at most 4 calls and about", "::error file=scenarios/write_read_file/scenario.toml"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["format"], "retake-check/1");
    let change = &json["checks"][0]["check"]["apis"][0]["changes"][0];
    assert_eq!(
        (&change["kind"], &change["place"], &change["today"]),
        (&json!("type"), &json!("[]/created"), &json!(["string"]))
    );
    let what = "[]/created: recorded number, today string";
    tree.retake().args(&["report", "--form", "junit"]).run().exits(0).says(&["type=\"provider\"", what]);
    tree.retake().args(&["report", "--no-open"]).run().exits(0);
    let page = tree.read(".retake/report.html");
    assert!(page.contains("The provider today") && page.contains(what), "{page}");
}

fn a_sample_takes_one_scenario_of_each_model() {
    let (provider, tree) = (Service::provider(), Tree::of(&[NAME, "parallel_tools", "several_turns"]));
    let ran = check(&tree, &provider.openai(), "", " --all --sample=1").run().exits(0);
    assert_eq!(ran.stdout.matches(": still true").count(), 1, "{}", ran.all());
}

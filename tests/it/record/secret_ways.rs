//! Secrets in each encoding, on each way into a project and out of it: each form that is imported, a trace that is received, an upload
//! through the proxy and to the server, and what the commands show of it all.

use serde_json::{Value, json};

use super::encoded_secrets::{all_texts, assert_absent, assert_in_no_file, tree, with_variables};
use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, client, runtime, send};
use crate::support::tree::Tree;

tests! { no_encoded_secret_comes_in_by_a_trace,
    no_encoded_secret_comes_in_by_an_import,
    no_encoded_secret_comes_in_by_a_journal,
    no_encoded_secret_comes_in_by_an_upload,
    no_encoded_secret_is_shown,
}

/// A trace with one call, whose question, tool arguments and answer hold all secrets in all encodings.
fn trace() -> Value {
    let text = all_texts();
    let part = json!({ "type": "text", "content": text });
    let called = json!({ "type": "tool_call", "id": "c1", "name": "look", "arguments": { "value": text } });
    let result = json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c1", "response": text }] });
    let messages = json!([{ "role": "user", "parts": [part] }, { "role": "assistant", "parts": [called] }, result]);
    let answer = json!([{ "role": "assistant", "parts": [part], "finish_reason": "stop" }]);
    let held = json!({
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
        "gen_ai.input.messages": messages, "gen_ai.output.messages": answer,
    });
    let value =
        |value: &Value| json!({ "stringValue": value.as_str().map_or_else(|| value.to_string(), str::to_owned) });
    let attributes: Vec<Value> =
        held.as_object().unwrap().iter().map(|(key, held)| json!({ "key": key, "value": value(held) })).collect();
    let span = json!({
        "traceId": "a".repeat(32), "spanId": "0000000000000001", "parentSpanId": "", "name": "chat small",
        "startTimeUnixNano": "1754056614000000000", "endTimeUnixNano": "1754056615000000000", "attributes": attributes,
    });
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] })
}

fn no_encoded_secret_comes_in_by_a_trace() {
    let (tree, given) = (tree(), Tree::empty());
    given.write("traces.jsonl", &trace().to_string());
    let import = tree.retake().args(&["import", "otlp"]).arg(given.path("traces.jsonl"));
    let ran = with_variables(import).args(&["--out", "fixtures/out.json"]).run().exits(0);
    assert_absent("what was printed", &ran.all());
    assert_in_no_file(&tree);
    let receive = ["import", "otlp", "--listen", "127.0.0.1:0", "--out", "fixtures/received.json"];
    let mut receiver = Serving::start(with_variables(tree.retake().args(&receive)));
    send(&format!("{}/v1/traces", receiver.ready("endpoint")), &[], Some(&trace()));
    let (code, said) = receiver.end_and_read("-TERM");
    assert_eq!(code, Some(0), "{said}");
    assert!(tree.has("fixtures/received.json"), "{said}");
    assert_absent("what was printed", &said);
    assert_in_no_file(&tree);
}

/// The question and the answer of a call to OpenAI's API, with all secrets in both.
fn call() -> (Value, Value) {
    let text = all_texts();
    let asked = json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
    let choice = json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
    (asked, json!({ "id": "c", "model": "m", "choices": [choice] }))
}

/// What another program has recorded, as it writes it: the format's name, and its files.
fn recordings() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let (text, (asked, answer)) = (all_texts(), call());
    let (url, kind) = ("https://api.openai.com/v1/chat/completions", "application/json");
    let (asked_text, answered) = (asked.to_string(), answer.to_string());
    let cassette = json!({
        "request": { "method": "POST", "uri": url, "headers": { "x-session": [text] }, "body": asked_text },
        "response": { "status": { "code": 200, "message": "OK" }, "headers": { "content-type": [kind] },
            "body": { "string": answered } },
    });
    let of_go = json!({
        "id": 0, "request": { "method": "POST", "url": url, "host": "api.openai.com", "headers": { "X-Session": [text] },
            "form": {}, "body": asked_text },
        "response": { "status": "200 OK", "code": 200, "headers": { "Content-Type": [kind] }, "body": answered,
            "duration": "1.2s" },
    });
    let called = json!({ "name": "look", "args": { "value": text }, "id": "c1", "type": "tool_call" });
    let said = json!({ "type": "ai", "data": { "type": "ai", "content": text, "tool_calls": [called],
        "response_metadata": { "model_name": text }, "additional_kwargs": { "value": text } } });
    let mut deerflow: Value = serde_json::from_str(include_str!("../data/deerflow_one_word.json")).unwrap();
    deerflow["prompt"] = text.clone().into();
    deerflow["context"]["value"] = text.clone().into();
    deerflow["turns"][0]["output"] = said;
    let mocked = json!({ "fixtures": [
        { "match": { "userMessage": text }, "response": { "content": text, "reasoning": text } },
        { "match": { "userMessage": "hello" }, "response": { "toolCalls": [{ "name": "look", "arguments": { "value": text } }] } },
        { "match": { "userMessage": "no" }, "response": { "error": { "message": text }, "status": 401 } },
    ] });
    let message = |id: &str, by: &str| {
        json!({ "kind": "MessageEvent", "id": id, "source": by, "llm_response_id": id,
        "llm_message": { "content": [{ "type": "text", "text": text }] } })
    };
    let action = json!({ "kind": "ActionEvent", "id": "a", "source": "agent", "tool_name": "look", "tool_call_id": "c1",
        "llm_response_id": "r1", "thought": [{ "type": "text", "text": text }], "action": { "kind": "Look", "value": text },
        "tool_call": { "id": "c1", "name": "look", "arguments": json!({ "value": text }).to_string() } });
    let observed = json!({ "kind": "ObservationEvent", "id": "o", "source": "environment", "tool_name": "look",
        "tool_call_id": "c1", "action_id": "a", "observation": { "content": [{ "type": "text", "text": text }], "is_error": false } });
    let events = [message("u", "user"), action, observed, message("m", "agent")];
    let names = [
        "events/event-00000-a0.json",
        "events/event-00001-a1.json",
        "events/event-00002-a2.json",
        "events/event-00003-a3.json",
    ];
    let state = ("base_state.json", json!({ "leaf_event_id": "m", "value": text }).to_string());
    let openhands = names.into_iter().zip(events.iter().map(Value::to_string)).chain([state]).collect();
    let observation = json!({ "id": "g", "trace_id": "t", "parent_observation_id": "", "type": "GENERATION", "name": text,
        "start_time": "2025-08-01 13:56:54.163000", "end_time": "2025-08-01 13:56:55.000000", "level": "DEFAULT",
        "provided_model_name": "m", "input": asked["messages"].to_string(),
        "output": answer["choices"][0]["message"].to_string(), "metadata": { "value": text } });
    let header = json!([{ "name": "x-session", "value": text }]);
    let archive = json!({ "log": { "entries": [{
        "request": { "method": "POST", "url": url, "headers": header, "postData": { "mimeType": kind, "text": asked_text } },
        "response": { "status": 200, "headers": header, "content": { "mimeType": kind, "text": answered } },
    }] } });
    vec![
        ("vcr", vec![("a.yaml", json!({ "interactions": [cassette], "version": 1 }).to_string())]),
        ("go-vcr", vec![("a.yaml", json!({ "version": 2, "interactions": [of_go] }).to_string())]),
        ("har", vec![("a.har", archive.to_string())]),
        ("deerflow", vec![("a.json", deerflow.to_string())]),
        ("aimock", vec![("a.json", mocked.to_string())]),
        ("openhands", openhands),
        ("langfuse", vec![("a.jsonl", observation.to_string())]),
        ("otlp", vec![("a.jsonl", trace().to_string())]),
    ]
}

fn no_encoded_secret_comes_in_by_an_import() {
    for (format, files) in recordings() {
        let (tree, given) = (tree(), Tree::empty());
        for (name, text) in &files {
            given.write(&format!("recorded/{name}"), text);
        }
        let from = if files.len() > 1 { "recorded".to_owned() } else { format!("recorded/{}", files[0].0) };
        let import =
            tree.retake().args(&["import", format]).arg(given.path(&from)).args(&["--out", "fixtures/out.json"]);
        let ran = with_variables(import).run().exits(0);
        assert!(tree.has("fixtures/out.json"), "{format}: {}", ran.all());
        assert_absent(&format!("what import {format} printed"), &ran.all());
        assert_in_no_file(&tree);
        let shown = with_variables(tree.retake().args(&["show", "out"])).run();
        assert_absent(&format!("{format}, show"), &shown.all());
    }
}

/// A journal of another machine, or of an older release, holds what nobody looked for.
fn no_encoded_secret_comes_in_by_a_journal() {
    let answer = call().1;
    let provider = Service::start(axum::Router::new().fallback(async || {
        axum::Json(json!({ "id": "c", "model": "m", "choices": [
        { "index": 0, "message": { "role": "assistant", "content": "ANSWERED" }, "finish_reason": "stop" }] }))
    }));
    let (kept, tree, given) = (tree(), tree(), Tree::empty());
    let mut recorder = Serving::start(with_variables(proxy(&kept, &provider.openai())));
    let asked = json!({ "model": "m", "messages": [{ "role": "user", "content": "ASKED" }] });
    let url = format!("{}/v1/chat/completions", recorder.ready("url"));
    assert_eq!(send(&url, &[("authorization", "Bearer ours")], Some(&asked)).status, 200);
    let journal = kept.read("fixtures/.journal/out.jsonl");
    recorder.end("-INT");
    let text = json!(answer["choices"][0]["message"]["content"]).to_string();
    let (once, quoted) = (&text[1..text.len() - 1], json!(text).to_string());
    let twice = &quoted[3..quoted.len() - 3];
    let spoilt: Vec<String> = ["ASKED", "ANSWERED"]
        .iter()
        .fold(journal, |journal, word| {
            // A body may stand in the journal as JSON, or as a text of JSON.
            let journal = journal.replace(&format!("\\\"{word}\\\""), &format!("\\\"{twice}\\\""));
            journal.replace(&format!("\"{word}\""), &format!("\"{once}\""))
        })
        .lines()
        .map(str::to_owned)
        .collect();
    let spoilt = spoilt.join("\n") + "\n";
    assert!(!spoilt.contains("ASKED") && !spoilt.contains("ANSWERED"), "{spoilt}");
    given.write("a.jsonl", &spoilt);
    let import =
        tree.retake().args(&["import", "journal"]).arg(given.path("a.jsonl")).args(&["--out", "fixtures/out.json"]);
    let ran = with_variables(import).run().exits(0);
    assert_absent("what was printed", &ran.all());
    assert_in_no_file(&tree);
}

/// Returns a form with a field, a name of a file, a file of text and one of bytes, all with the secrets.
fn form() -> (String, Vec<u8>) {
    let text = all_texts();
    let mut body = Vec::new();
    let mut part = |head: &str, content: &[u8]| {
        body.extend_from_slice(format!("--b0undary\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    };
    part("name=\"purpose\"", text.as_bytes());
    part("name=\"note\"; filename=\"note.txt\"\r\nContent-Type: text/plain", text.as_bytes());
    part(
        "name=\"data\"; filename=\"a.json\"\r\nContent-Type: application/json",
        json!({ "value": text }).to_string().as_bytes(),
    );
    part("name=\"picture\"; filename=\"a.png\"\r\nContent-Type: image/png", b"\x89PNG\r\n\x1a\n\0\xff\xfe");
    body.extend_from_slice(b"--b0undary--\r\n");
    ("multipart/form-data; boundary=b0undary".to_owned(), body)
}

fn upload(url: &str, key: &str) -> (u16, String) {
    let (kind, body) = form();
    runtime().block_on(async {
        let request = client().post(format!("{url}/v1/files")).header("content-type", kind).bearer_auth(key);
        let response = request.body(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    })
}

fn no_encoded_secret_comes_in_by_an_upload() {
    let tree = tree();
    let text = all_texts();
    let provider = Service::start(axum::Router::new().fallback(move || {
        let answer = json!({ "id": "file-1", "object": "file", "purpose": text });
        async move { axum::Json(answer) }
    }));
    let mut recorder = Serving::start(with_variables(proxy(&tree, &provider.openai())));
    assert_eq!(upload(recorder.ready("url"), "ours").0, 200);
    let (code, said) = recorder.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 turn recorded to fixtures/out.json"), "{said}");
    assert_absent("what was printed", &said);
    assert_in_no_file(&tree);
    let serve = tree.retake().args(&["serve", "fixtures/out.json", "--report", "report.json"]);
    let mut serving = Serving::start(with_variables(serve));
    let (status, answered) = upload(serving.ready("url"), serving.ready("key"));
    assert_eq!(status, 200, "{answered}");
    assert_absent("the answer", &answered);
    // A second one misses nothing either, and what does is said without its secrets.
    let missed = send(
        &format!("{}/v1/files", serving.ready("url")),
        &[("authorization", &format!("Bearer {}", serving.ready("key")))],
        Some(&json!({ "other": all_texts() })),
    );
    assert_eq!(missed.status, 404);
    assert_absent("the miss", &missed.body);
    let (_, said) = serving.end_and_read("-INT");
    assert_absent("what serve printed", &said);
    assert_in_no_file(&tree);
}

fn no_encoded_secret_is_shown() {
    let (tree, given) = (tree(), Tree::empty());
    given.write("traces.jsonl", &trace().to_string());
    let import = tree.retake().args(&["import", "otlp"]).arg(given.path("traces.jsonl"));
    with_variables(import).args(&["--out", "fixtures/out.json"]).run().exits(0);
    // A call that misses, with all of it, is in the report and in what the commands say of it.
    let serve = tree.retake().args(&["serve", "fixtures/out.json", "--report", "report.json"]);
    let mut serving = Serving::start(with_variables(serve));
    let call =
        json!({ "model": "m", "messages": [{ "role": "user", "content": format!("Another: {}", all_texts()) }] });
    let key = format!("Bearer {}", serving.ready("key"));
    let url = format!("{}/v1/chat/completions", serving.ready("url"));
    let missed = send(&url, &[("authorization", &key)], Some(&call));
    assert_eq!(missed.status, 404, "{}", missed.body);
    let (_, said) = serving.end_and_read("-INT");
    assert_absent("the miss", &missed.body);
    assert_absent("what serve printed", &said);
    let shown: [&[&str]; 8] = [
        &["show", "out"],
        &["show", "out", "--turn", "1"],
        &["show", "out", "--answer", "1"],
        &["explain", "out"],
        &["explain", "out", "--json"],
        &["report", "--no-open"],
        &["report", "--form", "markdown", "--out", "report.md"],
        &["report", "--form", "junit", "--out", "junit.xml"],
    ];
    for args in shown {
        let ran = with_variables(tree.retake().args(args)).run();
        assert_absent(&args.join(" "), &ran.all());
    }
    assert_in_no_file(&tree);
}

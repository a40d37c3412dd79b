//! Secrets in each encoding, on each way into a project and out of it: traces and cassettes that are imported, a trace that is received,
//! and what the commands show of it all.

use serde_json::{Value, json};

use super::encoded_secrets::{all_texts, assert_absent, assert_in_no_file, tree, with_variables};
use crate::replay::serve::Serving;
use crate::support::loopback::send;
use crate::support::tree::Tree;

tests! { no_encoded_secret_comes_in_by_a_trace,
    no_encoded_secret_comes_in_by_a_cassette,
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

fn no_encoded_secret_comes_in_by_a_cassette() {
    let (tree, given, text) = (tree(), Tree::empty(), all_texts());
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }).to_string();
    let choice = json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
    let answer = json!({ "id": "c", "model": "m", "choices": [choice] }).to_string();
    let json_type = json!({ "content-type": ["application/json"] });
    let interaction = json!({
        "request": { "method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "headers": {}, "body": body },
        "response": { "status": { "code": 200, "message": "OK" }, "headers": json_type, "body": { "string": answer } },
    });
    given.write("a.yaml", &json!({ "interactions": [interaction], "version": 1 }).to_string());
    let import = tree.retake().args(&["import", "vcr"]).arg(given.path("a.yaml")).args(&["--out", "fixtures/out.json"]);
    let ran = with_variables(import).run().exits(0).says(&["1 turn written"]);
    assert_absent("what was printed", &ran.all());
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
    for args in [&["show", "out"] as &[&str], &["explain", "out"], &["report", "--no-open"]] {
        let ran = with_variables(tree.retake().args(args)).run();
        assert_absent(args[0], &ran.all());
    }
    assert_in_no_file(&tree);
}

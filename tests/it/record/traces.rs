//! Traces of production become scenarios: imported, received, and adopted.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::dated;
use crate::replay::serve::Serving;
use crate::support::loopback::{client, send};
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests! { a_trace_becomes_a_scenario_and_its_turns_the_services_own,
    what_is_adopted_waits_for_a_decision_unless_it_is_accepted_at_once,
    turns_that_fit_equally_well_are_asked_for_and_never_chosen,
    a_turn_without_a_call_is_named_and_stays,
    a_call_without_a_turn_is_named_and_nothing_is_written,
    tools_of_the_default_system_are_not_asked_unless_a_person_says_so,
    a_fixture_with_a_hole_says_so_when_it_is_loaded,
    a_receiver_takes_json_protobuf_and_gzip_and_writes_a_fixture_when_it_is_stopped,
    traces_are_listed_and_one_is_chosen,
    secrets_are_removed_and_personal_data_is_replaced,
    a_scenario_marks_what_its_trace_does_not_hold,
    options_of_traces_are_refused_for_other_formats,
}

fn text(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

/// The span of a call, with its answer's parts.
fn call(messages: &[Value], answer: &Value) -> Value {
    json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.input.messages": messages,
        "gen_ai.output.messages": [{"role": "assistant", "parts": [answer], "finish_reason": "stop"}],
    })
}

/// A trace: the request that started it, then these spans. Its id is one letter, repeated.
fn trace(letter: char, spans: &[Value]) -> Value {
    let id = |number: usize| format!("{number:016x}");
    let pairs = |attributes: &Value| -> Vec<Value> {
        let value = |value: &Value| match value {
            Value::Number(number) => json!({"intValue": number.to_string()}),
            Value::String(text) => json!({"stringValue": text}),
            other => json!({"stringValue": other.to_string()}),
        };
        attributes.as_object().unwrap().iter().map(|(key, held)| json!({"key": key, "value": value(held)})).collect()
    };
    let span = |(number, attributes): (usize, &Value)| {
        json!({
            "traceId": letter.to_string().repeat(32), "spanId": id(number + 1), "parentSpanId": if number == 0 { String::new() } else { id(1) },
            "name": if number == 0 { "POST /chat" } else { "chat small" },
            "startTimeUnixNano": format!("17540566140{number:08}"), "endTimeUnixNano": format!("17540566141{number:08}"),
            "attributes": pairs(attributes),
        })
    };
    let spans: Vec<Value> = spans.iter().enumerate().map(span).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

const BODY: &str = r#"{"message": "How warm is it in Rome?"}"#;

fn request(body: &str) -> Value {
    json!({"http.request.method": "POST", "url.path": "/chat", "http.request.body": body})
}

/// A question with a tool call, asked a year ago in other words, with another date and another ticket.
fn last_year() -> Value {
    let asked = text("user", "User asks: How warm is it in Rome?");
    let looks = json!({"type": "tool_call", "id": "call_9", "name": "look", "arguments": {"place": "Rome"}});
    let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_9", "response": "18 degrees, ticket A-12"}]});
    let said = json!({"type": "text", "content": "It is 18 degrees."});
    trace(
        'a',
        &[
            request(BODY),
            call(&[text("system", "Today is 2025-08-01."), asked.clone()], &looks),
            call(
                &[
                    text("system", "Today is 2025-08-01."),
                    asked,
                    json!({"role": "assistant", "parts": [looks]}),
                    result,
                ],
                &said,
            ),
        ],
    )
}

fn agent() -> Tree {
    Tree::with_suite(&dated::suite("Question:"))
}

fn import(tree: &Tree, traces: &str, args: &[&str]) -> Ran {
    tree.write("traces.jsonl", traces);
    tree.retake().args(&["import", "otlp", "traces.jsonl", "--out", "fixtures/warm.json"]).args(args).run()
}

fn a_trace_becomes_a_scenario_and_its_turns_the_services_own() {
    let tree = agent();
    let imported = import(&tree, &last_year().to_string(), &["--scenario", "warm"]);
    imported.exits(0).says(&["2 turns written to fixtures/warm.json, 0 refused", "next: retake adopt warm"]);
    let scenario = tree.read("scenarios/warm/scenario.toml");
    assert!(
        scenario.contains("post = \"/chat\"") && scenario.contains("\"{{ prompt }}\"") || scenario.contains("How warm"),
        "{scenario}"
    );
    tree.retake().args(&["test"]).run().red(&["User asks:"]);
    let outputs = |fixture: &str| -> Vec<Value> {
        let fixture: Value = serde_json::from_str(fixture).unwrap();
        fixture["turns"].as_array().unwrap().iter().map(|turn| json!([turn["output"], turn["wire"]])).collect()
    };
    let before = outputs(&tree.read("fixtures/warm.json"));
    let adopted = tree.retake().args(&["adopt", "warm", "--yes"]).run().exits(0);
    adopted.tells(&["call 1: turn 1 of fixtures/warm.json", "User asks:", "call 2: turn 2", "warm: accepted"]);
    assert_eq!(outputs(&tree.read("fixtures/warm.json")), before, "the answers are unchanged");
    assert!(tree.read("fixtures/warm.json").contains("Question: How warm is it in Rome?"));
    assert!(tree.read("goldens/warm.snap").contains("turn 2"), "{}", tree.read("goldens/warm.snap"));
    assert!(!tree.has("fixtures/warm.json.new") && !tree.has("fixtures/.journal/warm.jsonl"));
    tree.retake().arg("test").run().green();
}

fn what_is_adopted_waits_for_a_decision_unless_it_is_accepted_at_once() {
    let tree = agent();
    import(&tree, &last_year().to_string(), &["--scenario", "warm"]).exits(0);
    let before = tree.read("fixtures/warm.json");
    tree.retake().args(&["adopt", "warm"]).run().exits(0).says(&["to accept it: retake accept warm"]);
    assert_eq!(tree.read("fixtures/warm.json"), before);
    tree.retake().args(&["accept", "warm"]).run().exits(0);
    tree.retake().arg("test").run().green();
    tree.retake().args(&["adopt", "warn"]).run().exits(2).says(&["did you mean `warm`?"]);
}

/// Two questions, each a conversation of its own.
fn two_questions(first: &str, second: &str) -> Value {
    let said = |text: &str| json!({"type": "text", "content": text});
    trace(
        'b',
        &[
            request(r#"{"questions": ["Alpha one", "Omega two"]}"#),
            call(&[text("user", first)], &said("first")),
            call(&[text("user", second)], &said("second")),
        ],
    )
}

fn turns_that_fit_equally_well_are_asked_for_and_never_chosen() {
    let tree = agent();
    import(&tree, &two_questions("zzzz", "yyyy").to_string(), &["--scenario", "warm"]).exits(0);
    let before = tree.read("fixtures/warm.json");
    let asked = tree.retake().args(&["adopt", "warm", "--yes"]).run().exits(1);
    asked.tells(&[
        "call 1 (POST /v1/chat/completions) asks \"Question: Alpha one\"",
        "--pair 1=1",
        "--pair 1=2",
        "nothing was written",
    ]);
    assert!(tree.read("fixtures/warm.json") == before && !tree.has("fixtures/warm.json.new"));
    let paired = tree.retake().args(&["adopt", "warm", "--yes", "--pair", "1=2", "--pair", "2=1"]).run().exits(0);
    paired.tells(&["call 1: turn 2 of fixtures/warm.json, as --pair says"]);
    tree.retake().arg("test").run().green();
    let golden = tree.read("goldens/warm.snap");
    tree.retake().args(&["adopt", "warm", "--pair", "0=1"]).run().exits(2).says(&["expected CALL=TURN"]);
    assert!(golden.contains("×2"), "{golden}");
}

fn a_turn_without_a_call_is_named_and_stays() {
    let tree = agent();
    import(
        &tree,
        &two_questions("How warm is it in Rome?", "And in the evening of that day, after dinner?").to_string(),
        &[],
    )
    .exits(0);
    tree.scenario(
        "warm",
        "[[step]]\npost = \"/chat\"\njson = { message = \"How warm is it in Rome?\" }\nstream = true\n",
    );
    let adopted = tree.retake().args(&["adopt", "warm"]).run().exits(1);
    adopted.tells(&["no call asked for 1 turn", "turn 2: answers \"second\"", "unused = \"allow\""]);
    assert!(tree.read("fixtures/warm.json.new").contains("after dinner"));
}

fn a_call_without_a_turn_is_named_and_nothing_is_written() {
    let tree = agent();
    let said = json!({"type": "text", "content": "first"});
    let one = trace('c', &[request("{}"), call(&[text("user", "Alpha one")], &said)]);
    import(&tree, &one.to_string(), &[]).exits(0);
    tree.scenario(
        "warm",
        "[[step]]\npost = \"/chat\"\njson = { questions = [\"Alpha one\", \"Omega two\"] }\nstream = true\n",
    );
    let before = tree.read("fixtures/warm.json");
    let adopted = tree.retake().args(&["adopt", "warm"]).run().exits(1);
    adopted.tells(&["call 2 (POST /v1/chat/completions) asks \"Question: Omega two\"", "no turn of the trace fits it"]);
    assert!(tree.read("fixtures/warm.json") == before && !tree.has("fixtures/warm.json.new"));
}

fn tools_of_the_default_system_are_not_asked_unless_a_person_says_so() {
    let suite = dated::suite("Question:").replace("env = { ", "env = { DESK = \"{{ tools.desk }}\", ");
    let tree = Tree::with_suite(&format!("{suite}[tools.desk]\nmcp = {{ command = [\"touch\", \"asked\"] }}\n"));
    import(&tree, &last_year().to_string(), &["--scenario", "warm"]).exits(0);
    let adopted = tree.retake().args(&["adopt", "warm", "--yes"]).run().exits(2);
    adopted.tells(&["the scenario would ask its tool servers for real: desk", "--live-tools"]);
}

fn a_fixture_with_a_hole_says_so_when_it_is_loaded() {
    let tree = agent();
    let said = json!({"type": "text", "content": "first"});
    let hidden = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "small"});
    let holed = trace('d', &[request("{}"), call(&[text("user", "Alpha one")], &said), hidden]);
    let imported = import(&tree, &holed.to_string(), &[]).exits(0);
    imported.tells(&[
        "refused: trace dddd",
        "span 0000000000000003 (chat small): it holds no messages",
        "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
        "1 turn written",
    ]);
    tree.scenario("warm", "[[step]]\npost = \"/chat\"\njson = { message = \"Alpha one\" }\nstream = true\n");
    tree.retake()
        .arg("test")
        .run()
        .exits(1)
        .says(&["fixtures/warm.json lacks 1 model call of its trace:", "span 0000000000000003"]);
    tree.retake().args(&["show", "warm"]).run().exits(0).says(&["lacks a call of its trace"]);
}

fn a_receiver_takes_json_protobuf_and_gzip_and_writes_a_fixture_when_it_is_stopped() {
    let tree = agent();
    let program = tree.retake().args(&["import", "otlp", "--listen", "127.0.0.1:0", "--out", "fixtures/warm.json"]);
    let mut receiver = Serving::start(program);
    let url = format!("{}/v1/traces", receiver.ready("endpoint"));
    assert_eq!(send(&url, &[], Some(&last_year())).body, "{}");
    // The name of a span, as protobuf: a receiver that reads JSON alone would refuse it.
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let span = [field(1, &[0xee; 16]), field(2, &[0xee; 8]), field(5, b"a span")].concat();
    let message = field(1, &field(2, &field(2, &span)));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&message).unwrap();
    let packed = packed.finish().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let post = |body: Vec<u8>, kind: &str| {
        let request = client().post(&url).header("content-type", kind).header("content-encoding", "gzip").body(body);
        runtime.block_on(async { request.send().await.unwrap().status().as_u16() })
    };
    assert_eq!(post(packed.clone(), "application/x-protobuf"), 200);
    assert_eq!(post(packed, "application/json"), 400);
    assert_eq!(post(b"no gzip".to_vec(), "application/x-protobuf"), 400);
    assert_eq!(send(&format!("{}/v1/metrics", receiver.ready("endpoint")), &[], Some(&json!({}))).status, 200);
    let (code, said) = receiver.end_and_read("-TERM");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 turns written to fixtures/warm.json"), "{said}");
    tree.retake()
        .args(&["import", "otlp", "--listen", "0.0.0.0:0", "--out", "fixtures/b.json"])
        .run()
        .exits(2)
        .says(&["not a loopback address"]);
}

fn traces_are_listed_and_one_is_chosen() {
    let tree = agent();
    let both = format!("{}\n{}\n", last_year(), two_questions("Alpha one", "Omega two"));
    tree.write("traces.jsonl", &both);
    let listed = tree.retake().args(&["import", "otlp", "traces.jsonl", "--list"]).run().exits(0);
    let row = |id: &str| listed.stdout.lines().find(|line| line.starts_with(id)).unwrap_or_default().to_owned();
    let words = ["2025-08-01 13:56:54", "POST /chat", "small", "User asks: How warm is it in Rome?", "  2  ", "  24  "];
    assert!(words.iter().all(|word| row("aaaa").contains(word)), "{}", listed.stdout);
    import(&tree, &both, &[]).exits(2).says(&["there are 2 traces with model calls", "--trace ID"]);
    import(&tree, &both, &["--trace", "q"]).exits(2).says(&["no trace has the id q"]);
    import(&tree, &both, &["--trace", "bb"]).exits(0).says(&["2 turns written"]);
    import(&tree, &both, &["--trace", "aa", "--trace", "bb"]).exits(0).says(&["4 turns written"]);
    // Standard input, and a file of another format.
    let piped =
        tree.retake().args(&["import", "otlp", "-", "--out", "fixtures/in.json"]).input(last_year().to_string());
    piped.run().exits(0).says(&["2 turns written"]);
    tree.write("other.json", "{\"turns\": []}");
    let other = tree.retake().args(&["import", "otlp", "other.json", "--out", "fixtures/o.json"]).run();
    other.exits(2).says(&["other.json: not OTLP: expected `resourceSpans` or `resourceLogs`", "nothing was written"]);
}

fn secrets_are_removed_and_personal_data_is_replaced() {
    let tree = agent();
    let key = format!("sk-proj-{}", "a1B2".repeat(12));
    let said = json!({"type": "text", "content": "Written to ann@firm.org."});
    let secret =
        trace('e', &[request("{}"), call(&[text("user", &format!("Use {key} and write to ann@firm.org"))], &said)]);
    let named = import(&tree, &secret.to_string(), &[])
        .exits(0)
        .says(&["personal data will be in the fixture: 1 email", "--redact email"]);
    assert!(!tree.read("fixtures/warm.json").contains(&key), "{}", named.all());
    import(&tree, &secret.to_string(), &["--redact", "email,phone", "--redact-pattern", "Wri[a-z]+"])
        .exits(0)
        .says(&["2 texts replaced by stand-ins"]);
    let fixture = tree.read("fixtures/warm.json");
    assert_eq!(fixture.matches("person1@example.com").count(), 3, "{fixture}");
    assert!(!fixture.contains("ann@firm.org") && fixture.contains("<REDACTED:1> to"), "{fixture}");
    import(&tree, &secret.to_string(), &["--redact-pattern", "("]).exits(2).says(&["regex parse error"]);
}

fn a_scenario_marks_what_its_trace_does_not_hold() {
    let tree = agent();
    let without =
        trace('f', &[json!({}), call(&[text("user", "Alpha one")], &json!({"type": "text", "content": "first"}))]);
    import(&tree, &without.to_string(), &["--scenario", "warm"]).exits(0).says(&["fill in the lines that say FILL IN"]);
    let marked = tree.read("scenarios/warm/scenario.toml");
    assert!(marked.contains("prompt = \"Alpha one\"") && marked.contains("# FILL IN: the path"), "{marked}");
    import(&tree, &without.to_string(), &["--scenario", "warm"]).exits(2).says(&["the file already exists"]);
    let filled = marked.replace("post   = \"/\"", "post   = \"/chat\"");
    tree.write("scenarios/warm/scenario.toml", &filled);
    tree.retake().args(&["adopt", "warm", "--yes"]).run().exits(0);
}

fn options_of_traces_are_refused_for_other_formats() {
    let tree = agent();
    let har = tree.retake().args(&["import", "har", "a.har", "--out", "fixtures/a.json", "--trace", "a"]).run();
    har.exits(2).says(&["--redact-pattern are only for traces: otlp, langfuse"]);
    let listen =
        tree.retake().args(&["import", "langfuse", "--out", "fixtures/a.json", "--listen", "127.0.0.1:0"]).run();
    listen.exits(2).says(&["--listen is only for otlp"]);
    let errors = tree.retake().args(&["import", "otlp", "a.json", "--out", "fixtures/a.json", "--errors"]).run();
    errors.exits(2).says(&["--errors is only for recordings of other tools"]);
}

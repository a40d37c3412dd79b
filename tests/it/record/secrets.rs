//! Secrets are planted in everything that a recorder sees. None of them reaches a file or the terminal, and replay still
//! matches.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retake::Stage;
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, Service, send};
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { no_planted_secret_is_in_a_file_after_proxy_and_replay_matches,
    no_planted_secret_is_in_a_file_after_record_and_replay_matches,
    no_planted_secret_is_in_a_file_after_import_and_replay_matches,
    the_value_of_an_undeclared_secret_stops_the_recording,
    a_miss_reveals_no_secret_even_if_the_fixture_lists_none,
}

/// Secrets of known forms: two parts each, so no scanner reports this file as a leak, and the placeholder. `#` becomes a number
/// that makes each secret unique.
const KINDS: [(&str, &str, &str); 13] = [
    ("sk-proj-", "#abcdefghijklmnop1234", "<OPENAI_KEY>"),
    ("sk-ant-", "api03-#0123456789abcdefGHIJ", "<ANTHROPIC_KEY>"),
    ("AIza", "Sy#0123456789abcdefghijklmnopqrstuv", "<GOOGLE_KEY>"),
    ("AKIA", "#IOSFODNN7EXAMP", "<AWS_ACCESS_KEY>"),
    ("aws_secret_access_key=", "#lrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEYxx", "aws_secret_access_key=<AWS_SECRET_KEY>"),
    ("ghp_", "#0123456789abcdefghijABCDEFGHIJ0123", "<GITHUB_TOKEN>"),
    ("github_pat_", "#11ABCDEFG0123456789_abcdefghij", "<GITHUB_TOKEN>"),
    ("xoxb-", "#3456789012-1234567890123-abcdefghijkl", "<SLACK_TOKEN>"),
    ("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.#zjgNryP4J3jVmNHl0w5N", "<JWT>"),
    ("Bearer ", "#0123456789abcdefghij", "Bearer <BEARER_TOKEN>"),
    ("postgres://app:", "#hunter2@db.example.com/app", "postgres://app:<URL_PASSWORD>@db.example.com/app"),
    (
        "-----BEGIN PRIVATE",
        " KEY-----\nMIIEvQIBADANBgkq#hkiG9w0B\nAQEFAASC\n-----END PRIVATE KEY-----",
        "<PRIVATE_KEY>",
    ),
    ("sk_live_", "#51H0123456789abcdef", "<STRIPE_KEY>"),
];

/// The numbers of the secrets that have no known form. The name of their variable does not look like a secret either, so a
/// scenario has to declare them as `{{ secret.CUSTOMER_13 }}`.
const DECLARED: [usize; 4] = [13, 22, 34, 41];
const OF_CUSTOMERS: (&str, &str, &str) = ("cust0mer-", "#-zebra-quartz", "<CUSTOMER_#>");

/// The places where secrets are planted.
const PLACES: [&str; 16] = [
    "header",
    "query",
    "message",
    "system",
    "tool definition",
    "tool arguments",
    "tool result",
    "object key",
    "base64",
    "embedding",
    "answer",
    "answer's arguments",
    "frames",
    "split frames",
    "split arguments",
    "error",
];

pub(crate) struct Planted {
    number: usize,
    place: &'static str,
    secret: String,
    word: String,
}

/// Returns 48 secrets, each with a different combination of kind and place.
pub(crate) fn planted() -> Vec<Planted> {
    let plant = |number: usize| {
        let kind = if DECLARED.contains(&number) { OF_CUSTOMERS } else { KINDS[number % KINDS.len()] };
        let (first, second, word) = kind;
        let secret = format!("{first}{}", second.replace('#', &format!("{number:02}")));
        let word = word.replace('#', &format!("{number:02}"));
        Planted { number, place: PLACES[number % PLACES.len()], secret, word }
    };
    (0..48).map(plant).collect()
}

impl Planted {
    /// Returns the part of the secret that must not be in any file.
    fn core(&self) -> &str {
        let start = self.secret.find(&format!("{:02}", self.number)).unwrap();
        let core = &self.secret[start..];
        core.split(['\n', '@']).next().unwrap()
    }

    fn is_stream(&self) -> bool {
        self.place.contains("frames") || self.place == "split arguments"
    }

    /// Returns the variable that contains the secret, if a scenario declares it.
    fn variable(&self) -> Option<&str> {
        self.word.strip_prefix("<CUSTOMER").map(|_| self.word.trim_matches(['<', '>']))
    }

    /// Makes the call, with `text` in the place of the secret.
    fn call(&self, url: &str, key: &str, text: &str) -> Reply {
        let bearer = format!("Bearer {key}");
        // A header cannot contain a line feed.
        let custom = if self.place == "header" { text.replace('\n', " ") } else { "nothing".to_owned() };
        let (path, body) = self.request(text);
        send(&format!("{url}{path}"), &[("authorization", &bearer), ("x-custom", &custom)], Some(&body))
    }

    /// Returns the path and the body of the call, with `text` in the place of the secret.
    fn request(&self, text: &str) -> (String, Value) {
        let at = |place: &str| if self.place == place { text } else { "nothing" };
        let case = format!("case {}", self.number);
        if self.place == "embedding" {
            return ("/v1/embeddings".to_owned(), json!({ "model": "e", "input": [case, text] }));
        }
        let encoded = if self.place == "base64" { base64(&format!("file: {text} end")) } else { String::new() };
        let arguments = json!({ "value": at("tool arguments"), "n": 1 }).to_string();
        let call =
            json!({ "id": "call_1", "type": "function", "function": { "name": "look", "arguments": arguments } });
        let body = json!({
            "model": "m",
            "stream": self.is_stream(),
            "tools": [{ "type": "function", "function": { "name": "look", "description": at("tool definition"), "parameters": { "type": "object" } } }],
            "metadata": { at("object key"): "x" },
            "messages": [
                { "role": "system", "content": format!("Be brief. {}", at("system")) },
                { "role": "user", "content": format!("{case}: use {}, data:text/plain;base64,{encoded}", at("message")) },
                { "role": "assistant", "content": null, "tool_calls": [call] },
                { "role": "tool", "tool_call_id": "call_1", "content": json!({ "found": at("tool result") }).to_string() },
            ],
        });
        let query: String = url::form_urlencoded::byte_serialize(at("query").as_bytes()).collect();
        (format!("/v1/chat/completions?token={query}"), body)
    }

    /// Returns the provider's answer: status, content type and body.
    fn answer(&self) -> (StatusCode, &'static str, String) {
        let secret = &self.secret;
        let at = |place: &str| if self.place == place { secret.as_str() } else { "nothing" };
        if self.place == "error" {
            let error =
                json!({ "error": { "message": format!("Incorrect API key provided: {secret}."), "type": "auth" } });
            return (StatusCode::UNAUTHORIZED, "application/json", error.to_string());
        }
        if self.place == "embedding" {
            return (StatusCode::OK, "application/json", json!({ "data": [0.25] }).to_string());
        }
        let arguments = json!({ "key": if self.is_stream() { secret } else { at("answer's arguments") } }).to_string();
        if self.is_stream() {
            let text = format!("it is {secret} I think");
            let whole = if self.place == "split arguments" { &arguments } else { &text };
            let pieces: Vec<String> = if self.place == "frames" {
                vec![whole.clone()]
            } else {
                whole.as_bytes().chunks(5).map(|piece| String::from_utf8(piece.to_vec()).unwrap()).collect()
            };
            let delta = |piece: &String| match self.place {
                "split arguments" => {
                    json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "look", "arguments": piece } }] })
                }
                _ => json!({ "content": piece }),
            };
            let chunk = |delta: Value, finish: Value| {
                let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
                format!("data: {}\n\n", json!({ "id": "c", "model": "m", "choices": [choice] }))
            };
            let mut stream: String = pieces.iter().map(|piece| chunk(delta(piece), Value::Null)).collect();
            stream += &chunk(json!({}), json!("stop"));
            stream += "data: [DONE]\n\n";
            return (StatusCode::OK, "text/event-stream", stream);
        }
        let call = json!({ "id": "c", "type": "function", "function": { "name": "look", "arguments": arguments } });
        let message =
            json!({ "role": "assistant", "content": format!("{} it is", at("answer")), "tool_calls": [call] });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
        (StatusCode::OK, "application/json", json!({ "id": "c", "model": "m", "choices": [choice] }).to_string())
    }
}

fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

fn provider(planted: &Arc<Vec<Planted>>) -> Service {
    let planted = planted.clone();
    Service::start(Router::new().fallback(move |body: String| {
        let planted = planted.clone();
        async move {
            let (_, number) = body.split_once("case ").unwrap();
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let (status, kind, body) = planted[digits.parse::<usize>().unwrap()].answer();
            (status, [(CONTENT_TYPE, kind)], body).into_response()
        }
    }))
}

/// Returns what a client reads from a response or a stream: all text, then all arguments of tool calls.
fn told(reply: &Reply) -> String {
    let all = |message: &Value| {
        let arguments = message["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default();
        format!("{}{arguments}", message["content"].as_str().unwrap_or_default())
    };
    if !reply.body.starts_with("data:") {
        let body = reply.json();
        return format!(
            "{}{}",
            all(&body["choices"][0]["message"]),
            body["error"]["message"].as_str().unwrap_or_default()
        );
    }
    let events = reply.body.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    events.map(|event| all(&event["choices"][0]["delta"])).collect()
}

/// Returns a project with a scenario that declares the planted secrets that have no known form.
pub(crate) fn tree(planted: &[Planted]) -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    let variables = planted.iter().filter_map(Planted::variable);
    let headers: Vec<String> = variables.map(|name| format!("x-{name} = \"{{{{ secret.{name} }}}}\"\n")).collect();
    let headers = headers.concat();
    let step = "record = { errors = true }\n[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n[step.headers]\n";
    tree.scenario("out", &format!("{step}{headers}"));
    tree
}

/// Sets the variables that contain the declared secrets, and the provider's own key.
pub(crate) fn with_variables(program: Program, planted: &[Planted]) -> Program {
    let program = program.env("OPENAI_API_KEY", "the-provider-s-0wn-key");
    let variables = planted.iter().filter_map(|one| Some((one.variable()?, &one.secret)));
    variables.fold(program, |program, (name, value)| program.env(name, value))
}

/// Asserts that a text contains no planted secret, neither as it is nor in base64.
#[track_caller]
fn assert_absent(planted: &[Planted], what: &str, text: &str) {
    for one in planted {
        assert!(!text.contains(one.core()), "{} in a {} is in {what}", one.core(), one.place);
        assert!(!text.contains(&base64(&one.secret)[4..16]), "{} in base64 is in {what}", one.core());
    }
    assert!(!text.contains("the-provider-s-0wn-key"), "{what}");
}

/// Asserts that no file of the project contains a planted secret.
#[track_caller]
fn assert_in_no_file(planted: &[Planted], tree: &Tree) {
    for (file, text) in tree.files() {
        assert_absent(planted, &file, &text);
    }
}

/// Records through `proxy`, and then replays with `serve`.
fn no_planted_secret_is_in_a_file_after_proxy_and_replay_matches() {
    let planted = Arc::new(planted());
    let provider = provider(&planted);
    for errors in [true, false] {
        let tree = tree(&planted);
        let program = with_variables(proxy(&tree, &provider.openai()), &planted);
        let mut proxy = Serving::start(if errors { program.arg("--errors") } else { program });
        let live: Vec<Reply> = planted.iter().map(|one| one.call(proxy.ready("url"), "ours", &one.secret)).collect();
        for (one, live) in planted.iter().zip(&live) {
            let secret_in_answer = matches!(one.place, "answer" | "frames" | "split frames" | "error");
            assert!(!secret_in_answer || told(live).contains(&one.secret), "the system gets the real answer");
        }
        let (code, said) = proxy.end_and_read("-INT");
        assert_eq!(code, Some(0), "{said}");
        let failed = planted.iter().filter(|one| one.place == "error").count();
        let (turns, left_out) = if errors { (48, 0) } else { (48 - failed, failed) };
        assert!(said.contains(&format!("{turns} turns recorded to fixtures/out.json, {left_out} left out")), "{said}");
        assert_absent(&planted, "what was printed", &said);
        assert_in_no_file(&planted, &tree);
        if errors {
            replays(&tree, &planted, &live.iter().map(|live| (live.status, told(live))).collect::<Vec<_>>());
        }
    }
}

/// Records with `record`: the system makes the calls while a scenario drives it.
fn no_planted_secret_is_in_a_file_after_record_and_replay_matches() {
    let planted = Arc::new(planted());
    let provider = provider(&planted);
    let tree = tree(&planted);
    let runner = tree.recorder("planted", "record", "out");
    let runner = with_variables(runner, &planted).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    let ran = runner.run().exits(0).says(&["out: 48 turns recorded to fixtures/out.json, two replays agree"]);
    assert_absent(&planted, "what was printed", &ran.all());
    assert_in_no_file(&planted, &tree);
    replays(&tree, &planted, &of_provider(&planted));
    with_variables(tree.runner("planted"), &planted).run().exits(0);
}

/// Imports recordings by another tool, and a journal from a time when the secrets were not declared yet.
fn no_planted_secret_is_in_a_file_after_import_and_replay_matches() {
    let planted = planted();
    let tree = tree(&planted);
    let archives = Tree::empty();
    let entries = planted.iter().map(|one| {
        let (path, body) = one.request(&one.secret);
        let (status, kind, text) = one.answer();
        let request = json!({ "method": "POST", "url": format!("https://api.openai.com{path}"), "headers": [],
            "postData": { "mimeType": "application/json", "text": body.to_string() } });
        let content = json!({ "mimeType": kind, "text": text });
        json!({ "request": request, "response": { "status": status.as_u16(), "headers": [], "content": content } })
    });
    archives.write("all.har", &json!({ "log": { "entries": entries.collect::<Vec<_>>() } }).to_string());
    let import = tree.retake().args(&["import", "har"]).arg(archives.path("all.har")).args(&["--errors", "--out"]);
    let ran = with_variables(import, &planted).arg("fixtures/out.json").run().exits(0);
    assert_absent(&planted, "what was printed", &ran.all());
    assert_in_no_file(&planted, &tree);
    replays(&tree, &planted, &of_provider(&planted));

    let declared = planted.iter().find(|one| one.variable().is_some()).unwrap();
    let line = json!({ "began": 0, "ended": 1, "api": "openai-chat", "path": "/v1/chat/completions",
        "request": { "model": "m", "messages": [{ "role": "user", "content": format!("I am {}", declared.secret) }] },
        "response": { "status": 200, "content_type": "application/json", "json": { "choices": [{ "finish_reason": "stop",
            "message": { "role": "assistant", "content": format!("Hello {}", declared.secret) } }] } } });
    archives.write("old.jsonl", &format!("{line}\n"));
    let import = tree.retake().args(&["import", "journal"]).arg(archives.path("old.jsonl"));
    with_variables(import, &planted).args(&["--out", "fixtures/out.json"]).run().exits(0);
    assert_in_no_file(&planted, &tree);
    assert!(tree.read("fixtures/out.json").contains(&format!("Hello {}", declared.word)));
    // deer-flow's format contains only hashes of the calls.
    let output = json!({ "type": "ai", "data": { "content": format!("Hello {}", declared.secret) } });
    let turn = json!({ "caller": "lead_agent", "conversation_hash": "0".repeat(64), "input_hash": "0".repeat(64), "output": output });
    archives.write("theirs.json", &json!({ "scenario": "s", "prompt": declared.secret, "turns": [turn] }).to_string());
    let import = tree.retake().args(&["import", "deerflow"]).arg(archives.path("theirs.json"));
    let ran = with_variables(import, &planted).args(&["--out", "fixtures/out.json"]).run().exits(0);
    ran.says(&["secrets were removed from its answers (env:CUSTOMER_13)"]);
    assert_in_no_file(&planted, &tree);
}

/// Returns the status and the text that clients get from the provider itself.
fn of_provider(planted: &[Planted]) -> Vec<(u16, String)> {
    let told = |one: &Planted| {
        let (status, _, body) = one.answer();
        let reply = Reply { status: status.as_u16(), headers: BTreeMap::new(), body };
        (reply.status, told(&reply))
    };
    planted.iter().map(told).collect()
}

/// Asserts that the fixture lists the kinds of secrets found, and that replay matches both if the system has the real secrets
/// and if it has the placeholders from a replay.
fn replays(tree: &Tree, planted: &[Planted], live: &[(u16, String)]) {
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/out.json")).unwrap();
    let listed: Vec<&str> = fixture["scrub"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for name in [
        "anthropic-key",
        "aws-secret-key",
        "bearer-token",
        "env:CUSTOMER_13",
        "jwt",
        "openai-key",
        "private-key",
        "url-password",
    ] {
        assert!(listed.contains(&name), "{name} is not in {listed:?}");
    }
    for scrubbed in [false, true] {
        let program = tree.retake().args(&["serve", "fixtures/out.json", "--report", "report.json"]);
        let mut serving = Serving::start(with_variables(program, planted));
        for (one, (status, live)) in planted.iter().zip(live) {
            let text = if scrubbed { &one.word } else { &one.secret };
            let reply = one.call(serving.ready("url"), serving.ready("key"), text);
            assert_eq!(reply.status, *status, "case {}, {}: {}", one.number, one.place, reply.body);
            if one.place != "embedding" {
                assert_eq!(told(&reply), expected(one, live), "case {}, {}", one.number, one.place);
            }
        }
        // A call that misses is reported without its secret too.
        let mut missed = planted.iter().filter(|one| one.place == "message" || one.variable().is_some());
        let count = missed.clone().count();
        assert!(missed.all(|one| one.call(serving.ready("url"), serving.ready("key"), &one.secret).status == 404));
        let (code, said) = serving.end_and_read("-INT");
        assert_eq!(code, Some(1), "{said}");
        assert_absent(planted, "what serve printed", &said);
        assert_absent(planted, "its report", &tree.read("report.json"));
        let report: Value = serde_json::from_str(&tree.read("report.json")).unwrap();
        let count_of = |what: &str| report[what].as_array().unwrap().len();
        assert_eq!((count_of("missed"), count_of("unused")), (count, 0));
    }
}

/// Serves a system that makes all the calls, one after another.
pub(crate) fn router(stage: &Stage) -> Router {
    let (url, key) = (stage.model().url.clone(), stage.key().to_owned());
    Router::new().fallback(async move || {
        let calls = tokio::task::spawn_blocking(move || {
            for one in planted() {
                drop(one.call(&url, &key, &one.secret));
            }
        });
        calls.await.unwrap();
        ([(CONTENT_TYPE, "text/event-stream")], "event: end\ndata: null\n\n")
    })
}

/// Replay removes only those secrets from a call that the fixture lists. The report of a miss removes all of them.
fn a_miss_reveals_no_secret_even_if_the_fixture_lists_none() {
    let tree = Tree::empty();
    fixtures::write(&tree, "greeting", vec![turn(None, "Hello", "Good morning")]);
    let mut serving =
        Serving::start(tree.retake().args(&["serve", "fixtures/greeting.json", "--report", "report.json"]));
    let planted = planted();
    let secret = &planted[0].secret;
    let asked = serving.ask(&[], &json!([{ "role": "user", "content": format!("Hello {secret}") }]), false);
    assert_eq!(asked.status, 404);
    let (_, said) = serving.end_and_read("-INT");
    for text in [said, tree.read("report.json")] {
        assert!(text.contains("<OPENAI_KEY>") && !text.contains(secret), "{text}");
    }
}

/// Returns the text that replay gives in place of the provider's text.
fn expected(one: &Planted, live: &str) -> String {
    // In the arguments of a tool call, a line feed is escaped.
    let escaped = one.secret.replace('\n', "\\n");
    live.replace(&one.secret, &one.word).replace(&escaped, &one.word)
}

fn the_value_of_an_undeclared_secret_stops_the_recording() {
    let planted = Arc::new(planted());
    let provider = provider(&planted);
    let tree = Tree::empty();
    let ask = |proxy: &Serving| planted[0].call(proxy.ready("url"), "ours", "t0ken-of-a-deploy");
    let program = || proxy(&tree, &provider.openai()).env("DEPLOY_TOKEN", "t0ken-of-a-deploy");
    let mut proxy = Serving::start(program());
    let message = &planted[2];
    let reply = message.call(proxy.ready("url"), "ours", "t0ken-of-a-deploy");
    assert!(reply.status == 400 && reply.body.contains("DEPLOY_TOKEN"), "{}", reply.body);
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Add to scenarios/suite.toml: secrets = [\"DEPLOY_TOKEN\"]"), "{said}");
    // A declared secret is replaced.
    tree.write("scenarios/suite.toml", "secrets = [\"DEPLOY_TOKEN\"]\n");
    tree.write("scenarios/a/scenario.toml", "[[step]]\nrun = [\"true\"]\nstream = { last = \"end\" }\n");
    let mut proxy = Serving::start(program());
    assert_eq!(message.call(proxy.ready("url"), "ours", "t0ken-of-a-deploy").status, 200);
    assert_eq!(ask(&proxy).status, 200);
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    for (file, text) in tree.files() {
        assert!(!text.contains("t0ken-of-a-deploy"), "{file}");
    }
    assert!(tree.read("fixtures/out.json").contains("<DEPLOY_TOKEN>"));
}

//! Secrets that are planted in all that a recorder sees: none is in a file or on the terminal, and replay matches.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, Service, send};
use crate::support::tree::Tree;

tests! { forty_planted_ones_are_on_no_disk_and_replay_matches,
    an_undeclared_variable_s_value_stops_the_recording,
    a_miss_of_a_fixture_without_secrets_tells_none,
}

/// Secrets, two parts each so that no scanner takes this file for a leak, and what stands in their place. `#` is a number
/// that makes each one its own.
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

/// Where one is planted.
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

struct Planted {
    number: usize,
    place: &'static str,
    secret: String,
    word: String,
}

/// Forty, each of them its own kind in its own place.
fn planted() -> Vec<Planted> {
    let plant = |number: usize| {
        let (first, second, word) = KINDS[number % KINDS.len()];
        let secret = format!("{first}{}", second.replace('#', &format!("{number:02}")));
        Planted { number, place: PLACES[number % PLACES.len()], secret, word: word.to_owned() }
    };
    (0..48).map(plant).collect()
}

impl Planted {
    /// The part of the secret that is in no file, whatever stands around it.
    fn core(&self) -> &str {
        let start = self.secret.find(&format!("{:02}", self.number)).unwrap();
        let core = &self.secret[start..];
        core.split(['\n', '@']).next().unwrap()
    }

    fn is_stream(&self) -> bool {
        self.place.contains("frames") || self.place == "split arguments"
    }

    /// Makes the call with a text in the secret's place.
    fn call(&self, url: &str, key: &str, text: &str) -> Reply {
        let at = |place: &str| if self.place == place { text } else { "nothing" };
        let case = format!("case {}", self.number);
        let bearer = format!("Bearer {key}");
        let headers =
            [("authorization", bearer.as_str()), ("x-custom", if self.place == "header" { "a b" } else { "c" })];
        // A header holds no line feed.
        let text_of_header = at("header").replace('\n', " ");
        let headers = [headers[0], ("x-custom", text_of_header.as_str())];
        if self.place == "embedding" {
            let body = json!({ "model": "e", "input": [case, text] });
            return send(&format!("{url}/v1/embeddings"), &headers, Some(&body));
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
        send(&format!("{url}/v1/chat/completions?token={query}"), &headers, Some(&body))
    }

    /// What the provider answers.
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
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |three: &[u8], at: usize| {
        let bits = three.iter().chain(&[0, 0]).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        if at > three.len() { '=' } else { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) }
    };
    text.as_bytes().chunks(3).flat_map(|three| (0..4).map(move |at| digit(three, at))).collect()
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

/// What a client reads of a stream or an answer: all text and all arguments, put together.
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

fn forty_planted_ones_are_on_no_disk_and_replay_matches() {
    let planted = Arc::new(planted());
    let provider = provider(&planted);
    for errors in [true, false] {
        let tree = Tree::empty();
        let program = proxy(&tree, &provider.openai()).env("OPENAI_API_KEY", "the-provider-s-0wn-key");
        let mut proxy = Serving::start(if errors { program.arg("--errors") } else { program });
        let live: Vec<Reply> = planted.iter().map(|one| one.call(proxy.ready("url"), "ours", &one.secret)).collect();
        for (one, live) in planted.iter().zip(&live) {
            let secret_in_answer = matches!(one.place, "answer" | "frames" | "split frames" | "error");
            assert!(!secret_in_answer || told(live).contains(&one.secret), "the system gets what the provider said");
        }
        let (code, said) = proxy.end_and_read("-INT");
        assert_eq!(code, Some(0), "{said}");
        let failed = planted.iter().filter(|one| one.place == "error").count();
        let (turns, left_out) = if errors { (48, 0) } else { (48 - failed, failed) };
        assert!(said.contains(&format!("{turns} turns recorded to fixtures/out.json, {left_out} left out")), "{said}");
        let nowhere = |what: &str, text: &str| {
            for one in planted.iter() {
                assert!(!text.contains(one.core()), "{} in a {} is in {what}", one.core(), one.place);
                assert!(!text.contains(&base64(&one.secret)[4..16]), "{} in base64 is in {what}", one.core());
            }
            assert!(!text.contains("the-provider-s-0wn-key"), "{what}");
        };
        nowhere("what was printed", &said);
        for (file, text) in tree.files() {
            nowhere(&file, &text);
        }
        if !errors {
            continue;
        }
        let fixture: Value = serde_json::from_str(&tree.read("fixtures/out.json")).unwrap();
        let listed: Vec<&str> =
            fixture["scrub"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for name in
            ["anthropic-key", "aws-secret-key", "bearer-token", "jwt", "openai-key", "private-key", "url-password"]
        {
            assert!(listed.contains(&name), "{name} is not in {listed:?}");
        }
        // Replay matches where the system holds the secret, and where it holds what replay gave it.
        for scrubbed in [false, true] {
            let program = tree.retake().args(&["serve", "fixtures/out.json", "--report", "report.json"]);
            let mut serving = Serving::start(program);
            for (one, live) in planted.iter().zip(&live) {
                let text = if scrubbed { &one.word } else { &one.secret };
                let reply = one.call(serving.ready("url"), serving.ready("key"), text);
                assert_eq!(reply.status, live.status, "case {}, {}: {}", one.number, one.place, reply.body);
                if one.place != "embedding" {
                    assert_eq!(told(&reply), expected(one, &told(live)), "case {}, {}", one.number, one.place);
                }
            }
            // A call that misses is told without its secret too.
            let one = &planted[2];
            assert_eq!(one.call(serving.ready("url"), serving.ready("key"), &one.secret).status, 404);
            let (code, said) = serving.end_and_read("-INT");
            assert_eq!(code, Some(1), "{said}");
            nowhere("what serve printed", &said);
            nowhere("its report", &tree.read("report.json"));
            let report: Value = serde_json::from_str(&tree.read("report.json")).unwrap();
            assert_eq!(
                (report["missed"].as_array().unwrap().len(), report["unused"].as_array().unwrap().len()),
                (1, 0)
            );
        }
    }
}

/// What a fixture does not list is not taken out of its calls: a miss tells of them without their secrets all the same.
fn a_miss_of_a_fixture_without_secrets_tells_none() {
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

/// What replay tells in place of what the provider told.
fn expected(one: &Planted, live: &str) -> String {
    // In the arguments of a tool call a line feed is written as one.
    let escaped = one.secret.replace('\n', "\\n");
    live.replace(&one.secret, &one.word).replace(&escaped, &one.word)
}

fn an_undeclared_variable_s_value_stops_the_recording() {
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
    // Declared, it is taken out.
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

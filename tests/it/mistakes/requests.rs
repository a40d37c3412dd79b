//! Requests to a model server that are not valid calls: each gets an error in the provider's format and is in the report, and
//! the server keeps running.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use crate::replay::serve::Serving;
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, chat};
use crate::support::tree::Tree;

tests! { each_api_reports_errors_in_its_own_format,
    a_path_or_method_that_is_not_a_model_call_is_refused,
    broken_http_gets_an_answer,
    a_body_of_20_mb_is_read_and_one_with_1000_levels_is_refused,
    a_client_that_disconnects_midway_uses_up_no_turn,
    slow_clients_do_not_block_others,
    a_turn_is_served_once_for_ten_thousand_equal_calls,
}

/// Starts a server with one turn. Returns it with the project into which it writes its report.
fn serving() -> (Tree, Serving) {
    let tree = Tree::empty();
    fixtures::write(&tree, "one", vec![turn(None, "Hello", "Good morning")]);
    let program = tree.retake().args(&["serve", "fixtures/one.json", "--report", "report.json"]);
    let serving = Serving::start(program);
    (tree, serving)
}

/// Ends the server, and asserts that its exit code shows a miss. Returns the missed calls in its report, each with the reason.
fn missed(tree: &Tree, mut serving: Serving) -> Vec<(String, String)> {
    assert_eq!(serving.end("-TERM").code(), Some(1));
    reported(tree)
}

/// Returns the missed calls in the report, each with the reason.
fn reported(tree: &Tree) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&tree.read("report.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["missed"].as_array().unwrap().iter().map(|miss| (text(&miss["call"]), text(&miss["reason"]))).collect()
}

fn hello(serving: &Serving) -> Reply {
    serving.ask(&[], &json!([{ "role": "user", "content": "Hello" }]), false)
}

/// Sends a request with this body unchanged. Returns the status and the body of the response.
fn raw(serving: &Serving, method: &str, path: &str, key: &str, body: &str) -> (u16, String) {
    let mut stream = connect(serving);
    stream.write_all(head(method, path, key, body.len()).as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    answer(&mut stream)
}

fn connect(serving: &Serving) -> TcpStream {
    TcpStream::connect(serving.ready("url").strip_prefix("http://").unwrap()).unwrap()
}

fn head(method: &str, path: &str, key: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: {key}\r\ncontent-length: {length}\r\n\r\n"
    )
}

fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The path of each API, and the pointers to the kind and the text of its errors.
const WIRES: [(&str, &str, &str); 5] = [
    ("/v1/chat/completions", "/error/type", "/error/message"),
    ("/v1/responses", "/error/type", "/error/message"),
    ("/v1/messages", "/error/type", "/error/message"),
    ("/v1beta/models/m:generateContent", "/error/status", "/error/message"),
    ("/api/chat", "/error", "/error"),
];

fn each_api_reports_errors_in_its_own_format() {
    let (tree, serving) = serving();
    let key = serving.ready("key").to_owned();
    let mut asked = Vec::new();
    for (path, kind, message) in WIRES {
        let list = match path {
            "/v1/responses" => "input",
            "/v1beta/models/m:generateContent" => "contents",
            _ => "messages",
        };
        let cases = [
            (
                &*key,
                "{\"model\": ".to_owned(),
                400,
                "not JSON: expected a JSON value, found the end of the text at line 1",
            ),
            (&*key, String::new(), 400, "not JSON: expected a JSON value, found the end of the text"),
            (&*key, "\u{feff}{}".to_owned(), 400, "not JSON: expected a JSON value, found '\\u{feff}'"),
            (&*key, "[]".to_owned(), 400, "expected an object, found array"),
            (&*key, "null".to_owned(), 400, "expected an object, found null"),
            (&*key, "\"\"".to_owned(), 400, "expected an object, found string"),
            (&*key, "{}{}".to_owned(), 400, "more text after the value at line 1, column 3"),
            (&*key, "{'model': 1}".to_owned(), 400, "expected a key in quotes, found '\\''"),
            (&*key, "{\"model\": \"\\ud800\"}".to_owned(), 400, list),
            (&*key, "{\"model\": \"\0\"}".to_owned(), 400, "a control character inside a string"),
            (&*key, "[".repeat(100_000), 400, "more than 256 levels of nesting"),
            (&*key, format!("{{\"model\": \"m\", \"{list}\": null}}"), 400, list),
            (&*key, format!("{{\"model\": \"m\", \"{list}\": [null]}}"), 400, list),
            (&*key, "{\"model\": \"m\"}".to_owned(), 400, list),
            (&*key, format!("{{\"model\": \"m\", \"{list}\": 7}}"), 400, list),
            (&*key, format!("{{\"model\": \"m\", \"{list}\": [7]}}"), 400, list),
            ("sk-another", "{}".to_owned(), 401, "did not bring the key that the system was given"),
            ("", "{}".to_owned(), 401, "the request brought no key"),
        ];
        for (key, body, status, says) in cases {
            let (found, text) = raw(&serving, "POST", path, key, &body);
            let error: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(found, status, "{path} {body}: {text}");
            let message = error.pointer(message).and_then(Value::as_str).unwrap_or_else(|| panic!("{path}: {text}"));
            assert!(message.contains(says), "{path} {body}: {message}");
            assert!(error.pointer(kind).is_some_and(Value::is_string), "{path}: {text}");
            // What brings no key is the call of somebody else.
            asked.extend((!key.is_empty()).then(|| format!("POST {path}")));
        }
    }
    assert_eq!(hello(&serving).status, 200, "the server still answers");
    let missed: Vec<String> = missed(&tree, serving).into_iter().map(|(call, _)| call).collect();
    assert_eq!(missed, asked);
}

fn a_path_or_method_that_is_not_a_model_call_is_refused() {
    let (tree, serving) = serving();
    let key = serving.ready("key").to_owned();
    let cases = [
        ("GET", "/v1/chat/completions"),
        ("PUT", "/v1/chat/completions"),
        ("DELETE", "/v1/responses/resp_1"),
        ("OPTIONS", "/v1/messages"),
        ("GET", "/v1/../../etc/passwd"),
        ("POST", "/"),
        ("POST", "/v1/unheard-of"),
    ];
    let mut asked = Vec::new();
    for (method, path) in cases {
        let (status, text) = raw(&serving, method, path, &key, "{}");
        assert_eq!(status, 404, "{method} {path}: {text}");
        let error: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("{method} {path}")), "{message}");
        asked.push(format!("{method} {path}"));
    }
    assert_eq!(hello(&serving).status, 200, "the server still answers");
    let missed: Vec<String> = missed(&tree, serving).into_iter().map(|(call, _)| call).collect();
    assert_eq!(missed, asked);
}

/// Requests that break HTTP get a response, and the server keeps running. Those with a valid head are in the report.
fn broken_http_gets_an_answer() {
    let (tree, serving) = serving();
    let path = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    let head = format!("{path}x-api-key: {}\r\n", serving.ready("key"));
    let flood = "x: y\r\n".repeat(500);
    let cases = [
        ("content-length: 5\r\ncontent-length: 6\r\n\r\n123456", 400, ""),
        ("content-length: -5\r\n\r\n", 400, ""),
        ("transfer-encoding: gzip\r\n\r\n", 400, ""),
        (&format!("{flood}\r\n"), 431, ""),
        ("transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400, "the body broke off"),
        ("transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}", 400, "the body broke off"),
        // If both are given, the chunks count.
        ("content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, "messages"),
        (
            "content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x08xx",
            400,
            "compressed as `gzip` and cannot be unpacked",
        ),
        ("content-encoding: br\r\ncontent-length: 2\r\n\r\n{}", 400, "compressed as `br` and cannot be unpacked"),
        ("content-encoding: identity\r\ncontent-length: 2\r\n\r\n{}", 400, "messages"),
    ];
    for (request, status, says) in cases {
        let mut stream = connect(&serving);
        stream.write_all(format!("{head}{request}").as_bytes()).unwrap();
        let (found, text) = answer(&mut stream);
        assert_eq!(found, status, "{request}: {text}");
        if !says.is_empty() {
            let error: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert!(error["error"]["message"].as_str().unwrap().contains(says), "{request}: {text}");
        }
    }
    assert_eq!(hello(&serving).status, 200, "the server still answers");
    let missed = missed(&tree, serving);
    assert_eq!(missed.len(), cases.iter().filter(|(.., says)| !says.is_empty()).count());
    for ((_, reason), (.., says)) in missed.iter().zip(cases.iter().filter(|(.., says)| !says.is_empty())) {
        assert!(reason.contains(says), "{reason}");
    }
}

fn a_body_of_20_mb_is_read_and_one_with_1000_levels_is_refused() {
    let (tree, serving) = serving();
    let key = serving.ready("key").to_owned();
    let large = "20 MB of words ".repeat(20_000_000 / 15);
    let body = chat(&json!([{ "role": "user", "content": large }]), false).to_string();
    // The message of the miss stays short.
    let (status, text) = raw(&serving, "POST", "/v1/chat/completions", &key, &body);
    assert!(status == 404 && text.contains("nearest") && text.len() < 10_000, "{status} {}", text.len());
    let deep = format!("{{\"messages\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    let (status, text) = raw(&serving, "POST", "/v1/chat/completions", &key, &deep);
    assert!(status == 400 && text.contains("more than 256 levels of nesting"), "{status} {text}");
    assert_eq!(hello(&serving).status, 200, "the server still answers");
    let reasons: Vec<String> = missed(&tree, serving).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].contains("this conversation was never recorded"), "{reasons:?}");
    assert!(reasons[1].contains("more than 256 levels of nesting"), "{reasons:?}");
}

fn a_client_that_disconnects_midway_uses_up_no_turn() {
    let (tree, mut serving) = serving();
    let key = serving.ready("key").to_owned();
    let body = chat(&json!([{ "role": "user", "content": "Hello" }]), true).to_string();
    for sent in [0, 1, body.len() / 2, body.len() - 1] {
        let mut stream = connect(&serving);
        stream.write_all(head("POST", "/v1/chat/completions", &key, body.len()).as_bytes()).unwrap();
        stream.write_all(&body.as_bytes()[..sent]).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    // Part of a head, and nothing at all.
    for part in ["", "POST /v1/chat/comp", "POST /v1/chat/completions HTTP/1.1\r\nhost"] {
        connect(&serving).write_all(part.as_bytes()).unwrap();
    }
    assert_eq!(hello(&serving).status, 200, "the turn is still there");
    // The server may or may not notice such a call. The report lists nothing else.
    serving.end("-TERM");
    for (call, reason) in reported(&tree) {
        assert_eq!(call, "POST /v1/chat/completions");
        assert!(reason.contains("the body broke off"), "{reason}");
    }
}

fn slow_clients_do_not_block_others() {
    let (tree, serving) = serving();
    let key = serving.ready("key").to_owned();
    let body = chat(&json!([{ "role": "user", "content": "Goodbye" }]), false).to_string();
    let mut slow: Vec<TcpStream> = (0..50).map(|_| connect(&serving)).collect();
    for stream in &mut slow {
        stream.set_nodelay(true).unwrap();
        stream.write_all(head("POST", "/v1/chat/completions", &key, body.len()).as_bytes()).unwrap();
    }
    // All clients send byte by byte, and another client calls in between.
    for (i, byte) in body.bytes().enumerate() {
        for stream in &mut slow {
            stream.write_all(&[byte]).unwrap();
        }
        if i == body.len() / 2 {
            assert_eq!(hello(&serving).status, 200);
        }
    }
    for stream in &mut slow {
        let (status, text) = answer(stream);
        assert!(status == 404 && text.contains("replay_miss"), "{status} {text}");
    }
    assert_eq!(missed(&tree, serving).len(), 50);
}

fn a_turn_is_served_once_for_ten_thousand_equal_calls() {
    let (tree, serving) = serving();
    let body = chat(&json!([{ "role": "user", "content": "Hello" }]), false).to_string();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {}\r\n\r\n{body}",
        serving.ready("key"),
        body.len()
    );
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..10).map(|_| scope.spawn(|| many(&serving, &request, 1000))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 9999);
    assert_eq!(missed(&tree, serving).len(), 1000);
    let report: Value = serde_json::from_str(&tree.read("report.json")).unwrap();
    assert_eq!(report["earlier"], json!({ "served": 0, "missed": 8999, "drift": 0 }));
}

/// Sends a request `times` times over one connection. Returns the statuses.
fn many(serving: &Serving, request: &str, times: usize) -> Vec<u16> {
    let mut stream = connect(serving);
    stream.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    (0..times)
        .map(|_| {
            stream.write_all(request.as_bytes()).unwrap();
            let mut filled = 0;
            loop {
                filled += stream.read(&mut buffer[filled..]).unwrap();
                let text = String::from_utf8_lossy(&buffer[..filled]);
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if body.len() >= length.parse().unwrap() {
                    break head.split(' ').nth(1).unwrap().parse().unwrap();
                }
            }
        })
        .collect()
}

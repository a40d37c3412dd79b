//! The same calls by each way into a fixture: `record`, `proxy`, a journal, and another program's archive. They make the same fixture.

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use futures_util::StreamExt as _;
use retake::Stage;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, chat, client, runtime};
use crate::support::tree::Tree;

tests! { the_same_calls_make_the_same_fixture_by_each_way }

/// How often all kinds of calls are made.
const ROUNDS: usize = 15;

/// A provider with a memory: of what was written, of what it refused once, and of streams that were left.
#[derive(Clone, Default)]
struct Provider(Arc<Memory>);

#[derive(Default)]
struct Memory {
    written: Mutex<usize>,
    known: Mutex<HashSet<String>>,
    /// The second of two calls has been answered.
    second: Notify,
}

/// What bodies are compressed with, one after another.
const ENCODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

fn packed(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
        }
        // One block that is not compressed, as RFC 7932 (9.2) has it, and the empty last one.
        "br" => {
            let head = u32::try_from(bytes.len() - 1).unwrap() << 4 | 1 << 20;
            [&head.to_le_bytes()[..3], bytes, &[3]].concat()
        }
        _ => ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest),
    }
}

fn frame(delta: &Value, finish: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c", "model": "m", "choices": [choice] }))
}

fn answer(text: &str) -> Value {
    let message = json!({ "role": "assistant", "content": text });
    json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] })
}

impl Provider {
    fn service(&self) -> Service {
        let provider = self.clone();
        Service::start(Router::new().fallback(async move |request: Request| provider.answers(request).await))
    }

    async fn answers(&self, request: Request) -> Response {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
        if path.ends_with("/files") {
            return axum::Json(json!({ "id": "file", "bytes": 12 })).into_response();
        }
        if path.ends_with("/batches") {
            let mut written = self.0.written.lock().unwrap();
            *written += usize::from(method == Method::POST);
            let batches: Vec<usize> = (1..=*written).collect();
            return axum::Json(json!({ "object": "list", "batches": batches })).into_response();
        }
        let call: Value = serde_json::from_slice(&body).unwrap();
        let asked = call["messages"][0]["content"].as_str().unwrap().to_owned();
        let known = !self.0.known.lock().unwrap().insert(asked.clone());
        match asked.split(' ').next().unwrap() {
            "refused" => {
                let error = json!({ "error": { "message": "too long", "type": "invalid_request_error" } });
                (StatusCode::BAD_REQUEST, axum::Json(error)).into_response()
            }
            "limited" if !known => {
                let error = json!({ "error": { "message": "slow down", "type": "rate_limit" } });
                (StatusCode::TOO_MANY_REQUESTS, axum::Json(error)).into_response()
            }
            "packed" => {
                let encoding = asked.rsplit(' ').next().unwrap();
                let packed = packed(encoding, answer(&asked).to_string().as_bytes());
                ([(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, encoding)], packed).into_response()
            }
            "right" => {
                self.0.second.notify_one();
                axum::Json(answer(&asked)).into_response()
            }
            "left" | "long" | "tell" => self.stream(asked, known),
            _ => axum::Json(answer(&asked)).into_response(),
        }
    }

    /// A stream of two pieces. That of `left` waits for the call beside it; that of `long` never ends the first time.
    fn stream(&self, asked: String, known: bool) -> Response {
        let memory = self.0.clone();
        let first = frame(&json!({ "content": format!("{asked}, ") }), &Value::Null);
        let rest = async move {
            match asked.split(' ').next() {
                Some("long") if !known => std::future::pending().await,
                Some("left") => memory.second.notified().await,
                _ => {}
            }
            frame(&json!({ "content": "and more" }), &Value::Null)
                + &frame(&json!({}), &json!("stop"))
                + "data: [DONE]\n\n"
        };
        let pieces = futures_util::stream::once(async { first }).chain(futures_util::stream::once(rest));
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(pieces.map(Ok::<_, std::io::Error>))).into_response()
    }
}

/// A client of the provider, and the archive that it keeps of its calls.
struct Client<'a> {
    url: &'a str,
    key: &'a str,
    archive: Vec<Value>,
}

const FORM: &str = "multipart/form-data; boundary=b0undary";

/// What a call is besides its method and path.
struct Sent {
    kind: &'static str,
    body: Vec<u8>,
    /// The encoding of a body that is sent compressed.
    packed: Option<&'static str>,
}

impl Client<'_> {
    /// Begins a call.
    async fn send(&self, method: Method, path: &str, sent: Option<&Sent>) -> reqwest::Response {
        let request = client().request(method, format!("{}/v1{path}", self.url)).bearer_auth(self.key);
        let request = match sent {
            Some(Sent { kind, body, packed: None }) => request.header(CONTENT_TYPE, *kind).body(body.clone()),
            Some(Sent { kind, body, packed: Some(encoding) }) => {
                request.header(CONTENT_TYPE, *kind).header(CONTENT_ENCODING, *encoding).body(packed(encoding, body))
            }
            None => request,
        };
        request.send().await.unwrap()
    }

    fn keep(&mut self, method: &Method, path: &str, sent: Option<&Sent>, status: u16, kind: &str, text: &str) {
        let mut request =
            json!({ "method": method.as_str(), "url": format!("https://api.openai.com/v1{path}"), "headers": [] });
        if let Some(Sent { kind, body, .. }) = sent {
            request["headers"] = json!([{ "name": "content-type", "value": kind }]);
            request["postData"] = match std::str::from_utf8(body) {
                Ok(text) => json!({ "mimeType": kind, "text": text }),
                Err(_) => json!({ "mimeType": kind, "text": STANDARD.encode(body), "encoding": "base64" }),
            };
        }
        let response = json!({ "status": status, "headers": [], "content": { "mimeType": kind, "text": text } });
        self.archive.push(json!({ "request": request, "response": response }));
    }

    /// Says of the last call what a browser says of a stream that it has left.
    fn has_left(&mut self) {
        self.archive.last_mut().unwrap()["response"]["_error"] = "net::ERR_ABORTED".into();
    }

    /// Makes a whole call.
    async fn call(&mut self, method: Method, path: &str, sent: Option<Sent>) {
        let response = self.send(method.clone(), path, sent.as_ref()).await;
        let kind = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        self.keep(&method, path, sent.as_ref(), status, &kind, &text);
    }

    async fn chat(&mut self, text: String, stream: bool) {
        self.call(Method::POST, "/chat/completions", Some(of_chat(&text, stream, None))).await;
    }

    /// Makes a call and leaves after the first piece of its answer, or lets `meanwhile` be called before the rest.
    async fn begun(&mut self, text: String, meanwhile: Option<String>) {
        let sent = of_chat(&text, true, None);
        let mut response = self.send(Method::POST, "/chat/completions", Some(&sent)).await;
        let mut whole = response.chunk().await.unwrap().unwrap().to_vec();
        let (at, leaves) = (self.archive.len(), meanwhile.is_none());
        if let Some(meanwhile) = meanwhile {
            self.chat(meanwhile, false).await;
            while let Some(chunk) = response.chunk().await.unwrap() {
                whole.extend_from_slice(&chunk);
            }
        }
        self.keep(
            &Method::POST,
            "/chat/completions",
            Some(&sent),
            200,
            "text/event-stream",
            std::str::from_utf8(&whole).unwrap(),
        );
        if leaves {
            self.has_left();
        }
        let kept = self.archive.pop().unwrap();
        self.archive.insert(at, kept);
    }

    async fn all(&mut self) {
        for round in 0..ROUNDS {
            self.chat(format!("ask {round}"), false).await;
            self.chat(format!("tell {round}"), true).await;
            for method in [Method::GET, Method::GET, Method::POST, Method::GET] {
                let sent = (method == Method::POST).then(|| json_of(&json!({ "round": round }), None));
                self.call(method, "/batches", sent).await;
            }
            self.chat(format!("limited {round}"), false).await;
            self.chat(format!("limited {round}"), false).await;
            self.begun(format!("left {round}"), Some(format!("right {round}"))).await;
            if round % 2 == 0 {
                self.begun(format!("long {round}"), None).await;
                self.chat(format!("long {round}"), true).await;
            }
            let encoding = ENCODINGS[round % ENCODINGS.len()];
            let asked = of_chat(&format!("packed {round} {encoding}"), false, Some(encoding));
            self.call(Method::POST, "/chat/completions", Some(asked)).await;
            let part = "--b0undary\r\nContent-Disposition: form-data; name=";
            let file = [&b"words of it"[..], b"\x89PNG\r\n\x1a\n\0\xff"][round % 2];
            let head = format!("{part}\"purpose\"\r\n\r\nround {round}\r\n{part}\"file\"; filename=\"a\"\r\n\r\n");
            let body = [head.as_bytes(), file, b"\r\n--b0undary--\r\n"].concat();
            self.call(Method::POST, "/files", Some(Sent { kind: FORM, body, packed: None })).await;
            self.chat(format!("refused {round}"), false).await;
        }
    }
}

fn json_of(body: &Value, packed: Option<&'static str>) -> Sent {
    Sent { kind: "application/json", body: body.to_string().into_bytes(), packed }
}

fn of_chat(text: &str, stream: bool, packed: Option<&'static str>) -> Sent {
    json_of(&chat(&json!([{ "role": "user", "content": text }]), stream), packed)
}

/// Serves a system that makes all the calls.
pub(crate) fn router(stage: &Stage) -> Router {
    let (url, key) = (stage.model().url.clone(), stage.key().to_owned());
    Router::new().fallback(async move || {
        Client { url: &url, key: &key, archive: Vec::new() }.all().await;
        ([(CONTENT_TYPE, "text/event-stream")], "event: end\ndata: null\n\n")
    })
}

/// The turns of a fixture without the delays of what came.
fn turns(text: &str) -> Vec<Value> {
    let mut fixture: Value = serde_json::from_str(text).unwrap();
    let mut turns = std::mem::take(fixture["turns"].as_array_mut().unwrap());
    for wire in turns.iter_mut().filter_map(|turn| turn.get_mut("wire")).filter_map(Value::as_object_mut) {
        wire.remove("delays");
    }
    turns
}

#[track_caller]
fn assert_equal(way: &str, found: &[Value], expected: &[Value]) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{way}, turn {at}");
    }
    assert_eq!(found.len(), expected.len(), "{way}");
}

fn the_same_calls_make_the_same_fixture_by_each_way() {
    let (provider, tree) = (Provider::default().service(), Tree::empty());
    let mut recorder = Serving::start(proxy(&tree, &provider.openai()).arg("--errors"));
    let mut client = Client { url: recorder.ready("url"), key: "ours", archive: Vec::new() };
    runtime().block_on(client.all());
    let archive = json!({ "log": { "entries": client.archive } });
    let (code, said) = recorder.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    let by_proxy = turns(&tree.read("fixtures/out.json"));
    assert!(by_proxy.len() > 150, "{said}");

    let import = ["import", "journal", "fixtures/.journal/out.jsonl", "--out", "fixtures/journal.json"];
    tree.retake().args(&import).run().exits(0);
    assert_equal("journal", &turns(&tree.read("fixtures/journal.json")), &by_proxy);

    tree.write("all.har", &archive.to_string());
    let import = ["import", "har", "all.har", "--errors", "--out", "fixtures/har.json"];
    tree.retake().args(&import).run().exits(0);
    assert_equal("har", &turns(&tree.read("fixtures/har.json")), &by_proxy);

    let (provider, tree) = (Provider::default().service(), Tree::with_suite("settle = \"100ms\"\n"));
    tree.scenario(
        "out",
        "timeout = \"120s\"\nrecord = { errors = true }\n[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n",
    );
    let runner = tree.recorder("all-calls", "record", "out").env("OPENAI_API_KEY", "the-provider-s-0wn-key");
    runner.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0);
    assert_equal("record", &turns(&tree.read("fixtures/out.json")), &by_proxy);
}

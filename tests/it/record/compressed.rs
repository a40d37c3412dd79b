//! Providers that compress their answers, although nobody asked them to.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::response::IntoResponse as _;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::json;
use tokio::sync::{Notify, mpsc};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, chat, client, send};
use crate::support::tree::Tree;

tests! { a_compressed_answer_is_decoded_for_the_client_and_recorded_without_its_secrets,
    a_compressed_stream_is_passed_on_as_it_arrives,
    an_answer_that_nobody_can_unpack_is_an_error_and_not_stored,
    an_answer_that_breaks_off_or_is_not_compressed_as_it_says_is_in_the_journal_with_the_reason,
}

const SECRET: &str = "sk-proj-zebra-quartz-0123456789";

fn packed(encoding: &str, text: &str) -> Vec<u8> {
    let (text, level) = (text.as_bytes(), Compression::default());
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish()).unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish()).unwrap()
        }
        "raw deflate" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(text).and_then(|()| encoder.finish()).unwrap()
        }
        "gzip, gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(&packed("gzip", std::str::from_utf8(text).unwrap())).unwrap();
            encoder.finish().unwrap()
        }
        _ => text.to_owned(),
    }
}

fn answer() -> String {
    let message = json!({ "role": "assistant", "content": format!("it is {SECRET}") });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    json!({ "id": "c", "model": "m", "choices": [choice] }).to_string()
}

/// Asks with the encoding that the provider has to use.
fn ask(proxy: &Serving, encoding: &str) -> crate::support::loopback::Reply {
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let body = chat(&json!([{ "role": "user", "content": encoding }]), false);
    // The client of a system may accept what it likes: the answer that it gets is the recorder's.
    let headers = [("authorization", "Bearer ours"), ("accept-encoding", "gzip, deflate, br, zstd")];
    send(&url, &headers, Some(&body))
}

fn a_compressed_answer_is_decoded_for_the_client_and_recorded_without_its_secrets() {
    let encodings = ["gzip", "deflate", "raw deflate", "gzip, gzip", "identity", "none"];
    let provider = Service::start(Router::new().fallback(async |headers: HeaderMap, body: String| {
        assert_eq!(headers.get_all("accept-encoding").iter().collect::<Vec<_>>(), ["identity"]);
        let call: serde_json::Value = serde_json::from_str(&body).unwrap();
        let encoding = call["messages"][0]["content"].as_str().unwrap();
        let named = encoding.strip_prefix("raw ").unwrap_or(encoding).to_owned();
        let packed = packed(encoding, &answer());
        if named == "none" {
            return ([(CONTENT_TYPE, "application/json".to_owned())], packed).into_response();
        }
        ([(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_ENCODING, named)], packed).into_response()
    }));
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    for encoding in encodings {
        let reply = ask(&proxy, encoding);
        assert_eq!((reply.status, reply.body.as_str()), (200, answer().as_str()), "{encoding}");
        assert_eq!(reply.headers.get("content-encoding"), None, "{encoding}");
    }
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("{} turns recorded to fixtures/out.json, 0 left out", encodings.len())), "{said}");
    for (file, text) in tree.files() {
        assert!(!text.contains("zebra") && !text.contains("base64"), "{file}: {text}");
    }
    assert_eq!(tree.read("fixtures/.journal/out.jsonl").matches("<OPENAI_KEY>").count(), encodings.len());
}

fn a_compressed_stream_is_passed_on_as_it_arrives() {
    let goes_on = Arc::new(Notify::new());
    let waits = goes_on.clone();
    let provider = Service::start(Router::new().fallback(async move || {
        let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(1);
        let waits = waits.clone();
        tokio::spawn(async move {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            for (piece, text) in ["it is ", "sk-proj-zebra-", "quartz-0123456789"].into_iter().enumerate() {
                let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
                write!(encoder, "data: {delta}\n\n").unwrap();
                encoder.flush().unwrap();
                sender.send(std::mem::take(encoder.get_mut())).await.unwrap();
                if piece == 0 {
                    // The rest is sent once the client has the first piece.
                    waits.notified().await;
                }
            }
            let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
            write!(encoder, "data: {end}\n\ndata: [DONE]\n\n").unwrap();
            sender.send(encoder.finish().unwrap()).await.unwrap();
        });
        let chunks = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
        let body = Body::from_stream(futures_util::StreamExt::map(chunks, Ok::<_, std::io::Error>));
        ([(CONTENT_TYPE, "text/event-stream"), (CONTENT_ENCODING, "gzip")], body)
    }));
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let body = chat(&json!([{ "role": "user", "content": "Hello" }]), true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text = runtime.block_on(async {
        let request = client().post(url).header("authorization", "Bearer ours").body(body.to_string());
        let mut response = request.send().await.unwrap();
        // Far more than it takes: a stream that is held back until its end never ends.
        let first = tokio::time::timeout(Duration::from_secs(60), response.chunk()).await;
        assert!(first.is_ok(), "the first piece arrives before the rest is sent");
        let mut text = first.unwrap().unwrap().unwrap().to_vec();
        assert!(String::from_utf8_lossy(&text).contains("it is "));
        goes_on.notify_one();
        while let Some(chunk) = response.chunk().await.unwrap() {
            text.extend(chunk);
        }
        String::from_utf8(text).unwrap()
    });
    assert!(text.contains("zebra") && text.ends_with("data: [DONE]\n\n"), "{text}");
    let (code, said) = proxy.end_and_read("-INT");
    assert!(code == Some(0) && said.contains("1 turn recorded"), "{said}");
    for (file, text) in tree.files() {
        assert!(!text.contains("zebra") && !text.contains("quartz"), "{file}: {text}");
    }
}

fn an_answer_that_nobody_can_unpack_is_an_error_and_not_stored() {
    let provider = Service::start(Router::new().fallback(async |body: String| {
        let call: serde_json::Value = serde_json::from_str(&body).unwrap();
        let encoding = call["messages"][0]["content"].as_str().unwrap().to_owned();
        ([(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_ENCODING, encoding)], answer())
    }));
    let tree = Tree::empty();
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    let reply = ask(&proxy, "zebra-coding");
    assert!(reply.status == 502 && reply.body.contains("compressed as `zebra-coding`"), "{}", reply.body);
    let (code, said) = proxy.end_and_read("-INT");
    assert!(code == Some(1) && said.contains("compressed as `zebra-coding`"), "{said}");
    for (file, text) in tree.files() {
        assert!(!text.contains(SECRET), "{file}: {text}");
    }
}

/// The relay says why the rest is missing, after the beginning has been passed on.
fn an_answer_that_breaks_off_or_is_not_compressed_as_it_says_is_in_the_journal_with_the_reason() {
    let provider = Service::start(Router::new().fallback(async |body: String| {
        let call: serde_json::Value = serde_json::from_str(&body).unwrap();
        let coding = call["messages"][0]["content"].as_str().unwrap().to_owned();
        let whole = packed(if coding == "gzip" { "gzip" } else { "none" }, &answer());
        let parts =
            futures_util::stream::iter([Ok(whole[..whole.len() / 2].to_vec()), Err(std::io::Error::other("gone"))]);
        let parts = futures_util::StreamExt::then(parts, async |part| {
            tokio::task::yield_now().await;
            part
        });
        let named = if coding == "cut" { "identity".to_owned() } else { "gzip".to_owned() };
        ([(CONTENT_TYPE, "application/json".to_owned()), (CONTENT_ENCODING, named)], Body::from_stream(parts))
    }));
    let reasons = [
        ("cut", "the provider left before the end: "),
        ("gzip", "the provider left before the end: "),
        ("not gzip", "the answer is said to be compressed as `gzip` and cannot be unpacked"),
    ];
    for (coding, reason) in reasons {
        let tree = Tree::empty();
        let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
        // The client sees an answer that breaks off.
        assert!(std::panic::catch_unwind(|| ask(&proxy, coding)).is_err(), "{coding}");
        let (code, said) = proxy.end_and_read("-INT");
        assert!(code == Some(1) && said.contains("no turns"), "{coding}: {said}");
        assert!(said.contains(reason), "{coding}: {said}");
    }
}

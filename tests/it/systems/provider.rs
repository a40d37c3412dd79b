//! A model provider on loopback that tests record from.

use std::net::{SocketAddr, TcpListener};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::post;
use futures_util::StreamExt as _;

use crate::support::program::Ran;
use crate::support::tree::Tree;

/// Starts a server for chat completions, which runs until this process ends.
pub(crate) fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let service = Router::new().route("/v1/chat/completions", post(answer));
            axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), service).await.unwrap();
        });
    });
    address
}

/// Records scenarios from a provider that it starts.
pub(crate) fn record(tree: &Tree, names: &[&str]) -> Ran {
    record_with(tree, names, &[])
}

/// Like [`record`], with additional environment variables for the command.
pub(crate) fn record_with(tree: &Tree, names: &[&str], variables: &[(&str, &str)]) -> Ran {
    let record = tree.retake().arg("record").args(names);
    let record = record.env("RETAKE_UPSTREAM_OPENAI", format!("http://{}/v1", start()));
    variables.iter().fold(record, |record, (name, value)| record.env(name, value)).run()
}

async fn answer(body: String) -> axum::response::Response {
    let call: serde_json::Value = serde_json::from_str(&body).unwrap();
    if call["stream"] == true {
        // The stream never ends.
        let piece = |text: &str| {
            let choice = serde_json::json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
            let chunk = serde_json::json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "small", "choices": [choice]});
            Ok::<_, std::convert::Infallible>(format!("data: {chunk}\n\n"))
        };
        let pieces =
            futures_util::stream::iter([piece("Once "), piece("upon ")]).chain(futures_util::stream::pending());
        return ([(CONTENT_TYPE, "text/event-stream")], axum::body::Body::from_stream(pieces)).into_response();
    }
    let asked = call["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    if asked == "say nothing" {
        std::future::pending::<()>().await;
    }
    if asked.starts_with("too much") {
        let error = serde_json::json!({"error": {"message": "slow down", "type": "rate_limit_error"}});
        let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
        return (status, [(CONTENT_TYPE, "application/json")], error.to_string()).into_response();
    }
    let answer = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                     "message": {"role": "assistant", "content": format!("you said: {asked}"), "refusal": null}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    });
    ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

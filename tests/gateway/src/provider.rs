//! A model provider with a script instead of a model. It serves OpenAI's Chat Completions API.
//!
//! Nothing in it is random or depends on the time: the same conversation always gets the same bytes, so a fixture that is
//! recorded again changes only if the service changed. Its only memory is which conversations got a 429.

mod script;
mod systems;

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::stream;
use script::{Mood, Reply};
use serde_json::{Value, json};
use uuid::Uuid;

/// Returns the provider as a router with one route, `POST /v1/chat/completions`.
pub fn provider() -> Router {
    Router::new().route("/v1/chat/completions", post(complete)).with_state(Arc::default())
}

/// The conversations that got a 429 and will be answered at the next attempt.
type Waiting = Arc<Mutex<HashSet<Uuid>>>;

async fn complete(State(waiting): State<Waiting>, headers: HeaderMap, body: Bytes) -> Response {
    if !headers.contains_key(header::AUTHORIZATION) {
        return error(StatusCode::UNAUTHORIZED, INVALID, "You didn't provide an API key.");
    }
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return error(StatusCode::BAD_REQUEST, INVALID, "We could not parse the JSON body of your request.");
    };
    let Some(messages) = request["messages"].as_array().filter(|messages| !messages.is_empty()) else {
        return error(StatusCode::BAD_REQUEST, INVALID, "Missing required parameter: 'messages'.");
    };
    let tools: Vec<&str> = request["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    let completion = Completion::new(&request["model"], messages, script::reply(messages, &tools));
    match script::mood(messages) {
        Mood::Fine => {}
        Mood::Busy => {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if !waiting.remove(&completion.digest) {
                waiting.insert(completion.digest);
                return error(StatusCode::TOO_MANY_REQUESTS, "requests", "Rate limit reached. Please try again.");
            }
        }
        Mood::Down => {
            let message = "The server had an error while processing your request.";
            return error(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message);
        }
    }
    if request["stream"] == true {
        let frames = completion.frames(request["stream_options"]["include_usage"] == true);
        let body = Body::from_stream(stream::iter(frames.into_iter().map(Ok::<_, Infallible>)));
        ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
    } else {
        Json(completion.whole()).into_response()
    }
}

const INVALID: &str = "invalid_request_error";

fn error(status: StatusCode, kind: &str, message: &str) -> Response {
    let error = json!({ "message": message, "type": kind, "param": null, "code": null });
    (status, Json(json!({ "error": error }))).into_response()
}

struct Completion {
    /// Identifies the conversation and the answer. The system prompt is not part of it, since it contains the date.
    digest: Uuid,
    model: String,
    content: Option<String>,
    tool_calls: Vec<Value>,
    usage: Value,
}

impl Completion {
    fn new(model: &Value, messages: &[Value], reply: Reply) -> Self {
        let said = messages.iter().filter(|message| message["role"] != "system");
        let mut seed: Vec<_> = said.map(|said| format!("{}: {}", said["role"], said["content"])).collect();
        let (content, calls) = match reply {
            Reply::Text(text) => (Some(text), Vec::new()),
            Reply::Calls(calls) => (None, calls),
        };
        seed.extend(content.clone());
        seed.extend(calls.iter().map(|(name, args)| format!("{name} {args}")));
        let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, seed.join("\n").as_bytes());
        let tool_calls: Vec<_> = calls
            .into_iter()
            .enumerate()
            .map(|(index, (name, args))| {
                let id = Uuid::new_v5(&digest, index.to_string().as_bytes()).simple().to_string();
                let function = json!({ "name": name, "arguments": args.to_string() });
                json!({ "id": format!("call_{}", &id[..24]), "type": "function", "function": function })
            })
            .collect();
        // A token has about four characters.
        let prompt = messages.iter().map(|message| message.to_string().len() / 4).sum::<usize>();
        let answer = content.iter().map(String::len).chain(tool_calls.iter().map(|call| call.to_string().len()));
        let answer = answer.sum::<usize>() / 4 + 1;
        let usage = json!({
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
            "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
            "completion_tokens_details": {
                "reasoning_tokens": 0, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
            },
        });
        let model = model.as_str().unwrap_or("gpt-4o-mini").to_owned();
        Self { digest, model, content, tool_calls, usage }
    }

    fn finish_reason(&self) -> &'static str {
        if self.tool_calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn object(&self, kind: &str, choices: &Value) -> Value {
        let hex = self.digest.simple().to_string();
        json!({
            "id": format!("chatcmpl-{}", &hex[..29]),
            "object": kind,
            "created": 1_767_225_600 + self.digest.as_u128() % 1_000_000,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": "fp_0aa8d3e20b",
            "choices": choices,
        })
    }

    fn whole(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.content, "refusal": null, "annotations": [] });
        if !self.tool_calls.is_empty() {
            message["tool_calls"] = json!(self.tool_calls);
        }
        let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": self.finish_reason() });
        let mut whole = self.object("chat.completion", &json!([choice]));
        whole["usage"] = self.usage.clone();
        whole
    }

    fn frames(&self, include_usage: bool) -> Vec<String> {
        let mut deltas = vec![json!({
            "role": "assistant", "content": self.content.as_ref().map(|_| ""), "refusal": null,
        })];
        let words: Vec<&str> = self.content.iter().flat_map(|text| text.split_inclusive(' ')).collect();
        deltas.extend(words.chunks(3).map(|words| json!({ "content": words.concat() })));
        for (index, call) in self.tool_calls.iter().enumerate() {
            let mut first = call.clone();
            first["index"] = json!(index);
            first["function"]["arguments"] = json!("");
            deltas.push(json!({ "tool_calls": [first] }));
            let arguments: Vec<char> = call["function"]["arguments"].as_str().unwrap_or_default().chars().collect();
            deltas.extend(arguments.chunks(12).map(|piece| {
                let piece = json!({ "arguments": piece.iter().collect::<String>() });
                json!({ "tool_calls": [{ "index": index, "function": piece }] })
            }));
        }
        let chunk = |choices: &Value, usage: &Value| {
            let mut chunk = self.object("chat.completion.chunk", choices);
            if include_usage {
                chunk["usage"] = usage.clone();
            }
            format!("data: {chunk}\n\n")
        };
        let last = (json!({}), json!(self.finish_reason()));
        let deltas = deltas.into_iter().map(|delta| (delta, Value::Null)).chain([last]);
        let mut frames: Vec<_> = deltas
            .map(|(delta, finish_reason)| {
                let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
                chunk(&json!([choice]), &Value::Null)
            })
            .collect();
        frames.extend(include_usage.then(|| chunk(&json!([]), &self.usage)));
        frames.push("data: [DONE]\n\n".to_owned());
        frames
    }
}

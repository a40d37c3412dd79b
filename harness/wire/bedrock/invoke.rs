//! Renders a message of Anthropic's as `InvokeModel` sends it: its own stream, and token counts besides the message.

use crate::parts::events;
use crate::{Api, Body, Response, anthropic};
use retake_core::json::{Json, Layout};

/// A count of tokens: its header beside a whole answer, its name at the end of a stream, and Anthropic's own.
const COUNTS: [(&str, &str, &str); 4] = [
    ("x-amzn-bedrock-input-token-count", "inputTokenCount", "input_tokens"),
    ("x-amzn-bedrock-output-token-count", "outputTokenCount", "output_tokens"),
    ("x-amzn-bedrock-cache-read-input-token-count", "cacheReadInputTokenCount", "cache_read_input_tokens"),
    ("x-amzn-bedrock-cache-write-input-token-count", "cacheWriteInputTokenCount", "cache_creation_input_tokens"),
];

/// Returns the headers in which `InvokeModel` counts the tokens of a whole answer. Other APIs have none.
pub fn count_headers(api: Api, response: &Response) -> Vec<(&'static str, String)> {
    let Body::Json(body) = &response.body else { return Vec::new() };
    let message = (api == Api::BedrockInvoke).then(|| body.json());
    message.iter().flat_map(counts).map(|(count, found)| (count.0, found.to_string())).collect()
}

fn counts(message: &Json) -> impl Iterator<Item = (&'static (&'static str, &'static str, &'static str), u64)> {
    let usage = message.get("usage");
    COUNTS.iter().filter_map(move |count| Some((count, usage?.get(count.2)?.as_u64()?)))
}

/// Returns the messages of the stream of a whole message.
pub(crate) fn frames(message: &Json) -> impl Iterator<Item = String> {
    let latencies = [("invocationLatency", Json::Int(0)), ("firstByteLatency", Json::Int(0))];
    let metrics = counts(message).map(|(count, found)| (count.1, found.into())).chain(latencies);
    let stop =
        Json::object([("type", "message_stop".into()), ("amazon-bedrock-invocationMetrics", Json::object(metrics))]);
    let last = events::frame("chunk", &stop.print(Layout::Compact));
    let data = |frame: &String| Some(events::frame("chunk", frame.trim_end().split_once("data: ")?.1));
    let kept = |frame: &&String| !["event: ping", "event: message_stop"].iter().any(|kind| frame.starts_with(kind));
    let frames: Vec<String> = anthropic::stream::frames(message).iter().filter(kept).filter_map(data).collect();
    frames.into_iter().chain([last])
}

//! What is odd about a recorded response: what an edit of a fixture may have done to it, but what some services do, too.

use super::parts::sse;
use super::response::looks_like_sse;
use super::{Api, Body, Response};
use retake_core::json::Json;

/// Describes what is odd about a response. A complete answer of a provider's own service is never odd.
pub(crate) fn oddities(api: Api, response: &Response) -> Vec<&'static str> {
    let essence = response.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = essence == "application/json" || essence.ends_with("+json");
    let of_type = match &response.body {
        Body::Frames(frames) if is_json && frames.iter().next().is_some_and(looks_like_sse) => {
            Some("`content_type` is JSON, but the body is an event stream")
        }
        Body::Json(_) if essence == "text/event-stream" => {
            Some("`content_type` is an event stream, but the body is JSON")
        }
        _ => None,
    };
    let of_end = match (api, &response.body) {
        (Api::OpenAiChat, Body::Frames(frames)) => {
            let ends = has_data(frames.iter(), "[DONE]", |data| data == "[DONE]");
            (!ends).then_some("the stream ends without `[DONE]`")
        }
        (Api::Anthropic, Body::Frames(frames)) => {
            let stops =
                |data: &str| Json::parse(data.as_bytes()).is_ok_and(|e| e.str_of("type") == Some("message_stop"));
            let ends = has_data(frames.iter(), "message_stop", stops);
            (!ends).then_some("the stream ends without `message_stop`")
        }
        _ => None,
    };
    of_type.into_iter().chain(of_end).collect()
}

/// Whether the data of an event is what is looked for. Only frames that contain `word` are parsed.
fn has_data<'a>(mut frames: impl Iterator<Item = &'a str>, word: &str, is: impl Fn(&str) -> bool) -> bool {
    let found = |data: &str| if is(data.trim()) { Err(()) } else { Ok(()) };
    frames.any(|frame| frame.contains(word) && sse::each_data(frame, found).is_err())
}

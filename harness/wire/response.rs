//! The HTTP response of a model, and what rendering one needs to know about the call.

use std::fmt;

use bytes::Bytes;

use super::parts::{events, ids, sse};
use super::{Api, Frames, split_frames};
use retake_core::conversation::{Answer, Block, Native, ToolCall};
use retake_core::json::{Json, JsonText};
use retake_core::secrets::{Fired, Scrub};

/// The content type of JSON lines.
const LINES: &str = "application/x-ndjson";

/// A model's HTTP response.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    /// The content type, including its parameters.
    pub content_type: String,
    pub body: Body,
    /// The milliseconds until a body that is no stream came; 0 if they are not known. A stream has delays of its own
    /// ([`Frames::delays`]).
    pub delay: u32,
}

/// The body of a [`Response`].
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// One JSON value, with the original order of keys and spelling of numbers and strings.
    Json(JsonText),
    /// The pieces of a stream exactly as they arrived: SSE frames, each with the blank line that ends it, or lines of
    /// JSON, each with its newline.
    Frames(Frames),
    /// Any other text, including JSON that repeats a key or contains a lone surrogate.
    Text(String),
    /// Bytes that are not UTF-8.
    Binary(Vec<u8>),
}

impl Body {
    pub fn json(value: &Json) -> Body {
        Body::Json(value.into())
    }

    /// Returns the value of a JSON body, even if the body is kept as text because [`JsonText`] cannot represent it. If a key is
    /// repeated, the last value counts; a lone surrogate becomes U+FFFD.
    pub fn value(&self) -> Option<Json> {
        match self {
            Body::Json(json) => Some(json.json()),
            // Gemini's stream may be one list.
            Body::Text(text) => {
                Json::parse_request(sse::whole_characters(text.split_inclusive('}')).concat().as_bytes()).ok()
            }
            Body::Frames(_) | Body::Binary(_) => None,
        }
    }
}

/// What rendering a response needs to know about the call that it answers.
#[derive(Clone, Copy, Debug)]
pub struct RenderFor<'a> {
    /// The API through which the call came.
    pub api: Api,
    /// Whether the call asked for a stream.
    pub stream: bool,
    /// Whether the stream should be one JSON array.
    pub array: bool,
    /// Whether the call asked for token usage at the end of the stream.
    pub include_usage: bool,
    /// The model that the call named. The response uses it if the answer names none.
    pub model: &'a str,
    /// The call's `input_hash` in hexadecimal. Ids that the answer lacks are derived from it and from their position.
    pub seed: &'a str,
}

impl RenderFor<'_> {
    /// Renders the blocks of an answer one by one: texts, reasoning, and calls of tools, of which `called` gets the id, the name and the
    /// arguments. Ids that the answer lacks begin with `prefix`.
    pub(super) fn blocks(
        &self,
        answer: &Answer,
        prefix: &str,
        said: impl Fn(&str) -> Json,
        thought: impl Fn(&str) -> Json,
        called: impl Fn([Json; 3]) -> Json,
    ) -> Result<Vec<Json>, Unrenderable> {
        let mut blocks = Vec::new();
        for (i, block) in answer.blocks.iter().enumerate() {
            blocks.push(match block {
                Block::Text(text) | Block::Refusal(text) | Block::Reasoning(text) if text.is_empty() => continue,
                Block::Text(text) | Block::Refusal(text) => said(text),
                Block::Reasoning(text) => thought(text),
                Block::ToolCall(tool) => {
                    let id = ids::of_call(tool, prefix, self.seed, i);
                    called([id.into(), tool.name.as_str().into(), Unrenderable::unless_object(self.api, tool)?])
                }
                Block::Native(native) if native.api == self.api.of_bodies().name() => native.block.clone(),
                Block::Native(native) => return Err(Unrenderable::native(self.api, native)),
            });
        }
        Ok(blocks)
    }
}

/// The error for an answer that contains something that an API cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrenderable {
    /// The API that the answer was rendered for.
    pub api: Api,
    /// A description of what it cannot express.
    pub block: String,
}

impl fmt::Display for Unrenderable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the API {} cannot express {}", self.api, self.block)
    }
}

impl std::error::Error for Unrenderable {}

impl Unrenderable {
    /// The error for a block that belongs to another API.
    pub(super) fn native(api: Api, native: &Native) -> Unrenderable {
        Unrenderable { api, block: format!("the block `{}` of {}", native.kind(), native.api) }
    }

    /// Returns the arguments of a tool call, or an error unless they are an object, as most APIs require.
    pub(super) fn unless_object(api: Api, call: &ToolCall) -> Result<Json, Unrenderable> {
        match &call.args {
            args @ Json::Object(_) => Ok(args.clone()),
            args => {
                let block = format!("the arguments of the tool call `{}`: {}, not an object", call.name, args.kind());
                Err(Unrenderable { api, block })
            }
        }
    }
}

impl Response {
    /// Creates a response whose time is not known.
    pub fn of(status: u16, content_type: &str, body: Body) -> Response {
        Response { status, content_type: content_type.to_owned(), body, delay: 0 }
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers build the value for this call")]
    pub fn json(status: u16, body: Json) -> Response {
        Response::of(status, "application/json", Body::json(&body))
    }

    pub fn is_stream(&self) -> bool {
        matches!(self.body, Body::Frames(_))
    }

    /// Whether the body is a stream that the client left before its end.
    pub fn is_open(&self) -> bool {
        matches!(&self.body, Body::Frames(frames) if frames.is_open())
    }

    /// Returns the part of a stream that had come when its client left, as an answer: the client will leave at the same point in replay.
    /// Of any other answer, nothing that the client could use had come.
    pub fn left_open(self) -> Response {
        let frames = match self.body {
            Body::Frames(frames) => frames,
            // It left within a message.
            Body::Binary(bytes) => events::read(&bytes).unwrap_or_else(|damaged| damaged.whole).into_iter().collect(),
            _ => Frames::from_iter::<[&str; 0]>([]),
        };
        Response::of(200, &self.content_type, Body::Frames(frames.with_open(true)))
    }

    pub fn stream(frames: Vec<String>) -> Response {
        Response::of(200, "text/event-stream; charset=utf-8", Body::Frames(frames.into_iter().collect()))
    }

    /// Creates a response with an event stream of AWS's.
    pub fn events(frames: impl IntoIterator<Item = String>) -> Response {
        Response::of(200, events::EVENTS, Body::Frames(frames.into_iter().collect()))
    }

    /// Creates a response with a stream of JSON lines.
    pub fn lines(lines: Vec<String>) -> Response {
        Response::of(200, LINES, Body::Frames(lines.into_iter().collect()))
    }

    /// Creates a response from what came over HTTP, and decides what kind of body it is: a stream, JSON, text or bytes. The
    /// content decides before the content type does, because the content type is often wrong.
    pub fn received(status: u16, content_type: &str, bytes: Vec<u8>) -> Response {
        if events::is_stream(&bytes) {
            let body = match events::read(&bytes) {
                Ok(frames) => Body::Frames(frames.into_iter().collect()),
                // What is wrong with a damaged one is told by whoever reads it.
                Err(_) => Body::Binary(bytes),
            };
            return Response::of(status, content_type, body);
        }
        let said_is = |kind: &str| content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind);
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => return Response::of(status, content_type, Body::Binary(e.into_bytes())),
        };
        let frames = |text: &str| Body::Frames(split_frames(text).into_iter().collect());
        let lines = |text: &str| Body::Frames(text.split_inclusive('\n').collect());
        let body = if said_is(LINES) {
            lines(&text)
        } else if looks_like_sse(&text) {
            frames(&text)
        } else if let Some(json) = JsonText::of(&text) {
            Body::Json(json)
        } else if said_is("text/event-stream") {
            frames(&text)
        } else if looks_like_lines(&text) {
            lines(&text)
        } else if said_is(events::EVENTS) && !text.is_empty() {
            Body::Binary(text.into_bytes())
        } else {
            Body::Text(text)
        };
        Response::of(status, content_type, body)
    }

    /// The recorded milliseconds before each piece of the body: before each frame of a stream, or before any other body. Empty if
    /// they are not known.
    pub fn delays(&self) -> &[u32] {
        match &self.body {
            Body::Frames(frames) => frames.delays(),
            _ if self.delay == 0 => &[],
            _ => std::slice::from_ref(&self.delay),
        }
    }

    /// Returns the delays of this recorded response for one that is sent in its place. If that one has another form, it begins
    /// when this one began; a body that is no stream comes when this one had come completely.
    pub fn delays_of(&self, sent: &Response) -> Vec<u32> {
        let delays = self.delays();
        let pieces = |response: &Response| match &response.body {
            Body::Frames(frames) => frames.bytes().count(),
            _ => 1,
        };
        if pieces(self) == pieces(sent) {
            delays.to_vec()
        } else if sent.is_stream() {
            delays.first().copied().into_iter().collect()
        } else {
            vec![delays.iter().fold(0, |all, delay| all.saturating_add(*delay))]
        }
    }

    /// Removes secrets, including those that are split across the frames of a stream.
    pub fn scrub(&mut self, scrub: &Scrub, fired: &mut Fired) {
        match &mut self.body {
            Body::Json(text) => {
                let before = text.json();
                let mut json = before.clone();
                scrub.body(&mut json, fired);
                if json != before {
                    *text = text.changed(&before, &json, &|key| scrub.key(key));
                }
            }
            Body::Frames(frames) => {
                let mut pieces: Vec<String> = frames.iter().map(str::to_owned).collect();
                scrub.frames(&mut pieces, fired);
                let scrubbed = pieces.into_iter().collect::<Frames>();
                *frames = scrubbed.with_delays(frames.delays()).with_open(frames.is_open());
            }
            Body::Text(text) => scrub.string(text, fired),
            Body::Binary(bytes) => {
                if let Some(scrubbed) = scrub.bytes(bytes, fired) {
                    *bytes = scrubbed;
                }
            }
        }
        scrub.string(&mut self.content_type, fired);
    }

    /// The bytes of the body as they are sent over HTTP.
    pub fn bytes(&self) -> Bytes {
        match &self.body {
            Body::Json(json) => json.bytes(),
            Body::Frames(frames) => frames.text(),
            Body::Text(text) => text.clone().into(),
            Body::Binary(bytes) => bytes.clone().into(),
        }
    }
}

pub(super) fn looks_like_sse(text: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| first_line(text).starts_with(field))
}

fn looks_like_lines(text: &str) -> bool {
    let is_json = |line: &str| line.trim().is_empty() || Json::parse(line.as_bytes()).is_ok();
    // A single line that parses is a JSON body that `JsonText` could not represent.
    let several = text.lines().filter(|line| !line.trim().is_empty()).count() > 1;
    several && first_line(text).starts_with('{') && text.lines().all(is_json)
}

fn first_line(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Describes what is odd about a response, which holds this answer. A complete answer of a provider's own service is never odd.
pub fn oddities(api: Api, response: &Response, answer: &Answer) -> Vec<&'static str> {
    let essence = response.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = essence == "application/json" || essence.ends_with("+json");
    let of_type = match &response.body {
        Body::Frames(frames) if is_json && frames.iter().next().is_some_and(looks_like_sse) => {
            Some("`content_type` is JSON, but the body is an event stream")
        }
        Body::Frames(frames) if frames.is_of_aws() != (essence == events::EVENTS) => {
            Some("`content_type` is another kind of event stream than the body")
        }
        Body::Json(_) if ["text/event-stream", events::EVENTS].contains(&&*essence) => {
            Some("`content_type` is an event stream, but the body is JSON")
        }
        _ => None,
    };
    let of_end = match (api, &response.body) {
        (Api::OpenAiChat, Body::Frames(frames)) => {
            let ends = has_data(frames.iter(), "[DONE]", |data| data == "[DONE]");
            (!ends).then_some("the stream ends without `[DONE]`")
        }
        (Api::Bedrock, Body::Frames(frames)) => {
            let ends = frames.iter().any(|frame| frame.starts_with(":event-type metadata\n"));
            (!ends).then_some("the stream ends without `metadata`")
        }
        (Api::Anthropic | Api::BedrockInvoke, Body::Frames(frames)) => {
            let stops =
                |data: &str| Json::parse(data.as_bytes()).is_ok_and(|e| e.str_of("type") == Some("message_stop"));
            let ends = has_data(frames.iter(), "message_stop", stops);
            (!ends).then_some("the stream ends without `message_stop`")
        }
        _ => None,
    };
    let streams = matches!((api, &response.body), (Api::OpenAiChat | Api::Anthropic, Body::Frames(_)));
    let of_finish = (streams && answer.finish.is_none()).then_some("the stream has no finish reason");
    of_type.into_iter().chain(of_end).chain(of_finish).collect()
}

/// Whether the data of an event is what is looked for. Only frames that contain `word` are parsed.
fn has_data<'a>(mut frames: impl Iterator<Item = &'a str>, word: &str, is: impl Fn(&str) -> bool) -> bool {
    let found = |data: &str| if is(data.trim()) { Err(()) } else { Ok(()) };
    frames.any(|frame| frame.contains(word) && sse::each_data(frame, found).is_err())
}

#[cfg(test)]
mod tests;

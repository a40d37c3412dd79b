//! What a model sends back over HTTP, and what has to be known of a call to write it.

use std::fmt;

use super::{Api, Frames, split_frames};
use crate::conversation::{Native, ToolCall};
use crate::json::{Json, JsonText};
use crate::secrets::{Fired, Scrub};

/// The content type of JSON lines.
const LINES: &str = "application/x-ndjson";

/// An HTTP response of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The content type, with its parameters.
    pub content_type: String,
    /// The body.
    pub body: Body,
}

/// The body of a [`Response`].
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// One JSON value, in the order and spelling that it came in.
    Json(JsonText),
    /// The pieces of a stream exactly as they came: frames of SSE, each with the blank line that ends it, or lines of
    /// JSON, each with its newline.
    Frames(Frames),
    /// Any other text, also JSON that has a key twice or a lone surrogate.
    Text(String),
    /// What is not text.
    Binary(Vec<u8>),
}

impl Body {
    /// A JSON body.
    #[must_use]
    pub fn json(value: &Json) -> Body {
        Body::Json(value.into())
    }

    /// What a body of JSON says, also where it is kept as text since no [`JsonText`] holds it: of a key that stands twice the last
    /// value counts, half a pair of surrogates is U+FFFD.
    pub(super) fn value(&self) -> Option<Json> {
        match self {
            Body::Json(json) => Some(json.json()),
            Body::Text(text) => Json::parse_request(text.as_bytes()).ok(),
            Body::Frames(_) | Body::Binary(_) => None,
        }
    }
}

/// What a rendered response takes from the call that it answers.
#[derive(Clone, Copy, Debug)]
pub struct RenderFor<'a> {
    /// The API that the call came over.
    pub api: Api,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// Whether the stream is to be one JSON array.
    pub array: bool,
    /// Whether it asked for a stream that ends with the tokens used.
    pub include_usage: bool,
    /// The model that it named: said where the answer names none.
    pub model: &'a str,
    /// What ids are derived from where the answer has none, with their position in it: the hex `input_hash`.
    pub seed: &'a str,
}

/// An answer holds what an API has no words for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrenderable {
    /// The API.
    pub api: Api,
    /// What it cannot express.
    pub block: String,
}

impl fmt::Display for Unrenderable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the API {} cannot express {}", self.api, self.block)
    }
}

impl std::error::Error for Unrenderable {}

impl Unrenderable {
    /// A block of another API.
    pub(super) fn native(api: Api, native: &Native) -> Unrenderable {
        Unrenderable { api, block: format!("the block `{}` of {}", native.kind(), native.api) }
    }

    /// The arguments of a call, where they are the object that most APIs demand.
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
    /// A response of JSON.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "it is built for this")]
    pub fn json(status: u16, body: Json) -> Response {
        Response { status, content_type: "application/json".to_owned(), body: Body::json(&body) }
    }

    /// Whether the body is a stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.body, Body::Frames(_))
    }

    /// Whether it is a stream that the client left before its end.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(&self.body, Body::Frames(frames) if frames.is_open())
    }

    /// A response of SSE frames.
    #[must_use]
    pub fn stream(frames: Vec<String>) -> Response {
        let content_type = "text/event-stream; charset=utf-8".to_owned();
        Response { status: 200, content_type, body: Body::Frames(frames.into_iter().collect()) }
    }

    /// A response of JSON lines.
    #[must_use]
    pub fn lines(lines: Vec<String>) -> Response {
        Response { status: 200, content_type: LINES.to_owned(), body: Body::Frames(lines.into_iter().collect()) }
    }

    /// A response as it came over HTTP: a stream where it looks like one or says so, JSON where it is JSON, else text or bytes.
    /// What is said is often wrong, so the content goes before the content type.
    #[must_use]
    pub fn received(status: u16, content_type: &str, bytes: Vec<u8>) -> Response {
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => {
                let body = Body::Binary(e.into_bytes());
                return Response { status, content_type: content_type.to_owned(), body };
            }
        };
        let said_is = |kind: &str| content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind);
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
        } else {
            Body::Text(text)
        };
        Response { status, content_type: content_type.to_owned(), body }
    }

    /// Takes secrets out, also those that are parted over the frames of a stream.
    pub(crate) fn scrub(&mut self, scrub: &Scrub, fired: &mut Fired) {
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

    /// The body as it goes over HTTP.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match &self.body {
            Body::Json(json) => json.bytes().into(),
            Body::Frames(frames) => frames.text().into(),
            Body::Text(text) => text.clone().into_bytes(),
            Body::Binary(bytes) => bytes.clone(),
        }
    }
}

fn looks_like_sse(text: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| first_line(text).starts_with(field))
}

fn looks_like_lines(text: &str) -> bool {
    let is_json = |line: &str| line.trim().is_empty() || Json::parse(line.as_bytes()).is_ok();
    // One line alone is JSON that its form here cannot hold.
    let several = text.lines().filter(|line| !line.trim().is_empty()).count() > 1;
    several && first_line(text).starts_with('{') && text.lines().all(is_json)
}

fn first_line(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

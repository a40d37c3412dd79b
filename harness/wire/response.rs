//! What a model sends back over HTTP, and what has to be known of a call to write it.

use std::fmt;

use super::Api;
use crate::conversation::{Native, ToolCall};
use crate::json::Json;

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
    /// One JSON value.
    Json(Json),
    /// The frames of an SSE stream, each with the blank line that ends it, exactly as they came.
    Frames(Vec<String>),
    /// Anything else.
    Text(String),
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
    pub fn json(status: u16, body: Json) -> Response {
        Response { status, content_type: "application/json".to_owned(), body: Body::Json(body) }
    }

    /// Whether the body is a stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.body, Body::Frames(_))
    }

    /// A response of SSE frames.
    #[must_use]
    pub fn stream(frames: Vec<String>) -> Response {
        let content_type = "text/event-stream; charset=utf-8".to_owned();
        Response { status: 200, content_type, body: Body::Frames(frames) }
    }
}

//! A request to the system: what to send, which status to expect, and how to read the answer.

use std::fmt;

use super::body::StepBody;
use super::step::StreamSpec;
use crate::pointer::Pointer;
use crate::template::{Template, TemplateJson};

/// A request, and how to read its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub method: Method,
    /// Path and query, which start with `/`.
    pub path: Template,
    /// The headers, sorted by name. Names are spelled as in the file.
    pub headers: Vec<(String, Template)>,
    pub body: StepBody,
    /// The expected statuses. If absent, every 2xx status is accepted.
    pub status: Option<Vec<u16>>,
    /// Whether it reconnects to a stream: it then sends the id of the last event of the latest stream.
    pub reconnect: bool,
    pub answer: AnswerAs,
}

/// How to read the answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerAs {
    Body,
    /// As one body; the request is repeated until a value in the body is the expected one.
    Until(WaitFor),
    /// As a stream of events, before the next step begins.
    Stream(StreamSpec),
    /// As a stream of events, while the next steps run.
    Listen(StreamSpec),
}

/// What a repeated request waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitFor {
    /// The place in the body.
    pub json: Pointer,
    /// The expected value.
    pub is: TemplateJson,
}

impl Request {
    /// Returns the first and last event of the stream, or `None` if the answer is not read as a stream.
    pub fn stream(&self) -> Option<&StreamSpec> {
        match &self.answer {
            AnswerAs::Stream(stream) | AnswerAs::Listen(stream) => Some(stream),
            AnswerAs::Body | AnswerAs::Until(_) => None,
        }
    }
}

/// A request method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// Returns the method as HTTP spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! A request to the system: what is sent, which status is right, and how the answer is taken.

use std::fmt;

use super::body::StepBody;
use super::stream::StreamSpec;
use crate::scenario::pointer::Pointer;
use crate::scenario::template::{Template, TemplateJson};

/// A request, and how its answer is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path and query, from the `/` on.
    pub path: Template,
    /// Header names as they were written, sorted, with their values.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: StepBody,
    /// The statuses that are right; without them any 2xx is.
    pub status: Option<Vec<u16>>,
    /// Whether it comes back to a stream: with the id of the last event of the latest stream before it.
    pub reconnect: bool,
    /// How the answer is taken.
    pub answer: AnswerAs,
}

/// How the answer to a request is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerAs {
    /// As a whole.
    Body,
    /// As a whole, again and again, until a value in it is the wanted one.
    Until(WaitFor),
    /// As a stream of events, to its end.
    Stream(StreamSpec),
    /// As a stream of events beside the steps that follow.
    Listen(StreamSpec),
}

/// What a repeated request waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitFor {
    /// Where in the body.
    pub json: Pointer,
    /// The value that has to be there.
    pub is: TemplateJson,
}

impl Request {
    /// What is known of the stream, where the answer is taken as one.
    pub(crate) fn stream(&self) -> Option<&StreamSpec> {
        match &self.answer {
            AnswerAs::Stream(stream) | AnswerAs::Listen(stream) => Some(stream),
            AnswerAs::Body | AnswerAs::Until(_) => None,
        }
    }
}

/// A request method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Method {
    /// The method as HTTP writes it.
    #[must_use]
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

//! Remembers what a model server has served so far, for requests that refer to it by id instead of repeating it. In OpenAI's
//! Responses API these are `previous_response_id`, `item_reference` and `conversation`.

use std::collections::HashMap;

use super::{Api, Body, Response, Target, openai_responses};
use retake_core::json::Json;

/// What was served, by the ids that requests may use to refer to it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    items: HashMap<String, Json>,
    responses: HashMap<String, Served>,
    /// What was added to each conversation, in order.
    conversations: HashMap<String, Vec<Part>>,
}

/// One response, with the input of its request.
#[derive(Clone, Debug)]
struct Served {
    before: Option<String>,
    input: Vec<Json>,
    /// Empty while a background response is not finished.
    output: Vec<Json>,
}

/// One addition to a conversation.
#[derive(Clone, Debug)]
enum Part {
    Items(Vec<Json>),
    /// The input and the output of the response with this id.
    Response(String),
}

impl Known {
    /// Whether [`Known::learn`] has to be called for an API: later requests can refer to what it served.
    pub fn learns_of(api: Api) -> bool {
        matches!(api, Api::OpenAiResponses | Api::Opaque)
    }

    /// Remembers a request and its response. Does nothing for an API whose requests cannot refer to earlier ones.
    pub fn learn<'a>(&mut self, api: Api, to: impl Into<Target<'a>>, request: &Json, response: &Response) {
        if !(200..300).contains(&response.status) {
            return;
        }
        if api == Api::OpenAiResponses {
            if let Some(body) = body_of(response) {
                self.learn_response(request, &body);
            }
        } else if api == Api::Opaque {
            self.learn_other(to.into(), request, response);
        }
    }

    fn learn_response(&mut self, request: &Json, body: &Json) {
        let output = self.learn_output(body);
        let Some(id) = body.str_of("id") else { return };
        let input = openai_responses::items::items_of(request).unwrap_or_default();
        let before = request.str_of("previous_response_id").map(str::to_owned);
        self.responses.insert(id.to_owned(), Served { before, input, output });
        if let Some(conversation) = openai_responses::items::conversation_of(request) {
            self.conversations.entry(conversation.to_owned()).or_default().push(Part::Response(id.to_owned()));
        }
    }

    /// Remembers what other requests reveal: conversations that are created or extended, and background responses that are
    /// fetched.
    fn learn_other(&mut self, target: Target<'_>, request: &Json, response: &Response) {
        let mut segments = target.segments();
        let (last, before, third) = (segments.next(), segments.next(), segments.next());
        let items = || request.get("items").and_then(Json::as_array).unwrap_or_default().to_vec();
        match (target.method, last, before, third) {
            ("POST", Some("conversations"), ..) => {
                let body = body_of(response);
                if let Some(id) = body.as_ref().and_then(|body| body.str_of("id")) {
                    self.conversations.insert(id.to_owned(), vec![Part::Items(items())]);
                }
            }
            ("POST", Some("items"), Some(id), Some("conversations")) => {
                if let Some(parts) = self.conversations.get_mut(id) {
                    parts.push(Part::Items(items()));
                }
            }
            ("GET", Some(id), Some("responses"), _) if self.responses.contains_key(id) => {
                let output = body_of(response).map(|body| self.learn_output(&body)).unwrap_or_default();
                if let Some(served) = self.responses.get_mut(id) {
                    served.output = output;
                }
            }
            _ => {}
        }
    }

    fn learn_output(&mut self, body: &Json) -> Vec<Json> {
        let output = body.get("output").and_then(Json::as_array).unwrap_or_default();
        self.items.extend(output.iter().filter_map(|item| Some((item.str_of("id")?.to_owned(), item.clone()))));
        output.to_vec()
    }

    pub(super) fn item(&self, id: &str) -> Option<&Json> {
        self.items.get(id)
    }

    /// Returns all items up to the end of a response, in order. If the chain of previous responses leads to one that is not
    /// known, returns its id, too.
    pub(super) fn history<'a>(&'a self, id: &'a str) -> (Option<&'a str>, Vec<&'a Json>) {
        let (mut chain, mut next) = (Vec::new(), Some(id));
        while let Some(served) = next.and_then(|id| self.responses.get(id)) {
            // Repeated ids could form a cycle.
            if chain.len() > self.responses.len() {
                break;
            }
            next = served.before.as_deref();
            chain.push(served);
        }
        (next, chain.into_iter().rev().flat_map(Served::items).collect())
    }

    /// Returns all items of a conversation, in order; `None` if the conversation is not known.
    pub(super) fn conversation<'k>(&'k self, id: &str) -> Option<Vec<&'k Json>> {
        let items = |part: &'k Part| -> Vec<&'k Json> {
            match part {
                Part::Items(items) => items.iter().collect(),
                Part::Response(id) => self.responses.get(id).into_iter().flat_map(Served::items).collect(),
            }
        };
        Some(self.conversations.get(id)?.iter().flat_map(items).collect())
    }
}

impl Served {
    fn items(&self) -> impl Iterator<Item = &Json> {
        self.input.iter().chain(&self.output)
    }
}

/// Returns the JSON of a response, whether it came whole or as a stream.
fn body_of(response: &Response) -> Option<Json> {
    match &response.body {
        Body::Frames(frames) => openai_responses::stream::assemble(frames.iter()).ok(),
        body => body.value(),
    }
}

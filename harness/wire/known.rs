//! What a model server has served so far, for requests that name it instead of repeating it: OpenAI's Responses have
//! `previous_response_id` and `item_reference`.

use std::collections::HashMap;

use super::{Api, Body, Response, openai_responses};
use crate::json::Json;

/// The items of served responses, by the ids under which a request may refer to them.
#[derive(Clone, Debug, Default)]
pub struct Known {
    items: HashMap<String, Json>,
    responses: HashMap<String, Served>,
}

/// What a conversation went through up to the end of one response.
#[derive(Clone, Debug)]
struct Served {
    before: Option<String>,
    items: Vec<Json>,
}

impl Known {
    /// Whether requests of an API can refer to what was served.
    #[must_use]
    pub fn learns_of(api: Api) -> bool {
        api == Api::OpenAiResponses
    }

    /// Notes a request and the response that it got. Only APIs that can refer to it are noted.
    pub fn learn(&mut self, api: Api, request: &Json, response: &Response) {
        if !Known::learns_of(api) || response.status >= 300 {
            return;
        }
        match &response.body {
            Body::Frames(frames) => {
                if let Ok(body) = openai_responses::stream::assemble(frames.iter()) {
                    self.learn_body(request, &body);
                }
            }
            body => body.value().iter().for_each(|body| self.learn_body(request, body)),
        }
    }

    fn learn_body(&mut self, request: &Json, body: &Json) {
        let output = body.get("output").and_then(Json::as_array).unwrap_or_default();
        let with_id = output.iter().filter_map(|item| Some((item.str_of("id")?.to_owned(), item.clone())));
        self.items.extend(with_id);
        let Some(id) = body.str_of("id") else { return };
        let input = openai_responses::items::items_of(request).unwrap_or_default();
        let before = request.str_of("previous_response_id").map(str::to_owned);
        let items = input.into_iter().chain(output.iter().cloned()).collect();
        self.responses.insert(id.to_owned(), Served { before, items });
    }

    /// The item that was served under an id.
    pub(super) fn item(&self, id: &str) -> Option<&Json> {
        self.items.get(id)
    }

    /// All items up to the end of a response, in order, and the id of the first response that is not known.
    pub(super) fn history<'a>(&'a self, id: &'a str) -> (Option<&'a str>, Vec<&'a Json>) {
        let (mut chain, mut next) = (Vec::new(), Some(id));
        while let Some(served) = next.and_then(|id| self.responses.get(id)) {
            // Ids that repeat could lead in a circle.
            if chain.len() > self.responses.len() {
                break;
            }
            next = served.before.as_deref();
            chain.push(served);
        }
        (next, chain.into_iter().rev().flat_map(|served| &served.items).collect())
    }
}

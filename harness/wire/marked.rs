//! Responses with a mark in what the model says.

use super::{Api, Response, decode_response};
use retake_core::conversation::Answer;
use retake_core::mark::Mark;
use retake_core::places::Within;

impl Response {
    /// Returns the response of a turn over an API with the mark in the texts of its answer that have it. `None` if it would say anything
    /// else otherwise, too.
    pub fn marked(&self, api: Api, mark: &Mark, turn: usize, answer: &Answer) -> Option<Response> {
        let mut marked = self.clone();
        marked.put(&Within(&|text| mark.put_in(turn, answer, text)));
        let (before, after) = (decode_response(api, self).ok()?, decode_response(api, &marked).ok()?);
        (after == mark.put(turn, &before)).then_some(marked)
    }
}

#[cfg(test)]
mod tests;

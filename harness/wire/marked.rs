//! Responses with a mark in what the model says.

use super::{Api, Body, Frames, Response, broken_off, decode_response};
use retake_core::conversation::Answer;
use retake_core::json::JsonText;
use retake_core::mark::{Mark, with_more_tokens};
use retake_core::places::Within;

impl Response {
    /// Returns the response of a turn over an API with the mark in the texts of its answer that have it. `None` if it would say anything
    /// else otherwise, too.
    pub fn marked(&self, api: Api, mark: &Mark, turn: usize, answer: &Answer) -> Option<Response> {
        let mut marked = self.clone();
        marked.put(&Within(&|text| mark.put_in(turn, answer, text)));
        let read = |of: &Response| decode_response(api, of).unwrap_or_else(|why| broken_off(api, of, why.to_string()));
        (read(&marked) == mark.put(turn, &read(self))).then_some(marked)
    }

    /// Returns the response of a turn with more tokens wherever it counts some.
    pub fn with_more_tokens(mut self, turn: usize) -> Response {
        match &mut self.body {
            Body::Json(json) => {
                *json = JsonText::of(&with_more_tokens(json.text(), turn)).unwrap_or_else(|| json.clone());
            }
            Body::Frames(frames) => {
                let changed = frames.iter().map(|frame| with_more_tokens(frame, turn)).collect::<Frames>();
                *frames = changed.with_delays(frames.delays()).with_open(frames.is_open());
            }
            Body::Text(_) | Body::Binary(_) => {}
        }
        self
    }
}

#[cfg(test)]
mod tests;

//! A request for an answer, in no provider's words.

use super::{Api, RenderFor};
use crate::conversation::Message;
use crate::json::Json;

/// One request of a system to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The API that it came over.
    pub api: Api,
    /// The conversation so far. System and developer messages are among them, with the kind `system`; a key leaves
    /// them out.
    pub messages: Vec<Message>,
    /// Who made the call, by its own word: `metadata.caller`.
    pub caller: Option<String>,
    /// The metadata, where the API has such and the call used it.
    pub metadata: Option<Json>,
    /// Whether the answer is to be a stream.
    pub stream: bool,
    /// Whether the stream is to be one JSON array: Gemini's, where it is not asked for SSE.
    pub array: bool,
    /// Whether the stream is to end with the tokens used.
    pub include_usage: bool,
    /// The text of all system and developer messages, joined by an empty line.
    pub system: String,
    /// The tool definitions as they were sent; null where there were none.
    pub tools: Json,
    /// The name of the model; empty where the API takes it from the path.
    pub model: String,
    /// Every other field of the request: temperature, response format and the like.
    pub settings: Json,
}

impl Call {
    /// What a response to this call is rendered for. `seed` is the hex `input_hash`.
    #[must_use]
    pub fn render_for<'a>(&'a self, seed: &'a str) -> RenderFor<'a> {
        let Call { api, stream, array, include_usage, ref model, .. } = *self;
        RenderFor { api, stream, array, include_usage, model, seed }
    }
}

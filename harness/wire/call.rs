//! A model call, independent of any provider's API.

use std::sync::Arc;

use super::request::{system_of, text_of};
use super::{Api, RenderFor};
use retake_core::conversation::Message;
use retake_core::json::Json;
use retake_core::key::{HEADERS, dates};

/// One request of a system to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The API through which the call came.
    pub api: Api,
    /// The conversation so far. It includes system and developer messages, with the kind `system`, although the key
    /// leaves them out.
    pub messages: Vec<Shared>,
    /// The caller that the call itself declares in `metadata.caller`.
    pub caller: Option<String>,
    /// The request's metadata, if the API has metadata and the call sent some.
    pub metadata: Option<Json>,
    pub stream: bool,
    /// Whether the stream should be one JSON array, which is what Gemini sends unless the call asks for SSE.
    pub array: bool,
    /// Whether the call asks for token usage at the end of the stream.
    pub include_usage: bool,
    /// The text of all system and developer messages, joined by empty lines.
    pub system: String,
    /// The tool definitions as they were sent; null if there were none.
    pub tools: Json,
    /// The name of the model; empty if the request names none.
    pub model: String,
    /// All other fields of the request, such as the temperature and the response format.
    pub settings: Json,
    /// What changes how an answer looks, by presence and kind alone (KEY.md, section 5). Null for a request that is no chat.
    pub form: Json,
    /// What is left out of the conversation and of all other checks. Null for a request that is no chat.
    pub extra: Json,
}

/// The headers of a request that change what a provider does.
const COMPARED: [&str; 3] = ["anthropic-version", "anthropic-beta", "openai-beta"];

/// Returns the headers of a request that count for the check `extra`, of which `value` returns the values.
pub fn checked_headers(value: impl Fn(&str) -> Option<String>) -> Json {
    Json::object(COMPARED.into_iter().filter_map(|name| Some((name, Json::from(value(name)?.as_str())))))
}

/// A message that the calls of one conversation share, since an agent repeats all earlier messages with each call.
pub type Shared = Arc<Message>;

impl Call {
    /// Returns a call with these messages, and with nothing else.
    pub(super) fn of(api: Api, messages: Vec<Shared>) -> Call {
        Call {
            api,
            system: system_of(&messages),
            messages,
            caller: None,
            metadata: None,
            stream: false,
            array: false,
            include_usage: true,
            tools: Json::Null,
            model: String::new(),
            settings: Json::Null,
            form: Json::Null,
            extra: Json::Null,
        }
    }

    pub fn into_messages(self) -> Vec<Message> {
        self.messages.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// Returns what the check `extra` compares, with the headers that [`checked_headers`] returned; `None` if this is no chat.
    pub fn extra_with(&self, headers: &Json) -> Option<Json> {
        let mut extra = self.extra.as_object()?.clone();
        if headers.is_truthy() {
            extra.insert(HEADERS.into(), headers.clone());
        }
        Some(Json::Object(extra))
    }

    /// Returns the days and points in time in what the call says anew, for each message from the last on: what the check `dates`
    /// compares. Null if there are none.
    pub fn dates(&self) -> Json {
        let new = self.messages.iter().rev().take_while(|message| message.kind != "ai");
        let new = new.filter(|message| message.kind != "system" && !message.hidden);
        let told: Vec<Json> = new.map(|message| dates(&text_of(&message.content))).collect();
        if told.iter().any(Json::is_truthy) { Json::Array(told) } else { Json::Null }
    }

    /// Returns what rendering a response to this call needs. `seed` is the call's `input_hash` in hexadecimal.
    pub fn render_for<'a>(&'a self, seed: &'a str) -> RenderFor<'a> {
        let Call { api, stream, array, include_usage, ref model, .. } = *self;
        RenderFor { api, stream, array, include_usage, model, seed }
    }
}

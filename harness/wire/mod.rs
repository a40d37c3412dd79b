//! The words of each provider's API: a request becomes a [`Call`].
//!
//! One module a provider API, all behind the functions of this page. Everything is pure: bodies come in parsed, go out
//! unsent, and no input makes it panic. What a call's key is, which turn answers it and how bytes travel is for others
//! to know (`key`, `model`).

use std::fmt;

use crate::json::Json;

mod call;
mod fields;
mod openai_chat;

pub use call::Call;
pub use fields::WireError;

/// A provider API that Retake speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI's Chat Completions, and the many services that copy it.
    OpenAiChat,
}

impl Api {
    /// Every API, in the order in which help and errors list them.
    pub const ALL: [Api; 1] = [Api::OpenAiChat];

    /// The name under which fixtures store it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAiChat => "openai-chat",
        }
    }

    /// The API of a stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| api.name() == name)
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The API whose model calls are posted to a path, under any prefix: `/v1/chat/completions` as well as Azure's
/// `/openai/deployments/gpt/chat/completions?api-version=1`.
#[must_use]
pub fn api_of_path(path: &str) -> Option<Api> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.ends_with("/chat/completions").then_some(Api::OpenAiChat)
}

/// Reads a request.
///
/// # Errors
/// The path of the first field that is not what the API demands, with what was expected and what was found.
pub fn decode(api: Api, body: &Json) -> Result<Call, WireError> {
    match api {
        Api::OpenAiChat => openai_chat::request::decode(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_is_known_by_the_end_of_its_path() {
        for path in [
            "/v1/chat/completions",
            "/chat/completions",
            "/api/v1/chat/completions/",
            "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
        ] {
            assert_eq!(api_of_path(path), Some(Api::OpenAiChat), "{path}");
        }
        for path in
            ["", "/", "/v1/completions", "/v1/chat/completions/chatcmpl-1", "/v1/embeddings?of=/chat/completions"]
        {
            assert_eq!(api_of_path(path), None, "{path}");
        }
    }

    #[test]
    fn names_read_back() {
        for api in Api::ALL {
            assert_eq!(Api::from_name(api.name()), Some(api));
        }
        assert_eq!(Api::from_name("openai"), None);
    }
}

//! The APIs, their names, and the paths that tell them.

use std::fmt;

/// A provider API that Retake speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI's Chat Completions, and the many services that copy it.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own chat API.
    Ollama,
    /// Any other request that is posted: embeddings, counts of tokens, moderation.
    Opaque,
}

impl Api {
    /// Every API, in the order in which help and errors list them.
    pub const ALL: [Api; 6] =
        [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic, Api::Gemini, Api::Ollama, Api::Opaque];

    /// The name under which fixtures store it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAiChat => "openai-chat",
            Api::OpenAiResponses => "openai-responses",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
            Api::Ollama => "ollama",
            Api::Opaque => "opaque",
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
    // `/v1/threads/ID/messages` is of OpenAI's Assistants.
    let of_a_thread = || path.split('/').rev().nth(2) == Some("threads");
    match path.rsplit('/').next()? {
        "completions" if path.ends_with("/chat/completions") => Some(Api::OpenAiChat),
        "responses" if path.contains('/') => Some(Api::OpenAiResponses),
        "messages" if path.contains('/') && !of_a_thread() => Some(Api::Anthropic),
        "chat" if path.ends_with("/api/chat") => Some(Api::Ollama),
        last if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") => Some(Api::Gemini),
        _ => None,
    }
}

//! The provider APIs, their names, and the request paths that identify them.

use std::fmt;

/// A provider API that Retake speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI's Chat Completions API, and the many services that copy it.
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
    /// Ollama's native chat API.
    Ollama,
    /// Any other request: embeddings, token counts, moderation.
    Opaque,
}

impl Api {
    /// Every API, in the order in which help and errors list them.
    pub const ALL: [Api; 6] =
        [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic, Api::Gemini, Api::Ollama, Api::Opaque];

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

    /// The API with this name, as [`Api::name`] returns it; `None` if there is no such API.
    pub fn from_name(name: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| api.name() == name)
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The first path segment after the version (`/v1/`) of the resources that providers serve.
const RESOURCES: [&str; 18] = [
    "models",
    "responses",
    "conversations",
    "chat",
    "messages",
    "batches",
    "files",
    "uploads",
    "fine_tuning",
    "threads",
    "assistants",
    "vector_stores",
    "containers",
    "embeddings",
    "evals",
    "videos",
    "operations",
    "cachedContents",
];

/// Whether a path belongs to a provider's API, for any method: `/v1/responses/ID`, for example.
pub fn is_of_provider(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments = path.split('/').skip_while(|segment| !matches!(*segment, "v1" | "v1beta" | "v1alpha"));
    let resource = segments.nth(1).and_then(|resource| resource.split(':').next());
    let of_ollama = ["/api/tags", "/api/version", "/api/ps"].iter().any(|own| path.ends_with(own));
    of_ollama || resource.is_some_and(|resource| RESOURCES.contains(&resource))
}

/// Whether a host is that of a provider whose API Retake speaks. All requests to it are part of a recording, with any method.
pub fn is_host_of_provider(host: &str) -> bool {
    let own = ["api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "ollama.com"];
    own.contains(&host) || host.ends_with(".openai.azure.com")
}

/// The API whose model calls are posted to this path; `None` if there is none. Any prefix is accepted:
/// `/v1/chat/completions` as well as Azure's `/openai/deployments/gpt/chat/completions?api-version=1`.
pub fn api_of_path(path: &str) -> Option<Api> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    // `/v1/threads/ID/messages` belongs to OpenAI's Assistants API.
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

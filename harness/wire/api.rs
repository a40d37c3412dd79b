//! The provider APIs, their names, and the request paths that identify them.

use std::fmt;

use super::{Declaration, bedrock};
use retake_core::json::Json;

/// A provider API that Retake speaks, or replays as far as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI's Chat Completions API, and the many services that copy it.
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
    /// Ollama's native chat API.
    Ollama,
    /// Amazon Bedrock's Converse.
    Bedrock,
    /// Amazon Bedrock's `InvokeModel` with Anthropic's bodies.
    BedrockInvoke,
    /// An API whose bodies are declared by pointers. Its answers are replayed as they came.
    Declared(&'static Declaration),
    /// Any other request: embeddings, token counts, moderation.
    Opaque,
}

impl Api {
    /// Every API but those that are declared, in the order in which help and errors list them.
    pub const ALL: [Api; 8] = [
        Api::OpenAiChat,
        Api::OpenAiResponses,
        Api::Anthropic,
        Api::Gemini,
        Api::Ollama,
        Api::Bedrock,
        Api::BedrockInvoke,
        Api::Opaque,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAiChat => "openai-chat",
            Api::OpenAiResponses => "openai-responses",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
            Api::Ollama => "ollama",
            Api::Bedrock => "bedrock-converse",
            Api::BedrockInvoke => "bedrock-invoke",
            Api::Declared(declared) => &declared.name,
            Api::Opaque => "opaque",
        }
    }

    /// The API with this name, as [`Api::name`] returns it; `None` if there is no such API.
    pub fn from_name(name: &str) -> Option<Api> {
        let declared = || Declaration::named(name).map(Api::Declared);
        Api::ALL.into_iter().find(|api| api.name() == name).or_else(declared)
    }

    /// Whether answers are read and rendered whole, instead of being replayed as they came.
    pub fn is_spoken(self) -> bool {
        !matches!(self, Api::Declared(_) | Api::Opaque)
    }

    /// Returns the API whose whole bodies this one has.
    pub fn of_bodies(self) -> Api {
        if self == Api::BedrockInvoke { Api::Anthropic } else { self }
    }

    /// Returns the API of a request with this body: this one, unless another API has the same path and this body is of that one.
    pub fn of_body(self, body: &Json) -> Api {
        let has = |name| body.get(name).is_some();
        match self {
            Api::Declared(declared) if !declared.is_of(body) => Api::Opaque,
            // The path does not say whose the model is.
            Api::BedrockInvoke if !(has("anthropic_version") && has("messages")) => Api::Opaque,
            api => api,
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The first path segment after the version (`/v1/`) of the resources that providers serve.
const RESOURCES: &str = "\
    models responses conversations chat messages batches files uploads fine_tuning threads assistants vector_stores \
    containers embeddings evals videos operations cachedContents";

/// What providers serve besides chats, by a part of the path.
const OTHER_THAN_CHATS: [(&str, &str); 18] = [
    ("/embed", "embeddings"),
    (":embedContent", "Gemini's embeddings"),
    (":batchEmbedContents", "Gemini's embeddings"),
    ("rerank", "reranking"),
    ("moderations", "moderation"),
    ("count_tokens", "a count of tokens"),
    ("count-tokens", "a count of tokens"),
    ("input_tokens", "a count of tokens"),
    (":countTokens", "a count of tokens"),
    ("tokenize", "tokenizing"),
    ("generations", "the generation of images"),
    ("speech", "speech"),
    ("transcriptions", "a transcription"),
    ("files", "files"),
    ("/api/generate", "Ollama's generate"),
    ("/conversations", "a conversation"),
    ("/responses/", "a response, asked for by its id"),
    ("/api/v1/chat", "LM Studio's own chat"),
];

/// Returns what providers serve at a path that is no chat's, and is therefore recorded and replayed as a whole; `None` if that is not
/// known.
pub fn known_opaque(path: &str) -> Option<&'static str> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if spoken(path) == Some(Api::BedrockInvoke) {
        return Some("Bedrock InvokeModel with a body that is not Anthropic's");
    }
    let other = OTHER_THAN_CHATS.iter().find(|(part, _)| path.contains(part)).map(|(_, what)| *what);
    other.or_else(|| resource(path).filter(|_| !path.ends_with("/chat")))
}

/// Whether a path belongs to a provider's API, for any method: `/v1/responses/ID`, for example.
pub fn is_of_provider(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let of_ollama = ["/api/tags", "/api/version", "/api/ps"].iter().any(|own| path.ends_with(own));
    of_ollama || resource(path).is_some()
}

/// The resource of a provider's that a path names.
fn resource(path: &str) -> Option<&'static str> {
    let mut segments = path.split('/').skip_while(|segment| !matches!(*segment, "v1" | "v1beta" | "v1alpha"));
    let named = segments.nth(1).and_then(|resource| resource.split(':').next());
    RESOURCES.split(' ').find(|resource| Some(*resource) == named)
}

/// Whether a host is that of a provider whose API Retake speaks. All requests to it are part of a recording, with any method.
pub fn is_host_of_provider(host: &str) -> bool {
    let own = ["api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "ollama.com"];
    own.contains(&host) || host.ends_with(".openai.azure.com") || host.starts_with("bedrock-runtime.")
}

/// The API whose model calls are posted to this path; `None` if there is none. Any prefix is accepted:
/// `/v1/chat/completions` as well as Azure's `/openai/deployments/gpt/chat/completions?api-version=1`. What the suite declares
/// comes first.
pub fn api_of_path(path: &str) -> Option<Api> {
    let declared = |found: Option<&'static Declaration>| found.map(Api::Declared);
    // Vertex AI counts the tokens of Anthropic's models at the path of a model that has this name.
    let known = || Declaration::known(path).filter(|_| !path.contains("/count-tokens:"));
    declared(Declaration::of_suite(path)).or_else(|| spoken(path)).or_else(|| declared(known()))
}

fn spoken(path: &str) -> Option<Api> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    // `/v1/threads/ID/messages` belongs to OpenAI's Assistants API.
    let of_a_thread = || path.split('/').rev().nth(2) == Some("threads");
    match bedrock::of_path(path).map(|(_, operation)| operation) {
        Some("converse" | "converse-stream") => return Some(Api::Bedrock),
        Some("invoke" | "invoke-with-response-stream") => return Some(Api::BedrockInvoke),
        _ => {}
    }
    match path.rsplit('/').next()? {
        "completions" if path.ends_with("/chat/completions") => Some(Api::OpenAiChat),
        "responses" if path.contains('/') => Some(Api::OpenAiResponses),
        "messages" if path.contains('/') && !of_a_thread() => Some(Api::Anthropic),
        "chat" if path.ends_with("/api/chat") => Some(Api::Ollama),
        last if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") => Some(Api::Gemini),
        _ => None,
    }
}

//! What a request asks for, by its method and path.

use axum::http::{HeaderMap, Method};

use crate::wire::Api;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The list of an API's models.
    Models(Api),
    /// What a model can do: Ollama's clients ask that beside their calls.
    ModelDescription,
    /// An answer: of a chat model, or of what is recorded and replayed as a whole.
    Call,
    /// What is not replayed.
    Unknown,
}

impl Route {
    /// The route of a request.
    pub(super) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Route {
        match (method, path.rsplit('/').next()) {
            (&Method::GET, Some("tags")) if path.ends_with("/api/tags") => Route::Models(Api::Ollama),
            (&Method::GET, Some("models")) => Route::Models(provider(path, headers)),
            (&Method::POST, _) if path.ends_with("/api/show") => Route::ModelDescription,
            (&Method::POST, _) => Route::Call,
            _ => Route::Unknown,
        }
    }
}

/// The API of the provider that a request is most likely meant for: how its errors look, and who gets it while
/// recording.
pub(super) fn provider(path: &str, headers: &HeaderMap) -> Api {
    if headers.contains_key("anthropic-version") || path.contains("/messages") {
        Api::Anthropic
    } else if headers.contains_key("x-goog-api-key") || path.contains("/v1beta") {
        Api::Gemini
    } else if path.starts_with("/api/") {
        Api::Ollama
    } else {
        Api::OpenAiChat
    }
}

#[cfg(test)]
mod tests;

//! What a path asks for, where it is no call of a chat model.

use axum::http::{HeaderMap, Method};

use crate::wire::Api;

/// The API whose list of models is asked for.
pub(super) fn lists_models(method: &Method, path: &str, headers: &HeaderMap) -> Option<Api> {
    match path.rsplit('/').next() {
        _ if method != Method::GET => None,
        Some("tags") if path.ends_with("/api/tags") => Some(Api::Ollama),
        Some("models") => Some(provider(path, headers)),
        _ => None,
    }
}

/// Whether Ollama is asked what a model can do, as its clients do beside their calls.
pub(super) fn describes_model(method: &Method, path: &str) -> bool {
    method == Method::POST && path.ends_with("/api/show")
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

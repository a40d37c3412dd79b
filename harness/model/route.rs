//! What a request asks for, by its method and path.

use axum::http::{HeaderMap, Method};

use crate::json::Json;
use crate::wire::{self, Api, Body, Response};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// An answer: of a chat model, or of what is recorded and replayed as a whole.
    Call,
    /// What clients ask beside their calls, and what has an answer where nothing is recorded.
    Aside(Aside),
    /// What is not replayed.
    Unknown,
}

/// What clients ask beside their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aside {
    /// The list of an API's models.
    Models(Api),
    /// What a model of Ollama's can do.
    ModelDescription,
    /// Which Ollama this is.
    Version,
    /// Whether Ollama is there.
    Heartbeat,
    /// Whether anything is there: what starts a server asks until it is. No provider's path.
    Health,
}

impl Route {
    /// The route of a request.
    pub(super) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Route {
        let last = path.rsplit('/').next().unwrap_or_default();
        match *method {
            _ if doubles_a_version(path) => Route::Unknown,
            Method::GET if path.ends_with("/api/tags") => Route::Aside(Aside::Models(Api::Ollama)),
            Method::GET if path.ends_with("/api/version") => Route::Aside(Aside::Version),
            Method::GET if last == "models" => Route::Aside(Aside::Models(provider(path, headers))),
            Method::HEAD if path == "/" => Route::Aside(Aside::Heartbeat),
            Method::GET if path == "/" || path == "/health" => Route::Aside(Aside::Health),
            Method::HEAD if path == "/health" => Route::Aside(Aside::Health),
            Method::POST if path.ends_with("/api/show") => Route::Aside(Aside::ModelDescription),
            Method::POST | Method::GET | Method::HEAD | Method::PUT | Method::PATCH | Method::DELETE => Route::Call,
            _ => Route::Unknown,
        }
    }
}

/// Whether a version stands twice, as in `/v1/v1/messages`: the base URL ends with one, and the client adds another. A provider
/// would refuse it, whatever gateway stands before it.
fn doubles_a_version(path: &str) -> bool {
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let mut parts = path.split('/').peekable();
    std::iter::from_fn(|| Some((parts.next()?, parts.peek().copied())))
        .any(|(part, next)| is_version(part) && next == Some(part))
}

impl Aside {
    /// The answer where nothing is recorded. `models` are those that the system is known to ask.
    pub(super) fn answer(self, models: impl FnOnce() -> Vec<String>) -> Response {
        match self {
            Aside::Models(api) => Response::json(200, wire::models_response(api, &models())),
            Aside::ModelDescription => Response::json(200, wire::model_description()),
            Aside::Version => Response::json(200, Json::object([("version", OLLAMA.into())])),
            Aside::Health => Response::json(200, Json::object([("status", "ok".into())])),
            Aside::Heartbeat => {
                let body = Body::Text(String::new());
                Response { status: 200, content_type: "text/plain; charset=utf-8".to_owned(), body }
            }
        }
    }

    /// Whether the answer holds nothing that anybody recorded. Who asks for it brings no key, as a rule.
    pub(super) fn is_open(self) -> bool {
        !matches!(self, Aside::Models(_))
    }
}

/// The version of Ollama whose API is spoken.
const OLLAMA: &str = "0.12.0";

/// The API of the provider that a request is most likely meant for: how its errors look, and who gets it while
/// recording.
pub(super) fn provider(path: &str, headers: &HeaderMap) -> Api {
    // `/v1/threads/ID/messages` is of OpenAI's Assistants.
    if headers.contains_key("anthropic-version") || (path.contains("/messages") && !path.contains("/threads/")) {
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

//! The route of a request: what it asks for, judged by its method and path.

use axum::http::{HeaderMap, Method};

use retake_core::json::Json;
use retake_wire::{self as wire, Api, Body, Response};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A call: to a chat model, or a request that is recorded and replayed as a whole.
    Call,
    /// A request that clients make in addition to their calls. It has an answer even if nothing was recorded.
    Aside(Aside),
    /// A request that is not replayed.
    Unknown,
}

/// Requests that clients make in addition to their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aside {
    /// The list of an API's models.
    Models(Api),
    /// The description of an Ollama model.
    ModelDescription,
    /// The version of Ollama.
    Version,
    /// Whether Ollama is running.
    Heartbeat,
    /// Whether the server is ready. Programs that start a server ask this until it answers; no provider has this path.
    Health,
}

impl Route {
    /// Returns the route of a request.
    pub(super) fn of(method: &Method, path: &str, headers: &HeaderMap) -> Route {
        let last = path.rsplit('/').next().unwrap_or_default();
        // `/v1/v1/messages`: the base URL ends with a version, and the client adds one. A provider would refuse such a request, whichever gateway
        // is in front of it.
        let is_doubled =
            path.split('/').zip(path.split('/').skip(1)).any(|(part, next)| is_version(part) && next == part);
        match *method {
            _ if is_doubled => Route::Unknown,
            Method::GET if path.ends_with("/api/tags") => Route::Aside(Aside::Models(Api::Ollama)),
            Method::GET if path.ends_with("/api/version") => Route::Aside(Aside::Version),
            Method::GET if last == "models" => Route::Aside(Aside::Models(provider(path, headers))),
            Method::HEAD if path == "/" => Route::Aside(Aside::Heartbeat),
            Method::GET | Method::HEAD if path == "/" || path == "/health" => Route::Aside(Aside::Health),
            Method::POST if path.ends_with("/api/show") => Route::Aside(Aside::ModelDescription),
            Method::POST | Method::GET | Method::HEAD | Method::PUT | Method::PATCH | Method::DELETE => Route::Call,
            _ => Route::Unknown,
        }
    }
}

/// Whether a part of a path names a version. LM Studio's own paths begin with `/api/v1`, Ollama's have none.
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

impl Aside {
    /// Returns the answer that is given if nothing was recorded. `models` returns the models that the fixture knows.
    pub(super) fn answer(self, models: impl FnOnce() -> Vec<String>) -> Response {
        match self {
            Aside::Models(api) => Response::json(200, wire::models_response(api, &models())),
            Aside::ModelDescription => Response::json(200, wire::model_description()),
            Aside::Version => Response::json(200, Json::object([("version", OLLAMA.into())])),
            Aside::Health => Response::json(200, Json::object([("status", "ok".into())])),
            Aside::Heartbeat => Response::of(200, "text/plain; charset=utf-8", Body::Text(String::new())),
        }
    }

    /// Whether the answer needs no key, because it holds nothing from a recording. Most clients send no key with such requests.
    pub(super) fn is_open(self) -> bool {
        !matches!(self, Aside::Models(_))
    }
}

/// The Ollama version whose API the server implements.
const OLLAMA: &str = "0.12.0";

/// Returns the API of the provider that a request is most likely meant for. It decides the form of error responses, and which
/// provider gets the request while recording.
pub(super) fn provider(path: &str, headers: &HeaderMap) -> Api {
    // `/v1/threads/ID/messages` belongs to OpenAI's Assistants API.
    if headers.contains_key("anthropic-version") || (path.contains("/messages") && !path.contains("/threads/")) {
        Api::Anthropic
    } else if headers.contains_key("x-goog-api-key") || path.contains("/v1beta") {
        Api::Gemini
    } else if path.strip_prefix("/api/").is_some_and(|path| !is_version(path.split('/').next().unwrap_or_default())) {
        Api::Ollama
    } else {
        Api::OpenAiChat
    }
}

#[cfg(test)]
mod tests;

//! The words of each provider's API, and back: a request becomes a [`Call`], an answer becomes an
//! [`Answer`], and an [`Answer`] becomes a response that the provider's own clients take for theirs.
//!
//! One module a provider API, all behind the functions of this page. Everything is pure: bodies come in parsed, go out
//! unsent, and no input makes it panic. What a call's key is, which turn answers it and how bytes travel is for others
//! to know (`key`, `model`).

use std::fmt;

use crate::conversation::Answer;
use crate::json::Json;

mod anthropic;
mod args;
mod call;
mod fields;
mod ids;
mod known;
mod openai_chat;
mod openai_responses;
mod pieces;
#[cfg(test)]
mod properties;
mod request;
mod response;
mod sse;

pub use call::Call;
pub use fields::WireError;
pub use known::Known;
pub use response::{Body, RenderFor, Response, Unrenderable};
pub use sse::split_frames;

/// A provider API that Retake speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// OpenAI's Chat Completions, and the many services that copy it.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
}

impl Api {
    /// Every API, in the order in which help and errors list them.
    pub const ALL: [Api; 3] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic];

    /// The name under which fixtures store it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAiChat => "openai-chat",
            Api::OpenAiResponses => "openai-responses",
            Api::Anthropic => "anthropic",
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
        _ => None,
    }
}

/// Reads a request that was posted to a path. `known` is what requests may refer to.
///
/// # Errors
/// The path of the first field that is not what the API demands, with what was expected and what was found.
pub fn decode(api: Api, path: &str, body: &Json, known: &Known) -> Result<Call, WireError> {
    let _ = path;
    match api {
        Api::OpenAiChat => openai_chat::request::decode(body),
        Api::OpenAiResponses => openai_responses::request::decode(body, known),
        Api::Anthropic => anthropic::request::decode(body),
    }
}

/// Reads a recorded response, JSON or stream, as the answer that it brings.
///
/// # Errors
/// The reason why the response is no complete answer: an error of the provider, a stream that was cut, a field that is
/// missing or of another type, text that is neither JSON nor a stream.
pub fn decode_response(api: Api, response: &Response) -> Result<Answer, WireError> {
    if !(200..300).contains(&response.status) {
        let reason = match &response.body {
            Body::Json(body) => body.get("error").unwrap_or(body).clone(),
            Body::Frames(frames) => Json::Str(frames.concat()),
            Body::Text(text) => Json::Str(text.clone()),
        };
        return Err(WireError::of_provider(&reason).of(format_args!("status {}", response.status)));
    }
    match (api, &response.body) {
        (Api::OpenAiChat, Body::Json(body)) => openai_chat::answer::of_json(body),
        (Api::OpenAiChat, Body::Frames(frames)) => openai_chat::stream::of_frames(frames),
        (Api::OpenAiResponses, Body::Json(body)) => openai_responses::answer::of_json(body),
        (Api::OpenAiResponses, Body::Frames(frames)) => {
            openai_responses::stream::assemble(frames).and_then(|body| openai_responses::answer::of_json(&body))
        }
        (Api::Anthropic, Body::Json(body)) => anthropic::answer::of_json(body),
        (Api::Anthropic, Body::Frames(frames)) => {
            anthropic::stream::assemble(frames).and_then(|message| anthropic::answer::of_json(&message))
        }
        (_, Body::Text(_)) => Err(WireError::new("expected JSON or a stream, found text")),
    }
}

/// The response to a call that a recorded answer answers. The recorded response goes out unchanged where it came over
/// the call's API and in its form, and recast where it came in the other form. Anything else is rendered.
///
/// # Errors
/// The block that the API cannot express.
pub fn respond(
    answer: &Answer,
    recorded: Option<(Api, &Response)>,
    call: &RenderFor<'_>,
) -> Result<Response, Unrenderable> {
    match recorded {
        Some((api, response)) if api == call.api => {
            // A provider's error is no stream, whatever was asked for.
            let as_it_came = response.status >= 300 || response.is_stream() == call.stream;
            if as_it_came {
                Ok(response.clone())
            } else {
                recast(response, call).map_or_else(|| render(answer, call), Ok)
            }
        }
        _ => render(answer, call),
    }
}

/// A whole response as a stream, or a stream as a whole response, with all that only its API can say: signatures, ids of
/// items, counts. `None` where the recording is not what its API says it is, and for Chat Completions.
fn recast(recorded: &Response, call: &RenderFor<'_>) -> Option<Response> {
    let recast = match (call.api, &recorded.body) {
        (Api::OpenAiResponses, Body::Json(body)) => Response::stream(openai_responses::stream::frames(body)),
        (Api::OpenAiResponses, Body::Frames(frames)) => {
            Response::json(200, openai_responses::stream::assemble(frames).ok()?)
        }
        (Api::Anthropic, Body::Json(message)) => Response::stream(anthropic::stream::frames(message)),
        (Api::Anthropic, Body::Frames(frames)) => Response::json(200, anthropic::stream::assemble(frames).ok()?),
        _ => return None,
    };
    Some(recast)
}

/// Writes an answer as the API's own response, JSON or stream.
///
/// Chat Completions has one text, one reasoning and one refusal for an answer, and they come before the tool calls:
/// blocks of a kind are joined, and text that followed a tool call is read before it. A call of a custom tool goes out as
/// one of a function, since an [`Answer`] does not tell them apart; its text is the arguments. Where an API has no
/// refusals, a refusal is text.
///
/// # Errors
/// The block that the API cannot express: a tool of another provider's own, arguments that are no object.
pub fn render(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let whole = match (call.api, call.stream) {
        (Api::OpenAiChat, false) => return openai_chat::render::json(answer, call),
        (Api::OpenAiChat, true) => return openai_chat::render::stream(answer, call),
        (Api::OpenAiResponses, _) => openai_responses::render::response(answer, call)?,
        (Api::Anthropic, _) => anthropic::render::message(answer, call)?,
    };
    let whole = Response::json(200, whole);
    Ok(if call.stream { recast(&whole, call).unwrap_or(whole) } else { whole })
}

/// An error in the API's own envelope, so that clients report it as they would the provider's.
#[must_use]
pub fn error_response(api: Api, status: u16, kind: &str, message: &str) -> Response {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses => openai_chat::render::error(status, kind, message),
        Api::Anthropic => anthropic::render::error(status, kind, message),
    }
}

/// The answer to `GET /v1/models`.
#[must_use]
pub fn models_response(models: &[String]) -> Json {
    let model = |id: &String| {
        Json::object([
            ("id", Json::from(id.as_str())),
            ("object", "model".into()),
            ("created", Json::Int(0)),
            ("owned_by", "retake".into()),
        ])
    };
    Json::object([("object", Json::from("list")), ("data", Json::Array(models.iter().map(model).collect()))])
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
        for path in ["/v1/messages", "/messages?beta=true", "/anthropic/v1/messages/"] {
            assert_eq!(api_of_path(path), Some(Api::Anthropic), "{path}");
        }
        for path in ["/v1/responses", "/responses", "/backend-api/codex/responses"] {
            assert_eq!(api_of_path(path), Some(Api::OpenAiResponses), "{path}");
        }
        for path in [
            "",
            "/v1/responses/resp_1",
            "/",
            "/v1/completions",
            "/v1/chat/completions/chatcmpl-1",
            "/v1/embeddings?of=/chat/completions",
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1/threads/thread_1/messages",
        ] {
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

    #[test]
    fn models_are_listed_as_openai_lists_them() {
        let listed = models_response(&["gpt-4o".to_owned()]).print(crate::json::Layout::Compact);
        let expected = r#"{"data":[{"created":0,"id":"gpt-4o","object":"model","owned_by":"retake"}],"object":"list"}"#;
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_response_that_failed_is_no_answer() {
        let failed = |status, body| {
            let response = Response { status, content_type: String::new(), body };
            decode_response(Api::OpenAiChat, &response).unwrap_err().message
        };
        let error = Json::parse(br#"{"error":{"message":"Rate limit reached","type":"requests"}}"#).unwrap();
        assert_eq!(failed(429, Body::Json(error.clone())), "status 429: the provider's error: Rate limit reached");
        assert_eq!(failed(200, Body::Json(error)), "the provider's error: Rate limit reached");
        assert_eq!(failed(502, Body::Text("Bad gateway".into())), "status 502: the provider's error: Bad gateway");
        assert_eq!(failed(200, Body::Text("<html>".into())), "expected JSON or a stream, found text");
        let detail = Json::parse(br#"{"detail":[1]}"#).unwrap();
        assert_eq!(failed(422, Body::Json(detail)), r#"status 422: the provider's error: {"detail":[1]}"#);
    }
}

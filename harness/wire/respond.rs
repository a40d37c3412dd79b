//! The response to a call: the recorded response if it fits the call, otherwise the answer rendered for the call's API.

use std::borrow::Cow;

use super::answer::whole;
use super::parts::sse;
use super::{
    Api, Body, RenderFor, Response, Unrenderable, anthropic, bedrock, gemini, ollama, openai_chat, openai_responses,
};
use retake_core::conversation::{Answer, Finish};
use retake_core::json::{Json, Layout};

/// Returns the response to a call that a recorded answer answers. A recorded response of the same API is returned unchanged if it
/// has the form that the call asked for, and is converted if it has another form (a stream where JSON was asked for, or the
/// reverse). In all other cases the answer is rendered.
/// Fails if the answer contains a block that the API cannot express.
pub fn respond(
    answer: &Answer,
    recorded: Option<(Api, &Response)>,
    call: &RenderFor<'_>,
) -> Result<Response, Unrenderable> {
    if let Some(response) = as_recorded(recorded, call) {
        return Ok(response.clone());
    }
    match recorded {
        Some((api, response)) if api.of_bodies() == call.api.of_bodies() && response.status < 300 => {
            // Converting the recorded body keeps what only this API can express: signatures, ids of items, token counts.
            match whole(api, &response.body) {
                Ok(body) if api != Api::OpenAiChat => Ok(in_form(body, call)),
                _ => render(answer, call),
            }
        }
        Some(_) => render(&in_common_words(answer), call),
        None => render(answer, call),
    }
}

/// Prepares an answer that was recorded through another API: replaces a finish reason that only that API knows by the nearest
/// one that all APIs know.
fn in_common_words(answer: &Answer) -> Cow<'_, Answer> {
    let Some(Finish::Other(word)) = &answer.finish else { return Cow::Borrowed(answer) };
    let word = word.to_ascii_lowercase();
    let is_about = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    let near = if is_about(&["armor", "safety", "filter", "content", "block", "prohibited", "language", "recitation"]) {
        Finish::ContentFilter
    } else if is_about(&["length", "max_tokens", "context_window"]) {
        Finish::Length
    } else if answer.tool_calls().is_empty() {
        Finish::Stop
    } else {
        Finish::ToolCalls
    };
    Cow::Owned(Answer { finish: Some(near), ..answer.clone() })
}

/// Returns the recorded response if it can answer the call unchanged.
pub fn as_recorded<'a>(recorded: Option<(Api, &'a Response)>, call: &RenderFor<'_>) -> Option<&'a Response> {
    let (api, response) = recorded.filter(|(api, _)| *api == call.api)?;
    // A provider's error is not a stream, whatever the call asked for, text that is not JSON has no other form, and what a client
    // did not wait for never comes.
    let as_it_came = response.status >= 300
        || response.is_open()
        || !api.is_spoken()
        || form_of(api, &response.body).is_none_or(|form| form == (call.stream, call.stream && call.array));
    as_it_came.then_some(response)
}

/// Returns whether a body is a stream, and whether that stream is one array; `None` if it has no other form.
fn form_of(api: Api, body: &Body) -> Option<(bool, bool)> {
    let is_list = match body {
        Body::Frames(_) => return Some((true, false)),
        Body::Json(json) => json.is_array(),
        Body::Text(_) | Body::Binary(_) => matches!(body.value()?, Json::Array(_)),
    };
    let is_array = is_list && api == Api::Gemini;
    Some((is_array, is_array))
}

/// Converts a whole body into the form that the call asked for. Chat Completions renders its streams itself.
fn in_form(body: Json, call: &RenderFor<'_>) -> Response {
    match call.api {
        _ if !call.stream => Response::json(200, body),
        Api::OpenAiChat | Api::Declared(_) | Api::Opaque => Response::json(200, body),
        Api::OpenAiResponses => Response::stream(openai_responses::stream::frames(&body)),
        Api::Anthropic => Response::stream(anthropic::stream::frames(&body)),
        Api::BedrockInvoke => Response::events(bedrock::invoke::frames(&body)),
        Api::Bedrock => Response::events(bedrock::stream::frames(&body)),
        Api::Gemini if call.array => Response::json(200, Json::Array(gemini::stream::pieces(&body))),
        Api::Gemini => {
            let pieces = gemini::stream::pieces(&body).into_iter();
            Response::stream(pieces.map(|piece| sse::frame(&piece.print(Layout::Compact))).collect())
        }
        Api::Ollama => Response::lines(ollama::stream::lines(&body)),
    }
}

/// Renders an answer as a response of the call's API, as JSON or as a stream.
///
/// An answer of Chat Completions or Ollama has one text, one reasoning and one refusal, and they come before the tool calls.
/// Blocks of the same kind are therefore joined, and text that followed a tool call is moved before it. An [`Answer`] does not
/// distinguish calls of custom tools from calls of functions, so all are rendered as calls of functions, and the text of a
/// custom tool's call becomes the arguments. In an API without refusals, a refusal becomes text.
/// Fails if the answer contains a block that the API cannot express: another provider's own tool, or arguments that are not an object.
pub fn render(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let whole = match (call.api, call.stream) {
        (Api::OpenAiChat, false) => return openai_chat::render::json(answer, call),
        (Api::OpenAiChat, true) => return openai_chat::render::stream(answer, call),
        (Api::OpenAiResponses, _) => openai_responses::render::response(answer, call)?,
        (Api::Anthropic | Api::BedrockInvoke, _) => anthropic::render::message(answer, call)?,
        (Api::Bedrock, _) => bedrock::render::response(answer, call)?,
        (Api::Gemini, _) => gemini::render::response(answer, call)?,
        (Api::Ollama, _) => ollama::render::response(answer, call)?,
        (Api::Declared(_), _) => {
            let block = "an answer that was not recorded over it: it is declared, not spoken".to_owned();
            return Err(Unrenderable { api: call.api, block });
        }
        (Api::Opaque, _) => return Err(Unrenderable { api: call.api, block: "an answer to a chat".to_owned() }),
    };
    Ok(in_form(whole, call))
}

/// Creates an error response in the API's own envelope, so that clients report it like one from the provider.
pub fn error_response(api: Api, status: u16, kind: &str, message: &str) -> Response {
    let named = format!("{kind}: {message}");
    let message = if api == Api::Ollama { &named } else { message };
    let error = ProviderError { status, kind, message, code: Some(kind), request: None, details: None };
    Response::json(status, error.body(api))
}

/// An error in the words of a provider.
#[derive(Clone, Debug)]
pub struct ProviderError<'a> {
    pub status: u16,
    /// The provider's word for it, which Ollama has not.
    pub kind: &'a str,
    pub message: &'a str,
    /// OpenAI's second word for it.
    pub code: Option<&'a str>,
    /// The id of the request, which Anthropic tells.
    pub request: Option<&'a str>,
    /// What Gemini tells besides.
    pub details: Option<Json>,
}

impl ProviderError<'_> {
    /// Returns the body that says it.
    pub fn body(self, api: Api) -> Json {
        let error = match api {
            // Without the header that says the kind, its clients look for it in the body.
            Api::Bedrock | Api::BedrockInvoke => {
                return Json::object([("message", Json::from(self.message)), ("__type", self.kind.into())]);
            }
            Api::OpenAiChat | Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => Json::object([
                ("message", Json::from(self.message)),
                ("type", self.kind.into()),
                ("param", Json::Null),
                ("code", self.code.into()),
            ]),
            Api::Anthropic => Json::object([("type", Json::from(self.kind)), ("message", self.message.into())]),
            Api::Gemini => {
                let code = Json::Int(i64::from(self.status));
                let fields = [("code", code), ("message", self.message.into()), ("status", self.kind.into())];
                Json::object(fields.into_iter().chain(self.details.map(|details| ("details", details))))
            }
            Api::Ollama => self.message.into(),
        };
        let of_anthropic = api == Api::Anthropic;
        let kind = of_anthropic.then(|| ("type", Json::from("error")));
        let request = self.request.filter(|_| of_anthropic).map(|id| ("request_id", id.into()));
        Json::object(kind.into_iter().chain([("error", error)]).chain(request))
    }
}

/// Returns the body that answers a request for the list of models.
pub fn models_response(api: Api, models: &[String]) -> Json {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => openai_chat::render::models(models),
        Api::Anthropic | Api::Bedrock | Api::BedrockInvoke => anthropic::render::models(models),
        Api::Gemini => gemini::render::models(models),
        Api::Ollama => ollama::render::models(models),
    }
}

/// Returns the body that answers Ollama's request to show a model.
pub fn model_description() -> Json {
    ollama::render::description()
}

#[cfg(test)]
mod tests;

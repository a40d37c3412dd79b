//! An answer as the response to a call: the recorded one where it fits, else one that its API would give.

use std::borrow::Cow;

use super::answer::whole;
use super::parts::sse;
use super::{Api, Body, RenderFor, Response, Unrenderable};
use super::{anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::conversation::{Answer, Finish};
use crate::json::{Json, Layout};

/// The response to a call that a recorded answer answers. The recorded response goes out unchanged where it came over
/// the call's API and in its form, and recast where it came in another form. Anything else is rendered.
///
/// # Errors
/// The block that the API cannot express.
pub fn respond(
    answer: &Answer,
    recorded: Option<(Api, &Response)>,
    call: &RenderFor<'_>,
) -> Result<Response, Unrenderable> {
    if let Some(response) = as_recorded(recorded, call) {
        return Ok(response.clone());
    }
    match recorded {
        Some((api, response)) if api == call.api => {
            // All that only this API can say stays: signatures, ids of items, counts.
            match whole(api, &response.body) {
                Ok(body) if api != Api::OpenAiChat => Ok(in_form(body, call)),
                _ => render(answer, call),
            }
        }
        Some(_) => render(&in_common_words(answer), call),
        None => render(answer, call),
    }
}

/// An answer of another API: for the reason why the model stopped that only that one gives, the nearest that all have.
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

/// The recorded response, where it answers a call unchanged.
pub(crate) fn as_recorded<'a>(recorded: Option<(Api, &'a Response)>, call: &RenderFor<'_>) -> Option<&'a Response> {
    let (api, response) = recorded.filter(|(api, _)| *api == call.api)?;
    // A provider's error is not a stream, whatever was asked for; text that is not JSON has no other form.
    let as_it_came = response.status >= 300
        || api == Api::Opaque
        || BodyForm::of_body(api, &response.body).is_none_or(|form| form == BodyForm::of_call(call));
    as_it_came.then_some(response)
}

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyForm {
    Whole,
    Frames,
    Array,
}

impl BodyForm {
    fn of_call(call: &RenderFor<'_>) -> BodyForm {
        match (call.stream, call.array) {
            (false, _) => BodyForm::Whole,
            (true, false) => BodyForm::Frames,
            (true, true) => BodyForm::Array,
        }
    }

    fn of_body(api: Api, body: &Body) -> Option<BodyForm> {
        match body {
            Body::Json(json) if api == Api::Gemini && json.is_array() => Some(BodyForm::Array),
            Body::Json(_) => Some(BodyForm::Whole),
            Body::Frames(_) => Some(BodyForm::Frames),
            Body::Text(_) => body.value().map(|value| match value {
                Json::Array(_) if api == Api::Gemini => BodyForm::Array,
                _ => BodyForm::Whole,
            }),
            Body::Binary(_) => None,
        }
    }
}

/// A whole body as the response that the call asked for. Chat Completions renders its streams itself.
fn in_form(body: Json, call: &RenderFor<'_>) -> Response {
    match (call.api, BodyForm::of_call(call)) {
        (Api::OpenAiChat | Api::Opaque, _) | (_, BodyForm::Whole) => Response::json(200, body),
        (Api::OpenAiResponses, _) => Response::stream(openai_responses::stream::frames(&body)),
        (Api::Anthropic, _) => Response::stream(anthropic::stream::frames(&body)),
        (Api::Gemini, BodyForm::Array) => Response::json(200, Json::Array(gemini::stream::pieces(&body))),
        (Api::Gemini, BodyForm::Frames) => {
            let pieces = gemini::stream::pieces(&body).into_iter();
            Response::stream(pieces.map(|piece| sse::frame(&piece.print(Layout::Compact))).collect())
        }
        (Api::Ollama, _) => Response::lines(ollama::stream::lines(&body)),
    }
}

/// Writes an answer as the API's own response, JSON or stream.
///
/// Chat Completions has one text, one reasoning and one refusal for an answer, and they come before the tool calls:
/// blocks of a kind are joined, and text that followed a tool call is read before it; so it is with Ollama. A call of a
/// custom tool goes out as one of a function, since an [`Answer`] does not tell them apart; its text is the arguments.
/// Where an API has no refusals, a refusal is text.
///
/// # Errors
/// The block that the API cannot express: a tool of another provider's own, arguments that are not object.
pub fn render(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let whole = match (call.api, call.stream) {
        (Api::OpenAiChat, false) => return openai_chat::render::json(answer, call),
        (Api::OpenAiChat, true) => return openai_chat::render::stream(answer, call),
        (Api::OpenAiResponses, _) => openai_responses::render::response(answer, call)?,
        (Api::Anthropic, _) => anthropic::render::message(answer, call)?,
        (Api::Gemini, _) => gemini::render::response(answer, call)?,
        (Api::Ollama, _) => ollama::render::response(answer, call)?,
        (Api::Opaque, _) => return Err(Unrenderable { api: call.api, block: "an answer to a chat".to_owned() }),
    };
    Ok(in_form(whole, call))
}

/// An error in the API's own envelope, so that clients report it as they would the provider's.
#[must_use]
pub fn error_response(api: Api, status: u16, kind: &str, message: &str) -> Response {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Opaque => openai_chat::render::error(status, kind, message),
        Api::Anthropic => anthropic::render::error(status, kind, message),
        Api::Gemini => gemini::render::error(status, kind, message),
        Api::Ollama => ollama::render::error(status, kind, message),
    }
}

/// The answer to a request for the list of models.
#[must_use]
pub fn models_response(api: Api, models: &[String]) -> Json {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Opaque => openai_chat::render::models(models),
        Api::Anthropic => anthropic::render::models(models),
        Api::Gemini => gemini::render::models(models),
        Api::Ollama => ollama::render::models(models),
    }
}

/// What Ollama would say of a model that it is asked to show.
#[must_use]
pub fn model_description() -> Json {
    ollama::render::description()
}

#[cfg(test)]
mod tests;

//! Renders an [`Answer`] as a response, as JSON or as a stream.

use crate::parts::args::unparsed;
use crate::parts::pieces::{characters, given, words};
use crate::parts::{ids, sse};
use crate::{RenderFor, Response, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, ToolCall, Usage};
use retake_core::json::{Json, Layout};

pub(crate) fn json(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let parts = Parts::of(answer, call)?;
    let mut message = vec![
        ("role", Json::from("assistant")),
        ("content", parts.content()),
        ("refusal", given(&parts.refusal).into()),
    ];
    message.extend(given(&parts.reasoning).map(|text| ("reasoning_content", text.into())));
    if !parts.calls.is_empty() {
        let calls = parts.calls.iter().map(|(id, call)| tool_call(id, &call.name, unparsed(&call.args)));
        message.push(("tool_calls", calls.map(Json::object).collect::<Vec<_>>().into()));
    }
    let choice = [
        ("index", Json::Int(0)),
        ("message", Json::object(message)),
        ("logprobs", Json::Null),
        ("finish_reason", parts.finish.into()),
    ];
    let mut body = parts.head("chat.completion");
    body.extend([("choices", vec![Json::object(choice)].into()), ("usage", usage(answer))]);
    Ok(Response::json(200, Json::object(body)))
}

pub(crate) fn stream(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let parts = Parts::of(answer, call)?;
    let chunk = |choices: Vec<Json>, usage: Json| {
        let mut body = parts.head("chat.completion.chunk");
        body.push(("choices", choices.into()));
        if call.include_usage {
            body.push(("usage", usage));
        }
        sse::frame(&Json::object(body).print(Layout::Compact))
    };
    let choice = |delta: Json, finish: Json| {
        let choice = [("index", Json::Int(0)), ("delta", delta), ("logprobs", Json::Null), ("finish_reason", finish)];
        chunk(vec![Json::object(choice)], Json::Null)
    };
    let delta = |key: &str, value: Json| choice(Json::object([(key, value)]), Json::Null);

    let opening = [("role", Json::from("assistant")), ("content", "".into()), ("refusal", Json::Null)];
    let mut frames = vec![choice(Json::object(opening), Json::Null)];
    for (key, text) in [("reasoning_content", &parts.reasoning), ("content", &parts.text), ("refusal", &parts.refusal)]
    {
        frames.extend(words(text).map(|piece| delta(key, piece.into())));
    }
    frames.extend(parts.native.iter().map(|part| delta("content", vec![(*part).clone()].into())));
    for (index, (id, call)) in parts.calls.iter().enumerate() {
        let tool_call_delta = |piece: Vec<(&str, Json)>| {
            let piece = piece.into_iter().chain([("index", index.into())]);
            delta("tool_calls", vec![Json::object(piece)].into())
        };
        frames.push(tool_call_delta(tool_call(id, &call.name, String::new())));
        let arguments = unparsed(&call.args);
        let pieces = characters(&arguments).map(|piece| Json::object([("arguments", piece.into())]));
        frames.extend(pieces.map(|piece| tool_call_delta(vec![("function", piece)])));
    }
    frames.push(choice(Json::object::<String>([]), parts.finish.into()));
    if call.include_usage {
        frames.push(chunk(Vec::new(), usage(answer)));
    }
    frames.push(sse::frame("[DONE]"));
    Ok(Response::stream(frames))
}

/// Returns the body that answers `GET /v1/models`.
pub(crate) fn models(models: &[String]) -> Json {
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

/// An answer, sorted by the fields of a message.
struct Parts<'a> {
    id: String,
    model: &'a str,
    reasoning: String,
    text: String,
    refusal: String,
    /// Parts that only this API can express; they come after the text.
    native: Vec<&'a Json>,
    calls: Vec<(String, &'a ToolCall)>,
    finish: &'a str,
}

impl<'a> Parts<'a> {
    fn of(answer: &'a Answer, call: &RenderFor<'a>) -> Result<Parts<'a>, Unrenderable> {
        let [mut reasoning, mut text, mut refusal] = [const { String::new() }; 3];
        let (mut calls, mut native) = (Vec::new(), Vec::new());
        for block in &answer.blocks {
            match block {
                Block::Reasoning(piece) => reasoning.push_str(piece),
                Block::Text(piece) => text.push_str(piece),
                Block::Refusal(piece) => refusal.push_str(piece),
                Block::ToolCall(tool) if tool.id.is_empty() => {
                    calls.push((ids::derived("call_", call.seed, calls.len()), tool));
                }
                Block::ToolCall(tool) => calls.push((tool.id.clone(), tool)),
                Block::Native(part) if part.api == call.api.name() => native.push(&part.block),
                Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
            }
        }
        let finish = match &answer.finish {
            Some(finish) => finish.as_str(),
            None if calls.is_empty() => Finish::Stop.as_str(),
            None => Finish::ToolCalls.as_str(),
        };
        let id = answer.id.as_deref().and_then(given).map(str::to_owned);
        let id = id.unwrap_or_else(|| ids::derived("chatcmpl-", call.seed, "answer"));
        let model = answer.model.as_deref().and_then(given).unwrap_or(call.model);
        Ok(Parts { id, model, reasoning, text, refusal, native, calls, finish })
    }

    fn head(&self, object: &str) -> Vec<(&'static str, Json)> {
        vec![
            ("id", self.id.as_str().into()),
            ("object", object.into()),
            ("created", Json::Int(0)),
            ("model", self.model.into()),
        ]
    }

    /// Returns the `content` of the message: null if it has no text but tool calls or a refusal.
    fn content(&self) -> Json {
        if !self.native.is_empty() {
            let text = given(&self.text).map(|of| Json::object([("type", Json::from("text")), ("text", of.into())]));
            return text.into_iter().chain(self.native.iter().map(|part| (*part).clone())).collect::<Vec<_>>().into();
        }
        let silent = self.text.is_empty() && !(self.calls.is_empty() && self.refusal.is_empty());
        if silent { Json::Null } else { self.text.as_str().into() }
    }
}

fn tool_call(id: &str, name: &str, arguments: String) -> Vec<(&'static str, Json)> {
    let function = Json::object([("name", Json::from(name)), ("arguments", arguments.into())]);
    vec![("id", id.into()), ("type", "function".into()), ("function", function)]
}

fn usage(answer: &Answer) -> Json {
    let Usage { input, output, cached, reasoning, .. } = answer.usage.unwrap_or_default();
    let mut usage = vec![
        ("prompt_tokens", Json::from(input)),
        ("completion_tokens", output.into()),
        ("total_tokens", input.saturating_add(output).into()),
    ];
    let detail = |name: &str, count: u64| Json::object([(name.to_owned(), Json::from(count))]);
    usage.extend((cached > 0).then(|| ("prompt_tokens_details", detail("cached_tokens", cached))));
    usage.extend((reasoning > 0).then(|| ("completion_tokens_details", detail("reasoning_tokens", reasoning))));
    Json::object(usage)
}

#[cfg(test)]
mod tests;

//! Renders an [`Answer`] as a message.

use super::answer::stop_reason;
use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole message. A stream is made from it, too.
pub(crate) fn message(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let said = |text: &str| Json::object([("type", Json::from("text")), ("text", text.into())]);
    let thought = |text: &str| {
        Json::object([("type", Json::from("thinking")), ("thinking", text.into()), ("signature", "".into())])
    };
    let called = |[id, name, input]: [Json; 3]| {
        Json::object([("type", "tool_use".into()), ("id", id), ("name", name), ("input", input)])
    };
    let content = call.blocks(answer, "toolu_", said, thought, called)?;
    let finish =
        answer.finish.clone().unwrap_or(if answer.tool_calls().is_empty() { Finish::Stop } else { Finish::ToolCalls });
    let id = answer.id.as_deref().and_then(given).map(str::to_owned);
    let Usage { input, output, cached, cache_written, .. } = answer.usage.unwrap_or_default();
    let usage = [
        ("input_tokens", Json::from(input.saturating_sub(cached).saturating_sub(cache_written))),
        ("cache_creation_input_tokens", cache_written.into()),
        ("cache_read_input_tokens", cached.into()),
        ("output_tokens", output.into()),
        ("service_tier", "standard".into()),
    ];
    Ok(Json::object([
        ("id", id.unwrap_or_else(|| ids::derived("msg_", call.seed, "answer")).into()),
        ("type", "message".into()),
        ("role", "assistant".into()),
        ("model", answer.model.as_deref().and_then(given).unwrap_or(call.model).into()),
        ("content", content.into()),
        ("stop_reason", stop_reason(&finish).into()),
        ("stop_sequence", Json::Null),
        ("usage", Json::object(usage)),
    ]))
}

/// Returns the body that answers `GET /v1/models`.
pub(crate) fn models(models: &[String]) -> Json {
    let model = |id: &String| {
        Json::object([
            ("type", Json::from("model")),
            ("id", id.as_str().into()),
            ("display_name", id.as_str().into()),
            ("created_at", "1970-01-01T00:00:00Z".into()),
        ])
    };
    Json::object([
        ("data", Json::Array(models.iter().map(model).collect())),
        ("has_more", false.into()),
        ("first_id", models.first().map(String::as_str).into()),
        ("last_id", models.last().map(String::as_str).into()),
    ])
}

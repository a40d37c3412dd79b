//! Renders an [`Answer`] as a response.

use super::answer::finish_reason;
use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let said = |text: &str| Json::object([("text", text.into())]);
    let thought = |text: &str| Json::object([("text", Json::from(text)), ("thought", true.into())]);
    let called = |[id, name, args]: [Json; 3]| {
        Json::object([("functionCall", Json::object([("id", id), ("name", name), ("args", args)]))])
    };
    let parts = call.blocks(answer, "call_", said, thought, called)?;
    let finish = finish_reason(answer.finish.as_ref().unwrap_or(&Finish::Stop));
    let content = Json::object([("role", Json::from("model")), ("parts", parts.into())]);
    let candidate = Json::object([("content", content), ("finishReason", finish.into()), ("index", Json::Int(0))]);
    let Usage { input, output, cached, reasoning, .. } = answer.usage.unwrap_or_default();
    let mut usage = vec![
        ("promptTokenCount", Json::from(input)),
        ("candidatesTokenCount", output.saturating_sub(reasoning).into()),
        ("totalTokenCount", input.saturating_add(output).into()),
    ];
    usage.extend((cached > 0).then(|| ("cachedContentTokenCount", cached.into())));
    usage.extend((reasoning > 0).then(|| ("thoughtsTokenCount", reasoning.into())));
    let id = answer.id.as_deref().and_then(given).map(str::to_owned);
    Ok(Json::object([
        ("candidates", vec![candidate].into()),
        ("usageMetadata", Json::object(usage)),
        ("modelVersion", answer.model.as_deref().and_then(given).unwrap_or(call.model).into()),
        ("responseId", id.unwrap_or_else(|| ids::derived("", call.seed, "answer")).into()),
    ]))
}

/// Returns the body that answers `GET /v1beta/models`.
pub(crate) fn models(models: &[String]) -> Json {
    let model = |id: &String| {
        let methods = ["generateContent", "streamGenerateContent"].map(Json::from);
        Json::object([
            ("name", Json::Str(format!("models/{id}"))),
            ("supportedGenerationMethods", Json::Array(methods.into())),
        ])
    };
    Json::object([("models", Json::Array(models.iter().map(model).collect()))])
}

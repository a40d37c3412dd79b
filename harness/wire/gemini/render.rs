//! Renders an [`Answer`] as a response.

use super::answer::finish_reason;
use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{Api, RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let mut parts = Vec::new();
    for (i, block) in answer.blocks.iter().enumerate() {
        parts.push(match block {
            Block::Text(text) | Block::Refusal(text) | Block::Reasoning(text) if text.is_empty() => continue,
            Block::Text(text) | Block::Refusal(text) => Json::object([("text", text.as_str().into())]),
            Block::Reasoning(text) => Json::object([("text", Json::from(text.as_str())), ("thought", true.into())]),
            Block::ToolCall(tool) => {
                let function = [
                    ("id", ids::of_call(tool, "call_", call.seed, i).into()),
                    ("name", tool.name.as_str().into()),
                    ("args", Unrenderable::unless_object(call.api, tool)?),
                ];
                Json::object([("functionCall", Json::object(function))])
            }
            Block::Native(native) if native.api == Api::Gemini.name() => native.block.clone(),
            Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
        });
    }
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

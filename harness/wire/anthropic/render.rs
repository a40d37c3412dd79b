//! Renders an [`Answer`] as a message.

use super::answer::stop_reason;
use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{Api, RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, ToolCall, Usage};
use retake_core::json::Json;

/// Returns the whole message. A stream is made from it, too.
pub(crate) fn message(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let mut content = Vec::new();
    for (i, block) in answer.blocks.iter().enumerate() {
        let text_block = |kind: &'static str, text: &str| [("type", Json::from(kind)), (kind, text.into())];
        match block {
            Block::Text(piece) | Block::Refusal(piece) | Block::Reasoning(piece) if piece.is_empty() => {}
            Block::Text(piece) | Block::Refusal(piece) => content.push(Json::object(text_block("text", piece))),
            Block::Reasoning(piece) => {
                let unsigned = text_block("thinking", piece).into_iter().chain([("signature", "".into())]);
                content.push(Json::object(unsigned));
            }
            Block::ToolCall(tool) => content.push(tool_use(tool, i, call)?),
            Block::Native(native) if native.api == Api::Anthropic.name() => content.push(native.block.clone()),
            Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
        }
    }
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

fn tool_use(tool: &ToolCall, position: usize, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    Ok(Json::object([
        ("type", Json::from("tool_use")),
        ("id", ids::of_call(tool, "toolu_", call.seed, position).into()),
        ("name", tool.name.as_str().into()),
        ("input", Unrenderable::unless_object(call.api, tool)?),
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

//! Renders an [`Answer`] as a response of Converse.

use super::answer::stop_reason;
use crate::parts::ids;
use crate::{Api, RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let mut content = Vec::new();
    for (i, block) in answer.blocks.iter().enumerate() {
        let text = |text: &str| Json::object([("text", text.into())]);
        content.push(match block {
            Block::Text(piece) | Block::Refusal(piece) | Block::Reasoning(piece) if piece.is_empty() => continue,
            Block::Text(piece) | Block::Refusal(piece) => text(piece),
            Block::Reasoning(piece) => {
                Json::object([("reasoningContent", Json::object([("reasoningText", text(piece))]))])
            }
            Block::ToolCall(tool) => {
                let call = [
                    ("toolUseId", ids::of_call(tool, "tooluse_", call.seed, i).into()),
                    ("name", tool.name.as_str().into()),
                    ("input", Unrenderable::unless_object(call.api, tool)?),
                ];
                Json::object([("toolUse", Json::object(call))])
            }
            Block::Native(native) if native.api == Api::Bedrock.name() => native.block.clone(),
            Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
        });
    }
    let calls = !answer.tool_calls().is_empty();
    let finish = answer.finish.clone().unwrap_or(if calls { Finish::ToolCalls } else { Finish::Stop });
    let Usage { input, output, cached, cache_written, .. } = answer.usage.unwrap_or_default();
    let mut usage = vec![
        ("inputTokens", Json::from(input.saturating_sub(cached).saturating_sub(cache_written))),
        ("outputTokens", output.into()),
        ("totalTokens", input.saturating_add(output).into()),
    ];
    let of_cache = [("cacheReadInputTokens", cached), ("cacheWriteInputTokens", cache_written)];
    usage.extend(of_cache.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name, count.into())));
    let message = Json::object([("role", Json::from("assistant")), ("content", content.into())]);
    Ok(Json::object([
        ("output", Json::object([("message", message)])),
        ("stopReason", stop_reason(&finish).into()),
        ("usage", Json::object(usage)),
        ("metrics", Json::object([("latencyMs", Json::Int(0))])),
    ]))
}

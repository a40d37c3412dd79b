//! Renders an [`Answer`] as a response of Converse.

use super::answer::stop_reason;
use crate::{RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let said = |text: &str| Json::object([("text", text.into())]);
    let thought = |text: &str| Json::object([("reasoningContent", Json::object([("reasoningText", said(text))]))]);
    let called = |[id, name, input]: [Json; 3]| {
        Json::object([("toolUse", Json::object([("toolUseId", id), ("name", name), ("input", input)]))])
    };
    let content = call.blocks(answer, "tooluse_", said, thought, called)?;
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

//! Renders an [`Answer`] as a response.

use crate::parts::args::unparsed;
use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{Api, RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Json;

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let output = output(answer, call)?;
    let (status, details) = match &answer.finish {
        None | Some(Finish::Stop | Finish::ToolCalls) => ("completed", Json::Null),
        Some(finish) => {
            let reason = if *finish == Finish::Length { "max_output_tokens" } else { finish.as_str() };
            ("incomplete", Json::object([("reason", reason.into())]))
        }
    };
    let id = answer.id.as_deref().and_then(given).map(str::to_owned);
    let Usage { input, output: written, cached, reasoning, .. } = answer.usage.unwrap_or_default();
    let usage = [
        ("input_tokens", Json::from(input)),
        ("input_tokens_details", Json::object([("cached_tokens", Json::from(cached))])),
        ("output_tokens", written.into()),
        ("output_tokens_details", Json::object([("reasoning_tokens", Json::from(reasoning))])),
        ("total_tokens", input.saturating_add(written).into()),
    ];
    Ok(Json::object([
        ("id", id.unwrap_or_else(|| ids::derived("resp_", call.seed, "answer")).into()),
        ("object", "response".into()),
        ("created_at", Json::Int(0)),
        ("status", status.into()),
        ("background", false.into()),
        ("error", Json::Null),
        ("incomplete_details", details),
        ("instructions", Json::Null),
        ("max_output_tokens", Json::Null),
        ("metadata", Json::object::<String>([])),
        ("model", answer.model.as_deref().and_then(given).unwrap_or(call.model).into()),
        ("output", output.into()),
        ("parallel_tool_calls", true.into()),
        ("previous_response_id", Json::Null),
        ("reasoning", Json::object([("effort", Json::Null), ("summary", Json::Null)])),
        ("store", true.into()),
        ("temperature", Json::Float(1.0)),
        ("text", Json::object([("format", Json::object([("type", Json::from("text"))]))])),
        ("tool_choice", "auto".into()),
        ("tools", Json::Array(Vec::new())),
        ("top_p", Json::Float(1.0)),
        ("truncation", "disabled".into()),
        ("usage", Json::object(usage)),
        ("user", Json::Null),
    ]))
}

/// Returns the output items. Consecutive texts and refusals become the parts of one message.
fn output(answer: &Answer, call: &RenderFor<'_>) -> Result<Vec<Json>, Unrenderable> {
    let mut items = Vec::new();
    let mut parts = Vec::new();
    for (i, block) in answer.blocks.iter().enumerate() {
        let item = match block {
            Block::Text(text) | Block::Refusal(text) | Block::Reasoning(text) if text.is_empty() => continue,
            Block::Text(text) => {
                let nothing = Json::Array(Vec::new());
                parts.push(Json::object([
                    ("type", Json::from("output_text")),
                    ("text", text.as_str().into()),
                    ("annotations", nothing.clone()),
                    ("logprobs", nothing),
                ]));
                continue;
            }
            Block::Refusal(text) => {
                parts.push(Json::object([("type", Json::from("refusal")), ("refusal", text.as_str().into())]));
                continue;
            }
            Block::Reasoning(text) => {
                let summary = Json::object([("type", Json::from("summary_text")), ("text", text.as_str().into())]);
                Json::object([
                    ("type", Json::from("reasoning")),
                    ("id", ids::derived("rs_", call.seed, i).into()),
                    ("summary", vec![summary].into()),
                ])
            }
            Block::ToolCall(tool) => Json::object([
                ("type", Json::from("function_call")),
                ("id", ids::derived("fc_", call.seed, i).into()),
                ("call_id", ids::of_call(tool, "call_", call.seed, i).into()),
                ("name", tool.name.as_str().into()),
                ("arguments", unparsed(&tool.args).into()),
                ("status", "completed".into()),
            ]),
            Block::Native(native) if native.api == Api::OpenAiResponses.name() => native.block.clone(),
            Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
        };
        items.extend(message(&mut parts, items.len(), call));
        items.push(item);
    }
    items.extend(message(&mut parts, items.len(), call));
    Ok(items)
}

fn message(parts: &mut Vec<Json>, position: usize, call: &RenderFor<'_>) -> Option<Json> {
    let parts = Some(std::mem::take(parts)).filter(|parts| !parts.is_empty())?;
    Some(Json::object([
        ("type", Json::from("message")),
        ("id", ids::derived("msg_", call.seed, position).into()),
        ("role", "assistant".into()),
        ("status", "completed".into()),
        ("content", parts.into()),
    ]))
}

//! Renders an [`Answer`] as a response.

use crate::parts::ids;
use crate::parts::pieces::given;
use crate::{RenderFor, Unrenderable};
use retake_core::conversation::{Answer, Block, Finish, Usage};
use retake_core::json::Json;

/// The time in each response. It is not recorded, but clients require one that they can parse.
const EPOCH: &str = "1970-01-01T00:00:00Z";

/// Returns the whole response. A stream is made from it, too.
pub(crate) fn response(answer: &Answer, call: &RenderFor<'_>) -> Result<Json, Unrenderable> {
    let [mut thinking, mut content] = [const { String::new() }; 2];
    let mut calls = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) => thinking.push_str(text),
            Block::Text(text) | Block::Refusal(text) => content.push_str(text),
            Block::ToolCall(tool) => {
                let function = [
                    ("index", Json::from(calls.len())),
                    ("name", tool.name.as_str().into()),
                    ("arguments", Unrenderable::unless_object(call.api, tool)?),
                ];
                let id = ids::of_call(tool, "call_", call.seed, calls.len());
                calls.push(Json::object([("id", id.into()), ("function", Json::object(function))]));
            }
            Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
        }
    }
    let mut message = vec![("role", Json::from("assistant")), ("content", content.into())];
    message.extend(given(&thinking).map(|text| ("thinking", text.into())));
    if !calls.is_empty() {
        message.push(("tool_calls", calls.into()));
    }
    let finish = match &answer.finish {
        None | Some(Finish::ToolCalls) => Finish::Stop.as_str(),
        Some(finish) => finish.as_str(),
    };
    let Usage { input, output, .. } = answer.usage.unwrap_or_default();
    let durations = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"];
    let fields = [
        ("model", Json::from(answer.model.as_deref().and_then(given).unwrap_or(call.model))),
        ("created_at", EPOCH.into()),
        ("message", Json::object(message)),
        ("done", true.into()),
        ("done_reason", finish.into()),
        ("prompt_eval_count", input.into()),
        ("eval_count", output.into()),
    ];
    Ok(Json::object(fields.into_iter().chain(durations.map(|key| (key, Json::Int(0))))))
}

/// Returns the body that answers `GET /api/tags`.
pub(crate) fn models(models: &[String]) -> Json {
    let model = |id: &String| {
        Json::object([
            ("name", Json::from(id.as_str())),
            ("model", id.as_str().into()),
            ("modified_at", EPOCH.into()),
            ("size", Json::Int(0)),
            ("digest", "".into()),
        ])
    };
    Json::object([("models", Json::Array(models.iter().map(model).collect()))])
}

/// Returns the body that answers `POST /api/show`. The model claims every capability that an answer may need, and the template
/// mentions tools because LiteLLM looks for them there.
pub(crate) fn description() -> Json {
    let capabilities = ["completion", "tools", "thinking", "vision"].map(Json::from);
    Json::object([
        ("capabilities", Json::Array(capabilities.into())),
        ("details", Json::object([("format", Json::from("gguf")), ("family", "".into()), ("families", Json::Null)])),
        ("model_info", Json::object::<String>([])),
        ("modelfile", "".into()),
        ("modified_at", EPOCH.into()),
        ("parameters", "".into()),
        ("template", "{{ .System }}{{ .Tools }}{{ .Prompt }}".into()),
    ])
}

//! Answers that arrive complete, in the provider's own form, but are not what was asked for.

use crate::breakage::definition;
use retake_core::conversation::{Answer, Block, Finish};
use retake_core::json::{Json, Layout};
use retake_wire::fixture::Turn;
use retake_wire::{self as wire, Api, Body, Call, Frames, Response};

use super::FaultKind;

/// What a model says that refuses.
const REFUSAL: &str = "I'm sorry, but I can't help with that.";
/// What a model thinks that says nothing.
const REASONING: &str = "The user asks something, and I know what to say.";
/// The id of two calls, where calls have none.
const SAME_ID: &str = "call_1";
/// The name of a tool that nobody offers.
const NO_TOOL: &str = "no_such_tool";

/// Returns the response to a call if its model fails in this way, or `None` if this answer cannot.
pub(super) fn meant(kind: FaultKind, turn: &Turn, call: &Call) -> Option<Response> {
    let is_chat = call.api.is_spoken() && !turn.output.is_untold() && turn.output.finish.is_some();
    let answer = changed(kind, &turn.output, call).filter(|_| is_chat)?;
    let seed = turn.key.input_hash.to_string();
    let response = wire::render(&answer, &call.render_for(&seed)).ok()?;
    match kind {
        FaultKind::LengthInToolCall | FaultKind::BadArguments if call.api.of_bodies() == Api::Anthropic => {
            in_half(response)
        }
        FaultKind::NoParts => without_parts(response),
        _ => Some(response),
    }
}

fn changed(kind: FaultKind, output: &Answer, call: &Call) -> Option<Answer> {
    let with = |blocks: Vec<Block>, finish: Finish| Some(Answer { blocks, finish: Some(finish), ..output.clone() });
    let is_call = |block: &Block| matches!(block, Block::ToolCall(_));
    match kind {
        FaultKind::Nothing => with(Vec::new(), Finish::Stop),
        FaultKind::NoParts if call.api == Api::Gemini => with(Vec::new(), Finish::Stop),
        FaultKind::LengthNothing => with(Vec::new(), Finish::Length),
        FaultKind::ReasoningOnly => with(vec![Block::Reasoning(REASONING.to_owned())], Finish::Stop),
        FaultKind::ContentFilter if call.api == Api::Ollama => None,
        FaultKind::Refusal => match call.api {
            Api::Anthropic | Api::BedrockInvoke | Api::Bedrock | Api::Gemini => with(Vec::new(), Finish::ContentFilter),
            Api::Ollama => with(vec![Block::Text(REFUSAL.to_owned())], Finish::Stop),
            _ => with(vec![Block::Refusal(REFUSAL.to_owned())], Finish::Stop),
        },
        FaultKind::Length | FaultKind::ContentFilter => {
            let last = output.blocks.iter().rposition(|block| matches!(block, Block::Text(text) if text.len() > 1))?;
            let mut blocks = output.blocks[..=last].to_vec();
            if let Block::Text(text) = &mut blocks[last] {
                *text = half(text).to_owned();
            }
            blocks.retain(|block| !is_call(block));
            with(blocks, if kind == FaultKind::Length { Finish::Length } else { Finish::ContentFilter })
        }
        FaultKind::CallTwice | FaultKind::UnknownTool | FaultKind::WrongArguments => {
            let mut blocks = output.blocks.clone();
            let at = blocks.iter().position(is_call)?;
            let Block::ToolCall(tool) = &mut blocks[at] else { return None };
            match kind {
                FaultKind::UnknownTool => NO_TOOL.clone_into(&mut tool.name),
                FaultKind::WrongArguments => tool.args = wrong(definition(&call.tools, &tool.name)?, &tool.args)?,
                _ => {
                    if tool.id.is_empty() {
                        SAME_ID.clone_into(&mut tool.id);
                    }
                    blocks.insert(at + 1, blocks[at].clone());
                    return with(blocks, Finish::ToolCalls);
                }
            }
            with(blocks, output.finish.clone()?)
        }
        FaultKind::LengthInToolCall | FaultKind::BadArguments => {
            let last = output.blocks.iter().rposition(is_call)?;
            let by_length = kind == FaultKind::LengthInToolCall;
            let mut blocks = output.blocks[..=last].to_vec();
            let Block::ToolCall(tool) = &mut blocks[last] else { return None };
            let printed = || tool.args.as_str().map_or_else(|| tool.args.print(Layout::Compact), str::to_owned);
            match call.api.of_bodies() {
                Api::OpenAiChat | Api::OpenAiResponses => tool.args = Json::from(half(&printed())),
                // The events of its stream carry the arguments as text: they are cut when they are rendered.
                Api::Anthropic if call.stream => {}
                Api::Anthropic if by_length => tool.args = Json::object::<String>([]),
                // An API whose arguments are objects sends no such call at all.
                Api::Ollama if by_length => blocks.truncate(last),
                Api::Gemini => blocks.truncate(last),
                _ => return None,
            }
            let finish = match call.api {
                _ if by_length => Finish::Length,
                Api::Gemini => Finish::Other("MALFORMED_FUNCTION_CALL".to_owned()),
                _ => Finish::ToolCalls,
            };
            with(blocks, finish)
        }
        _ => None,
    }
}

/// The first half of a text.
fn half(text: &str) -> &str {
    let middle = text.chars().count() / 2;
    text.char_indices().nth(middle).map_or(text, |(at, _)| &text[..at])
}

/// Arguments that do not fit a schema: one that is required is missing, or one has another type.
fn wrong(schema: &Json, args: &Json) -> Option<Json> {
    let mut fields = args.as_object()?.clone();
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default().iter();
    if let Some(name) = required.filter_map(Json::as_str).find(|name| fields.contains_key(*name)) {
        fields.remove(name);
        return Some(Json::Object(fields));
    }
    let typed = |name: &str| schema.get("properties")?.get(name)?.get("type");
    let name = fields.keys().find(|name| typed(name).is_some()).cloned()?;
    let other = if matches!(fields.get(&name), Some(Json::Str(_))) { Json::Int(7) } else { Json::from("seven") };
    fields.insert(name, other);
    Some(Json::Object(fields))
}

/// An answer of Anthropic's in which the second half of the last call's arguments is missing. A whole body is left as it is.
fn in_half(response: Response) -> Option<Response> {
    let Body::Frames(frames) = &response.body else { return Some(response) };
    let frames: Vec<&str> = frames.iter().collect();
    let begin = frames.iter().rposition(|of| of.contains("\"tool_use\"") && of.contains("content_block_start"))?;
    let pieces: Vec<usize> = (begin..frames.len()).filter(|at| frames[*at].contains("\"input_json_delta\"")).collect();
    // The first piece is always empty, and a single one that is not cannot be cut between two.
    let dropped = pieces.get((pieces.len() / 2).max(1)..).filter(|dropped| !dropped.is_empty())?;
    let kept = frames.iter().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, frame)| *frame);
    Some(Response { body: Body::Frames(kept.collect::<Frames>()), ..response.clone() })
}

/// An answer of Gemini's without the list of its parts, in which nothing is.
fn without_parts(response: Response) -> Option<Response> {
    let forms = [r#""parts":[{"text":""}],"#, r#""parts":[],"#, r#","parts":[]"#];
    let without = |text: &str| forms.iter().fold(text.to_owned(), |text, form| text.replace(form, ""));
    if let Body::Frames(frames) = &response.body {
        let frames = frames.iter().map(without).collect::<Frames>();
        return Some(Response { body: Body::Frames(frames), ..response });
    }
    let text = without(&String::from_utf8(response.bytes().into()).ok()?);
    Some(Response::received(response.status, &response.content_type, text.into_bytes()))
}

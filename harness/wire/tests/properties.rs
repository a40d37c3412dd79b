//! Properties of every API: no input causes a panic, and a rendered answer decodes to the same answer.

use proptest::prelude::*;

use crate::parts::ids;
use crate::*;
use retake_core::conversation::{Answer, Block, Finish, ToolCall, Usage};
use retake_core::json::{Json, Layout};

/// Keys and strings that the APIs use, so that random bodies pass the first checks.
const WORDS: [&str; 68] = [
    "messages",
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "function",
    "function_call",
    "arguments",
    "id",
    "type",
    "custom",
    "input",
    "metadata",
    "caller",
    "stream",
    "stream_options",
    "include_usage",
    "tools",
    "model",
    "choices",
    "message",
    "delta",
    "index",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "error",
    "refusal",
    "reasoning",
    "thinking",
    "text",
    "user",
    "assistant",
    "tool",
    "system",
    "stop",
    "{\"a\":1}",
    "{",
    "",
    "[DONE]",
    "é",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "content_block",
    "content_block_start",
    "content_block_delta",
    "message_start",
    "message_delta",
    "text_delta",
    "input_json_delta",
    "partial_json",
    "stop_reason",
    "output",
    "call_id",
    "function_call_output",
    "item_reference",
    "previous_response_id",
    "response",
    "response.completed",
    "contents",
    "parts",
    "candidates",
    "functionCall",
    "functionResponse",
    "args",
    "done",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(&WORDS[..]).prop_map(str::to_owned)
}

/// Random JSON made of known words, often nested like the body of a request or response.
fn any_body() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-2..3i64).prop_map(Json::Int),
        any::<f64>().prop_map(Json::Float),
        word().prop_map(Json::Str),
    ];
    let value = leaf.prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            3 => prop::collection::btree_map(word(), inner, 0..5).prop_map(Json::object),
        ]
    });
    let messages = |message: Json, role: String| {
        let Json::Object(mut message) = message else { return message };
        message.insert("role".into(), role.into());
        Json::object([("messages", Json::Array(vec![Json::Object(message)]))])
    };
    let choices = |key: &'static str| {
        move |value: Json| Json::object([("choices", Json::Array(vec![Json::object([(key, value)])]))])
    };
    prop_oneof![
        value.clone(),
        (value.clone(), word()).prop_map(move |(message, role)| messages(message, role)),
        value.clone().prop_map(choices("message")),
        value.prop_map(choices("delta")),
    ]
}

fn any_api() -> impl Strategy<Value = Api> {
    prop::sample::select(&Api::ALL[..7])
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zé \n\"\\\\😀]{0,60}", any::<String>(), Just("data: [DONE]\n\n".to_owned())]
}

fn any_args() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<i64>().prop_map(Json::Int),
        (-1e300..1e300f64).prop_map(Json::Float),
        any_text().prop_map(Json::Str),
        word().prop_map(Json::Str),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| prop::collection::btree_map(any_text(), inner, 0..3).prop_map(Json::object))
}

/// Arguments of a tool call: mostly objects, since APIs other than Chat Completions accept nothing else.
fn any_input() -> impl Strategy<Value = Json> {
    let object = prop::collection::btree_map(any_text(), any_args(), 0..3).prop_map(Json::object);
    prop_oneof![9 => object, 1 => any_args()]
}

fn any_block() -> impl Strategy<Value = Block> {
    let call = ("[a-z0-9_]{0,12}", "[a-z_]{0,12}", any_input());
    prop_oneof![
        any_text().prop_map(Block::Text),
        any_text().prop_map(Block::Reasoning),
        any_text().prop_map(Block::Refusal),
        call.prop_map(|(id, name, args)| Block::ToolCall(ToolCall { id, name, args })),
    ]
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let finish = prop::option::of("stop|tool_calls|length|content_filter|[a-z]{1,5}");
    let usage = prop::option::of((0..=i64::MAX as u64, 0..=i64::MAX as u64));
    let names = (prop::option::of("[ -~]{1,9}"), prop::option::of("[ -~]{1,9}"));
    (names, prop::collection::vec(any_block(), 0..6), finish, usage).prop_map(|((id, model), blocks, finish, usage)| {
        let usage = usage.map(|(input, output)| Usage { input, output, ..Usage::default() });
        Answer { id, model, blocks, finish: finish.map(|word| Finish::from_word(&word)), usage }
    })
}

/// The answer as rendering completes it: with an id, a model, a finish reason and the usage, if these are missing.
fn filled(answer: &Answer, blocks: Vec<Block>, call: &RenderFor<'_>, prefix: &str) -> Answer {
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let has_usage = !call.stream || call.include_usage;
    Answer {
        id: answer.id.clone().or_else(|| Some(ids::derived(prefix, call.seed, "answer"))),
        model: answer.model.clone().or_else(|| Some(call.model.to_owned())),
        blocks,
        finish: answer.finish.clone().or(Some(if calls { Finish::ToolCalls } else { Finish::Stop })),
        usage: has_usage.then(|| answer.usage.unwrap_or_default()),
    }
}

/// The answer in the form in which an API can express it; `None` if it cannot.
fn said(answer: &Answer, call: &RenderFor<'_>) -> Option<Answer> {
    match call.api {
        Api::OpenAiChat => Some(said_in_chat(answer, call)),
        Api::OpenAiResponses => Some(finished_by_calls(filled(answer, said_in_items(answer, call), call, "resp_"))),
        Api::Gemini => said_in_gemini(answer, call),
        Api::Ollama => said_in_ollama(answer, call),
        Api::Declared(_) | Api::Opaque => None,
        Api::Bedrock => {
            let blocks = said_in_blocks(answer, |i| ids::derived("tooluse_", call.seed, i))?;
            Some(Answer { id: None, model: None, ..filled(answer, blocks, call, "") })
        }
        Api::Anthropic | Api::BedrockInvoke => {
            Some(filled(answer, said_in_blocks(answer, |i| ids::derived("toolu_", call.seed, i))?, call, "msg_"))
        }
    }
}

/// Gemini: `STOP` stands for tool calls, too, and consecutive texts are joined.
fn said_in_gemini(answer: &Answer, call: &RenderFor<'_>) -> Option<Answer> {
    let mut blocks: Vec<Block> = Vec::new();
    for block in said_in_blocks(answer, |i| ids::derived("call_", call.seed, i))? {
        match (blocks.last_mut(), block) {
            (Some(Block::Text(before)), Block::Text(text))
            | (Some(Block::Reasoning(before)), Block::Reasoning(text)) => before.push_str(&text),
            (_, block) => blocks.push(block),
        }
    }
    Some(finished_by_calls(filled(answer, blocks, call, "")))
}

/// Ollama: texts are joined as in Chat Completions, refusals are text, and there is no id.
fn said_in_ollama(answer: &Answer, call: &RenderFor<'_>) -> Option<Answer> {
    let blocks = said_in_blocks(answer, |_| String::new())?;
    let said = said_in_chat(&Answer { blocks, ..answer.clone() }, call);
    let finish = said.finish.map(|finish| if finish == Finish::ToolCalls { Finish::Stop } else { finish });
    Some(finished_by_calls(Answer { id: None, finish, ..said }))
}

/// For an API that has one word for the end of a turn and for tool calls: the tool calls of the answer decide.
fn finished_by_calls(mut said: Answer) -> Answer {
    let calls = !said.tool_calls().is_empty();
    said.finish = said.finish.map(|finish| match finish {
        Finish::Stop | Finish::ToolCalls if calls => Finish::ToolCalls,
        Finish::Stop | Finish::ToolCalls => Finish::Stop,
        other => other,
    });
    said
}

/// The blocks in order, without empty texts, and with refusals as text; `None` if a call's arguments are not an object.
fn said_in_blocks(answer: &Answer, id: impl Fn(usize) -> String) -> Option<Vec<Block>> {
    let blocks = answer.blocks.iter().enumerate().filter_map(|(i, block)| match block {
        Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) if text.is_empty() => None,
        Block::Refusal(text) => Some(Some(Block::Text(text.clone()))),
        Block::ToolCall(tool) if tool.args.as_object().is_none() => Some(None),
        Block::ToolCall(tool) if tool.id.is_empty() => {
            Some(Some(Block::ToolCall(ToolCall { id: id(i), ..tool.clone() })))
        }
        other => Some(Some(other.clone())),
    });
    blocks.collect()
}

/// The blocks in order, without empty texts.
fn said_in_items(answer: &Answer, call: &RenderFor<'_>) -> Vec<Block> {
    let blocks = answer.blocks.iter().enumerate().filter_map(|(i, block)| match block {
        Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) if text.is_empty() => None,
        Block::ToolCall(tool) => {
            Some(Block::ToolCall(ToolCall { id: ids::of_call(tool, "call_", call.seed, i), ..tool.clone() }))
        }
        other => Some(other.clone()),
    });
    blocks.collect()
}

/// Chat Completions: texts of the same kind are joined, and come before the calls.
fn said_in_chat(answer: &Answer, call: &RenderFor<'_>) -> Answer {
    let mut texts = [const { String::new() }; 3];
    let mut calls = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) => texts[0].push_str(text),
            Block::Text(text) => texts[1].push_str(text),
            Block::Refusal(text) => texts[2].push_str(text),
            Block::ToolCall(tool) => {
                let id = ids::of_call(tool, "call_", call.seed, calls.len());
                calls.push(Block::ToolCall(ToolCall { id, ..tool.clone() }));
            }
            Block::Native(_) => {}
        }
    }
    let blocks = [Block::Reasoning, Block::Text, Block::Refusal].into_iter().zip(texts);
    let blocks = blocks.filter(|(_, text)| !text.is_empty()).map(|(block, text)| block(text));
    filled(answer, blocks.chain(calls).collect(), call, "chatcmpl-")
}

proptest! {
    #[test]
    fn no_body_panics(api in any_api(), body in any_body(), status in 199..204u16) {
        let _ = decode(api, "/models/m:generateContent", &body, &Known::default());
        let frame = format!("data: {}\n\n", body.print(Layout::Compact));
        for body in [Body::json(&body), Body::Frames([&frame, &frame].into_iter().collect())] {
            let _ = decode_response(api, &Response::of(status, "", body));
        }
    }

    #[test]
    fn no_stream_panics(api in any_api(), frames in prop::collection::vec("(data|event)?:?.{0,20}(\r?\n){0,2}", 0..6)) {
        let _ = decode_response(api, &Response::stream(frames));
    }

    #[test]
    fn a_rendered_answer_decodes_to_the_same_answer(
        api in any_api(), answer in any_answer(), stream: bool, array: bool, include_usage: bool,
    ) {
        let include_usage = include_usage || api != Api::OpenAiChat;
        let call = RenderFor { api, stream, array, include_usage, model: "m", seed: "5eed" };
        match (render(&answer, &call), said(&answer, &call)) {
            (Ok(response), Some(said)) => {
                prop_assert_eq!(decode_response(api, &response), Ok(said));
                // Converted to the other form, it decodes to the same answer.
                let other_form = RenderFor { stream: !stream, ..call };
                if api != Api::OpenAiChat {
                    let converted = respond(&answer, Some((api, &response)), &other_form).unwrap();
                    prop_assert_eq!(decode_response(api, &converted), decode_response(api, &response));
                }
            }
            (Err(_), None) => {}
            (rendered, said) => prop_assert!(false, "{:?} {:?}", rendered, said),
        }
    }

    #[test]
    fn an_answer_in_the_next_request_decodes_to_its_message(answer in any_answer()) {
        let call = RenderFor {
            api: Api::OpenAiChat, stream: false, array: false, include_usage: false, model: "m", seed: "5eed",
        };
        let Body::Json(body) = render(&answer, &call).unwrap().body else { return Err(TestCaseError::fail("no JSON")) };
        let message = body.json().pointer("/choices/0/message").cloned();
        let request = Json::object([("messages", Json::Array(message.into_iter().collect()))]);
        let asked = decode(call.api, "", &request, &Known::default()).map(Call::into_messages);
        prop_assert_eq!(asked, Ok(vec![said_in_chat(&answer, &call).to_message()]));
    }

    #[test]
    fn an_error_is_never_an_answer(api in any_api(), status: u16, message in any_text()) {
        prop_assert!(decode_response(api, &error_response(api, status, "replay_miss", &message)).is_err());
    }
}

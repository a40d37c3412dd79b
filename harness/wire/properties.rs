//! What holds for every wire: no input panics, and a rendered answer reads back.

use proptest::prelude::*;

use super::*;
use crate::conversation::{Block, Finish, ToolCall, Usage};
use crate::json::Layout;

/// Keys and strings that the wires know, so that random bodies get past the first check.
const WORDS: [&str; 42] = [
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
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(&WORDS[..]).prop_map(str::to_owned)
}

/// JSON, made of known words and nested like a body as often as not.
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
            3 => prop::collection::btree_map(word(), inner, 0..5).prop_map(Json::Object),
        ]
    });
    let messages = |message: Json, role: String| {
        let Json::Object(mut message) = message else { return message };
        message.insert("role".to_owned(), role.into());
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
    prop::sample::select(&Api::ALL[..])
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
    leaf.prop_recursive(2, 12, 3, |inner| prop::collection::btree_map(any_text(), inner, 0..3).prop_map(Json::Object))
}

fn any_block() -> impl Strategy<Value = Block> {
    let call = ("[a-z0-9_]{0,12}", "[a-z_]{0,12}", any_args());
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
        let usage = usage.map(|(input, output)| Usage { input, output });
        Answer { id, model, blocks, finish: finish.map(|word| Finish::from_word(&word)), usage }
    })
}

/// The answer as Chat Completions can say it: each kind of text joined, before the calls; what was absent filled in.
fn said_in_chat(answer: &Answer, call: &RenderFor<'_>) -> Answer {
    let mut texts = [const { String::new() }; 3];
    let mut calls = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) => texts[0].push_str(text),
            Block::Text(text) => texts[1].push_str(text),
            Block::Refusal(text) => texts[2].push_str(text),
            Block::ToolCall(tool) => {
                let id =
                    if tool.id.is_empty() { ids::derived("call_", call.seed, calls.len()) } else { tool.id.clone() };
                calls.push(Block::ToolCall(ToolCall { id, ..tool.clone() }));
            }
        }
    }
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
    let blocks = [Block::Reasoning, Block::Text, Block::Refusal].into_iter().zip(texts);
    let blocks = blocks.filter(|(_, text)| !text.is_empty()).map(|(block, text)| block(text));
    let told = !call.stream || call.include_usage;
    Answer {
        id: answer.id.clone().or_else(|| Some(ids::derived("chatcmpl-", call.seed, "answer"))),
        model: answer.model.clone().or_else(|| Some(call.model.to_owned())),
        blocks: blocks.chain(calls).collect(),
        finish: answer.finish.clone().or(Some(finish)),
        usage: told.then(|| answer.usage.unwrap_or_default()),
    }
}

proptest! {
    #[test]
    fn no_body_panics(api in any_api(), body in any_body(), status in 199..204u16) {
        let _ = decode(api, &body);
        let frame = format!("data: {}\n\n", body.print(Layout::Compact));
        for body in [Body::Json(body), Body::Frames(vec![frame.clone(), frame])] {
            let _ = decode_response(api, &Response { status, content_type: String::new(), body });
        }
    }

    #[test]
    fn no_stream_panics(api in any_api(), frames in prop::collection::vec("(data|event)?:?.{0,20}(\r?\n){0,2}", 0..6)) {
        let _ = decode_response(api, &Response::stream(frames));
    }

    #[test]
    fn a_rendered_answer_reads_back(answer in any_answer(), stream: bool, include_usage: bool) {
        let call = RenderFor { api: Api::OpenAiChat, stream, include_usage, model: "m", seed: "5eed" };
        let response = render(&answer, &call);
        prop_assert_eq!(decode_response(call.api, &response), Ok(said_in_chat(&answer, &call)));
    }

    #[test]
    fn an_answer_comes_back_in_the_next_request_as_its_message(answer in any_answer()) {
        let call = RenderFor { api: Api::OpenAiChat, stream: false, include_usage: false, model: "m", seed: "5eed" };
        let Body::Json(body) = render(&answer, &call).body else { return Err(TestCaseError::fail("no JSON")) };
        let message = body.pointer("/choices/0/message").cloned();
        let request = Json::object([("messages", Json::Array(message.into_iter().collect()))]);
        let asked = decode(call.api, &request).map(|call| call.messages);
        prop_assert_eq!(asked, Ok(vec![said_in_chat(&answer, &call).to_message()]));
    }

    #[test]
    fn an_error_is_never_an_answer(api in any_api(), status: u16, message in any_text()) {
        prop_assert!(decode_response(api, &error_response(api, status, "replay_miss", &message)).is_err());
    }
}

//! The same conversation has the same key in every API.

use proptest::prelude::*;

use crate::*;
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;

/// What the user or the model says.
#[derive(Clone, Debug)]
enum Said {
    Human(String),
    /// A text, and tool calls as name, arguments and result.
    Ai(String, Vec<(String, Json, String)>),
}

fn any_said() -> impl Strategy<Value = Said> {
    let text = || "[a-zé 0-9\n\"😀]{0,20}[a-z]";
    let value =
        prop_oneof![any::<i64>().prop_map(Json::Int), (-1e9..1e9f64).prop_map(Json::Float), text().prop_map(Json::Str)];
    let args = prop::collection::btree_map("[a-z]{1,3}", value, 0..3).prop_map(Json::object);
    let call = ("[a-z]{1,4}", args, text());
    let ai = (prop_oneof![Just(String::new()), text()], prop::collection::vec(call, 0..3));
    prop_oneof![text().prop_map(Said::Human), ai.prop_map(|(text, calls)| Said::Ai(text, calls))]
}

/// The canonical messages of a conversation. A user message separates any two answers of the model, since the Responses API
/// could not distinguish two answers in a row.
fn messages(said: &[Said]) -> Vec<Message> {
    let mut messages = vec![Message::new("system", "Be brief.")];
    let mut calls_made = 0;
    for said in said {
        match said {
            Said::Human(text) => messages.push(Message::new("human", text)),
            Said::Ai(text, calls) => {
                if messages.last().is_some_and(|last| last.kind == "ai") {
                    messages.push(Message::new("human", "go on"));
                }
                let ids: Vec<String> = (0..calls.len()).map(|i| format!("call_{}", calls_made + i)).collect();
                calls_made += calls.len();
                let made = calls.iter().zip(&ids).map(|((name, args, _), id)| ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    args: args.clone(),
                });
                messages.push(Message { tool_calls: made.collect(), ..Message::new("ai", text) });
                messages.extend(calls.iter().zip(&ids).map(|((name, _, result), id)| Message {
                    name: Some(name.clone()),
                    tool_call_id: Some(id.clone()),
                    ..Message::new("tool", result)
                }));
            }
        }
    }
    messages
}

/// The request in which a client of an API sends the conversation. With `together`, results and text share a message if the API
/// allows it.
fn request(api: Api, messages: &[Message], together: bool) -> Json {
    let system = messages[0].content.clone();
    let rest = &messages[1..];
    let one_by_one = |of: fn(&Message) -> Vec<Json>, from: &[Message]| Json::Array(from.iter().flat_map(of).collect());
    match api {
        Api::OpenAiChat => Json::object([("messages", one_by_one(chat, messages))]),
        Api::Ollama => Json::object([("messages", one_by_one(ollama, messages))]),
        Api::OpenAiResponses => Json::object([("instructions", system), ("input", one_by_one(items, rest))]),
        Api::Bedrock => {
            let system = vec![object([("text", system)])].into();
            Json::object([("system", system), ("messages", merged(rest, together, converse, "content"))])
        }
        Api::Anthropic | Api::BedrockInvoke => {
            let merged = merged(rest, together, anthropic, "content");
            Json::object([("system", system), ("messages", merged)])
        }
        Api::Gemini => {
            let instruction = object([("parts", vec![object([("text", system)])].into())]);
            Json::object([("systemInstruction", instruction), ("contents", merged(rest, together, gemini, "parts"))])
        }
        Api::Declared(_) | Api::Opaque => Json::Null,
    }
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::object(fields)
}

fn chat(message: &Message) -> Vec<Json> {
    let calls = message.tool_calls.iter().map(|call| {
        let arguments = call.args.print(Layout::Compact).into();
        let function = object([("name", call.name.as_str().into()), ("arguments", arguments)]);
        object([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function)])
    });
    let role = match message.kind.as_str() {
        "human" => "user",
        "ai" => "assistant",
        other => other,
    };
    vec![object([
        ("role", role.into()),
        ("content", message.content.clone()),
        ("tool_calls", Json::Array(calls.collect())),
        ("tool_call_id", message.tool_call_id.as_deref().into()),
    ])]
}

/// Ollama: no ids, since results come in the order of the calls.
fn ollama(message: &Message) -> Vec<Json> {
    let mut sent = chat(message);
    let Some(Json::Object(fields)) = sent.first_mut() else { return sent };
    fields.remove("tool_call_id");
    let calls = message.tool_calls.iter().map(|call| {
        object([("function", object([("name", call.name.as_str().into()), ("arguments", call.args.clone())]))])
    });
    fields.insert("tool_calls".into(), Json::Array(calls.collect()));
    sent
}

fn items(message: &Message) -> Vec<Json> {
    let text = || Some(message.content.clone()).filter(Json::is_truthy);
    let said = |role: &str| text().map(|text| object([("role", role.into()), ("content", text)]));
    let calls = message.tool_calls.iter().map(|call| {
        object([
            ("type", "function_call".into()),
            ("call_id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("arguments", call.args.print(Layout::Compact).into()),
        ])
    });
    match message.kind.as_str() {
        "tool" => vec![object([
            ("type", "function_call_output".into()),
            ("call_id", message.tool_call_id.as_deref().into()),
            ("output", message.content.clone()),
        ])],
        "ai" => said("assistant").into_iter().chain(calls).collect(),
        _ => said("user").into_iter().collect(),
    }
}

fn anthropic(message: &Message) -> (&'static str, Vec<Json>) {
    let text = Some(message.content.clone()).filter(Json::is_truthy);
    let text = text.map(|text| object([("type", "text".into()), ("text", text)]));
    let calls = message.tool_calls.iter().map(|call| {
        object([
            ("type", "tool_use".into()),
            ("id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("input", call.args.clone()),
        ])
    });
    match message.kind.as_str() {
        "tool" => {
            let id = message.tool_call_id.as_deref().into();
            let content = message.content.clone();
            ("user", vec![object([("type", "tool_result".into()), ("tool_use_id", id), ("content", content)])])
        }
        "ai" => ("assistant", text.into_iter().chain(calls).collect()),
        _ => ("user", text.into_iter().collect()),
    }
}

fn converse(message: &Message) -> (&'static str, Vec<Json>) {
    let text = Some(message.content.clone()).filter(Json::is_truthy).map(|text| object([("text", text)]));
    let calls = message.tool_calls.iter().map(|call| {
        let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
        object([("toolUse", object([("toolUseId", id), ("name", name), ("input", call.args.clone())]))])
    });
    match message.kind.as_str() {
        "tool" => {
            let content = vec![object([("text", message.content.clone())])].into();
            let id = message.tool_call_id.as_deref().into();
            ("user", vec![object([("toolResult", object([("toolUseId", id), ("content", content)]))])])
        }
        "ai" => ("assistant", text.into_iter().chain(calls).collect()),
        _ => ("user", text.into_iter().collect()),
    }
}

fn gemini(message: &Message) -> (&'static str, Vec<Json>) {
    let text = Some(message.content.clone()).filter(Json::is_truthy).map(|text| object([("text", text)]));
    let calls = message.tool_calls.iter().map(|call| {
        object([("functionCall", object([("name", call.name.as_str().into()), ("args", call.args.clone())]))])
    });
    match message.kind.as_str() {
        "tool" => {
            let response = object([("output", message.content.clone())]);
            let result = object([("name", message.name.as_deref().into()), ("response", response)]);
            ("user", vec![object([("functionResponse", result)])])
        }
        "ai" => ("model", text.into_iter().chain(calls).collect()),
        _ => ("user", text.into_iter().collect()),
    }
}

/// The messages of an API whose messages consist of blocks. With `together`, consecutive results, and a text after them, share a
/// message.
fn merged(messages: &[Message], together: bool, of: fn(&Message) -> (&'static str, Vec<Json>), key: &str) -> Json {
    let mut merged: Vec<(&str, &str, Vec<Json>)> = Vec::new();
    for message in messages {
        let (role, blocks) = of(message);
        match merged.last_mut() {
            Some((_, "tool", all)) if together && role == "user" => {
                all.extend(blocks);
                let kind = if message.kind == "tool" { "tool" } else { "human" };
                if let Some(last) = merged.last_mut() {
                    last.1 = kind;
                }
            }
            _ => merged.push((role, &message.kind, blocks)),
        }
    }
    let sent = merged.into_iter().filter(|(_, _, blocks)| !blocks.is_empty());
    Json::Array(sent.map(|(role, _, blocks)| object([("role", role.into()), (key, blocks.into())])).collect())
}

proptest! {
    #[test]
    fn a_conversation_has_the_same_key_in_every_api(
        said in prop::collection::vec(any_said(), 0..6), together: bool,
    ) {
        let said = [&[Said::Human("hello".to_owned())], &said[..]].concat();
        let messages = messages(&said);
        let expected = Rules::default().canonical(messages.clone());
        for api in Api::ALL.into_iter().filter(|api| *api != Api::Opaque) {
            let body = request(api, &messages, together);
            let call = decode(api, "/models/m:generateContent", &body, &Known::default()).unwrap();
            prop_assert_eq!(&Rules::default().canonical(call.clone().into_messages()), &expected, "{}", api);
            prop_assert_eq!(call.system, "Be brief.");
        }
    }
}

//! Reads fixtures of CopilotKit's aimock (formerly llmock). They say what to answer if the last user message contains a text.
//!
//! Such an entry was not recorded from a request. If it only looks at the user's message, then it certainly answers the
//! conversation that consists of this message, and its key is computed from that conversation. Entries that answer later in a
//! conversation cannot be used, since the file does not contain the messages before.

use std::collections::HashMap;

use super::foreign::Content;
use retake_core::conversation::{Answer, Block, Finish, Message, ToolCall, Usage};
use retake_core::json::{Json, Layout};
use retake_core::key::{Hash, Rules};
use retake_wire::fixture::Recorded;

/// Returns the turns of a file; `None` if the file has another format.
pub(super) fn turns(file: &Json, rules: &Rules) -> Option<Content> {
    let entries = file.get("fixtures")?.as_array()?;
    let (mut found, mut left_out, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut first_of: HashMap<Hash, usize> = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let place = format!("entry {}", i + 1);
        match turn(entry) {
            Ok((turn, sequence)) => {
                let first = *first_of.entry(turn.key(rules).conversation_hash).or_insert(i);
                found.push(((first, sequence), turn));
                let ignored = ["webSearches", "redactedThinking", "reasoningSignature"];
                let ignored = ignored.iter().filter(|name| entry.get("response").and_then(|r| r.get(name)).is_some());
                notes.extend(ignored.map(|name| format!("{place}: `{name}` is ignored: a turn cannot store it")));
            }
            Err(reason) => left_out.push((place, reason)),
        }
    }
    // Answers to the same message are in the order of their `sequenceIndex`; those without one come last.
    found.sort_by_key(|(order, _)| *order);
    if !found.is_empty() {
        notes.push(
            "aimock looks for `userMessage` anywhere in the last message, but a turn answers only the conversation of \
             exactly that message"
                .to_owned(),
        );
    }
    let turns = found.into_iter().map(|(_, turn)| turn).collect();
    Some(Content { turns, left_out, notes, ..Content::default() })
}

fn turn(entry: &Json) -> Result<(Recorded, u64), String> {
    let matched = entry.get("match").and_then(Json::as_object).ok_or("no `match`")?;
    let on = |field: &str| matched.get(field).filter(|value| !matches!(value, Json::Null));
    // A turn answers each call of its conversation, here that of one message.
    let of_one_message = |field: &str, value: &Json| match (field, value) {
        (_, Json::Null) | ("sequenceIndex", _) | ("userMessage", Json::Str(_)) => true,
        ("endpoint", _) => value.as_str() == Some("chat"),
        ("turnIndex", _) => value.as_u64() == Some(0),
        ("hasToolResult", _) => *value == Json::Bool(false),
        _ => false,
    };
    if let Some((field, value)) = matched.iter().find(|(field, value)| !of_one_message(field, value)) {
        let value = value.print(Layout::Compact);
        return Err(format!("matches on `{field}` {value}: a turn answers any call whose only message is the user's"));
    }
    let message = on("userMessage").and_then(Json::as_str).ok_or("matches on no `userMessage`, so it has no key")?;
    let output = answer(entry.get("response").ok_or("no `response`")?)?;
    let conversation = Rules::none().canonical(vec![Message::new("human", message)]);
    let turn = Recorded { caller: None, conversation, texts: None, request: None, output, wire: None };
    Ok((turn, on("sequenceIndex").and_then(Json::as_u64).unwrap_or(u64::MAX)))
}

fn answer(response: &Json) -> Result<Answer, String> {
    let mut blocks = Vec::new();
    if let Some(text) = response.str_of("reasoning").filter(|text| !text.is_empty()) {
        blocks.push(Block::Reasoning(text.to_owned()));
    }
    let calls = response.get("toolCalls").and_then(Json::as_array).unwrap_or_default();
    if let Some(ordered) = response.get("blocks").and_then(Json::as_array).filter(|blocks| !blocks.is_empty()) {
        for block in ordered {
            blocks.push(match block.str_of("type") {
                Some("text") => Block::Text(block.str_of("text").unwrap_or_default().to_owned()),
                Some("toolCall") => Block::ToolCall(tool_call(block)?),
                _ => {
                    return Err(format!("a block that is neither text nor toolCall: {}", block.print(Layout::Compact)));
                }
            });
        }
    } else {
        match response.get("content") {
            None | Some(Json::Null) if calls.is_empty() => return Err(not_a_chat(response)),
            None | Some(Json::Null) => {}
            Some(Json::Str(text)) => blocks.push(Block::Text(text.clone())),
            Some(other) => blocks.push(Block::Text(other.print(Layout::Compact))),
        }
        for call in calls {
            blocks.push(Block::ToolCall(tool_call(call)?));
        }
    }
    let calls = blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let finish = response.str_of("finishReason").map(Finish::from_word);
    let text = |field: &str| response.str_of(field).map(str::to_owned);
    let usage = response.get("usage").map(|usage| {
        let tokens = |names: [&str; 3]| names.iter().find_map(|name| usage.get(name)?.as_u64()).unwrap_or(0);
        Usage {
            input: tokens(["prompt_tokens", "input_tokens", "promptTokenCount"]),
            output: tokens(["completion_tokens", "output_tokens", "candidatesTokenCount"]),
            ..Usage::default()
        }
    });
    Ok(Answer {
        id: text("id"),
        model: text("model"),
        blocks,
        finish: Some(finish.unwrap_or(if calls { Finish::ToolCalls } else { Finish::Stop })),
        usage,
    })
}

fn not_a_chat(response: &Json) -> String {
    if let Some(error) = response.get("error") {
        return format!("answers with an error: {}", error.str_of("message").unwrap_or("(no message)"));
    }
    let fields = response.as_object().map(|fields| fields.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>());
    format!("answers with {}, which is not a chat", fields.unwrap_or_default().join(", "))
}

fn tool_call(call: &Json) -> Result<ToolCall, String> {
    let name = call.str_of("name").ok_or("a tool call without a `name`")?;
    let args = match call.get("arguments") {
        Some(Json::Str(text)) if !text.is_empty() => {
            Json::parse(text.as_bytes()).unwrap_or_else(|_| text.as_str().into())
        }
        None | Some(Json::Null | Json::Str(_)) => Json::object::<String>([]),
        Some(other) => other.clone(),
    };
    Ok(ToolCall { id: call.str_of("id").unwrap_or_default().to_owned(), name: name.to_owned(), args })
}

//! Messages of a conversation in a few words.

use crate::json::Json;

/// The kinds of a conversation's messages, `human, ai (2 tool calls), tool read_file`.
pub(super) fn outline(messages: &[Json]) -> String {
    let shown: Vec<String> = messages.iter().rev().take(6).rev().map(describe).collect();
    let dots = if messages.len() > shown.len() { "…, " } else { "" };
    if shown.is_empty() { "none is left of the request".to_owned() } else { format!("{dots}{}", shown.join(", ")) }
}

/// What a message is, in a few words: `tool `read_file``.
pub(crate) fn describe(message: &Json) -> String {
    let kind = message.str_of("type").unwrap_or("message");
    let name = message.str_of("name").map(|name| format!(" `{name}`")).unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let names: Vec<&str> = calls.iter().filter_map(|call| call.str_of("name")).collect();
    let calls = if names.is_empty() { String::new() } else { format!(" calling {}", names.join(", ")) };
    format!("{kind}{name}{calls}")
}

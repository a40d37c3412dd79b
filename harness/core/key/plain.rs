//! The plain form of a conversation: the parts that every provider's API can express.

use crate::json::{Json, Layout};

/// Returns canonical messages without what some APIs express and others cannot (KEY.md, section 6):
///
/// - the names of users and of the model, which only OpenAI's Chat API has;
/// - the white space and the order of keys in a tool result that is JSON, since Gemini's API takes such a result as an object;
///   and the object `{"result": …}` or `{"output": …}` that Gemini's clients put around a result;
/// - the boundaries between successive messages of a user or of the model: Anthropic's clients join the messages of a user,
///   and OpenAI's Responses API splits a message of the model into items.
pub fn plain_conversation(canonical: &[Json]) -> Vec<Json> {
    let mut plain: Vec<Json> = Vec::with_capacity(canonical.len());
    for message in canonical.iter().map(plain_message) {
        match plain.last_mut() {
            Some(last) if last.str_of("type") != Some("tool") && last.get("type") == message.get("type") => {
                join(last, &message);
            }
            _ => plain.push(message),
        }
    }
    plain
}

fn plain_message(message: &Json) -> Json {
    let mut plain = message.clone();
    let Json::Object(fields) = &mut plain else { return plain };
    if fields.get("type").and_then(Json::as_str) != Some("tool") {
        fields.remove("name");
    } else if let Some(content) = fields.get("content").and_then(Json::as_str) {
        fields.insert("content".into(), Json::Str(plain_result(content)));
    }
    plain
}

/// Returns a tool's result without the objects around it. A result that is JSON is printed in one fixed form.
fn plain_result(content: &str) -> String {
    let mut text = content.to_owned();
    // Each iteration removes one object, so this loop ends.
    while let Ok(value @ (Json::Object(_) | Json::Array(_))) = Json::parse(text.as_bytes()) {
        let only = value.as_object().filter(|fields| fields.len() == 1);
        match only.and_then(|fields| fields.get("result").or_else(|| fields.get("output"))) {
            Some(Json::Str(inner)) => inner.clone_into(&mut text),
            Some(inner) => text = inner.print(Layout::Compact),
            None => return value.print(Layout::Compact),
        }
    }
    text
}

/// Appends the content and the tool calls of the next message to a message.
fn join(message: &mut Json, next: &Json) {
    let Json::Object(fields) = message else { return };
    let text = |of: Option<&Json>| of.and_then(Json::as_str).unwrap_or_default().to_owned();
    let content = text(fields.get("content")) + &text(next.get("content"));
    fields.insert("content".into(), Json::Str(content));
    let Some(more) = next.get("tool_calls").and_then(Json::as_array) else { return };
    let mut calls = fields.get("tool_calls").and_then(Json::as_array).unwrap_or_default().to_vec();
    calls.extend(more.iter().cloned());
    fields.insert("tool_calls".into(), Json::Array(calls));
}

#[cfg(test)]
mod tests;

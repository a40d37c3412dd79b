//! What of a conversation every provider's API carries.

use crate::json::Json;

/// Canonical messages without what one API carries and another does not: the names of those who speak, which only OpenAI's
/// Chat has room for, and the object `{"result": TEXT}` that some clients put around a tool's text for Gemini, while the
/// tools of others return just that object.
#[must_use]
pub fn plain_conversation(canonical: &[Json]) -> Vec<Json> {
    canonical.iter().map(plain_message).collect()
}

fn plain_message(message: &Json) -> Json {
    let mut plain = message.clone();
    let Json::Object(fields) = &mut plain else { return plain };
    if fields.get("type").and_then(Json::as_str) != Some("tool") {
        fields.remove("name");
    } else if let Some(text) = fields.get("content").and_then(Json::as_str).and_then(wrapped_text) {
        fields.insert("content".to_owned(), text);
    }
    plain
}

fn wrapped_text(content: &str) -> Option<Json> {
    let Json::Object(fields) = Json::parse(content.as_bytes()).ok()? else { return None };
    fields.get("result").filter(|text| fields.len() == 1 && text.as_str().is_some()).cloned()
}

#[cfg(test)]
mod tests;

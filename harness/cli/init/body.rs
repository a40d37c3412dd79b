//! Bodies for a route of which nothing says what it takes: one that holds what all usual clients send and what the sources read, from
//! which everything is then left out that the service does not need.

use serde_json::{Map, Value, json};

use super::routes::PROMPT;

/// The bodies to try at a route, in order. `fields` are the names that the sources read, and `choice` is the first of the values that
/// they list for a field.
pub(super) fn bodies(fields: &[String], choice: &dyn Fn(&str) -> Option<String>) -> Vec<Value> {
    let by_name = |name: &str| choice(name).map_or_else(|| by_name(name), Value::from);
    let all = |value: &dyn Fn(&str) -> Option<Value>| {
        let mut body = usual();
        for name in fields {
            let Some(value) = value(name).filter(|_| !body.contains_key(name)) else { continue };
            body.insert(name.clone(), value);
        }
        Value::Object(body)
    };
    let own = |name: &String| (name.clone(), usual().remove(name).unwrap_or_else(|| by_name(name)));
    let mut bodies = vec![
        all(&|name| Some(by_name(name))),
        all(&|_| Some(json!(3))),
        all(&|_| Some(messages())),
        // Things in a list have fields that the sources read, too.
        all(&|_| Some(json!([all(&|name| Some(by_name(name)))]))),
        all(&|_| None),
        fields.iter().map(own).collect(),
        json!({ "messages": [{ "role": "user", "content": PROMPT }] }),
    ];
    bodies.extend(TEXTS.iter().map(|name| json!({ *name: PROMPT })));
    // What a validator takes that allows no other field: texts and numbers, in each order of two.
    for text in fields.iter().take(PAIRED) {
        bodies.push(json!({ text: PROMPT }));
        let others = fields.iter().take(PAIRED).filter(|other| *other != text);
        bodies.extend(others.map(|other| json!({ text: PROMPT, other: 3 })));
    }
    bodies.dedup();
    bodies
}

/// The fields in which a person's text usually is.
const TEXTS: [&str; 9] = ["message", "prompt", "input", "query", "question", "text", "content", "user_input", "q"];
/// How many names are tried alone and in pairs.
const PAIRED: usize = 6;

fn messages() -> Value {
    json!([{ "id": "1", "role": "user", "content": PROMPT, "parts": [{ "type": "text", "text": PROMPT }] }])
}

/// What a field of this name usually is.
pub(super) fn by_name(name: &str) -> Value {
    let lower = name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    match () {
        () if has(&["history", "messages", "conversation"]) && !has(&["id"]) => messages(),
        () if lower.ends_with("id") => json!("hello"),
        () if lower.starts_with("is_") || has(&["enable", "stream", "verbose", "debug"]) => json!(false),
        () if has(&["max", "limit", "count", "temperature", "top_", "num"]) => json!(3),
        () => json!(PROMPT),
    }
}

/// What clients of chats, OpenAI's APIs, the AI SDK, AG-UI and ChatKit send, in one body.
pub(super) fn usual() -> Map<String, Value> {
    let mut all: Map<String, Value> = TEXTS.iter().map(|name| ((*name).to_owned(), json!(PROMPT))).collect();
    let chatkit = json!({ "content": [{ "type": "input_text", "text": PROMPT }], "attachments": [], "quoted_text": "",
        "inference_options": {} });
    let others = json!({
        "messages": messages(), "model": "gpt-4o-mini", "stream": true, "id": "hello", "threadId": "hello", "runId": "hello",
        "thread_id": "hello", "session_id": "hello", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "trigger": "submit-message", "type": "threads.create", "params": { "input": chatkit },
    });
    all.extend(others.as_object().cloned().into_iter().flatten());
    all
}

/// The pointers of all fields of a body, at any depth, the outermost first.
pub(super) fn parts(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut level: Vec<(String, &Value)> = vec![(String::new(), body)];
    while !level.is_empty() {
        let mut below = Vec::new();
        for (at, value) in level {
            if let Value::Object(fields) = value {
                below.extend(fields.iter().map(|(key, value)| (format!("{at}/{key}"), value)));
                found.extend(fields.keys().map(|key| format!("{at}/{key}")));
            }
            let items = value.as_array().into_iter().flatten().enumerate();
            below.extend(items.map(|(index, value)| (format!("{at}/{index}"), value)));
        }
        level = below;
    }
    found
}

/// The body without the part at a pointer. None if it is not there any more.
pub(super) fn without(body: &Value, part: &str) -> Option<Value> {
    let mut body = body.clone();
    let (outer, key) = part.rsplit_once('/')?;
    body.pointer_mut(outer)?.as_object_mut()?.remove(key)?;
    Some(body)
}

#[cfg(test)]
mod tests;

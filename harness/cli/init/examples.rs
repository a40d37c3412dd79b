//! Bodies that the project itself gives: in its README, its tests, its clients. What stands there in place of a value that only a
//! program knows is filled by the name of its field.

use regex::Captures;
use serde_json::{Map, Value};

use super::body::by_name;
use super::routes::PROMPT;
use super::sources::{compiled, replaced};

/// How far behind a path its body is looked for, in characters.
const NEAR: usize = 800;
/// The most bodies of a path, and the most texts of a body in whose place the person's is tried.
const MOST: (usize, usize) = (6, 6);
/// Stands in place of what a program puts there.
const VARIABLE: &str = "\u{e000}";

/// The bodies that stand in a text behind a path: each with what a person says in the place of each text in turn, then as it is.
pub(super) fn examples(path: &str, texts: impl Iterator<Item = impl AsRef<str>>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for text in texts {
        let text = text.as_ref();
        for (at, _) in text.match_indices(path) {
            let near: String = text[at..].chars().take(NEAR).collect();
            // A test may name what it sends before it sends it.
            let before = &text[text[..at].char_indices().rev().nth(NEAR).map_or(0, |(begin, _)| begin)..at];
            let objects = |near: &str| near.match_indices('{').filter_map(|(open, _)| object(&near[open..])).collect();
            let objects: [Vec<_>; 2] = [&near, before].map(objects);
            for object in objects.concat().into_iter().map(|object| filled("", Value::Object(object))) {
                if found.len() < MOST.0 && !found.contains(&object) {
                    found.push(object);
                }
            }
        }
    }
    found.into_iter().flat_map(|body| said(&body).into_iter().chain([body])).collect()
}

/// The object that begins a text, in JSON or as Python and JavaScript write it.
fn object(text: &str) -> Option<Map<String, Value>> {
    let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>().next()?.ok();
    first(text).or_else(|| first(&in_json(text))).filter(|object| !object.is_empty())
}

/// A literal of a program in JSON.
fn in_json(text: &str) -> String {
    const STEPS: [(&str, &str); 5] = [
        (r"'((?:[^'\\\n]|\\.)*)'", "\"$1\""),
        (r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", "$1\"$2\"$3"),
        // `{ a, b }`: what stands between two of them is taken by the first, so twice.
        (r"([{,]\s*)([A-Za-z_]\w*)(\s*[,}])", "$1\"$2\": \"\u{e000}\"$3"),
        (r"([{,]\s*)([A-Za-z_]\w*)(\s*[,}])", "$1\"$2\": \"\u{e000}\"$3"),
        (r",(\s*[}\]])", "$1"),
    ];
    const WORD: &str = r":\s*([A-Za-z_][\w.]*(?:\([^()]*\))?|`[^`]*`|f\x22[^\x22\n]*\x22)(\s*[,}\]])";
    let word = |found: &Captures<'_>| {
        let value = match &found[1] {
            "true" | "True" => "true".to_owned(),
            "false" | "False" => "false".to_owned(),
            "null" | "None" => "null".to_owned(),
            _ => format!("\"{VARIABLE}\""),
        };
        format!(": {value}{}", &found[2])
    };
    let text = STEPS.iter().fold(text.to_owned(), |text, (form, with)| replaced(form, &text, with));
    compiled(WORD).map_or_else(|| text.clone(), |form| form.replace_all(&text, word).into_owned())
}

fn filled(name: &str, value: Value) -> Value {
    match value {
        Value::String(text) if text == VARIABLE => by_name(name),
        Value::Array(all) => all.into_iter().map(|value| filled(name, value)).collect(),
        Value::Object(all) => {
            let given = all.into_iter().filter(|(_, value)| !value.is_null());
            given.map(|(name, value)| (name.clone(), filled(&name, value))).collect()
        }
        other => other,
    }
}

/// The body with what a person says in the place of each of its texts.
fn said(body: &Value) -> Vec<Value> {
    let length = |place: &String| body.pointer(place).and_then(Value::as_str).map(str::len);
    let mut texts: Vec<String> = super::body::parts(body).into_iter().filter(|place| length(place).is_some()).collect();
    // People say more than a switch does.
    texts.sort_by_key(|place| std::cmp::Reverse(length(place)));
    texts.truncate(MOST.1);
    let put = |place: String| {
        let mut body = body.clone();
        *body.pointer_mut(&place)? = PROMPT.into();
        Some(body)
    };
    texts.into_iter().filter_map(put).collect()
}

#[cfg(test)]
mod tests;

//! Converts a whole response into the lines of a stream, and a stream into a whole response.

use crate::parts::fields::{self, WireError};
use crate::parts::pieces::words;
use retake_core::json::{Json, Layout, Object};

/// Assembles the response that JSON lines carry, as if it had come whole.
pub(crate) fn assemble(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Json, WireError> {
    let mut whole: Object = Object::new();
    let mut message: Object = Object::new();
    for (i, line) in lines.into_iter().enumerate() {
        let line = line.as_ref().trim();
        if matches!(line, "" | "null") {
            continue;
        }
        let read = Json::parse_request(line.as_bytes()).map_err(|error| WireError::new(error.to_string()));
        let read = read.and_then(|piece| add(&mut whole, &mut message, &piece));
        read.map_err(|error| error.of(format_args!("lines[{i}]")))?;
    }
    if whole.get("done") != Some(&Json::Bool(true)) {
        return Err(WireError::new("an incomplete answer: the stream ended before a line with \"done\": true"));
    }
    whole.insert("message".into(), Json::Object(message));
    Ok(Json::Object(whole))
}

fn add(whole: &mut Object, message: &mut Object, piece: &Json) -> Result<(), WireError> {
    fields::no_error(piece)?;
    let sent = piece.as_object().ok_or_else(|| WireError::expected("the line", "an object", Some(piece)))?;
    let part = fields::optional_object(piece, "message")?.and_then(Json::as_object);
    for (key, value) in part.into_iter().flatten() {
        match (message.get_mut(key), value) {
            (Some(Json::Str(text)), Json::Str(more)) if key != "role" => text.push_str(more),
            (Some(Json::Array(items)), Json::Array(more)) => items.extend(more.iter().cloned()),
            _ => drop(message.insert(key.clone(), value.clone())),
        }
    }
    let other = sent.iter().filter(|(key, _)| *key != "message");
    whole.extend(other.map(|(key, value)| (key.clone(), value.clone())));
    Ok(())
}

/// Returns the lines of a whole response: the pieces of its texts, each tool call, then one line with everything else.
pub(crate) fn lines(response: &Json) -> Vec<String> {
    let mut rest = response.as_object().cloned().unwrap_or_default();
    let message = rest.remove("message").unwrap_or(Json::Null);
    let head: Vec<(String, Json)> =
        ["model", "created_at"].into_iter().filter_map(|key| Some((key.to_owned(), rest.get(key)?.clone()))).collect();
    let of = |key: &'static str, value: Json| {
        let said = [("role", Json::from("assistant")), ("content", "".into())].into_iter().chain([(key, value)]);
        Json::object(said)
    };
    let mut lines = Vec::new();
    let mut push = |message: Json| {
        let fields = [("message".to_owned(), message), ("done".to_owned(), false.into())];
        lines.push(line(&Json::object(head.iter().cloned().chain(fields))));
    };
    for key in ["thinking", "content"] {
        words(message.str_of(key).unwrap_or_default()).for_each(|piece| push(of(key, piece.into())));
    }
    for call in message.get("tool_calls").and_then(Json::as_array).unwrap_or_default() {
        push(of("tool_calls", vec![call.clone()].into()));
    }
    rest.insert("message".into(), of("content", "".into()));
    lines.push(line(&Json::Object(rest)));
    lines
}

fn line(json: &Json) -> String {
    json.print(Layout::Compact) + "\n"
}

#[cfg(test)]
mod tests;

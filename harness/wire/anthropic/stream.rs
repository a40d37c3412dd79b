//! Converts a whole message into the events of a stream, and a stream into a whole message.

use std::collections::BTreeMap;

use crate::parts::fields::{self, WireError};
use crate::parts::pieces::{characters, words};
use crate::parts::{args, sse};
use retake_core::json::{Json, Layout, Object};

/// Assembles the message that a stream carries, as if it had come whole.
pub(crate) fn assemble(frames: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Json, WireError> {
    let mut stream = Stream::default();
    for (i, frame) in frames.into_iter().enumerate() {
        sse::each_json(frame.as_ref(), |event| stream.read(&event))
            .map_err(|error| error.of(format_args!("frames[{i}]")))?;
    }
    let reason = stream.message.get("stop_reason").is_some_and(|reason| *reason != Json::Null);
    if !reason && !stream.stopped {
        return Err(WireError::new("an incomplete answer: the stream ended before a stop_reason"));
    }
    let blocks = stream.blocks.into_values().map(Draft::into_block);
    stream.message.insert("content".into(), Json::Array(blocks.collect()));
    Ok(Json::Object(stream.message))
}

#[derive(Default)]
struct Stream {
    message: Object,
    blocks: BTreeMap<u64, Draft>,
    stopped: bool,
}

/// A block that is being assembled from pieces.
#[derive(Default)]
struct Draft {
    block: Object,
    input: String,
}

impl Stream {
    fn read(&mut self, event: &Json) -> Result<(), WireError> {
        fields::no_error(event)?;
        let part = |key: &str| fields::required(event, key, "an object", Json::as_object);
        match fields::string(event, "type")? {
            "message_start" => self.message = part("message")?.clone(),
            "content_block_start" => {
                let block = Draft { block: part("content_block")?.clone(), input: String::new() };
                self.blocks.insert(fields::index(event, "index")?, block);
            }
            "content_block_delta" => {
                let delta = fields::object(event, "delta")?;
                let block = self.blocks.entry(fields::index(event, "index")?).or_default();
                block.read(delta).map_err(|error| error.within("delta"))?;
            }
            "message_delta" => {
                self.message.extend(part("delta")?.clone());
                if let Some(Json::Object(usage)) = event.get("usage") {
                    self.add_usage(usage);
                }
            }
            "message_stop" => self.stopped = true,
            // Pings, the ends of blocks, and kinds of events that are not known here.
            _ => {}
        }
        Ok(())
    }

    /// Updates the usage. Counts at the end of the stream are totals, so they replace those from the start; counts that the end
    /// leaves out are kept.
    fn add_usage(&mut self, usage: &Object) {
        let mut all = match self.message.remove("usage") {
            Some(Json::Object(all)) => all,
            _ => Object::new(),
        };
        all.extend(usage.iter().filter(|(_, count)| **count != Json::Null).map(|(key, n)| (key.clone(), n.clone())));
        self.message.insert("usage".into(), Json::Object(all));
    }
}

impl Draft {
    fn read(&mut self, delta: &Json) -> Result<(), WireError> {
        let piece = |key: &str| fields::string(delta, key);
        match delta.str_of("type").unwrap_or_default() {
            "text_delta" => self.append("text", piece("text")?)?,
            "thinking_delta" => self.append("thinking", piece("thinking")?)?,
            "signature_delta" => self.append("signature", piece("signature")?)?,
            "input_json_delta" => self.input.push_str(piece("partial_json")?),
            "citations_delta" => self.cite(delta.get("citation")),
            _ => self.add(delta),
        }
        Ok(())
    }

    fn append(&mut self, key: &str, piece: &str) -> Result<(), WireError> {
        match self.block.entry(key.into()).or_insert_with(|| "".into()) {
            Json::Str(text) => text.push_str(piece),
            found => return Err(WireError::expected(key, "a string", Some(found))),
        }
        Ok(())
    }

    /// Adds a delta of an unknown kind: texts are appended to the block's texts, and other fields replace the block's fields.
    fn add(&mut self, delta: &Json) {
        for (key, value) in delta.as_object().into_iter().flatten().filter(|(key, _)| *key != "type") {
            match (self.block.get_mut(key), value) {
                (Some(Json::Str(text)), Json::Str(piece)) => text.push_str(piece),
                _ => _ = self.block.insert(key.clone(), value.clone()),
            }
        }
    }

    fn cite(&mut self, citation: Option<&Json>) {
        let citations = self.block.entry("citations".into()).or_default();
        if !matches!(citations, Json::Array(_)) {
            *citations = Json::Array(Vec::new());
        }
        if let (Json::Array(citations), Some(citation)) = (citations, citation) {
            citations.push(citation.clone());
        }
    }

    fn into_block(mut self) -> Json {
        if !self.input.is_empty() {
            self.block.insert("input".into(), args::parsed(&self.input));
        }
        Json::Object(self.block)
    }
}

/// Returns the events of a whole message as SSE frames. Each has a name, because clients ignore events without one.
pub(crate) fn frames(message: &Json) -> Vec<String> {
    let given = message.as_object().cloned().unwrap_or_default();
    let mut usage = given.get("usage").and_then(Json::as_object).cloned().unwrap_or_default();
    let (mut start, mut end) = (given.clone(), Object::new());
    let moved = ["stop_reason", "stop_sequence", "stop_details", "container"];
    for (key, value) in moved.into_iter().filter_map(|key| Some((key, given.get(key)?))) {
        start.insert(key.into(), Json::Null);
        end.insert(key.into(), value.clone());
    }
    let total = Json::Object(usage.clone());
    usage.insert("output_tokens".into(), Json::Int(0));
    start.insert("content".into(), Json::Array(Vec::new()));
    start.insert("usage".into(), Json::Object(usage));

    let mut frames = vec![event("message_start", [("message", Json::Object(start))])];
    for (i, block) in given.get("content").and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
        let (first, deltas) = split(block);
        frames.push(event("content_block_start", [("index", i.into()), ("content_block", first)]));
        if i == 0 {
            frames.push(event("ping", []));
        }
        let delta = |delta| event("content_block_delta", [("index", i.into()), ("delta", delta)]);
        frames.extend(deltas.into_iter().map(delta));
        frames.push(event("content_block_stop", [("index", i.into())]));
    }
    frames.push(event("message_delta", [("delta", Json::Object(end)), ("usage", total)]));
    frames.push(event("message_stop", []));
    frames
}

fn event<const N: usize>(name: &str, fields: [(&str, Json); N]) -> String {
    let data = Json::object(fields.into_iter().chain([("type", name.into())]));
    sse::named_frame(name, &data.print(Layout::Compact))
}

/// Splits a block into its initial state and the deltas that fill it.
fn split(block: &Json) -> (Json, Vec<Json>) {
    let mut start = block.as_object().cloned().unwrap_or_default();
    let mut deltas = Vec::new();
    let mut text_of = |key: &str| {
        let text = start.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        start.insert(key.into(), "".into());
        text
    };
    let delta = |kind: &str, key: &str, value: Json| Json::object([("type", Json::from(kind)), (key, value)]);
    match block.str_of("type") {
        Some("text") => {
            let text = text_of("text");
            if let Some(Json::Array(citations)) = start.get_mut("citations") {
                deltas.extend(citations.drain(..).map(|citation| delta("citations_delta", "citation", citation)));
            }
            deltas.extend(words(&text).map(|piece| delta("text_delta", "text", piece.into())));
        }
        Some("thinking") => {
            let (thinking, signature) = (text_of("thinking"), text_of("signature"));
            deltas.extend(words(&thinking).map(|piece| delta("thinking_delta", "thinking", piece.into())));
            if !signature.is_empty() {
                deltas.push(delta("signature_delta", "signature", signature.into()));
            }
        }
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let input = start.insert("input".into(), Json::object::<String>([])).unwrap_or(Json::Null);
            let partial = |piece: &str| delta("input_json_delta", "partial_json", piece.into());
            deltas.push(partial(""));
            deltas.extend(characters(&input.print(Layout::Compact)).map(partial));
        }
        _ => {}
    }
    (Json::Object(start), deltas)
}

#[cfg(test)]
mod tests;

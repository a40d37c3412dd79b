//! Converts a whole response into the messages of a stream, and a stream into a whole response.

use std::collections::BTreeMap;

use crate::parts::fields::{self, WireError};
use crate::parts::pieces::{characters, words};
use crate::parts::{args, events, sse};
use retake_core::json::{Json, Layout, Object};

/// Returns the frames of a stream, unless one of them is an exception.
pub(crate) fn unfailed<S: AsRef<str>>(frames: Vec<S>) -> Result<Vec<S>, WireError> {
    for frame in &frames {
        let Some((kind, true)) = events::kind(frame.as_ref()) else { continue };
        let mut message = Json::from(kind);
        sse::each_json(frame.as_ref(), |data| {
            message = data.str_of("message").map_or(data.clone(), |said| format!("{kind}: {said}").into());
            Ok(())
        })?;
        return Err(WireError::of_provider(&message));
    }
    Ok(frames)
}

/// Assembles the response that a stream of Converse carries, as if it had come whole.
pub(crate) fn assemble(frames: Vec<impl AsRef<str>>) -> Result<Json, WireError> {
    let mut stream = Stream::default();
    for (i, frame) in unfailed(frames)?.iter().enumerate() {
        let kind = events::kind(frame.as_ref()).map_or("", |(kind, _)| kind);
        sse::each_json(frame.as_ref(), |event| stream.read(kind, &event))
            .map_err(|error| error.of(format_args!("frames[{i}]")))?;
    }
    if stream.stop.is_none() {
        return Err(WireError::new("an incomplete answer: the stream ended before `messageStop`"));
    }
    let content = stream.blocks.into_values().map(Json::Object).map(with_input).collect();
    let message = Json::object([("role", stream.role), ("content", Json::Array(content))]);
    let mut whole: Object = [("output".into(), Json::object([("message", message)]))].into_iter().collect();
    whole.extend(stream.stop.into_iter().flatten());
    whole.extend(stream.metadata);
    Ok(Json::Object(whole))
}

#[derive(Default)]
struct Stream {
    role: Json,
    blocks: BTreeMap<u64, Object>,
    stop: Option<Object>,
    metadata: Object,
}

impl Stream {
    fn read(&mut self, kind: &str, event: &Json) -> Result<(), WireError> {
        let mut said = fields::request(event)?.clone();
        // A padding of random length.
        said.remove("p");
        match kind {
            "messageStart" => self.role = said.remove("role").unwrap_or(Json::Null),
            "contentBlockStart" => merge(self.block(event)?, fields::optional_object(event, "start")?),
            "contentBlockDelta" => merge(self.block(event)?, fields::optional_object(event, "delta")?),
            "contentBlockStop" => _ = self.block(event)?,
            "messageStop" => self.stop = Some(said),
            "metadata" => self.metadata = said,
            _ => {}
        }
        Ok(())
    }

    fn block(&mut self, event: &Json) -> Result<&mut Object, WireError> {
        Ok(self.blocks.entry(fields::index(event, "contentBlockIndex")?).or_default())
    }
}

/// Adds a piece to a block: texts are appended, lists go on.
fn merge(block: &mut Object, piece: Option<&Json>) {
    for (key, value) in piece.and_then(Json::as_object).into_iter().flatten() {
        match (&**key, value) {
            ("reasoningContent", Json::Object(piece)) => within(block, key, |reasoning| {
                for (key, value) in piece {
                    match &**key {
                        "redactedContent" => append(reasoning, key, value),
                        _ => within(reasoning, "reasoningText", |text| append(text, key, value)),
                    }
                }
            }),
            ("toolResult", Json::Array(_)) => within(block, key, |result| append(result, "content", value)),
            ("citation", value) => within(block, "citationsContent", |cited| {
                append(cited, "citations", &Json::Array(vec![value.clone()]));
            }),
            (key, Json::Object(piece)) => {
                within(block, key, |into| piece.iter().for_each(|(key, value)| append(into, key, value)));
            }
            (key, value) => append(block, key, value),
        }
    }
}

/// Changes an object in an object, which is made if it is not there.
fn within(object: &mut Object, key: &str, change: impl FnOnce(&mut Object)) {
    let place = object.entry(key.into()).or_default();
    if place.as_object().is_none() {
        *place = Json::Object(Object::new());
    }
    if let Some(inner) = place.as_object_mut() {
        change(inner);
    }
}

fn append(object: &mut Object, key: &str, value: &Json) {
    match (object.get_mut(key), value) {
        (Some(Json::Str(text)), Json::Str(piece)) => text.push_str(piece),
        (Some(Json::Array(items)), Json::Array(more)) => items.extend(more.iter().cloned()),
        _ => drop(object.insert(key.into(), value.clone())),
    }
}

/// Returns a block in which the input of a tool's call is no text any more.
fn with_input(mut block: Json) -> Json {
    let call = block.as_object_mut().and_then(|block| block.get_mut("toolUse")).and_then(Json::as_object_mut);
    if let Some(call) = call {
        let input = call.entry("input".into()).or_insert_with(|| "".into());
        if let Json::Str(text) = input {
            *input = args::parsed(text);
        }
    }
    block
}

/// Returns the messages of a whole response.
pub(crate) fn frames(response: &Json) -> Vec<String> {
    let frame = |kind: &str, data: Json| events::frame(kind, &data.print(Layout::Compact));
    let message = response.pointer("/output/message");
    let role = message.and_then(|message| message.get("role")).cloned().unwrap_or_else(|| "assistant".into());
    let mut frames = vec![frame("messageStart", Json::object([("role", role)]))];
    let blocks = message.and_then(|message| message.get("content")).and_then(Json::as_array).unwrap_or_default();
    for (i, block) in blocks.iter().enumerate() {
        let indexed = |key: &str, value: Json| Json::object([("contentBlockIndex", i.into()), (key, value)]);
        let (start, deltas) = split(block);
        frames.extend(start.map(|start| frame("contentBlockStart", indexed("start", start))));
        frames.extend(deltas.into_iter().map(|delta| frame("contentBlockDelta", indexed("delta", delta))));
        frames.push(frame("contentBlockStop", Json::object([("contentBlockIndex", Json::from(i))])));
    }
    let but = |keys: &[&str]| {
        let fields = response.as_object().into_iter().flatten().filter(|(key, _)| keys.contains(&key.as_str()));
        Json::object(fields.map(|(key, value)| (key.clone(), value.clone())))
    };
    frames.push(frame("messageStop", but(&["stopReason", "additionalModelResponseFields"])));
    frames.push(frame("metadata", but(&["usage", "metrics", "trace", "performanceConfig"])));
    frames
}

/// Splits a block into its beginning, which only tools have, and the deltas that fill it.
fn split(block: &Json) -> (Option<Json>, Vec<Json>) {
    let of = |key: &str, value: Json| Json::object([(key, value)]);
    let text = |text: &Json| Json::from(text.as_str().unwrap_or_default());
    if let Some(said) = block.str_of("text") {
        return (None, words(said).map(|piece| of("text", piece.into())).collect());
    }
    if let Some(Json::Object(call)) = block.get("toolUse") {
        let mut start = call.clone();
        let input = start.remove("input").unwrap_or(Json::Null).print(Layout::Compact);
        let deltas = characters(&input).map(|piece| of("toolUse", of("input", piece.into())));
        return (Some(of("toolUse", Json::Object(start))), deltas.collect());
    }
    if let Some(reasoning) = block.get("reasoningContent") {
        let of_reasoning = |key: &str, value: Json| of("reasoningContent", of(key, value));
        let said = reasoning.pointer("/reasoningText/text").and_then(Json::as_str).unwrap_or_default();
        let mut deltas: Vec<Json> = words(said).map(|piece| of_reasoning("text", piece.into())).collect();
        let signature = reasoning.pointer("/reasoningText/signature");
        deltas.extend(signature.map(|signature| of_reasoning("signature", text(signature))));
        deltas.extend(reasoning.get("redactedContent").map(|data| of_reasoning("redactedContent", data.clone())));
        return (None, deltas);
    }
    if let Some(Json::Object(result)) = block.get("toolResult") {
        let mut start = result.clone();
        let content = start.remove("content").unwrap_or_else(|| Json::Array(Vec::new()));
        return (Some(of("toolResult", Json::Object(start))), vec![of("toolResult", content)]);
    }
    (None, vec![block.clone()])
}

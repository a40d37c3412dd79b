//! Converts a whole response into the events of a stream, and a stream into a whole response.

use std::collections::BTreeMap;

use crate::parts::fields::{self, WireError};
use crate::parts::pieces::{characters, words};
use crate::parts::sse;
use retake_core::json::{Json, Layout, Object};

/// Assembles the response that a stream carries. The last event contains the response; some services leave out its items, which
/// are then taken from earlier events.
pub(crate) fn assemble(frames: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Json, WireError> {
    let mut response: Option<Object> = None;
    let mut items = BTreeMap::new();
    for (i, frame) in frames.into_iter().enumerate() {
        let read = sse::each_json(frame.as_ref(), |event| {
            match event.str_of("type").unwrap_or_default() {
                "error" => return Err(WireError::of_provider(fields::given(&event, "error").unwrap_or(&event))),
                "response.output_item.done" => {
                    let item = fields::optional_object(&event, "item")?.cloned();
                    items.extend(event.get("output_index").and_then(Json::as_u64).zip(item));
                }
                "response.completed" | "response.incomplete" | "response.failed" => {
                    response = fields::optional_object(&event, "response")?.and_then(Json::as_object).cloned();
                }
                _ => fields::no_error(&event)?,
            }
            Ok(())
        });
        read.map_err(|error| error.of(format_args!("frames[{i}]")))?;
    }
    let cut = || WireError::new("an incomplete answer: the stream ended before response.completed");
    let mut response = response.ok_or_else(cut)?;
    if !response.get("output").is_some_and(Json::is_truthy) {
        response.insert("output".into(), Json::Array(items.into_values().collect()));
    }
    Ok(Json::Object(response))
}

/// Returns the events of a whole response as SSE frames. Each event has a name and a sequence number, and the position of the
/// item that it belongs to.
pub(crate) fn frames(response: &Json) -> Vec<String> {
    let mut events = Events::default();
    let mut begun = response.as_object().cloned().unwrap_or_default();
    begun.extend([
        ("status".into(), "in_progress".into()),
        ("output".into(), Json::Array(Vec::new())),
        ("usage".into(), Json::Null),
        ("incomplete_details".into(), Json::Null),
    ]);
    let begun = Json::Object(begun);
    events.push("response.created", [("response", begun.clone())]);
    events.push("response.in_progress", [("response", begun)]);
    for (index, item) in response.get("output").and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
        events.item(index, item);
    }
    let end = match response.str_of("status") {
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        _ => "response.completed",
    };
    events.push(end, [("response", response.clone())]);
    events.0
}

#[derive(Default)]
struct Events(Vec<String>);

/// The position and the id of an item, which each of its events repeats.
#[derive(Clone, Copy)]
struct Place<'a> {
    output: usize,
    id: &'a str,
}

impl Events {
    fn push<'a>(&mut self, name: &str, fields: impl IntoIterator<Item = (&'a str, Json)>) {
        let common = [("type", name.into()), ("sequence_number", self.0.len().into())];
        self.0.push(sse::named_frame(name, &Json::object(fields.into_iter().chain(common)).print(Layout::Compact)));
    }

    fn item(&mut self, output: usize, item: &Json) {
        let place = Place { output, id: item.str_of("id").unwrap_or_default() };
        let mut begun = item.as_object().cloned().unwrap_or_default();
        for (key, empty) in [
            ("status", "in_progress".into()),
            ("content", Json::Array(Vec::new())),
            ("summary", Json::Array(Vec::new())),
            ("arguments", "".into()),
            ("input", "".into()),
        ] {
            // A field is emptied only if it has the expected type. `arguments`, for example, is not text in all kinds of items.
            if begun.get(key).is_some_and(|value| value.kind() == empty.kind()) {
                begun.insert(key.into(), empty);
            }
        }
        self.push("response.output_item.added", [("output_index", output.into()), ("item", Json::Object(begun))]);
        match item.str_of("type") {
            Some("message") => self.parts(place, item, "content"),
            Some("reasoning") => {
                self.parts(place, item, "summary");
                self.parts(place, item, "content");
            }
            Some("function_call") => {
                self.text(place, "response.function_call_arguments", "arguments", item, characters);
            }
            Some("custom_tool_call") => self.text(place, "response.custom_tool_call_input", "input", item, characters),
            _ => {}
        }
        self.push("response.output_item.done", [("output_index", output.into()), ("item", item.clone())]);
    }

    /// Adds the events of the parts of a message or of reasoning. `key` is the field that contains the parts.
    fn parts(&mut self, place: Place<'_>, item: &Json, key: &str) {
        let (of_part, number) = match key {
            "summary" => ("response.reasoning_summary_part", "summary_index"),
            _ => ("response.content_part", "content_index"),
        };
        for (i, part) in item.get(key).and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
            let (of_text, text) = match part.str_of("type") {
                Some("output_text") => ("response.output_text", "text"),
                Some("refusal") => ("response.refusal", "refusal"),
                Some("summary_text") => ("response.reasoning_summary_text", "text"),
                Some("reasoning_text") => ("response.reasoning_text", "text"),
                _ => ("", ""),
            };
            let mut begun = part.as_object().cloned().unwrap_or_default();
            begun.extend([(text, "".into())].into_iter().filter(|_| !text.is_empty()).map(|(k, v)| (k.into(), v)));
            if let Some(all) = begun.get_mut("annotations") {
                *all = Json::Array(Vec::new());
            }
            let place = [("item_id", place.id.into()), ("output_index", place.output.into()), (number, i.into())];
            let event = |fields: [(&'static str, Json); 1]| place.clone().into_iter().chain(fields);
            self.push(&format!("{of_part}.added"), event([("part", Json::Object(begun))]));
            let whole = part.str_of(text).unwrap_or_default();
            let logprobs = (of_text == "response.output_text").then(|| ("logprobs", Json::Array(Vec::new())));
            for piece in words(whole) {
                self.push(&format!("{of_text}.delta"), event([("delta", piece.into())]).chain(logprobs.clone()));
            }
            for (n, annotation) in
                part.get("annotations").and_then(Json::as_array).unwrap_or_default().iter().enumerate()
            {
                let number = [("annotation_index", n.into())];
                let fields = event([("annotation", annotation.clone())]).chain(number);
                self.push("response.output_text.annotation.added", fields);
            }
            if !of_text.is_empty() {
                self.push(&format!("{of_text}.done"), event([(text, whole.into())]).chain(logprobs));
            }
            self.push(&format!("{of_part}.done"), event([("part", part.clone())]));
        }
    }

    /// Adds the events of an item that has one text: its pieces and its end. `key` is the field that contains the text.
    fn text<'t, I: Iterator<Item = &'t str>>(
        &mut self,
        place: Place<'_>,
        name: &str,
        key: &'static str,
        item: &'t Json,
        pieces: impl Fn(&'t str) -> I,
    ) {
        let whole = item.str_of(key).unwrap_or_default();
        let place = [("item_id", Json::from(place.id)), ("output_index", place.output.into())];
        for piece in pieces(whole) {
            self.push(&format!("{name}.delta"), place.clone().into_iter().chain([("delta", piece.into())]));
        }
        let tool = item.get("name").map(|tool| ("name", tool.clone()));
        self.push(&format!("{name}.done"), place.into_iter().chain([(key, whole.into())]).chain(tool));
    }
}

#[cfg(test)]
mod tests;

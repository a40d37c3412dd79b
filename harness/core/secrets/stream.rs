//! Removes secrets from streams, where a secret may be split across pieces that the client joins again.
//!
//! Texts are pieces of one text if they are at the same place in their events, and the events have the same type and index.
//! This is true for the deltas of every provider's API, both of text and of tool arguments. A text that is the same in every
//! event, such as an id, is not a piece of a longer text.

use std::collections::BTreeMap;

use super::scrub::{Fired, Scrub};
use crate::json::{Json, JsonText, Layout};

/// The fields that differ between events with pieces of different texts.
const EVENT: [&str; 6] = ["type", "index", "item_id", "output_index", "content_index", "summary_index"];

impl Scrub {
    /// Removes secrets from SSE frames or JSON lines. A frame without secrets keeps every byte.
    pub fn frames(&self, frames: &mut [String], fired: &mut Fired) {
        change_frames(frames, &|key| self.key(key), |frames| {
            parted(self, &mut frames.iter_mut().map(|frame| &mut frame.data).collect::<Vec<_>>(), fired);
            for frame in frames {
                self.json(&mut frame.data, fired);
                // Comments, event names and ids.
                for line in &mut frame.lines {
                    let FrameLine::Other(text) = line else { continue };
                    self.string(text, fired);
                }
            }
            true
        });
    }

    /// Removes secrets from a JSON body, which may be a whole stream as one array.
    pub fn body(&self, body: &mut Json, fired: &mut Fired) {
        if let Json::Array(pieces) = body {
            parted(self, &mut pieces.iter_mut().collect::<Vec<_>>(), fired);
        }
        self.json(body, fired);
    }
}

/// Returns the texts of events, those that are pieces of one text together, by their place.
pub(crate) fn texts_of<'a>(events: &'a mut [&mut Json]) -> BTreeMap<String, Vec<&'a mut String>> {
    let mut texts: BTreeMap<String, Vec<&mut String>> = BTreeMap::new();
    for event in events {
        let mut place = String::new();
        for key in EVENT {
            let of = event.get(key).filter(|value| !matches!(value, Json::Object(_) | Json::Array(_)));
            place.extend(of.map(|of| format!("{key}={} ", of.print(Layout::Compact))));
        }
        collect(event, &mut place, &mut texts);
    }
    texts
}

fn parted(scrub: &Scrub, events: &mut [&mut Json], fired: &mut Fired) {
    for mut pieces in texts_of(events).into_values() {
        if pieces.windows(2).any(|pair| pair[0] != pair[1]) {
            scrub.parted(&mut pieces, fired);
        }
    }
}

/// Collects each text of an event under its place. An element of a list is identified by its field `index`, if it has one,
/// otherwise by its position.
fn collect<'a>(json: &'a mut Json, place: &mut String, texts: &mut BTreeMap<String, Vec<&'a mut String>>) {
    let length = place.len();
    match json {
        Json::Str(text) => texts.entry(place.clone()).or_default().push(text),
        Json::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                let index = item.get("index").and_then(Json::as_u64).map_or_else(|| i.to_string(), |n| format!("#{n}"));
                // What a model of Gemini thinks and what it says have one place.
                let thought = if item.get("thought") == Some(&Json::Bool(true)) { "thought" } else { "" };
                place.extend(["/", &index, thought]);
                collect(item, place, texts);
                place.truncate(length);
            }
        }
        Json::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                place.extend(["/", key]);
                collect(value, place, texts);
                place.truncate(length);
            }
        }
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {}
    }
}

/// Changes frames, and returns what `change` does: whether it changed any. One that stays as it is keeps every byte. `renamed` returns
/// the new name of a key.
pub(crate) fn change_frames(
    texts: &mut [String],
    renamed: &dyn Fn(&str) -> String,
    change: impl FnOnce(&mut [Frame]) -> bool,
) -> bool {
    let mut frames: Vec<Frame> = texts.iter().map(|text| Frame::read(text)).collect();
    let before = frames.clone();
    let changed = change(&mut frames);
    for ((text, frame), before) in texts.iter_mut().zip(&frames).zip(&before).filter(|_| changed) {
        if frame != before {
            *text = frame.print(&before.data, renamed);
        }
    }
    changed
}

/// An SSE frame, or a line of JSON.
#[derive(Clone, PartialEq)]
pub(crate) struct Frame {
    /// All lines with their line ends. A single `Data` line stands for all lines of data.
    lines: Vec<FrameLine>,
    /// The data as JSON, or as a string if it is not JSON.
    pub(crate) data: Json,
    is_json: bool,
    /// The data in its original spelling, if it is JSON that a [`JsonText`] can store.
    spelled: Option<JsonText>,
}

#[derive(Clone, PartialEq)]
enum FrameLine {
    Data { prefix: &'static str, end: String },
    Other(String),
}

impl Frame {
    fn read(frame: &str) -> Frame {
        let mut lines = Vec::new();
        let mut data: Option<String> = None;
        for line in lines_of(frame) {
            let text = line.trim_end_matches(['\r', '\n']);
            let end = &line[text.len()..];
            // A line of JSON has no prefix: no other field of SSE begins with a bracket.
            let mut prefixes = ["data: ", "data:"].into_iter().chain(text.starts_with(['{', '[']).then_some(""));
            let content = prefixes.find_map(|prefix| Some((prefix, text.strip_prefix(prefix)?)));
            match (content, &mut data) {
                (Some((_, content)), Some(data)) => {
                    data.push('\n');
                    data.push_str(content);
                }
                (Some((prefix, content)), None) => {
                    data = Some(content.to_owned());
                    lines.push(FrameLine::Data { prefix, end: end.to_owned() });
                }
                (None, _) => lines.push(FrameLine::Other(line.to_owned())),
            }
        }
        let text = data.unwrap_or_default();
        let spelled = JsonText::of(&text);
        let json = Json::parse(text.as_bytes()).ok();
        Frame { lines, is_json: json.is_some(), data: json.unwrap_or(Json::Str(text)), spelled }
    }

    fn print(&self, before: &Json, renamed: &dyn Fn(&str) -> String) -> String {
        let data = match (&self.data, &self.spelled) {
            (Json::Str(text), _) if !self.is_json => text.clone(),
            (data, Some(spelled)) => spelled.changed(before, data, renamed).text().to_owned(),
            (data, None) => data.print(Layout::Compact),
        };
        let mut out = String::new();
        for line in &self.lines {
            match line {
                FrameLine::Other(line) => out.push_str(line),
                FrameLine::Data { prefix, end } => {
                    let end = if end.is_empty() && data.contains('\n') { "\n" } else { end };
                    let lines: Vec<String> = data.split('\n').map(|line| format!("{prefix}{line}")).collect();
                    out.push_str(&lines.join(end));
                    out.push_str(end);
                }
            }
        }
        out
    }
}

/// Returns the lines of a frame, each with its line end: `\n`, `\r\n` or `\r`.
fn lines_of(frame: &str) -> impl Iterator<Item = &str> {
    let mut rest = frame;
    std::iter::from_fn(move || {
        let end = rest.find(['\n', '\r']).map(|at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

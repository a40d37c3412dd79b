//! Secrets in streams, where one may be parted over the pieces that a client puts together again.
//!
//! Which texts are pieces of one text is told by where they stand: the same place in each event, of events of the same
//! type and index. That holds for the deltas of every provider's API, of text as well as of tool arguments. A text that
//! is the same in each event, as an id is, is not a piece of anything.

use std::collections::BTreeMap;

use super::scrub::{Fired, Scrub};
use crate::json::{Json, JsonText, Layout};

/// What tells events apart that bring pieces of different texts.
const EVENT: [&str; 6] = ["type", "index", "item_id", "output_index", "content_index", "summary_index"];

impl Scrub {
    /// Takes secrets out of the frames of SSE or the lines of JSON. Frames that hold none stay as they are to the byte.
    pub(crate) fn frames(&self, frames: &mut [String], fired: &mut Fired) {
        let mut read: Vec<Frame> = frames.iter().map(|frame| Frame::read(frame)).collect();
        let before: Vec<Json> = read.iter().map(|frame| frame.data.clone()).collect();
        let mut data: Vec<&mut Json> = read.iter_mut().map(|frame| &mut frame.data).collect();
        parted(self, &mut data, fired);
        for ((text, frame), before) in frames.iter_mut().zip(&mut read).zip(&before) {
            self.json(&mut frame.data, fired);
            let rest_changed = frame.scrub_rest(self, fired);
            if rest_changed || frame.data != *before {
                *text = frame.print(before, &|key| self.key(key));
            }
        }
    }

    /// Takes secrets out of a body of JSON, which may be a stream in one array.
    pub(crate) fn body(&self, body: &mut Json, fired: &mut Fired) {
        if let Json::Array(pieces) = body {
            parted(self, &mut pieces.iter_mut().collect::<Vec<_>>(), fired);
        }
        self.json(body, fired);
    }
}

fn parted(scrub: &Scrub, events: &mut [&mut Json], fired: &mut Fired) {
    let mut texts: BTreeMap<String, Vec<&mut String>> = BTreeMap::new();
    for event in events {
        let mut place = String::new();
        for key in EVENT {
            let of = event.get(key).filter(|value| !matches!(value, Json::Object(_) | Json::Array(_)));
            place.extend(of.map(|of| format!("{key}={} ", of.print(Layout::Compact))));
        }
        collect(event, &mut place, &mut texts);
    }
    for mut pieces in texts.into_values() {
        if pieces.windows(2).any(|pair| pair[0] != pair[1]) {
            scrub.parted(&mut pieces, fired);
        }
    }
}

/// Each text of an event by its place; elements of a list by their index, where they have one.
fn collect<'a>(json: &'a mut Json, place: &mut String, texts: &mut BTreeMap<String, Vec<&'a mut String>>) {
    let length = place.len();
    match json {
        Json::Str(text) => texts.entry(place.clone()).or_default().push(text),
        Json::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                let index = item.get("index").and_then(Json::as_u64).map_or_else(|| i.to_string(), |n| format!("#{n}"));
                place.push('/');
                place.push_str(&index);
                collect(item, place, texts);
                place.truncate(length);
            }
        }
        Json::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                place.push('/');
                place.push_str(key);
                collect(value, place, texts);
                place.truncate(length);
            }
        }
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {}
    }
}

/// A frame of SSE, or a line of JSON.
struct Frame {
    /// All lines with their ends; the data's first one is where the data goes.
    lines: Vec<FrameLine>,
    /// The data as JSON, or as a string where it is none.
    data: Json,
    is_json: bool,
    /// The data as it came, where it is JSON that a [`JsonText`] holds.
    spelled: Option<JsonText>,
}

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
            let content = match (text.strip_prefix("data: "), text.strip_prefix("data:")) {
                (Some(content), _) => Some(("data: ", content)),
                (None, Some(content)) => Some(("data:", content)),
                // A line of JSON; what SSE knows beside data begins with another letter.
                _ if text.starts_with(['{', '[']) => Some(("", text)),
                _ => None,
            };
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

    /// Comments, names and ids.
    fn scrub_rest(&mut self, scrub: &Scrub, fired: &mut Fired) -> bool {
        let mut changed = false;
        for line in &mut self.lines {
            if let FrameLine::Other(text) = line {
                let before = text.clone();
                scrub.string(text, fired);
                changed |= *text != before;
            }
        }
        changed
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

/// The lines of a frame, each with its end: `\n`, `\r\n` or `\r`.
fn lines_of(frame: &str) -> impl Iterator<Item = &str> {
    let mut rest = frame;
    std::iter::from_fn(move || {
        let at = rest.find(['\n', '\r'])?;
        let end = at + if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        let (line, after) = rest.split_at(end);
        rest = after;
        Some(line)
    })
    .chain(frame.rfind(['\n', '\r']).map_or(Some(frame), |at| Some(&frame[at + 1..])).filter(|last| !last.is_empty()))
}

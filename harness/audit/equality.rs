//! Which changes do not count: those that touch only values that differ in every run, such as ids and times.

use std::collections::HashMap;

use retake_core::events::{Captured, Event, Payload, is_id, shown_headers, time_form};
use retake_core::json::{Json, Layout};

/// Prints the captures without the values that differ from run to run, so that two runs can be compared. Normalized ids are
/// numbered in the order of their first appearance, because the same ids are equal in each run. No `[golden]` option applies.
pub(super) fn stable_text(captures: &[Captured], normalize: &dyn Fn(&str) -> String) -> String {
    let mut printer = Printer { normalize, ids: HashMap::new(), out: String::new() };
    for capture in captures {
        let media_type = capture.content_type.split(';').next().unwrap_or_default().trim().to_owned();
        printer.line(&normalize(&capture.request));
        printer.line(&format!("{} {media_type}", capture.status));
        for line in shown_headers(&capture.delivery.headers, normalize) {
            printer.line(&line);
        }
        for event in capture.events.iter().chain(&capture.after.events).filter(|event| event.is_real()) {
            printer.line(&normalize(&event.label()));
            match (event.json(), &event.payload) {
                (Some(json), _) => {
                    let text = printer.json(&json).print(Layout::Compact);
                    printer.line(&text);
                }
                (None, Payload::Data(text)) => printer.line(&normalize(text)),
                (None, _) => printer.line(""),
            }
        }
    }
    printer.out
}

/// Returns the texts of a capture that differ from run to run, in order. If a change leaves them all as they are, it cannot
/// affect the other captures.
pub(super) fn texts_of_the_run(capture: &Captured, normalize: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut texts = Vec::new();
    for json in capture.events.iter().chain(&capture.after.events).filter_map(Event::json) {
        json.each_text(&mut |text| texts.extend((is_id(text) || normalize(text) != text).then(|| text.to_owned())));
    }
    texts
}

struct Printer<'a> {
    normalize: &'a dyn Fn(&str) -> String,
    ids: HashMap<String, usize>,
    out: String,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(&Json::from(text).print(Layout::Compact));
        self.out.push('\n');
    }

    fn json(&mut self, json: &Json) -> Json {
        match json {
            Json::Null | Json::Bool(_) => json.clone(),
            Json::Str(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) if self.is_time(json) => {
                Json::Str(time_form(json).unwrap_or_default())
            }
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) => Json::Str((self.normalize)(&json.print(Layout::Python))),
            Json::Str(text) => Json::Str(self.text(text)),
            Json::Array(items) => Json::Array(items.iter().map(|item| self.json(item)).collect()),
            Json::Object(entries) => {
                let entries: Vec<(String, Json)> =
                    entries.iter().map(|(key, value)| ((self.normalize)(key), self.json(value))).collect();
                Json::object(entries)
            }
        }
    }

    /// Whether a value is a point in time whose value does not count. That of a text does if a rule gives it a name.
    fn is_time(&self, json: &Json) -> bool {
        let is_plain = |text: &str| matches!(&*(self.normalize)(text), "<TS>" | "<DATE>");
        time_form(json).is_some() && json.as_str().is_none_or(is_plain)
    }

    fn text(&mut self, text: &str) -> String {
        let normal = (self.normalize)(text);
        if !normal.contains("<UUID>") {
            return normal;
        }
        let next = self.ids.len();
        let number = *self.ids.entry(text.to_owned()).or_insert(next);
        format!("{normal}{number}")
    }
}

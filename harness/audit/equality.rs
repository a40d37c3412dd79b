//! Which changes are none: what differs only in values of the run, which every run has others of.

use std::collections::HashMap;

use crate::events::{Captured, Event, Payload, is_id};
use crate::json::{Json, Layout};

/// All that captures say, without what differs from run to run. Ids that are normalized are numbered in the order of their
/// first appearance, since which of them are equal is the same in each run. No option of goldens is heeded.
pub(super) fn told(captures: &[Captured], normalize: &dyn Fn(&str) -> String) -> String {
    let mut teller = Teller { normalize, ids: HashMap::new(), out: String::new() };
    for capture in captures {
        let media_type = capture.content_type.split(';').next().unwrap_or_default().trim().to_owned();
        teller.line(&normalize(&capture.request));
        teller.line(&format!("{} {media_type}", capture.status));
        for event in capture.events.iter().chain(&capture.after.events).filter(|event| event.is_real()) {
            teller.line(&normalize(&event.label()));
            match (event.json(), &event.payload) {
                (Some(json), _) => {
                    let told = teller.json(&json).print(Layout::Compact);
                    teller.line(&told);
                }
                (None, Payload::Data(text)) => teller.line(&normalize(text)),
                (None, _) => teller.line(""),
            }
        }
    }
    teller.out
}

/// The texts of a capture that name what differs from run to run, in their order. Where they are the same, a change of the
/// capture makes no difference to the others.
pub(super) fn texts_of_the_run(capture: &Captured, normalize: &dyn Fn(&str) -> String) -> Vec<String> {
    fn collect(json: &Json, normalize: &dyn Fn(&str) -> String, texts: &mut Vec<String>) {
        match json {
            Json::Str(text) if is_id(text) || normalize(text) != *text => texts.push(text.clone()),
            Json::Array(items) => items.iter().for_each(|item| collect(item, normalize, texts)),
            Json::Object(entries) => entries.iter().for_each(|(_, value)| collect(value, normalize, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    for json in capture.events.iter().chain(&capture.after.events).filter_map(Event::json) {
        collect(&json, normalize, &mut texts);
    }
    texts
}

struct Teller<'a> {
    normalize: &'a dyn Fn(&str) -> String,
    ids: HashMap<String, usize>,
    out: String,
}

impl Teller<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(&Json::from(text).print(Layout::Compact));
        self.out.push('\n');
    }

    fn json(&mut self, json: &Json) -> Json {
        match json {
            Json::Null | Json::Bool(_) => json.clone(),
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) if crate::events::is_time(json) => Json::from("<TS>"),
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

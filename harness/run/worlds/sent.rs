//! What a service sent in a run, as far as verdicts compare it: the names of its events, its words, and its texts by their place.
//! Pure.

use std::collections::BTreeMap;

use retake_core::events::{Captured, Event, Payload, ShapeOptions, is_id};
use retake_core::json::Json;

/// The keys whose values are words, besides those that the scenario names.
const WORDS: [&str; 8] = ["type", "role", "status", "kind", "object", "event", "finish_reason", "stop_reason"];
/// The longest word.
const LONGEST: usize = 48;
/// The words by which services say that something failed; a suite can name more.
const ERROR_WORDS: [&str; 6] = ["error", "fail", "incomplete", "cancel", "refus", "abort"];

/// The keys of what is said to a person, the most likely first.
const SAYING: [&str; 7] = ["message", "detail", "error", "errorMessage", "reason", "title", "text"];

/// The number of the answer, the name of the event, and the path in its payload.
pub(super) type Place = (usize, String, String);

/// How often something came, and what its first event said to a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) times: usize,
    pub(super) said: Option<String>,
}

/// What a service sent.
#[derive(Clone, Debug, Default)]
pub(super) struct WhatWasSent {
    /// The names of events.
    pub(super) labels: BTreeMap<String, Came>,
    /// Words, each with its key; and keys that say that something failed, each as a word without a key.
    pub(super) words: BTreeMap<(String, String), Came>,
    /// The texts at each place, without ids.
    pub(super) texts: BTreeMap<Place, Vec<String>>,
    /// How each answer ended: the name of the last event, and its payload if that is no JSON.
    pub(super) ends: BTreeMap<usize, String>,
}

impl WhatWasSent {
    /// Reads what was captured, each answer with its number. Of events that may come at any time, only the names count. `normalize`
    /// replaces what differs from run to run.
    pub(super) fn of<'a>(
        captured: impl IntoIterator<Item = (usize, &'a Captured)>,
        options: &ShapeOptions,
        normalize: &dyn Fn(&str) -> String,
    ) -> WhatWasSent {
        let mut sent = WhatWasSent::default();
        for (part, capture) in captured.into_iter().filter(|(_, capture)| !capture.is_left_open()) {
            if let Some(tree) = &capture.tree {
                sent.texts.entry((part, "page".to_owned(), String::new())).or_default().push(normalize(tree));
            }
            for event in capture.events.iter().chain(&capture.after.events).filter(|event| event.is_real()) {
                sent.event(part, event, options, normalize);
            }
            let last = capture.events.iter().rfind(|event| event.is_real());
            sent.ends.insert(part, last.map(|event| end_of(event, normalize)).unwrap_or_default());
        }
        sent
    }

    /// Reads one event.
    fn event(&mut self, part: usize, event: &Event, options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) {
        let (json, label) = (event.json(), normalize(&event.label()));
        let said = match (&json, &event.payload) {
            (Some(json), _) => said(json).map(normalize),
            (None, Payload::Data(text)) => Some(normalize(text)),
            _ => None,
        };
        match (&json, &event.payload) {
            _ if options.ignores(&event.label()) => {}
            (Some(json), _) => walk(json, &mut String::new(), "", &mut |path, key, value| {
                if value.is_truthy() && says_error(key, &[]) {
                    came(&mut self.words, (String::new(), key.to_owned()), said.as_deref());
                }
                let Json::Str(text) = value else { return };
                let names_words = WORDS.contains(&key) || options.words.iter().any(|word| word == key);
                if names_words && text.len() <= LONGEST && !text.contains(char::is_whitespace) {
                    came(&mut self.words, (key.to_owned(), text.clone()), said.as_deref());
                } else {
                    self.text((part, label.clone(), path.to_owned()), text, normalize);
                }
            }),
            (None, Payload::Data(text)) => self.text((part, label.clone(), String::new()), text, normalize),
            _ => {}
        }
        came(&mut self.labels, label, said.as_deref());
    }

    /// Ids are no texts, whether a run has a name for them or not.
    fn text(&mut self, place: Place, text: &str, normalize: &dyn Fn(&str) -> String) {
        if !is_id(text) {
            self.texts.entry(place).or_default().push(normalize(text));
        }
    }
}

/// Counts something that came.
fn came<K: Ord>(all: &mut BTreeMap<K, Came>, what: K, said: Option<&str>) {
    let came = all.entry(what).or_insert_with(|| Came { times: 0, said: said.map(str::to_owned) });
    came.times += 1;
}

/// Visits each value of a payload, with its path, and with the key of the field in which it is.
fn walk<'a>(json: &'a Json, path: &mut String, key: &'a str, visit: &mut dyn FnMut(&str, &'a str, &'a Json)) {
    visit(path, key, json);
    let len = path.len();
    let mut inside = |name: &str, key: &'a str, value: &'a Json| {
        path.extend(["/", name]);
        walk(value, path, key, visit);
        path.truncate(len);
    };
    match json {
        Json::Object(fields) => fields.iter().for_each(|(key, value)| inside(key, key, value)),
        Json::Array(items) => items.iter().enumerate().for_each(|(at, item)| inside(&at.to_string(), key, item)),
        _ => {}
    }
}

/// What a payload says to a person: the first text under a key for that.
fn said(json: &Json) -> Option<&str> {
    let mut texts = Vec::new();
    walk(json, &mut String::new(), "", &mut |_, key, value| {
        texts.extend(value.as_str().filter(|text| !text.is_empty()).map(|text| (key, text)));
    });
    SAYING.iter().find_map(|key| texts.iter().find(|(of, _)| of == key)).map(|(_, text)| *text)
}

/// What a body says to a person: a text of its JSON, or all of it.
pub(super) fn said_by_body(body: &str) -> Option<String> {
    let json = Json::parse(body.as_bytes()).ok();
    let said = json.as_ref().map_or(Some(body), |json| said(json))?;
    Some(said.to_owned()).filter(|said| !said.trim().is_empty())
}

/// Whether a name or a word says that something failed.
pub(super) fn says_error(word: &str, more: &[String]) -> bool {
    let word = word.to_lowercase();
    ERROR_WORDS.into_iter().any(|says| word.contains(says))
        || more.iter().any(|says| word.contains(&says.to_lowercase()))
}

fn end_of(event: &Event, normalize: &dyn Fn(&str) -> String) -> String {
    let label = normalize(&event.label());
    match &event.payload {
        Payload::Data(text) if event.json().is_none() && label != "body" => format!("{label} {}", normalize(text)),
        _ => label,
    }
}

//! What a service sent in a run, as far as verdicts compare it: the names of its events, its words, and its texts by their place.
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::events::{Captured, Event, Payload, is_id};
use retake_core::json::Json;

/// The keys whose values are words, besides those that the scenario names.
const WORDS: [&str; 8] = ["type", "role", "status", "kind", "object", "event", "finish_reason", "stop_reason"];
/// The longest word.
const LONGEST: usize = 48;
/// The words by which services say that something failed; a suite can name more.
const ERROR_WORDS: [&str; 6] = ["error", "fail", "incomplete", "cancel", "refus", "abort"];

/// The number of the answer, the name of the event, and the path in its payload.
pub(super) type Place = (usize, String, String);

/// What a service sent.
#[derive(Clone, Debug, Default)]
pub(super) struct WhatWasSent {
    /// The names of events.
    pub(super) labels: BTreeSet<String>,
    /// Words, each with its key; and keys that say that something failed, each as a word without a key.
    pub(super) words: BTreeSet<(String, String)>,
    /// The texts at each place, without ids.
    pub(super) texts: BTreeMap<Place, Vec<String>>,
    /// How each stream ended: the name of the last event, and its payload if that is no JSON.
    pub(super) ends: Vec<String>,
}

impl WhatWasSent {
    /// Reads what was captured. `normalize` replaces what differs from run to run.
    pub(super) fn of(captured: &[Captured], more_words: &[String], normalize: &dyn Fn(&str) -> String) -> WhatWasSent {
        let mut sent = WhatWasSent::default();
        let parts = captured.iter().filter(|capture| !capture.delivery.only_headers);
        for (part, capture) in parts.enumerate() {
            if let Some(tree) = &capture.tree {
                sent.texts.entry((part, "page".to_owned(), String::new())).or_default().push(normalize(tree));
            }
            for event in capture.events.iter().chain(&capture.after.events).filter(|event| event.is_real()) {
                sent.event(part, event, more_words, normalize);
            }
            let last = capture.events.iter().rfind(|event| event.is_real());
            sent.ends.push(last.map(|event| end_of(event, normalize)).unwrap_or_default());
        }
        sent
    }

    fn event(&mut self, part: usize, event: &Event, more_words: &[String], normalize: &dyn Fn(&str) -> String) {
        let label = event.label().into_owned();
        match (event.json(), &event.payload) {
            (Some(json), _) => {
                let mut walk = Walk { sent: self, part, label: &label, more_words, normalize };
                walk.value(&json, &mut String::new(), "");
            }
            (None, Payload::Data(text)) => self.text((part, label.clone(), String::new()), normalize(text)),
            _ => {}
        }
        self.labels.insert(label);
    }

    fn text(&mut self, place: Place, text: String) {
        if !is_id(&text) {
            self.texts.entry(place).or_default().push(text);
        }
    }
}

/// Whether a name or a word says that something failed.
pub(super) fn says_error(word: &str, more: &[String]) -> bool {
    let word = word.to_lowercase();
    ERROR_WORDS.into_iter().any(|says| word.contains(says))
        || more.iter().any(|says| word.contains(&says.to_lowercase()))
}

fn end_of(event: &Event, normalize: &dyn Fn(&str) -> String) -> String {
    let label = event.label().into_owned();
    match &event.payload {
        Payload::Data(text) if event.json().is_none() && label != "body" => format!("{label} {}", normalize(text)),
        _ => label,
    }
}

struct Walk<'a> {
    sent: &'a mut WhatWasSent,
    part: usize,
    label: &'a str,
    more_words: &'a [String],
    normalize: &'a dyn Fn(&str) -> String,
}

impl Walk<'_> {
    fn value(&mut self, value: &Json, path: &mut String, key: &str) {
        let len = path.len();
        match value {
            Json::Object(fields) => {
                for (key, value) in fields.iter() {
                    if value.is_truthy() && says_error(key, &[]) {
                        self.sent.words.insert((String::new(), key.to_owned()));
                    }
                    path.extend(["/", key]);
                    self.value(value, path, key);
                    path.truncate(len);
                }
            }
            Json::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    path.extend(["/", &at.to_string()]);
                    self.value(value, path, key);
                    path.truncate(len);
                }
            }
            Json::Str(text) if self.is_word(key, text) => {
                self.sent.words.insert((key.to_owned(), text.clone()));
            }
            Json::Str(text) => {
                let text = (self.normalize)(text);
                self.sent.text((self.part, self.label.to_owned(), path.clone()), text);
            }
            _ => {}
        }
    }

    fn is_word(&self, key: &str, text: &str) -> bool {
        (WORDS.contains(&key) || self.more_words.iter().any(|word| word == key))
            && text.len() <= LONGEST
            && !text.contains(char::is_whitespace)
    }
}

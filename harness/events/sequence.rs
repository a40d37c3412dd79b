//! The first part of a golden: one line an event, in order.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;

use super::event::{Event, Payload};
use super::notation::{self, Normalize};
use super::shape::{Detail, ShapeOptions};
use crate::json::Json;

/// The events of one capture, in the order in which a golden has them.
pub(super) struct Sequence<'a> {
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    label: Rc<Label>,
    /// What stands behind the label; empty for an event without data.
    rest: String,
    event: &'a Event,
}

/// A label, as it is written, and what the options say of it.
struct Label {
    text: String,
    collapsed: bool,
    unordered: bool,
}

impl<'a> Sequence<'a> {
    /// Reads events into lines.
    pub(super) fn of(events: &'a [Event], options: &ShapeOptions, normalize: &Normalize) -> Sequence<'a> {
        let mut writer = Writer { options, normalize, labels: HashMap::new(), lists: HashMap::new() };
        let mut lines: Vec<Line> = events.iter().map(|event| writer.line(event)).collect();
        for run in lines.chunk_by_mut(|a, b| a.label.unordered && b.label.unordered).filter(|run| run.len() > 1) {
            // Equal lines are told apart only where their values are shown, in order of appearance.
            let values = |line: &Line| match line.event.json() {
                Some(json) if options.detail == Detail::Values => notation::value(json, normalize),
                _ => String::new(),
            };
            run.sort_by_cached_key(|line| (line.label.text.clone(), line.rest.clone(), values(line)));
        }
        Sequence { lines }
    }

    /// Appends the lines. Runs of equal ones are counted.
    pub(super) fn print(&self, out: &mut String) {
        let width = self.lines.iter().map(|line| line.label.text.chars().count()).max().unwrap_or(0);
        for run in self.lines.chunk_by(|a, b| a.label.text == b.label.text && a.rest == b.rest) {
            let Line { label, rest, .. } = &run[0];
            out.push_str(&label.text);
            if !rest.is_empty() {
                out.extend(std::iter::repeat_n(' ', width - label.text.chars().count() + 2));
                out.push_str(rest);
            }
            if run.len() > 1 && !label.collapsed {
                let _ = write!(out, " ×{}", run.len());
            }
            out.push('\n');
        }
    }

    /// The payloads that are JSON, by label.
    pub(super) fn payloads(&self) -> BTreeMap<&str, Vec<&'a Json>> {
        let mut payloads: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for line in &self.lines {
            if let Some(json) = line.event.json() {
                payloads.entry(&line.label.text).or_default().push(json);
            }
        }
        payloads
    }
}

/// Writes lines. Labels and lists of keys come again and again: each is written once.
struct Writer<'a, 'o> {
    options: &'o ShapeOptions,
    normalize: &'o Normalize<'o>,
    /// By label, and whether it belongs to no event: a comment, a tail.
    labels: HashMap<(&'a str, bool), Rc<Label>>,
    /// The keys of objects, as they are written.
    lists: HashMap<Vec<&'a str>, String>,
}

impl<'a> Writer<'a, '_> {
    fn line(&mut self, event: &'a Event) -> Line<'a> {
        let label = self.label(event);
        let rest = if label.collapsed { "…".to_owned() } else { self.rest(&event.payload) };
        Line { label, rest, event }
    }

    fn label(&mut self, event: &'a Event) -> Rc<Label> {
        let raw = event.label();
        let no_event = matches!(event.payload, Payload::Comment(_) | Payload::Tail(_));
        let label = self.labels.entry((raw, no_event)).or_insert_with(|| {
            let normal = if no_event { raw.to_owned() } else { (self.normalize)(raw) };
            let is_in = |labels: &[String]| labels.iter().any(|label| *label == normal || label == raw);
            let text = match &*normal {
                ":" | "(unterminated)" if no_event => normal.clone(),
                ":" | "(unterminated)" => notation::quoted(&normal),
                _ => notation::name(&normal).into_owned(),
            };
            let (collapsed, unordered) = (is_in(&self.options.collapse), is_in(&self.options.unordered));
            Rc::new(Label { text, collapsed, unordered })
        });
        Rc::clone(label)
    }

    fn rest(&mut self, payload: &'a Payload) -> String {
        let mut rest = match payload {
            Payload::Json(Json::Object(entries)) => self.keys(entries.keys()),
            Payload::Json(Json::Array(_)) => "[]".to_owned(),
            Payload::Json(scalar) => scalar.kind().to_owned(),
            Payload::Text(text) if text == "[DONE]" => "\"[DONE]\"".to_owned(),
            Payload::Text(_) | Payload::Tail(_) => "text".to_owned(),
            Payload::Empty => String::new(),
            Payload::Comment(text) if text.is_empty() => String::new(),
            Payload::Comment(text) => return notation::prose(&(self.normalize)(text)).into_owned(),
        };
        if let Payload::Json(json) = payload {
            for pointer in &self.options.show {
                if let Some(value) = json.pointer(pointer) {
                    let value = notation::value(value, self.normalize);
                    let _ = write!(rest, "  {} = {value}", notation::name(pointer));
                }
            }
        }
        rest
    }

    fn keys(&mut self, keys: impl Iterator<Item = &'a str>) -> String {
        let list = self.lists.entry(keys.collect()).or_insert_with_key(|keys| {
            let mut keys: Vec<String> = keys.iter().map(|key| (self.normalize)(key)).collect();
            keys.sort_unstable();
            keys.dedup();
            let keys: Vec<_> = keys.iter().map(|key| notation::name(key)).collect();
            format!("{{{}}}", keys.join(", "))
        });
        list.clone()
    }
}

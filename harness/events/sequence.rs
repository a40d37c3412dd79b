//! Events are read once, one after another, into both parts of a golden: one line an event, and what is inside them, merged.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;

use super::event::{Event, Payload};
use super::merge::{Keep, Merger, Seen, Shape};
use super::notation::{self, Normalize};
use super::options::{Detail, ShapeOptions};
use super::remembered::Remembered;
use crate::json::Json;

/// The lines of a golden's first part, and the shapes of its second one by label.
pub(super) struct Sequence {
    lines: Vec<EventLine>,
    pub(super) shapes: BTreeMap<String, (Keep, Shape)>,
}

/// A line and how often it comes in a row.
struct EventLine {
    label: Rc<Label>,
    /// What stands behind the label; empty for an event without data.
    rest: Rc<str>,
    count: usize,
}

/// A label, as it is written, and what the options say of it.
struct Label {
    text: String,
    collapsed: bool,
    unordered: bool,
}

impl Sequence {
    /// Reads events. There are no shapes where nothing is to be kept of them.
    pub(super) fn of(events: &[Event], options: &ShapeOptions, normalize: &Normalize) -> Sequence {
        let mut reader = Reader {
            options,
            normalize,
            labels: HashMap::new(),
            lists: Remembered::default(),
            mergers: [Merger::new(Keep::Types, normalize), Merger::new(Keep::Values, normalize)],
            lines: Vec::new(),
            waiting: Vec::new(),
            seen: BTreeMap::new(),
        };
        for event in events {
            reader.read(event);
        }
        reader.sort_waiting();
        let Reader { lines, seen, mut mergers, .. } = reader;
        let nested = seen.into_iter().filter(|(_, (_, seen))| seen.is_nested());
        let shapes = nested.map(|(label, (keep, seen))| (label, (keep, mergers[keep as usize].finish(seen))));
        Sequence { lines, shapes: shapes.collect() }
    }

    /// Whether no event has a line.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Appends the lines. Runs of equal ones are counted.
    pub(super) fn print(&self, out: &mut String) {
        let width = self.lines.iter().map(|line| line.label.text.chars().count()).max().unwrap_or(0);
        for EventLine { label, rest, count } in &self.lines {
            out.push_str(&label.text);
            if !rest.is_empty() {
                out.extend(std::iter::repeat_n(' ', width - label.text.chars().count() + 2));
                out.push_str(rest);
            }
            if *count > 1 && !label.collapsed {
                let _ = write!(out, " ×{count}");
            }
            out.push('\n');
        }
    }
}

/// Reads events. Labels and lists of keys come again and again: each is written once.
struct Reader<'a, 'o> {
    options: &'o ShapeOptions,
    normalize: &'o Normalize<'o>,
    /// By label, and whether it belongs to no event: a comment, a tail.
    labels: HashMap<String, [Option<Rc<Label>>; 2]>,
    /// The keys of objects, as they are written.
    lists: Remembered,
    /// One for each [`Keep`].
    mergers: [Merger<'o>; 2],
    lines: Vec<EventLine>,
    /// Events in a row that are to be sorted.
    waiting: Vec<Waiting<'a>>,
    /// What was seen in payloads, by label.
    seen: BTreeMap<String, (Keep, Seen)>,
}

/// An event that is to be sorted among its neighbours.
struct Waiting<'a> {
    label: Rc<Label>,
    rest: Rc<str>,
    /// Equal lines are told apart only where their values are shown, in order of appearance.
    values: String,
    event: &'a Event,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self, event: &'a Event) {
        if !self.options.shows(event) {
            return;
        }
        let json = event.json();
        let label = self.label(event.label_with(json.as_ref()), !event.is_real());
        let rest = if label.collapsed { "…".into() } else { self.rest(&event.payload, json.as_ref()) };
        if !label.unordered {
            self.sort_waiting();
            self.merge(&label, json.as_ref());
            self.line(label, rest);
            return;
        }
        let values = if self.options.detail == Detail::Values {
            json.map(|json| notation::value(&json, self.normalize)).unwrap_or_default()
        } else {
            self.merge(&label, json.as_ref());
            String::new()
        };
        self.waiting.push(Waiting { label, rest, values, event });
    }

    fn sort_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by(|a, b| (&a.label.text, &a.rest, &a.values).cmp(&(&b.label.text, &b.rest, &b.values)));
        for Waiting { label, rest, event, .. } in waiting {
            if self.options.detail == Detail::Values {
                self.merge(&label, event.json().as_ref());
            }
            self.line(label, rest);
        }
    }

    fn line(&mut self, label: Rc<Label>, rest: Rc<str>) {
        match self.lines.last_mut() {
            Some(last) if last.label.text == label.text && last.rest == rest => last.count += 1,
            _ => self.lines.push(EventLine { label, rest, count: 1 }),
        }
    }

    fn merge(&mut self, label: &Label, json: Option<&Json>) {
        let Some(json) = json.filter(|_| self.options.detail != Detail::Keys) else { return };
        if !self.seen.contains_key(&label.text) {
            let keep = if label.collapsed { Keep::Types } else { Keep::of(self.options.detail) };
            self.seen.insert(label.text.clone(), (keep, Seen::default()));
        }
        let Some((keep, seen)) = self.seen.get_mut(&label.text) else { return };
        self.mergers[*keep as usize].add(json, seen);
    }

    fn label(&mut self, raw: &str, no_event: bool) -> Rc<Label> {
        if let Some(Some(label)) = self.labels.get(raw).map(|labels| &labels[usize::from(no_event)]) {
            return label.clone();
        }
        let normal = if no_event { raw.to_owned() } else { (self.normalize)(raw) };
        let is_in = |labels: &[String]| labels.iter().any(|label| *label == normal || label == raw);
        let text = match &*normal {
            ":" | "(unterminated)" if no_event => normal.clone(),
            ":" | "(unterminated)" => notation::json_quoted(&normal),
            _ => notation::name(&normal).into_owned(),
        };
        let (collapsed, unordered) = (is_in(&self.options.collapse), is_in(&self.options.unordered));
        let label = Rc::new(Label { text, collapsed, unordered });
        self.labels.entry(raw.to_owned()).or_default()[usize::from(no_event)] = Some(label.clone());
        label
    }

    fn rest(&mut self, payload: &Payload, json: Option<&Json>) -> Rc<str> {
        let rest: Rc<str> = match (json, payload) {
            (Some(Json::Object(entries)), _) => self.keys(entries.keys()),
            (Some(Json::Array(_)), _) => "[]".into(),
            (Some(scalar), _) => scalar.kind().into(),
            (None, Payload::Data(text)) if &**text == "[DONE]" => "\"[DONE]\"".into(),
            (None, Payload::Data(_) | Payload::Tail(_)) => "text".into(),
            (None, Payload::Empty) => "".into(),
            (None, Payload::Comment(text)) if text.is_empty() => "".into(),
            (None, Payload::Comment(text)) => return notation::prose(&(self.normalize)(text)).into(),
        };
        let shown = self.options.show.iter().filter_map(|pointer| Some((pointer, json?.pointer(pointer)?)));
        let shown = shown.map(|(pointer, value)| {
            format!("  {} = {}", notation::name(pointer), notation::value(value, self.normalize))
        });
        let shown: String = shown.collect();
        if shown.is_empty() { rest } else { format!("{rest}{shown}").into() }
    }

    fn keys<'k>(&mut self, keys: impl Iterator<Item = &'k str> + Clone) -> Rc<str> {
        let mut raw = String::new();
        for key in keys.clone() {
            // With its length, since a key may hold any character.
            let _ = write!(raw, "{}:{key}", key.len());
        }
        self.lists.of(&raw, || {
            let mut keys: Vec<String> = keys.map(|key| (self.normalize)(key)).collect();
            keys.sort_unstable();
            keys.dedup();
            let keys: Vec<_> = keys.iter().map(|key| notation::name(key)).collect();
            format!("{{{}}}", keys.join(", "))
        })
    }
}

//! The labels of events as a golden writes them, with the options that apply to each.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::captured::{Captured, Event, Payload, content, is_body};
use super::notation::{self, Normalize};
use super::options::ShapeOptions;
use crate::json::Json;

/// A label and the options that apply to it.
pub(super) struct Label {
    /// The label as a golden writes it.
    pub(super) text: String,
    pub(super) name: String,
    /// The same, with the request of a body: two answers may mean different things by one key.
    pub(super) place: String,
    pub(super) collapsed: bool,
    pub(super) unordered: bool,
    pub(super) ignored: bool,
}

/// Creates labels. Each is created once, since the same labels repeat.
struct Labels<'a> {
    options: &'a ShapeOptions,
    normalize: &'a Normalize<'a>,
    /// The known labels by raw text. The second one of a pair is that of a comment or a tail.
    known: HashMap<String, [Option<Rc<Label>>; 2]>,
}

impl Labels<'_> {
    /// Returns the label for a raw text in the answer to a request. `no_event` says that it is the label of a comment or a tail.
    fn of(&mut self, raw: &str, no_event: bool, request: &str) -> Rc<Label> {
        let known = self.known.get(raw).filter(|_| !is_body(raw));
        if let Some(Some(label)) = known.map(|labels| &labels[usize::from(no_event)]) {
            return label.clone();
        }
        let normal = if no_event { raw.to_owned() } else { (self.normalize)(raw) };
        let is_in = |labels: &[String]| labels.iter().any(|label| *label == normal || label == raw);
        let text = match &*normal {
            text if no_event && text.starts_with([':', '(']) => normal.clone(),
            // A label that looks like a line with a special meaning is quoted.
            text if text == ":" || text.starts_with('(') => notation::json_quoted(&normal),
            _ => notation::name(&normal).into_owned(),
        };
        let options = self.options;
        let (collapsed, unordered) = (is_in(&options.collapse), is_in(&options.unordered));
        let ignored = !no_event && (options.ignores(&normal) || options.ignores(raw));
        let place = place(&text, request);
        let label = Rc::new(Label { text, name: normal, place, collapsed, unordered, ignored });
        self.known.entry(raw.to_owned()).or_default()[usize::from(no_event)] = Some(label.clone());
        label
    }
}

/// Returns the label of one event, as a golden writes it where nothing in it is replaced by a name.
pub(super) fn written(options: &ShapeOptions, event: &Event, json: Option<&Json>) -> String {
    let mut labels = Labels { options, normalize: &str::to_owned, known: HashMap::new() };
    labels.of(&options.label_of(event, json), !event.is_real(), "").text.clone()
}

/// Returns the request of an answer, as a golden has it.
pub(super) fn request_of(capture: &Captured, normalize: &Normalize<'_>) -> String {
    notation::unseen_escaped(normalize(capture.request.trim()).trim()).into_owned()
}

/// Returns what a label names in all answers, or that of a body in those to one request.
pub(super) fn place(label: &str, request: &str) -> String {
    if is_body(label) { format!("{label} of {request}") } else { label.to_owned() }
}

/// An event that a golden shows, with its payload, which is parsed only here.
pub(super) struct ReadEvent<'a> {
    pub(super) event: &'a Event,
    /// Its index among all events of its capture.
    pub(super) at: usize,
    /// Whether it came after the last event for which the step waited.
    pub(super) is_late: bool,
    pub(super) label: Rc<Label>,
    /// Its payload, if it is JSON that all clients read alike.
    pub(super) json: Option<Json>,
    pub(super) has_key_twice: bool,
    /// Whether its payload is text, as those of all events of its label are.
    is_text: bool,
}

impl ReadEvent<'_> {
    /// Its payload, if it is JSON, or a whole text.
    pub(super) fn value(&self) -> Option<Cow<'_, Json>> {
        let text = || content(&self.event.payload, None).filter(|_| self.is_text);
        self.json.as_ref().map(Cow::Borrowed).or_else(text)
    }
}

/// The events of each capture.
pub(super) type Captures<'a> = [Vec<ReadEvent<'a>>];

/// Returns the events of each capture that a golden shows. Others, such as heartbeats, come at any time and separate nothing.
pub(super) fn read<'a>(
    captures: impl IntoIterator<Item = &'a Captured>,
    options: &ShapeOptions,
    normalize: &Normalize,
) -> Vec<Vec<ReadEvent<'a>>> {
    let mut labels = Labels { options, normalize, known: HashMap::new() };
    let mut read = |(at, event): (usize, &'a Event), before: usize, is_beside: bool, request: &str| {
        if !options.comments && matches!(event.payload, Payload::Comment(_)) {
            return None;
        }
        // Of an object that has a key twice, some clients read the first value, and others the last.
        let json = event.parsed(Json::parse_unique).and_then(Result::ok);
        let twice = if json.is_none() { event.json() } else { None };
        let raw = options.label_of(event, json.as_ref().or(twice.as_ref()));
        let label = labels.of(&raw, !event.is_real() || is_beside, request);
        let has_key_twice = twice.is_some();
        let is_text = event.is_body() || event.name.is_some() && !label.collapsed;
        (!label.ignored).then_some(ReadEvent { event, at, is_late: at >= before, label, json, has_key_twice, is_text })
    };
    let mut of = |capture: &'a Captured| {
        let (all, request) = (capture.all_events(options).enumerate(), request_of(capture, normalize));
        all.filter_map(|event| read(event, capture.events.len(), capture.delivery.is_beside, &request)).collect()
    };
    let mut all: Vec<Vec<ReadEvent<'_>>> = captures.into_iter().map(&mut of).collect();
    let has_json = all.iter().flatten().filter(|read| read.json.is_some());
    let with_json: HashSet<_> = has_json.map(|read| read.label.text.clone()).collect();
    for read in all.iter_mut().flatten() {
        read.is_text &= read.event.is_body() || !with_json.contains(&read.label.text);
    }
    all
}

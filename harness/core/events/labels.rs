//! The labels of events as a golden writes them, with the options that apply to each.

use std::collections::HashMap;
use std::rc::Rc;

use super::captured::{Event, Payload};
use super::notation::{self, Normalize};
use super::options::ShapeOptions;
use crate::json::Json;

/// A label and the options that apply to it.
pub(super) struct Label {
    /// The label as a golden writes it.
    pub(super) text: String,
    pub(super) name: String,
    pub(super) collapsed: bool,
    pub(super) unordered: bool,
    pub(super) ignored: bool,
}

/// Creates labels. Each is created once, since the same labels repeat.
pub(super) struct Labels<'a> {
    options: &'a ShapeOptions,
    normalize: &'a Normalize<'a>,
    /// The known labels by raw text. The second one of a pair is that of a comment or a tail.
    known: HashMap<String, [Option<Rc<Label>>; 2]>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(options: &'a ShapeOptions, normalize: &'a Normalize<'a>) -> Labels<'a> {
        Labels { options, normalize, known: HashMap::new() }
    }

    /// Creates the label of a line that is not an event.
    pub(super) fn of_note(text: &str) -> Rc<Label> {
        let (text, name) = (text.to_owned(), String::new());
        Rc::new(Label { text, name, collapsed: false, unordered: false, ignored: false })
    }

    /// Returns the label and the JSON of an event that a golden shows; `None` for others, such as heartbeats.
    pub(super) fn shown(&mut self, event: &Event) -> Option<(Rc<Label>, Option<Json>)> {
        if !self.options.comments && matches!(event.payload, Payload::Comment(_)) {
            return None;
        }
        let json = event.json();
        let label = self.of(&self.options.label_of(event, json.as_ref()), !event.is_real());
        (!label.ignored).then_some((label, json))
    }

    /// Returns the label for a raw text. `no_event` says that it is the label of a comment or a tail.
    fn of(&mut self, raw: &str, no_event: bool) -> Rc<Label> {
        if let Some(Some(label)) = self.known.get(raw).map(|labels| &labels[usize::from(no_event)]) {
            return label.clone();
        }
        let normal = if no_event { raw.to_owned() } else { (self.normalize)(raw) };
        let is_in = |labels: &[String]| labels.iter().any(|label| *label == normal || label == raw);
        let text = match &*normal {
            ":" | "(unterminated)" if no_event => normal.clone(),
            // A label that looks like a line with a special meaning is quoted.
            text if text == ":" || text.starts_with('(') => notation::json_quoted(&normal),
            _ => notation::name(&normal).into_owned(),
        };
        let options = self.options;
        let label = Rc::new(Label {
            text,
            collapsed: is_in(&options.collapse),
            unordered: is_in(&options.unordered),
            ignored: !no_event && (options.ignores(&normal) || options.ignores(raw)),
            name: normal,
        });
        self.known.entry(raw.to_owned()).or_default()[usize::from(no_event)] = Some(label.clone());
        label
    }
}

//! Reads the events once, one after another, for both parts of a golden: one line for each event, and the merged payloads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use super::captured::{Captured, Ending, Event, Payload};
use super::chosen::Chosen;
use super::held::NOT_HELD;
use super::ids::Ids;
use super::labels::{Label, Labels};
use super::lists::Lengths;
use super::merge::{Keep, Merger, Seen, Shape};
use super::notation::{self, Normalize};
use super::options::{Detail, ShapeOptions, TextAs};
use super::payloads::{PayloadReader, Payloads};
use super::pins::{Pinned, Pins};
use super::recorded::Recorded;
use super::remembered::Remembered;
use super::search::{Holdings, content};
use super::texts::Messages;
use super::value;
use super::words::WordKeys;
use super::written::{AFTER_LAST, BROKE_OFF, LEFT_OPEN};
use crate::json::{Json, Object};

/// The smallest width of the column of labels.
const LABELS: usize = 8;

/// The lines of a golden's first part, and the shapes of its second part by label.
pub(super) struct Sequence {
    lines: Vec<EventLine>,
    pub(super) shapes: BTreeMap<String, LabelShape>,
    /// The number of events that have ids.
    with_id: usize,
    /// The number of events.
    real: usize,
}

/// The merged payloads of the events of one label.
pub(super) struct LabelShape {
    pub(super) name: String,
    pub(super) keep: Keep,
    pub(super) shape: Shape,
    /// The hash of all payloads, at the level of values.
    pub(super) hash: Option<String>,
}

/// What is needed to write the captures of a golden.
pub(super) struct Writing<'a> {
    pub(super) options: &'a ShapeOptions,
    pub(super) normalize: &'a Normalize<'a>,
    pub(super) ids: &'a Ids,
    pub(super) words: &'a WordKeys,
    pub(super) chosen: &'a Chosen<'a>,
    /// Where the texts of collapsed events are.
    pub(super) holdings: &'a Holdings,
    pub(super) recorded: &'a Recorded,
    pub(super) pinned: &'a RefCell<Pinned>,
}

/// A line, with the number of times that it repeats.
struct EventLine {
    label: Rc<Label>,
    rest: Rest,
    /// The values and texts to show below the line.
    shown: Vec<String>,
    count: usize,
}

/// The text after a label, which is empty for an event without data. The lengths of lists go between its pieces.
#[derive(Clone)]
struct Rest {
    pieces: Rc<[String]>,
    /// The lengths, each with the pointer of its list.
    lengths: Vec<(Rc<str>, Lengths)>,
}

impl Sequence {
    /// Reads the events of a capture. At the level of keys, there are no shapes.
    pub(super) fn of(capture: &Captured, writing: &Writing<'_>) -> Sequence {
        let Writing { options, normalize, ids, words, .. } = *writing;
        let mut reader = Reader {
            writing,
            labels: Labels::new(options, normalize),
            keys: Remembered::default(),
            payloads: PayloadReader {
                options,
                normalize,
                ids,
                scalars: Remembered::default(),
                keys: Remembered::default(),
            },
            mergers: [Keep::Types, Keep::Values, Keep::Chunks].map(|keep| Merger::new(keep, normalize, ids, words)),
            lines: Vec::new(),
            waiting: Vec::new(),
            seen: BTreeMap::new(),
            messages: BTreeMap::new(),
            with_id: 0,
            real: 0,
        };
        for event in &capture.events {
            reader.read(event);
        }
        if options.after_last {
            reader.read_on(capture);
        }
        reader.finish()
    }

    /// Whether there are no lines.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the text for the status line that says which events have ids.
    pub(super) fn ids(&self) -> &'static str {
        match self.with_id {
            0 => "",
            all if all == self.real => ", with ids",
            _ => ", some with ids",
        }
    }

    /// Appends the lines, where equal neighbours are one line with a count.
    pub(super) fn print(&self, writing: &Writing<'_>, out: &mut String) {
        for EventLine { label, rest, shown, count } in &self.lines {
            let pins = Pins::new(&label.name, writing.options, writing.pinned);
            let mut text = rest.print(|pointer, length| pins.counted(pointer, length).is_some());
            if *count > 1 && !label.collapsed {
                let _ = write!(text, " ×{count}");
            }
            let mut shown = shown.iter();
            if let (true, Some(first)) = (label.collapsed, shown.clone().next()) {
                let _ = write!(text, "  {first}");
                shown.next();
            }
            if rest.is_empty() {
                let _ = write!(out, "{}{text}", label.text);
            } else {
                notation::padded(&label.text, &text, LABELS, out);
            }
            out.push('\n');
            for line in shown {
                notation::padded("", line, LABELS, out);
                out.push('\n');
            }
        }
    }
}

/// Reads events. Labels and lists of keys repeat, so each is created once.
struct Reader<'a, 'o> {
    writing: &'o Writing<'o>,
    labels: Labels<'o>,
    /// The keys of objects, as they are written.
    keys: Remembered<Keys>,
    /// One for each [`Keep`].
    mergers: [Merger<'o>; 3],
    payloads: PayloadReader<'o>,
    lines: Vec<EventLine>,
    /// Neighbouring events that are to be sorted.
    waiting: Vec<Waiting<'a>>,
    /// The contents of payloads, by label.
    seen: BTreeMap<String, LabelSeen>,
    /// The texts of collapsed events, by label.
    messages: BTreeMap<String, (Rc<Label>, Messages<'o>)>,
    with_id: usize,
    real: usize,
}

/// The contents of the payloads of one label.
struct LabelSeen {
    label: Rc<Label>,
    keep: Keep,
    seen: Seen,
    payloads: Payloads,
}

/// An event that will be sorted among its neighbours.
struct Waiting<'a> {
    label: Rc<Label>,
    rest: Rest,
    /// The sort key of events with the same label: the text of the event, and its values if these are shown in their order of
    /// appearance; first without ids, then with them.
    sorted_by: Vec<String>,
    shown: Vec<String>,
    event: &'a Event,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self, event: &'a Event) {
        let Some((label, json)) = self.labels.shown(event) else { return };
        self.real += usize::from(event.is_real());
        self.with_id += usize::from(event.is_real() && event.id.is_some());
        let (rest, shown) = if label.collapsed {
            (Rest::word("…"), Vec::new())
        } else {
            (self.rest(&event.payload, json.as_ref()), self.shown(&event.payload, json.as_ref()))
        };
        if !label.unordered {
            self.sort_waiting();
            self.line(label, rest, shown, event, json.as_ref());
            return;
        }
        let (options, normalize) = (self.writing.options, self.writing.normalize);
        let values = options.detail == Detail::Values && !label.collapsed;
        let print = |ids: &Ids| {
            let printed = json.as_ref().filter(|_| values).map(|json| value::value(json, ids, normalize));
            printed.unwrap_or_default()
        };
        let mut sorted_by = vec![rest.print(|_, _| true)];
        // The values of collapsed events depend on where a text was cut, so they do not count.
        for pointer in options.show.iter().filter(|_| !label.collapsed) {
            let shown = json.as_ref().and_then(|json| json.pointer(pointer));
            sorted_by.extend(shown.map(|shown| value::value(shown, &Ids::default(), normalize)));
        }
        sorted_by.push(print(&Ids::default()));
        // For events that differ only in their ids.
        sorted_by.extend(shown.iter().cloned());
        sorted_by.push(print(self.writing.ids));
        self.waiting.push(Waiting { label, rest, sorted_by, shown, event });
    }

    /// Reads the events after the last one for which the step waited, and how the stream ended.
    fn read_on(&mut self, capture: &'a Captured) {
        self.sort_waiting();
        let before = self.lines.len();
        self.note(AFTER_LAST);
        for event in capture.after.events.iter().filter(|event| event.is_real()) {
            self.read(event);
        }
        self.sort_waiting();
        if self.lines.len() == before + 1 {
            self.lines.pop();
        }
        match capture.after.ending {
            Ending::Ended => {}
            Ending::Open => self.note(LEFT_OPEN),
            Ending::BrokeOff => self.note(BROKE_OFF),
        }
    }

    /// Adds a line that is not an event.
    fn note(&mut self, text: &str) {
        let label = Labels::of_note(text);
        self.lines.push(EventLine { label, rest: Rest::word(""), shown: Vec::new(), count: 1 });
    }

    fn finish(mut self) -> Sequence {
        self.sort_waiting();
        for (label, messages) in std::mem::take(&mut self.messages).into_values() {
            let pins = Pins::new(&label.name, self.writing.options, self.writing.pinned);
            for (line, texts) in messages.finish(self.writing.normalize) {
                self.lines[line].shown.extend(texts.into_iter().filter(|text| pins.text(text)));
            }
        }
        for line in self.lines.iter_mut().filter(|line| line.label.collapsed && line.label.unordered) {
            line.shown.sort();
        }
        let (holdings, options) = (self.writing.holdings, self.writing.options);
        let is_not_held = |label: &Label| {
            let holding = holdings.get(&label.text).filter(|_| label.collapsed && !options.loosens(&label.name, None));
            holding.is_some_and(|holding| holding.not_held)
        };
        for line in self.lines.iter_mut().filter(|line| is_not_held(&line.label)) {
            line.shown.insert(0, NOT_HELD.to_owned());
        }
        let Reader { lines, seen, mut mergers, with_id, real, .. } = self;
        let nested = seen.into_iter().filter(|(_, of)| of.seen.is_nested());
        let shapes = nested.map(|(text, LabelSeen { label, keep, seen, payloads })| {
            let (shape, hash) = (mergers[keep as usize].finish(seen), payloads.finish());
            (text, LabelShape { name: label.name.clone(), keep, shape, hash })
        });
        Sequence { lines, shapes: shapes.collect(), with_id, real }
    }

    fn sort_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by(|a, b| (&a.label.text, &a.sorted_by).cmp(&(&b.label.text, &b.sorted_by)));
        for Waiting { label, rest, shown, event, .. } in waiting {
            self.line(label, rest, shown, event, event.json().as_ref());
        }
    }

    /// Adds an event: merges its payload, and adds its line. If the line equals the last one or differs only in lengths, the
    /// last one is counted once more instead.
    fn line(&mut self, label: Rc<Label>, rest: Rest, shown: Vec<String>, event: &Event, json: Option<&Json>) {
        self.merge(&label, json);
        if label.collapsed {
            let line = match self.lines.last() {
                Some(last) if last.label.text == label.text => self.lines.len() - 1,
                _ => self.lines.len(),
            };
            let Writing { holdings, recorded, .. } = *self.writing;
            let new = || (label.clone(), Messages::new(holdings.get(&label.text), recorded));
            let (_, messages) = self.messages.entry(label.text.clone()).or_insert_with(new);
            if let Some(content) = content(&event.payload, json) {
                messages.take(&content, line);
            }
        }
        match self.lines.last_mut() {
            Some(last) if last.label.text == label.text && last.rest.pieces == rest.pieces && last.shown == shown => {
                last.count += 1;
                for ((_, last), (_, next)) in last.rest.lengths.iter_mut().zip(&rest.lengths) {
                    last.add(next);
                }
            }
            _ => self.lines.push(EventLine { label, rest, shown, count: 1 }),
        }
    }

    fn merge(&mut self, label: &Rc<Label>, json: Option<&Json>) {
        let detail = self.writing.options.detail;
        let Some(json) = json.filter(|_| detail != Detail::Keys) else { return };
        if !self.seen.contains_key(&label.text) {
            let keep = if label.collapsed { Keep::Chunks } else { Keep::of(detail) };
            let (label, seen, payloads) = (label.clone(), Seen::default(), Payloads::default());
            self.seen.insert(label.text.clone(), LabelSeen { label, keep, seen, payloads });
        }
        let Some(of) = self.seen.get_mut(&label.text) else { return };
        self.mergers[of.keep as usize].add(json, &mut of.seen);
        if of.keep == Keep::Values {
            self.payloads.take(json, label, &mut of.payloads);
        }
    }

    fn rest(&mut self, payload: &Payload, json: Option<&Json>) -> Rest {
        match (json, payload) {
            (Some(Json::Object(entries)), _) => self.keys(entries),
            (Some(Json::Array(items)), _) => {
                let pieces: Rc<[String]> = ["[".to_owned(), "]".to_owned()].into();
                Rest { pieces, lengths: vec![("".into(), Lengths::of(items.len()))] }
            }
            (Some(scalar), _) => Rest::word(scalar.kind()),
            (None, Payload::Data(text)) if &**text == "[DONE]" => Rest::word("\"[DONE]\""),
            (None, Payload::Data(text) | Payload::Tail(text)) => match &*self.text_lines(text) {
                [line] => Rest::word(line),
                _ => Rest::word("text"),
            },
            (None, Payload::Empty) => Rest::word(""),
            (None, Payload::Comment(text)) if text.is_empty() => Rest::word(""),
            (None, Payload::Comment(text)) => Rest::word(&notation::prose(&(self.writing.normalize)(text))),
        }
    }

    /// Returns the lines of a text that is not JSON, normalized and quoted. Empty if such lines are not shown.
    fn text_lines(&self, text: &str) -> Vec<String> {
        if self.writing.options.text == TextAs::Kind {
            return Vec::new();
        }
        let text = (self.writing.normalize)(text);
        text.trim_end().lines().map(|line| notation::json_quoted(line.trim_end())).collect()
    }

    fn shown(&self, payload: &Payload, json: Option<&Json>) -> Vec<String> {
        let Some(json) = json else {
            let (Payload::Data(text) | Payload::Tail(text)) = payload else { return Vec::new() };
            let lines = self.text_lines(text);
            return if lines.len() > 1 { lines } else { Vec::new() };
        };
        let Writing { options, normalize, ids, .. } = self.writing;
        let found = options.show.iter().filter_map(|pointer| Some((pointer, json.pointer(pointer)?)));
        let shown = found
            .map(|(pointer, value)| format!("{} = {}", notation::name(pointer), value::value(value, ids, normalize)));
        shown.collect()
    }

    /// Returns the keys of an object. Each key of a list has the length of the list.
    fn keys(&mut self, entries: &Object) -> Rest {
        let mut raw = String::new();
        for (key, value) in entries.iter() {
            // The length of each key makes this text unambiguous, since a key may contain any character.
            let _ = write!(raw, "{}{}{key}", key.len(), if value.as_array().is_some() { '[' } else { ':' });
        }
        let normalize = self.writing.normalize;
        let keys = self.keys.of(&raw, || Keys::of(entries, normalize));
        let length = |raw: &str| entries.get(raw).and_then(Json::as_array).map_or(0, <[Json]>::len);
        let lengths = keys.lists.iter().map(|(raw, pointer)| (pointer.clone(), Lengths::of(length(raw))));
        Rest { pieces: keys.pieces.clone(), lengths: lengths.collect() }
    }
}

/// The keys of an object as a golden writes them.
struct Keys {
    /// The text, split where the lengths of lists go.
    pieces: Rc<[String]>,
    /// The raw key of each list, and the pointer of its place.
    lists: Vec<(String, Rc<str>)>,
}

impl Keys {
    fn of(entries: &Object, normalize: &Normalize) -> Keys {
        let mut keys: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for key in entries.keys() {
            keys.entry(normalize(key)).or_default().push(key);
        }
        let (mut pieces, mut piece, mut lists) = (Vec::new(), String::from("{"), Vec::new());
        for (nth, (key, raw)) in keys.iter().enumerate() {
            piece.push_str(if nth == 0 { "" } else { ", " });
            piece.push_str(&notation::name(key));
            // Keys that normalize to the same key have no length.
            if let [raw] = raw[..]
                && entries.get(raw).is_some_and(|value| value.as_array().is_some())
            {
                pieces.push(std::mem::take(&mut piece));
                lists.push((raw.to_owned(), format!("/{}", notation::pointer_token(key)).into()));
            }
        }
        piece.push('}');
        pieces.push(piece);
        Keys { pieces: pieces.into(), lists }
    }
}

impl Rest {
    fn is_empty(&self) -> bool {
        self.pieces.iter().all(String::is_empty)
    }

    fn word(text: &str) -> Rest {
        Rest { pieces: [text.to_owned()].into(), lengths: Vec::new() }
    }

    /// Returns the text. `counts` takes the pointer and the text of each length, and returns whether to write it.
    fn print(&self, counts: impl Fn(&str, &str) -> bool) -> String {
        let mut text = String::new();
        for (nth, piece) in self.pieces.iter().enumerate() {
            text.push_str(piece);
            let Some((pointer, lengths)) = self.lengths.get(nth) else { continue };
            let length = lengths.to_string();
            match counts(pointer, &length) {
                true if pointer.is_empty() => text.push_str(&length),
                true => drop(write!(text, "[{length}]")),
                false => {}
            }
        }
        text
    }
}

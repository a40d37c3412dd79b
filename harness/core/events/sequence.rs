//! Reads the events once, one after another, for both parts of a golden: one line for each event, and the merged payloads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::captured::{Payload, content};
use super::chosen::Chosen;
use super::golden::{self, Shown};
use super::held::Holdings;
use super::ids::Ids;
use super::labels::{Label, ReadEvent};
use super::lists::Lengths;
use super::lost::Lost;
use super::merge::{Keep, Merger, Says, Seen};
use super::notation::{self, Normalize};
use super::options::{Detail, ShapeOptions, TextAs};
use super::order::{Neighbours, Order};
use super::payloads::Payloads;
use super::pins::{Pinned, Pins};
use super::recorded::Recorded;
use super::texts::Messages;
use super::turns::Turns;
use super::value;
use super::words::WordKeys;
use crate::json::{Json, Object};
use time::{OffsetDateTime, UtcOffset};

/// What is said of a payload in which an object has a key twice.
const KEY_TWICE: &str = "JSON with a key twice";

/// The lines of a golden's first part, and the shapes of its second part by label.
pub(super) struct Sequence {
    pub(super) lines: Vec<golden::EventLine>,
    pub(super) shapes: BTreeMap<String, LabelShape>,
    /// By label, the texts at the places of the model's that are not the model's.
    pub(super) lost: Vec<(String, Lost)>,
}

/// The merged payloads of the events of one label.
pub(super) struct LabelShape {
    pub(super) label: Rc<Label>,
    pub(super) keep: Keep,
    pub(super) seen: Seen,
    payloads: Payloads,
    each: Neighbours,
}

impl LabelShape {
    /// The hash of all of them: see [`Tree`](golden::Tree).
    pub(super) fn whole(&self) -> Option<Order> {
        self.payloads.hash().map(Order::of_hash).or_else(|| self.each.order())
    }
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
    pub(super) turns: &'a Turns<'a>,
    /// What all turns say, whether or not the golden names them.
    pub(super) said: &'a Turns<'a>,
    /// How far the clocks are from UTC by which its system may tell the day.
    pub(super) zones: &'a [UtcOffset],
    pub(super) pinned: &'a RefCell<Pinned>,
}

/// A line, with the number of times that it repeats.
struct EventLine {
    label: Rc<Label>,
    top: Top,
    /// The values and texts to show.
    shown: Vec<Shown>,
    count: usize,
    is_late: bool,
}

/// The top level of a payload, with the lengths of its lists apart.
#[derive(Clone)]
struct Top {
    /// Without lengths. The keys of an object are created once, since the same keys repeat.
    top: Rc<golden::Top>,
    /// The lengths, each with the pointer of its list and the position of its key.
    lengths: Vec<(Rc<str>, usize, Lengths)>,
}

impl Sequence {
    /// Reads the events of a capture, which were `told` at a time. At the level of keys, there are no shapes.
    pub(super) fn of<'a>(events: &'a [ReadEvent<'a>], told: Option<OffsetDateTime>, writing: &Writing<'_>) -> Sequence {
        let Writing { normalize, ids, words, .. } = *writing;
        let says = |text: &str| {
            let (chosen, said) = (writing.chosen, writing.said);
            let which = |text: &str| said.which(text).or_else(|| said.begins(text));
            [chosen.print(text, &|text| said.which(text)), chosen.print(text, &which)]
        };
        let says: Option<Says<'_>> = if writing.chosen.holds_order { Some((&says, writing.recorded)) } else { None };
        let merger = |keep| Merger::new(keep, normalize, ids, words).with(says, told, writing.chosen.is_committed());
        let mergers = [Keep::Types, Keep::Values, Keep::Chunks].map(merger);
        let (lines, shapes, messages) = Default::default();
        let mut reader = Reader { writing, mergers, lines, waiting: Vec::new(), shapes, messages };
        for event in events.iter().filter(|event| !event.is_late || event.event.is_real()) {
            reader.read(event);
        }
        reader.finish()
    }
}

/// Reads events.
struct Reader<'a, 'o> {
    writing: &'o Writing<'o>,
    /// One for each [`Keep`].
    mergers: [Merger<'o>; 3],
    lines: Vec<EventLine>,
    /// Neighbouring events that are to be sorted.
    waiting: Vec<Waiting<'a>>,
    /// By label.
    shapes: BTreeMap<String, LabelShape>,
    /// The texts of collapsed events, by label.
    messages: BTreeMap<String, (Rc<Label>, Messages<'o>)>,
}

/// An event that will be sorted among its neighbours.
struct Waiting<'a> {
    top: Top,
    /// The sort key of events with the same label: the text of the event, and its values if these are shown in their order of
    /// appearance; first without ids, then with them.
    sorted_by: Vec<String>,
    shown: Vec<Shown>,
    event: &'a ReadEvent<'a>,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self, read: &'a ReadEvent<'a>) {
        let ReadEvent { event, label, json, is_late, has_key_twice, .. } = read;
        let (top, shown) = if *has_key_twice {
            (Top::of(golden::Top::Word(KEY_TWICE.to_owned())), Vec::new())
        } else if label.collapsed {
            (Top::of(golden::Top::Collapsed), Vec::new())
        } else {
            (self.top(&event.payload, json.as_ref()), self.shown(&event.payload, json.as_ref()))
        };
        if !label.unordered || self.waiting.last().is_some_and(|last| last.event.is_late != *is_late) {
            self.sort_waiting();
        }
        if !label.unordered {
            return self.line(read, top, shown);
        }
        let (options, normalize) = (self.writing.options, self.writing.normalize);
        let values = options.detail == Detail::Values && !label.collapsed;
        let told = json.as_ref().filter(|_| values);
        let print = |ids: &Ids| told.map(|json| value::value(json, ids, normalize)).unwrap_or_default();
        let mut sorted_by = vec![top.finish(|_, _| true).to_string()];
        // The values of collapsed events depend on where a text was cut, so they do not count.
        for pointer in options.show.iter().filter(|_| !label.collapsed) {
            let shown = json.as_ref().and_then(|json| json.pointer(pointer));
            sorted_by.extend(shown.map(|shown| value::value(shown, &Ids::default(), normalize)));
        }
        sorted_by.push(print(&Ids::default()));
        // For events that differ only in their ids.
        sorted_by.extend(shown.iter().map(ToString::to_string));
        sorted_by.push(print(self.writing.ids));
        self.waiting.push(Waiting { top, sorted_by, shown, event: read });
    }

    fn finish(mut self) -> Sequence {
        self.sort_waiting();
        let Writing { options, normalize, holdings, turns, pinned, .. } = *self.writing;
        let mut all_lost = Vec::new();
        for (label, messages) in std::mem::take(&mut self.messages).into_values() {
            let pins = Pins::new(&label.name, options, pinned);
            let mut lost = Vec::new();
            for (line, texts) in messages.finish(&label.text, normalize, turns, &mut lost) {
                let is_pinned = |text: &Shown| match text {
                    Shown::Text(places, text) if !label.collapsed => {
                        places.iter().all(|held| pins.pinned(&held.path.pointer(), &text.to_string()))
                    }
                    text => pins.note(None, &text.to_string()),
                };
                self.lines[line].shown.extend(texts.into_iter().filter(is_pinned));
            }
            lost.retain(|lost| !pins.is_loose(&lost.held.path.pointer()));
            all_lost.extend(lost.into_iter().map(|lost| (label.text.clone(), lost)));
        }
        for line in self.lines.iter_mut().filter(|line| line.label.collapsed) {
            if line.label.unordered {
                line.shown.sort_by_cached_key(ToString::to_string);
            }
            let holding = holdings.get(&line.label.text).filter(|_| !options.loosens(&line.label.name, None));
            if holding.is_some_and(|holding| holding.not_held) {
                line.shown.insert(0, Shown::NotHeld);
            }
        }
        let Reader { lines, mut shapes, mergers, .. } = self;
        for of in shapes.values_mut() {
            mergers[of.keep as usize].finish(&mut of.seen);
        }
        let line = |EventLine { label, top, shown, count, is_late }: EventLine| {
            let top = top.finish(|pointer, length| Pins::new(&label.name, options, pinned).counted(pointer, length));
            let times = if label.collapsed { 1 } else { count };
            golden::EventLine { label: label.text.clone(), top, times, shown, is_late }
        };
        // The lines come first: the pins of a place are in the order of a golden.
        Sequence { lines: lines.into_iter().map(line).collect(), shapes, lost: all_lost }
    }

    fn sort_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by(|a, b| (&a.event.label.text, &a.sorted_by).cmp(&(&b.event.label.text, &b.sorted_by)));
        for Waiting { top, shown, event, .. } in waiting {
            self.line(event, top, shown);
        }
    }

    /// Adds an event: merges its payload, and adds its line. If the line equals the last one or differs only in lengths, the
    /// last one is counted once more instead.
    fn line(&mut self, read: &ReadEvent<'_>, top: Top, shown: Vec<Shown>) {
        let ReadEvent { event, label, json, is_late, .. } = read;
        let (json, is_late) = (json.as_ref(), *is_late);
        self.merge(label, read.value().as_deref());
        let follows = self.lines.last().is_some_and(|last| last.label.text == label.text && last.is_late == is_late);
        let holding = self.writing.holdings.get(&label.text);
        match self.lines.last_mut().filter(|_| follows) {
            Some(last) if last.top.top == top.top && last.shown == shown => {
                last.count += 1;
                for ((.., last), (.., next)) in last.top.lengths.iter_mut().zip(&top.lengths) {
                    last.add(next);
                }
            }
            _ => self.lines.push(EventLine { label: label.clone(), top, shown, count: 1, is_late }),
        }
        if holding.is_some()
            && let Some(content) = content(&event.payload, json)
        {
            let new = || (label.clone(), Messages::new(holding, self.writing.recorded, label.collapsed));
            let (_, messages) = self.messages.entry(label.text.clone()).or_insert_with(new);
            messages.take(&content, self.lines.len() - 1);
        }
    }

    fn merge(&mut self, label: &Rc<Label>, json: Option<&Json>) {
        let detail = self.writing.options.detail;
        let Some(json) = json.filter(|_| detail != Detail::Keys) else { return };
        let of = self.shapes.entry(label.text.clone()).or_insert_with(|| {
            let keep = if label.collapsed { Keep::Chunks } else { Keep::of(detail) };
            let (seen, payloads, each) = (Seen::default(), Payloads::default(), Neighbours::default());
            LabelShape { label: label.clone(), keep, seen, payloads, each }
        });
        let print = self.mergers[of.keep as usize].add(json, false, &mut of.seen);
        match of.keep {
            Keep::Values => of.payloads.take(json, label, self.writing),
            Keep::Types if json.as_object().is_some() && self.writing.chosen.holds_order => of.each.add_alone(print),
            _ => {}
        }
    }

    fn top(&mut self, payload: &Payload, json: Option<&Json>) -> Top {
        let word = |text: &str| Top::of(golden::Top::Word(text.to_owned()));
        match (json, payload) {
            (Some(Json::Object(entries)), _) => self.keys(entries),
            (Some(Json::Array(items)), _) => {
                let lengths = vec![("".into(), 0, Lengths::of(items.len()))];
                Top { lengths, ..Top::of(golden::Top::List(String::new())) }
            }
            (Some(scalar), _) => word(scalar.kind()),
            (None, Payload::Data(text)) if &**text == "[DONE]" => word("\"[DONE]\""),
            (None, Payload::Data(text) | Payload::Tail(text)) => match &*self.text_lines(text) {
                [line] => word(line),
                _ => word("text"),
            },
            (None, Payload::Empty) => word(""),
            (None, Payload::Comment(text)) if text.is_empty() => word(""),
            (None, Payload::Comment(text)) => word(&notation::prose(&(self.writing.normalize)(text))),
        }
    }

    /// Returns the lines of a text that is not JSON, normalized and quoted. Empty if such lines are not shown.
    fn text_lines(&self, text: &str) -> Vec<String> {
        if self.writing.options.text == TextAs::Kind {
            return Vec::new();
        }
        (self.writing.normalize)(text).trim_end().lines().map(|line| notation::json_quoted(line.trim_end())).collect()
    }

    fn shown(&self, payload: &Payload, json: Option<&Json>) -> Vec<Shown> {
        let Some(json) = json else {
            let (Payload::Data(text) | Payload::Tail(text)) = payload else { return Vec::new() };
            let lines = self.text_lines(text);
            return if lines.len() > 1 { lines.into_iter().map(Shown::Line).collect() } else { Vec::new() };
        };
        let Writing { options, normalize, ids, .. } = self.writing;
        let shown = |pointer: &String| {
            let value = value::value(json.pointer(pointer)?, ids, normalize);
            Some(Shown::Value(notation::name(pointer).into_owned(), value))
        };
        options.show.iter().filter_map(shown).collect()
    }

    /// Returns the keys of an object. Each key of a list has the length of the list.
    fn keys(&self, entries: &Object) -> Top {
        let mut keys: BTreeMap<String, Vec<&Json>> = BTreeMap::new();
        for (key, value) in entries.iter() {
            keys.entry((self.writing.normalize)(key)).or_default().push(value);
        }
        let (mut names, mut lengths) = (Vec::new(), Vec::new());
        for (at, (key, values)) in keys.iter().enumerate() {
            // Keys that normalize to the same key have no length.
            let list = if let [value] = values[..] { value.as_array() } else { None };
            if let Some(list) = list {
                lengths.push((format!("/{}", notation::pointer_token(key)).into(), at, Lengths::of(list.len())));
            }
            names.push((notation::name(key).into_owned(), list.map(|_| String::new())));
        }
        Top { top: golden::Top::Keys(names).into(), lengths }
    }
}

impl Top {
    fn of(top: golden::Top) -> Top {
        Top { top: top.into(), lengths: Vec::new() }
    }

    /// Returns it with its lengths. `counts` takes the pointer and the text of each, and returns whether to write it.
    fn finish(&self, counts: impl Fn(&str, &str) -> bool) -> golden::Top {
        let mut top = (*self.top).clone();
        for (pointer, at, lengths) in &self.lengths {
            let length = Some(lengths.to_string()).filter(|length| counts(pointer, length));
            match &mut top {
                golden::Top::Keys(keys) => keys[*at].1 = length,
                top => *top = golden::Top::List(length.unwrap_or_default()),
            }
        }
        top
    }
}

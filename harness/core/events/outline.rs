//! Prints a shape as lines of text: one line for each key, with its contents indented below.

use std::fmt::Write as _;
use std::rc::Rc;

use super::chosen::{At, Chosen, Pin};
use super::lists::ListShape;
use super::merge::{Field, Fields, Keep, List, Shape};
use super::notation;
use super::pins::Pins;
use super::scalars::{ScalarShape, SeenIds};
use super::tree::TreeLine;
use super::written::AS_A_WHOLE;

/// The largest number of characters of a list of objects that is printed on the line of its key.
const INLINE: usize = 80;
/// The largest number of words that are shown at a place.
const WORDS: usize = 12;
/// The largest number of pieces in which the numbers of ids are shown.
const PIECES: usize = 4;

/// Words that are quoted if they are the name of a variant, since they could be mistaken for a type.
const TYPES: [&str; 6] = ["boolean", "id", "null", "number", "object", "string"];

/// Returns the tree of an event label: a line with the label, and the fields below it. Next to the label are the shapes of
/// payloads that are not objects, and the hash of all payloads, if there is one.
pub(super) fn tree(
    label: &str,
    shape: &Shape,
    hash: Option<&str>,
    keep: Keep,
    (pins, chosen): (&Pins<'_>, &Chosen<'_>),
) -> TreeLine {
    let (text, below) = Outline { keep, pins, chosen }.describe(shape, "", &At::label(label));
    let text = (text != "object").then_some(text);
    let hash = hash.filter(|hash| pins.counts() && pins.pinned("", hash)).map(|hash| format!("{AS_A_WHOLE}{hash}"));
    let text = text.into_iter().chain(hash).collect::<Vec<_>>().join(", ");
    TreeLine { name: label.to_owned(), text, below: below.into() }
}

/// Prints the shapes of one label.
struct Outline<'a> {
    keep: Keep,
    /// The pins of the label, and which of them are loose.
    pins: &'a Pins<'a>,
    /// The places whose words and times are pinned.
    chosen: &'a Chosen<'a>,
}

impl Outline<'_> {
    /// Returns the text of a shape and the lines below it. `prefix` is that of these lines' names: empty, or `[]`, `[][]`
    /// for the elements of lists.
    fn describe(&self, shape: &Shape, prefix: &str, at: &At) -> (String, Vec<TreeLine>) {
        let mut lines = Vec::new();
        let object = shape.object.as_ref().map(|fields| {
            lines.extend(self.field_lines(fields, prefix, at));
            "object".to_owned()
        });
        let list = shape.list.as_ref().map(|list| {
            self.inline_list(list, prefix, at).unwrap_or_else(|| {
                let (text, below) = self.describe_list(list, prefix, at);
                lines.extend(below);
                text
            })
        });
        (self.union(self.scalars(&shape.scalars, at).into_iter().chain(object).chain(list)), lines)
    }

    fn describe_list(&self, list: &List, prefix: &str, at: &At) -> (String, Vec<TreeLine>) {
        let (mut words, mut lines) = (Vec::new(), Vec::new());
        let element = at.element();
        for (kind, fields) in &list.variants {
            let kind = variant(kind);
            lines.extend(self.field_lines(fields, &inside(prefix, &kind), &element));
            words.push(kind);
        }
        if let Some(rest) = &list.rest {
            let (text, below) = self.describe(rest, &format!("{prefix}[]"), &element);
            lines.extend(below);
            words.push(text);
        }
        (self.list_of(list, words, &at.pointer), lines)
    }

    fn field_lines(&self, fields: &Fields, prefix: &str, at: &At) -> Vec<TreeLine> {
        let line = |(key, field): (&Rc<str>, &Field)| {
            let name = inside(prefix, &field_name(key, field));
            let (text, below) = self.describe(&field.shape, "", &at.key(key, &name));
            TreeLine { name, text, below: below.into() }
        };
        fields.iter().map(line).collect()
    }

    /// Returns a shape as one text, or `None` if the text is too long, or has variants or pinned words or times, which need
    /// their own lines.
    fn inline(&self, shape: &Shape, prefix: &str, at: &At) -> Option<String> {
        let pin = self.pin(at);
        if pin.words && !shape.scalars.own.is_empty() || pin.times && !shape.scalars.times.is_empty() {
            return None;
        }
        let mut words = self.scalars(&shape.scalars, at);
        if let Some(fields) = &shape.object {
            let mut text = String::from(if fields.is_empty() { "object" } else { "{" });
            for (i, (key, field)) in fields.iter().enumerate() {
                let name = field_name(key, field);
                text.push_str(if i == 0 { "" } else { ", " });
                text.push_str(&name);
                text.push_str(": ");
                text.push_str(&self.inline(&field.shape, "", &at.key(key, &inside(prefix, &name)))?);
                within(&text)?;
            }
            text.push_str(if fields.is_empty() { "" } else { "}" });
            words.push(text);
        }
        if let Some(list) = &shape.list {
            words.push(self.inline_list(list, prefix, at)?);
        }
        let text = self.union(words);
        within(&text)?;
        Some(text)
    }

    fn inline_list(&self, list: &List, prefix: &str, at: &At) -> Option<String> {
        if list.variants.values().any(|fields| !fields.is_empty()) {
            return None;
        }
        let rest = list.rest.as_ref().map(|rest| self.inline(rest, &format!("{prefix}[]"), &at.element()));
        let rest = if let Some(rest) = rest { Some(rest?) } else { None };
        let text = self.list_of(list, list.variants.keys().map(|kind| variant(kind)).chain(rest), &at.pointer);
        within(&text)?;
        Some(text)
    }

    /// Returns the text of a list from the descriptions of its elements: `[3 × string]`, `[0..3 × object, 9 in all]`, or without
    /// a number if each list has one element.
    fn list_of(&self, list: &List, words: impl IntoIterator<Item = String>, pointer: &str) -> String {
        let elements = self.union(words);
        if self.keep == Keep::Chunks {
            return format!("[{elements}]");
        }
        let ListShape { range, total, reordered } = list.lists;
        let mut length = match range {
            (1, 1) | (_, 0) => String::new(),
            (least, most) if least == most => format!("{most} × "),
            (least, most) => format!("{least}..{most} × "),
        };
        let front = length.len();
        // The lengths of lists under a top-level key are shown on the lines of the events.
        if range.0 < range.1 && pointer.matches('/').count() > 1 {
            let _ = write!(length, ", {total} in all");
        }
        length.push_str(if reordered { ", reordered" } else { "" });
        match self.pins.counted(pointer, &length).map(|length| length.split_at(front)) {
            Some((front, end)) => format!("[{front}{elements}{end}]"),
            None => format!("[{elements}]"),
        }
    }

    /// Returns what is pinned at a place. Pieces of a text may look like words.
    fn pin(&self, at: &At) -> Pin {
        // What is loose has to look the same whether it is pinned in this run or not.
        if self.pins.is_loose(&at.pointer) {
            return Pin::default();
        }
        let Pin { words, times } = self.chosen.at(at);
        Pin { words: words && self.keep != Keep::Chunks, times }
    }

    /// Returns the words for the scalars at a place.
    fn scalars(&self, scalars: &ScalarShape, at: &At) -> Vec<String> {
        let ScalarShape { shown, types, words, own, times, ids } = scalars;
        if self.keep == Keep::Values && !shown.is_empty() {
            return if self.pins.pinned(&at.pointer, &shown.join(" | ")) { shown.clone() } else { types.clone() };
        }
        if words.is_empty() && own.is_empty() && times.is_empty() && ids.is_empty() {
            return shown.clone();
        }
        let chosen = self.pin(at);
        let own = if chosen.words { (&own[..], &[][..]) } else { (&[][..], &own[..]) };
        let times = if chosen.times { (&times[..], &[][..]) } else { (&[][..], &times[..]) };
        let all: Vec<&String> = words.iter().chain(own.0).collect();
        let mut pinned: Vec<String> = all.iter().take(WORDS).map(|word| notation::json_quoted(word)).collect();
        if let more @ 1.. = all.len().saturating_sub(WORDS) {
            pinned.push(format!("… {more} more"));
        }
        pinned.extend(times.0.iter().map(|(form, _)| form.clone()));
        let counts = self.keep != Keep::Chunks && self.pins.counts();
        pinned.extend(ids.words(counts));
        let mut shown = shown.clone();
        let mut add = |kind: &str| {
            if !shown.iter().any(|known| known == kind) {
                shown.push(kind.to_owned());
            }
        };
        own.1.iter().for_each(|_| add("string"));
        times.1.iter().for_each(|(_, kind)| add(kind));
        if pinned.is_empty() || self.pins.pinned(&at.pointer, &pinned.join(" | ")) {
            shown.extend(pinned);
        } else {
            for _ in all {
                add("string");
            }
            times.0.iter().for_each(|(_, kind)| add(kind));
            shown.extend((!ids.is_empty()).then(|| "id".to_owned()));
        }
        shown
    }

    fn union(&self, words: impl IntoIterator<Item = String>) -> String {
        let mut words: Vec<String> = words.into_iter().collect();
        if self.keep != Keep::Values {
            words.sort_unstable();
        }
        words.join(" | ")
    }
}

impl SeenIds {
    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.numbers.is_empty() && self.plain.is_empty()
    }

    /// Returns the words for ids: `<thread>`, `id 1..3`, `id`, `2 ids`.
    fn words(&self, counts: bool) -> Vec<String> {
        let mut words: Vec<String> = self.names.iter().map(ToString::to_string).collect();
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        for &number in &self.numbers {
            match pieces.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => pieces.push((number, number)),
            }
        }
        if pieces.len() > PIECES {
            words.push(format!("{} known ids", self.numbers.len()));
        } else {
            let ids = |(first, last): &(usize, usize)| {
                if first == last { format!("id {first}") } else { format!("id {first}..{last}") }
            };
            words.extend(pieces.iter().map(ids));
        }
        match self.plain.len() {
            0 => {}
            number @ 2.. if counts => words.push(format!("{number} ids")),
            _ => words.push("id".to_owned()),
        }
        words
    }
}

/// Returns `None` if a text is too long for one line. Callers check this early, so a long text is not built again at each level
/// of nesting.
fn within(text: &str) -> Option<()> {
    (text.chars().take(INLINE + 1).count() <= INLINE).then_some(())
}

fn field_name(key: &str, field: &Field) -> String {
    format!("{}{}", notation::name(key), if field.optional { "?" } else { "" })
}

fn variant(kind: &str) -> String {
    if TYPES.contains(&kind) { notation::json_quoted(kind) } else { notation::name(kind).into_owned() }
}

fn inside(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests;

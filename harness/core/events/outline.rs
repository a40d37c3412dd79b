//! Makes the tree of a shape: one node for each key, with its contents below.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use super::chosen::{At, Chosen, Pin, Places};
use super::golden::{self, Id, Kind, Kinds, NUMBER, Node, Printed, STRING, Tree, of_any_recording};
use super::merge::{Elements, Field, Keep, Objects, Seen};
use super::notation;
use super::order::Order;
use super::pins::Pins;
use super::scalars::{Scalars, SeenIds, Time};
use super::times::{LATER, NOW, drops_zeros};
use super::told::Beside;

/// The largest number of characters of a list of objects that is printed on the line of its key.
const INLINE: usize = 80;
/// The fewest characters of a field on such a line.
const SHORTEST: usize = 6;
/// The largest number of words that are shown at a place.
const WORDS: usize = 12;
/// The largest number of pieces in which the numbers of ids are shown.
const PIECES: usize = 4;

/// Words that are quoted if they are the name of a variant, since they could be mistaken for a type.
const TYPES: [&str; 8] = ["boolean", "false", "id", "null", "number", "object", "string", "true"];

/// Returns the tree of an event label: a line with the label, and the fields below it. Next to the label are the shapes of
/// payloads that are not objects, and the hash of all payloads, if there is one.
pub(super) fn tree(
    at: &At,
    seen: &Seen,
    whole: Option<Order>,
    keep: Keep,
    (pins, chosen, before, cut): (&Pins<'_>, &Chosen<'_>, Option<&Places>, HashSet<String>),
) -> Tree {
    let (kinds, below) = Outline { keep, pins, chosen, before, cut }.describe(seen, "", at);
    // Where runs differ at the level of types, it is left out.
    let is_pinned = |whole: &Order| pins.counts() && (keep == Keep::Types || pins.pinned("", whole.hash()));
    Tree { root: Node { name: at.line.clone(), kinds, below, ..Node::default() }, whole: whole.filter(is_pinned) }
}

/// Describes the shapes of one label.
struct Outline<'a> {
    keep: Keep,
    /// The pins of the label, and which of them are loose.
    pins: &'a Pins<'a>,
    /// The places whose words and times are pinned.
    chosen: &'a Chosen<'a>,
    /// Those of the committed golden.
    before: Option<&'a Places>,
    /// Where words of the model are cut: how long that is follows from the words.
    cut: HashSet<String>,
}

impl Outline<'_> {
    /// Returns the kinds of a shape and the nodes below it. `prefix` is that of these nodes' names: empty, or `[]`, `[][]`
    /// for the elements of lists.
    fn describe(&self, seen: &Seen, prefix: &str, at: &At) -> (Kinds, Vec<Node>) {
        let (mut kinds, mut nodes) = (self.scalars(&seen.scalars, at), Vec::new());
        if let Some(objects) = &seen.object {
            nodes.extend(self.fields(objects, prefix, at));
            kinds.push(Kind::plain("object"));
        }
        if let Some(list) = &seen.list {
            kinds.push(self.inline_list(list, prefix, at).unwrap_or_else(|| {
                let (kind, below) = self.describe_list(list, prefix, at);
                nodes.extend(below);
                kind
            }));
        }
        (self.union(kinds), nodes)
    }

    fn describe_list(&self, list: &Elements, prefix: &str, at: &At) -> (Kind, Vec<Node>) {
        let (mut kinds, mut nodes) = (Vec::new(), Vec::new());
        let element = at.element();
        for (kind, objects) in &list.variants {
            let kind = variant(kind);
            nodes.extend(self.fields(objects, &inside(prefix, &kind), &element));
            kinds.push(Kind::of(&kind));
        }
        if let Some(rest) = &list.rest {
            let (of_rest, below) = self.describe(rest, &format!("{prefix}[]"), &element);
            nodes.extend(below);
            kinds.extend(of_rest);
        }
        (self.list_of(list, kinds, &at.pointer), nodes)
    }

    fn fields(&self, objects: &Objects, prefix: &str, at: &At) -> Vec<Node> {
        let node = |(key, field): (&Rc<str>, &Field)| {
            let name = inside(prefix, &notation::name(key));
            let (kinds, below) = self.describe(&field.seen, "", &at.key(key, &name));
            let optional = field.objects < objects.count;
            Node { name, optional, kinds, below, sample: self.sample(&field.seen.scalars) }
        };
        objects.fields.iter().map(node).collect()
    }

    /// Returns a shape as kinds on one line, or `None` if they are too long, or have variants or pinned words or times, which
    /// need their own lines.
    fn inline(&self, seen: &Seen, prefix: &str, at: &At) -> Option<Kinds> {
        let pin = self.pin(at);
        let counts = pin.counts && seen.scalars.from().is_some() || pin.numbers && !seen.scalars.written.is_empty();
        if counts || pin.words && !seen.scalars.own.is_empty() || pin.times && !seen.scalars.times.is_empty() {
            return None;
        }
        let mut kinds = self.scalars(&seen.scalars, at);
        if let Some(objects) = &seen.object {
            let mut inline = Vec::new();
            for (key, field) in &objects.fields {
                let name = notation::name(key);
                let kinds = self.inline(&field.seen, "", &at.key(key, &inside(prefix, &name)))?;
                let optional = field.objects < objects.count;
                inline.push(golden::Field { name: name.into_owned(), optional, kinds });
                // Check this early, so a long text is not built again at each level of nesting.
                if inline.len() * SHORTEST > INLINE {
                    return None;
                }
            }
            kinds.push(if inline.is_empty() { Kind::plain("object") } else { Kind::Object(inline) });
        }
        if let Some(list) = &seen.list {
            kinds.push(self.inline_list(list, prefix, at)?);
        }
        within(self.union(kinds))
    }

    fn inline_list(&self, list: &Elements, prefix: &str, at: &At) -> Option<Kind> {
        if list.variants.values().any(|objects| !objects.fields.is_empty()) {
            return None;
        }
        let mut kinds: Kinds = list.variants.keys().map(|kind| Kind::of(&variant(kind))).collect();
        if let Some(rest) = &list.rest {
            kinds.extend(self.inline(rest, &format!("{prefix}[]"), &at.element())?);
        }
        within(vec![self.list_of(list, kinds, &at.pointer)])?.pop()
    }

    /// Returns a list of these elements: `[3 × string]`, `[0..3 × object, 9 in all]`, or without a number if each list has one
    /// element.
    fn list_of(&self, list: &Elements, elements: Kinds, pointer: &str) -> Kind {
        let elements = self.union(elements);
        let mut kind = golden::List { elements, ..golden::List::default() };
        if self.keep != Keep::Chunks {
            let golden::List { range, total, reordered, order, .. } = (*list.shown).clone();
            let shown = golden::List {
                range: range.filter(|range| *range != (1, 1) && range.1 > 0),
                // The lengths of lists under a top-level key are shown on the lines of the events.
                total: total.filter(|_| range.is_some_and(|(a, b)| a < b) && pointer.matches('/').count() > 1),
                reordered,
                ..golden::List::default()
            };
            if self.pins.counted(pointer, &Kind::List(shown.clone()).to_string()) {
                kind = golden::List { elements: kind.elements, order, ..shown };
            }
        }
        Kind::List(kind)
    }

    /// Returns what is pinned at a place. Pieces of a text may look like words, and their number depends on where it was cut.
    fn pin(&self, at: &At) -> Pin {
        // What is loose has to look the same whether it is pinned in this run or not.
        if self.pins.is_loose(&at.pointer) {
            return Pin::default();
        }
        let pin = self.chosen.at(at, self.before);
        let whole = self.keep != Keep::Chunks;
        Pin { words: pin.words && whole, counts: pin.counts && whole, numbers: pin.numbers && whole, ..pin }
    }

    /// Returns the kinds of the scalars at a place.
    fn scalars(&self, scalars: &Scalars, at: &At) -> Kinds {
        let Scalars { types, words, own, booleans, written, times, instants, ids, short, .. } = scalars;
        let plain = |types: &BTreeSet<&str>| types.iter().map(|kind| Kind::plain(kind)).collect();
        let values = scalars.values();
        if !values.is_empty() {
            let printed = Printed(&values).to_string();
            return if self.pins.pinned(&at.pointer, &printed) { values } else { plain(types) };
        }
        let chosen = self.pin(at);
        let said: Vec<Option<(String, Option<String>)>> =
            own.iter().map(|text| if chosen.words { self.chosen.said(text, chosen.texts) } else { None }).collect();
        // Of pieces of a text, both values may only show that there are several.
        let holds_booleans = self.keep != Keep::Chunks
            || booleans.len() == 1 && (!self.chosen.is_committed() || self.chosen.at(at, self.before).booleans);
        let (no_booleans, no_times) = (BTreeSet::new(), BTreeSet::new());
        let booleans = if holds_booleans { (booleans, &no_booleans) } else { (&no_booleans, booleans) };
        let counts = scalars.from().filter(|_| chosen.counts).map(Kind::From);
        let times = if chosen.times { (times, &no_times) } else { (&no_times, times) };
        let later = times.0.iter().filter(|time| time.away.as_deref() == Some(LATER)).count();
        let away = |time: &Time| match time.away.as_deref().filter(|_| chosen.texts.exactly) {
            Some(LATER | NOW) if (1..times.0.len()).contains(&later) && !self.chosen.is_committed() => String::new(),
            away => away.unwrap_or_default().to_owned(),
        };
        let mut shown_times: BTreeSet<_> = times.0.iter().map(|time| (time.form.clone(), away(time))).collect();
        let is_written = |form: &str| times.0.iter().any(|time| time.form == form);
        shown_times.retain(|(form, _)| self.chosen.is_committed() || !drops_zeros(form, &is_written));
        let mut all: BTreeMap<&String, BTreeSet<&str>> = words.iter().map(|word| (word, BTreeSet::new())).collect();
        for (own, whole) in said.iter().flatten() {
            all.entry(own).or_default().extend(whole.as_deref());
        }
        let parts = own.iter().zip(&said).filter_map(|(text, said)| Some((text, &said.as_ref()?.0)));
        let parts = parts.filter(|(text, own)| self.chosen.is_of_recording(text, own));
        let parts: BTreeSet<&String> = parts.map(|(_, own)| own).collect();
        let text = |(own, wholes): (&&String, &BTreeSet<&str>)| text_kind(own, wholes, parts.contains(own));
        let mut pinned: Kinds = all.iter().take(WORDS).map(text).collect();
        pinned.extend(Some(all.len().saturating_sub(WORDS)).filter(|more| *more > 0).map(Kind::More));
        pinned.extend(booleans.0.iter().map(|value| Kind::plain(if *value { "true" } else { "false" })));
        pinned.extend(shown_times.into_iter().map(|(form, away)| Kind::Time(form, away)));
        let holds_instants = chosen.times && chosen.texts.exactly && instants.len() <= WORDS;
        // One that the model, a tool or the scenario named is true of this recording alone.
        let held = instants.iter().filter(|_| holds_instants).map(|at| (self.chosen.is_own(at), Kind::of_value(at)));
        pinned.extend(held.map(|(own, value)| if own { value } else { Kind::Derived(Box::new(value)) }));
        pinned.extend(counts.clone());
        let counts_ids = self.keep != Keep::Chunks && self.pins.counts();
        pinned.extend(ids.kinds(counts_ids).into_iter().map(Kind::Id));
        pinned.extend(short.iter().flat_map(|short| short.kinds(counts_ids)).map(Kind::Short));
        let mut shown: Kinds = plain(types);
        shown.retain(|kind| counts.is_none() || *kind != Kind::plain(NUMBER));
        let mut add = |kind: Kind| {
            if !shown.contains(&kind) {
                shown.push(kind);
            }
        };
        let is_cut = self.cut.contains(&at.pointer) && own.len() <= WORDS && !self.pins.is_loose(&at.pointer);
        for (text, _) in own.iter().zip(&said).filter(|(_, said)| said.is_none()) {
            add(if is_cut {
                text_kind(&(self.chosen.normalize)(text), &BTreeSet::new(), true)
            } else {
                Kind::plain(STRING)
            });
        }
        let others = booleans.1.iter().map(|_| "boolean").chain(times.1.iter().map(|time| time.kind));
        others.for_each(|kind| add(Kind::plain(kind)));
        if pinned.is_empty() || self.pins.pinned(&at.pointer, &of_any_recording(&pinned)) {
            shown.extend(pinned);
        } else {
            let of_texts = all.iter().map(|_| STRING).chain(booleans.0.iter().map(|_| "boolean"));
            let of_numbers = times.0.iter().map(|time| time.kind).chain(counts.iter().map(|_| NUMBER));
            of_texts.chain(of_numbers).for_each(|kind| add(Kind::plain(kind)));
            shown.extend((!ids.kinds(false).is_empty()).then_some(Kind::Id(Id::One)));
            shown.extend(short.as_ref().map(|_| Kind::Short(Id::One)));
        }
        let number = shown.iter().position(|kind| *kind == Kind::plain(NUMBER));
        if let Some(at) = number.filter(|_| chosen.numbers && written.len() <= WORDS) {
            shown.splice(at..=at, written.iter().map(|number| Kind::plain(number)));
        }
        shown
    }

    /// The first text of a place, the first numbers, as they are written, or the form of a time.
    fn sample(&self, scalars: &Scalars) -> Beside<Option<Kind>> {
        let Scalars { own, written, times, has_empty, .. } = scalars;
        let text = own.first().map(|text| notation::json_quoted(&(self.chosen.normalize)(text)));
        let text = text.or_else(|| has_empty.then(|| notation::json_quoted(""))).map(Kind::Quoted);
        let numbers = written.iter().map(String::as_str).collect::<Vec<_>>().join(" | ");
        let numbers = Some(Kind::Plain(numbers)).filter(|_| !written.is_empty());
        Beside(text.or(numbers).or_else(|| times.first().map(|time| Kind::Time(time.form.clone(), String::new()))))
    }

    /// Puts kinds into their order: values are in the order of their first appearance.
    fn union(&self, mut kinds: Kinds) -> Kinds {
        if self.keep != Keep::Values {
            kinds.sort_by_cached_key(ToString::to_string);
        }
        kinds
    }
}

/// A text by what it says of its own, and all that texts say that have this in common; or by that alone, if all of it is of one recording.
fn text_kind(own: &str, wholes: &BTreeSet<&str>, is_of_recording: bool) -> Kind {
    let quoted = |text: &str| Kind::Quoted(notation::json_quoted(text));
    if wholes.is_empty() && !is_of_recording {
        return quoted(own);
    }
    let whole = wholes.iter().copied().collect::<Vec<_>>().join(" / ");
    let whole = quoted(if wholes.is_empty() { own } else { &whole });
    if is_of_recording { Kind::Derived(Box::new(whole)) } else { Kind::Whole(Box::new(quoted(own)), Box::new(whole)) }
}

impl SeenIds {
    fn kinds(&self, counts: bool) -> Vec<Id> {
        let mut ids: Vec<Id> = self.names.iter().map(|name| Id::Named(name.to_string())).collect();
        let numbers: Vec<usize> = self.numbers.iter().copied().collect();
        let pieces = numbers.chunk_by(|number, next| number + 1 == *next);
        if pieces.clone().count() > PIECES {
            ids.push(Id::Known(numbers.len()));
        } else {
            ids.extend(pieces.map(|piece| Id::Numbered(piece[0], piece[piece.len() - 1])));
        }
        match self.plain.len() {
            0 => {}
            number @ 2.. if counts => ids.push(Id::Several(number)),
            _ => ids.push(Id::One),
        }
        ids
    }
}

/// Returns `None` if kinds are too long for one line.
fn within(kinds: Kinds) -> Option<Kinds> {
    // Whether an order is held changes no line but its own.
    (of_any_recording(&kinds).chars().take(INLINE + 1).count() <= INLINE).then_some(kinds)
}

fn variant(kind: &str) -> String {
    if TYPES.contains(&kind) { notation::json_quoted(kind) } else { notation::name(kind).into_owned() }
}

fn inside(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests;

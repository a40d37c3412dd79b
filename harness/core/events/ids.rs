//! Finds out which ids are equal. The value of an id varies between runs, but the places at which the same id appears do not.
//!
//! What counts as an id must not depend on chance: if a random text looked like an id only sometimes, the golden would vary
//! between runs. So only forms count that a generator of ids produces either always or never.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::ops::Range;
use std::rc::Rc;

use super::captured::Captured;
use super::labels::{Captures, Label, ReadEvent, read};
use super::notation::{self, Normalize, each_scalar};
use super::options::{Detail, ShapeOptions};
use crate::json::Json;
use crate::key::id_hashes;
use crate::key::normalize::{uuid, uuids};

/// The smallest number of hexadecimal digits in an id.
const HEX: usize = 12;
/// The largest length of an id.
const LONGEST: usize = 200;
/// The prefixes of the ids of providers.
const PROVIDERS: [&str; 8] = ["call_", "chatcmpl-", "fc_", "gen-", "msg_", "resp_", "rs_", "toolu_"];
/// The smallest number of characters of such an id. It has more than the 21 of a nanoid, which begins like one by chance.
const PROVIDERS_LENGTH: usize = 22;
const UUID: usize = 36;

/// The ids in all captures of a golden, with what the golden shows for each.
#[derive(Default)]
pub(super) struct Ids {
    shown: HashMap<String, ShownId>,
    /// Texts that only have the form of one.
    none: HashSet<String>,
}

/// What a golden shows for an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShownId {
    /// The name of a value of the run, such as `<thread>`.
    Named(Rc<str>),
    /// The number of an id that appears at several places.
    Numbered(usize),
    /// Only that it is an id: it appears at one place only, or it first appeared where the order of events is not fixed.
    Plain,
    /// The same of one without a form.
    Short(Option<usize>),
}

struct FoundId {
    first_place: u64,
    shared: bool,
    /// Its rank among the ids in events whose order is fixed.
    rank: Option<usize>,
    /// Whether it first appeared in an event that is sorted among its neighbours.
    unordered: bool,
    /// What the golden says of its place; `None` if its form says that it is an id.
    stands: Option<Stands>,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// Ids with a form, which may get another one.
    Ids,
    /// Ids without a form.
    ShortIds,
    /// What only has the form of an id.
    Texts,
}

/// What stands at a place, by the label, the place and the text there; `None` if the text's form says so.
pub(super) type StandsAt<'a> = dyn Fn(&str, &str, &str) -> Option<Stands> + 'a;

/// Collects the ids in payloads.
struct Collector<'a> {
    options: &'a ShapeOptions,
    normalize: &'a Normalize<'a>,
    known: Option<&'a StandsAt<'a>>,
    found: HashMap<String, FoundId>,
    none: HashSet<String>,
    ranks: usize,
}

impl Ids {
    /// Collects the ids in all captures, in order, and numbers those that appear at several places. `known` says where a text is
    /// an id, or is none, in spite of its form.
    pub(super) fn of(
        captures: &Captures<'_>,
        options: &ShapeOptions,
        normalize: &Normalize,
        known: Option<&StandsAt<'_>>,
    ) -> Ids {
        if options.detail == Detail::Keys && options.show.is_empty() {
            return Ids::default();
        }
        let none = HashSet::new();
        let mut collector = Collector { options, normalize, known, found: HashMap::new(), none, ranks: 0 };
        for (nth, events) in captures.iter().enumerate() {
            for ReadEvent { label, json, .. } in events {
                let Some(json) = json else { continue };
                // Usually no place is loose, and then no pointers are needed.
                let needed = known.is_some() || options.loose.iter().any(|loose| loose.label == label.name);
                collector.value(json, place(nth as u64, &label.text), needed.then(String::new), label);
            }
        }
        collector.numbered()
    }

    /// Returns what the golden shows for a text if it is an id.
    pub(super) fn shown(&self, text: &str) -> Option<&ShownId> {
        let by_form = || id_of(text).filter(|_| !self.none.contains(text));
        self.shown.get(text).or_else(|| by_form().map(|id| self.get(id).unwrap_or(&ShownId::Plain)))
    }

    /// Returns a normalized text with numbers added to its UUIDs: `<UUID:1>`. `raw` is the text before normalization.
    pub(super) fn number_uuids(&self, raw: &str, normalized: String) -> String {
        const NAME: &str = "<UUID>";
        if !normalized.contains(NAME) {
            return normalized;
        }
        let named = |id: &&str| !matches!(self.get(id), Some(ShownId::Named(_)));
        let uuids: Vec<&str> = uuids(raw).filter(named).collect();
        if normalized.matches(NAME).count() != uuids.len() {
            return normalized;
        }
        let mut pieces = normalized.split(NAME);
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (uuid, piece) in uuids.into_iter().zip(pieces) {
            match self.get(uuid) {
                Some(ShownId::Numbered(number)) => drop(write!(text, "<UUID:{number}>")),
                _ => text.push_str(NAME),
            }
            text.push_str(piece);
        }
        text
    }

    fn get(&self, id: &str) -> Option<&ShownId> {
        self.shown.get(id).or_else(|| self.shown.get(&id.to_ascii_lowercase()))
    }
}

impl Collector<'_> {
    fn value(&mut self, value: &Json, at: u64, pointer: Option<String>, label: &Label) {
        match value {
            Json::Str(text) => {
                if pointer.is_some() && self.options.loosens(&label.name, pointer.as_deref()) {
                    return;
                }
                let known = self.known.zip(pointer).and_then(|(known, pointer)| known(&label.place, &pointer, text));
                match (known, id_of(text)) {
                    (Some(Stands::Texts), Some(_)) => drop(self.none.insert(text.to_owned())),
                    (Some(Stands::ShortIds), _) => self.add(text, at, label, known),
                    (Some(Stands::Ids), id) => self.add(id.unwrap_or(text), at, label, known),
                    (_, Some(id)) => self.add(id, at, label, None),
                    (_, None) => {}
                }
            }
            Json::Object(entries) => {
                for (key, value) in entries.iter() {
                    let token = || notation::pointer_token(&(self.normalize)(key)).into_owned();
                    let inside = pointer.as_ref().map(|pointer| format!("{pointer}/{}", token()));
                    self.value(value, place(at, key), inside, label);
                }
            }
            Json::Array(items) => {
                let inside = pointer.map(|pointer| format!("{pointer}/*"));
                for item in items {
                    let kind = item.str_of("type").or_else(|| item.str_of("role")).unwrap_or_default();
                    self.value(item, place(at, &("[]", kind)), inside.clone(), label);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, id: &str, at: u64, label: &Label, stands: Option<Stands>) {
        let id = if uuid_at_end(id) { id.to_ascii_lowercase() } else { id.to_owned() };
        let new = FoundId { first_place: at, shared: false, rank: None, unordered: label.unordered, stands };
        let found = self.found.entry(id).or_insert(new);
        found.shared |= found.first_place != at;
        // The number of collapsed events, and so the order of their ids, depends on where a text was cut.
        if found.rank.is_none() && !label.collapsed && !label.unordered {
            found.rank = Some(self.ranks);
            self.ranks += 1;
        }
    }

    fn numbered(self) -> Ids {
        let mut shown = HashMap::new();
        let mut ranked = Vec::new();
        for (id, found) in self.found {
            let normal = (self.normalize)(&id);
            let short = found.stands == Some(Stands::ShortIds);
            // What a golden numbers has no name there.
            if is_name(&normal) && found.stands != Some(Stands::Ids) {
                shown.insert(id, ShownId::Named(normal.into()));
            } else if let (Some(rank), true, false) = (found.rank, found.shared, found.unordered) {
                ranked.push((short, rank, id));
            } else {
                shown.insert(id, if short { ShownId::Short(None) } else { ShownId::Plain });
            }
        }
        // Those without a form come last, so that the others have the same numbers with and without them.
        ranked.sort_unstable();
        let numbered = |(nth, (short, _, id)): (usize, (bool, usize, String))| {
            (id, if short { ShownId::Short(Some(nth + 1)) } else { ShownId::Numbered(nth + 1) })
        };
        shown.extend(ranked.into_iter().enumerate().map(numbered));
        Ids { shown, none: self.none }
    }
}

/// Whether a normalized id is the name of a value of the run, and not just `<UUID>`.
pub(super) fn is_name(normal: &str) -> bool {
    let inner = normal.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| inner != "UUID" && !inner.contains(['<', '>'])) && !normal.contains(notation::is_unseen)
}

/// Returns a hash that identifies a place inside of another.
pub(super) fn place(inside: u64, of: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((inside, of))
}

pub fn is_id(text: &str) -> bool {
    id_of(text).is_some()
}

/// Calls `found` with the pointer and the hash of each UUID in a value.
pub fn each_uuid(value: &Json, found: &mut dyn FnMut(&str, String)) {
    each_scalar(("", ""), value, &str::to_owned, &mut |_, pointer, scalar| {
        id_hashes(scalar.as_str().unwrap_or_default()).for_each(|id| found(pointer, id));
    });
}

/// The hashes of ids, by the label and the pointer where a client was told them.
pub type IdsTold = BTreeMap<(String, String), BTreeSet<String>>;

/// Returns where a client was told which UUIDs.
pub fn ids_told(captures: &[Captured], options: &ShapeOptions, normalize: &Normalize<'_>) -> IdsTold {
    let mut told = IdsTold::new();
    for ReadEvent { label, json, .. } in read(captures, options, normalize).iter().flatten() {
        each_uuid(json.as_ref().unwrap_or(&Json::Null), &mut |pointer, id| {
            told.entry((label.place.clone(), pointer.to_owned())).or_default().insert(id);
        });
    }
    told
}

/// Returns the id if the whole text is one; for a UUID with a prefix, returns the UUID.
fn id_of(text: &str) -> Option<&str> {
    if !(HEX..=LONGEST).contains(&text.len())
        || !text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-:.".contains(&c))
    {
        return None;
    }
    let parted = |head: &str| head.is_empty() || head.ends_with(['-', '_', ':', '.']);
    if uuid_at_end(text) {
        let (head, uuid) = text.split_at(text.len() - UUID);
        return parted(head).then_some(uuid);
    }
    // `lc_run--<UUID>-0` is a part of what the UUID identifies.
    let numbered = text.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('-');
    if numbered.is_some_and(|head| uuid_at_end(head) && parted(&head[..head.len() - UUID])) {
        return Some(text);
    }
    let is_of_provider = |prefix: &&str| {
        let tail = text.strip_prefix(*prefix).filter(|_| text.len() >= PROVIDERS_LENGTH);
        tail.is_some_and(|tail| tail.bytes().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase()))
    };
    let (head, tail) = text.rsplit_once(['-', '_', ':']).unwrap_or_default();
    let prefixed = head.starts_with(|c: char| c.is_ascii_alphabetic()) && is_hex_id(tail);
    (is_hex_id(text) || prefixed || PROVIDERS.iter().any(is_of_provider)).then_some(text)
}

/// Whether a text is hexadecimal in one case, and not a point in time.
fn is_hex_id(text: &str) -> bool {
    let of = |letters: std::ops::RangeInclusive<u8>| text.bytes().all(|c| c.is_ascii_digit() || letters.contains(&c));
    text.len() >= HEX && (of(b'a'..=b'f') || of(b'A'..=b'F')) && !is_time(text)
}

/// Whether digits are a point in time: a number of seconds or milliseconds, or a date such as `20261122103000`. Such numbers
/// can be equal by chance, so they are not ids.
fn is_time(digits: &str) -> bool {
    let in_range = |range: Range<usize>, limit: u8| {
        digits.get(range).and_then(|part| part.parse::<u8>().ok()).is_some_and(|part| part < limit)
    };
    let is_date = digits.starts_with("20") && in_range(4..6, 13) && in_range(6..8, 32) && in_range(8..10, 24);
    let is_date = is_date && in_range(10..12, 60) && matches!(digits.len(), 12 | 14 | 17);
    digits.parse::<i64>().is_ok_and(|number| is_date || notation::is_time(&Json::Int(number)))
}

fn uuid_at_end(text: &str) -> bool {
    text.len().checked_sub(UUID).and_then(|start| text.get(start..)).is_some_and(|end| uuid(end, 0).is_some())
}

#[cfg(test)]
mod tests;

//! The scalars at one place: their types, or their values.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::rc::Rc;

use super::golden::{Kind, Kinds};
use super::ids::{Ids, ShownId};
use super::notation::Normalize;
use super::series::Series;
use super::value;
use crate::json::{Json, Layout};

/// The largest number of distinct values that are shown at a place.
const SHOWN: usize = 20;

/// The distinct scalars at one place.
#[derive(Default)]
pub(super) struct Scalars {
    /// The types of those that are neither words nor ids.
    pub(super) types: BTreeSet<&'static str>,
    /// The first values, each with its turn among all values.
    values: Vec<(usize, String)>,
    /// Hashes of all values as they were received.
    raw: HashSet<u128>,
    /// Hashes of all values as they are shown.
    distinct: HashSet<u128>,
    pub(super) words: BTreeSet<String>,
    /// The texts under keys whose words are not shown anyway. Whether what is the service's own of them is shown depends on the
    /// place.
    pub(super) own: BTreeSet<String>,
    /// Whether one of the texts is empty.
    pub(super) has_empty: bool,
    pub(super) booleans: BTreeSet<bool>,
    /// The numbers that are no points in time.
    numbers: Option<Box<Series>>,
    /// The first of them, as they are written.
    pub(super) written: BTreeSet<String>,
    pub(super) times: BTreeSet<Time>,
    /// The first of them, as they are written.
    pub(super) instants: BTreeSet<String>,
    pub(super) ids: SeenIds,
    /// Those without a form. They are rare, and values can be nested deeply.
    pub(super) short: Option<Box<SeenIds>>,
}

/// A point in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time {
    pub(super) form: String,
    /// How far away it is, if it is.
    pub(super) away: Option<String>,
    /// The type of the value.
    pub(super) kind: &'static str,
}

/// What a text is, as a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// A word under a key whose words are shown.
    Word,
    /// A text under any other key, which may be the service's own.
    Own,
    Other,
}

/// The ids at one place.
#[derive(Clone, Default)]
pub(super) struct SeenIds {
    pub(super) names: BTreeSet<Rc<str>>,
    /// The numbers of ids that also appear elsewhere.
    pub(super) numbers: BTreeSet<usize>,
    pub(super) plain: HashSet<u128>,
}

impl Scalars {
    /// Adds the type of a scalar. A word, an id and a point in time are added as such.
    pub(super) fn add_type(&mut self, value: &Json, text: TextKind, time: Option<(String, Option<String>)>, ids: &Ids) {
        let kind = value.kind();
        let words = match text {
            TextKind::Word => Some(&mut self.words),
            // More texts than these are no vocabulary.
            TextKind::Own if self.own.len() <= SHOWN => Some(&mut self.own),
            TextKind::Own | TextKind::Other => None,
        };
        self.has_empty |= value.as_str() == Some("");
        match (value.as_str(), words, time) {
            (_, _, Some((form, away))) => {
                self.times.insert(Time { form, away, kind });
                if self.instants.len() <= SHOWN {
                    self.instants.insert(value.print(Layout::Compact));
                }
            }
            (Some(text), Some(words), _) => {
                if !words.contains(text) {
                    words.insert(text.to_owned());
                }
            }
            (Some(text), None, _) => match ids.shown(text) {
                Some(ShownId::Named(name)) => drop(self.ids.names.insert(name.clone())),
                Some(ShownId::Numbered(number)) => drop(self.ids.numbers.insert(*number)),
                Some(ShownId::Plain) => drop(self.ids.plain.insert(print_of(text))),
                Some(ShownId::Short(Some(number))) => drop(self.short.get_or_insert_default().numbers.insert(*number)),
                Some(ShownId::Short(None)) => drop(self.short.get_or_insert_default().plain.insert(print_of(text))),
                None => drop(self.types.insert(kind)),
            },
            (None, ..) => match value {
                Json::Bool(is) => drop(self.booleans.insert(*is)),
                Json::Null => drop(self.types.insert(kind)),
                number => {
                    self.numbers.get_or_insert_default().add(number);
                    if self.written.len() <= SHOWN {
                        self.written.insert(number.print(Layout::Compact));
                    }
                    self.types.insert(kind);
                }
            },
        }
    }

    pub(super) fn add_value(&mut self, turn: usize, scalar: &Json, ids: &Ids, normalize: &Normalize) {
        self.types.insert(scalar.kind());
        if self.raw.insert(print_of(&scalar.print(Layout::Python))) {
            let value = value::value(scalar, ids, normalize);
            if self.distinct.insert(print_of(&value)) && self.values.len() < SHOWN {
                self.values.push((turn, value));
            }
        }
    }

    /// Adds the scalars from another place.
    pub(super) fn add_all(&mut self, other: Scalars) {
        self.types.extend(other.types);
        self.words.extend(other.words);
        self.own.extend(other.own);
        self.has_empty |= other.has_empty;
        self.booleans.extend(other.booleans);
        other.numbers.into_iter().for_each(|numbers| self.numbers.get_or_insert_default().add_all(*numbers));
        self.written.extend(other.written);
        self.times.extend(other.times);
        self.instants.extend(other.instants);
        self.ids.add_all(other.ids);
        other.short.into_iter().for_each(|short| self.short.get_or_insert_default().add_all(*short));
        self.raw.extend(other.raw);
        self.distinct.extend(other.distinct);
        self.values.extend(other.values);
        self.values.sort_unstable();
        let mut seen = HashSet::new();
        self.values.retain(|(_, value)| seen.insert(value.clone()));
        self.values.truncate(SHOWN);
    }

    /// At the level of values, the values in the order of their first appearance.
    pub(super) fn values(&self) -> Kinds {
        let mut values: Kinds = self.values.iter().map(|(_, value)| Kind::of_value(value)).collect();
        values.extend(Some(self.distinct.len().saturating_sub(SHOWN)).filter(|more| *more > 0).map(Kind::More));
        values
    }

    /// From where the numbers count, if they do.
    pub(super) fn from(&self) -> Option<i64> {
        self.numbers.as_ref()?.from()
    }
}

impl SeenIds {
    fn add_all(&mut self, other: SeenIds) {
        self.names.extend(other.names);
        self.numbers.extend(other.numbers);
        self.plain.extend(other.plain);
    }
}

/// Returns a hash that identifies a text, in less memory than a long text takes.
fn print_of(text: &str) -> u128 {
    let half = |seed: u8| u128::from(BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, text)));
    half(0) << 64 | half(1)
}

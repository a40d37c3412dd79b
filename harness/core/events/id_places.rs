//! Which texts are ids in spite of their form.
//!
//! The ids that have no form of their own: `4f1c09ab`, `V1StGXR8`. By form such a text may be a word, or a word may be such a text by chance. Other
//! runs of the scenario show at which places they stand: each run has others there. And a checksum looks like an id, but is the same in each
//! run. A committed golden names these places.

use std::collections::{BTreeMap, BTreeSet};

use super::captured::Captured;
use super::foreign::CUT;
use super::golden::{Golden, Kind, Node};
use super::ids::{Stands, is_id, is_name};
use super::labels::{place, read};
use super::notation::{Normalize, each_scalar, pointer_token};
use super::options::ShapeOptions;
use super::recorded::Recorded;
use super::times;

/// The fewest characters of an id: of fewer, two may be the same by chance.
const SHORTEST: usize = 6;
const LONGEST: usize = 200;
/// The signs in ids of which it is known where they stand.
const SIGNS: &[u8] = b"_-.:";

/// Places, by labels and JSON pointers in their payloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdPlaces(pub(super) BTreeMap<(String, String), Stands>);

/// The texts at each place.
type Texts = BTreeMap<(String, String), BTreeSet<String>>;

impl IdPlaces {
    /// Returns the places at which each of these runs has other texts, and only such that may be an id; and those at which all texts are
    /// ids of the `recorded` answers and their tool calls. Each run comes with its names for what varies. What each run says in the form of an id is none
    /// unless it `came` from somewhere else.
    pub fn of(
        runs: &[(&[Captured], &Normalize<'_>)],
        options: &ShapeOptions,
        recorded: &Recorded,
        came: &dyn Fn(&str) -> bool,
    ) -> IdPlaces {
        let texts = |(captures, normalize): &(&[Captured], &Normalize<'_>)| {
            let mut texts = Texts::new();
            for event in read(*captures, options, normalize).into_iter().flatten() {
                let Some(json) = event.json.as_ref().filter(|_| !event.label.collapsed) else { continue };
                each_scalar(("", ""), json, normalize, &mut |_, pointer, scalar| {
                    let Some(text) = scalar.as_str() else { return };
                    let of_place = texts.entry((event.label.place.clone(), pointer.to_owned())).or_default();
                    let normal = if may_be_one(text) || is_id(text) { normalize(text) } else { String::new() };
                    // Values of the run have their names beside those that have none.
                    if !of_place.contains(text) && !is_name(&normal) {
                        of_place.insert(if normal == *text { normal } else { String::new() });
                    }
                });
            }
            texts
        };
        let runs: Vec<Texts> = runs.iter().map(texts).collect();
        let Some((first, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
            return IdPlaces::default();
        };
        let is_of = |(place, texts): (&(String, String), &BTreeSet<String>)| {
            let differ = |other: &Texts| other.get(place).is_some_and(|other| other.is_disjoint(texts));
            let all = || others.iter().filter_map(|other| other.get(place)).flatten().chain(texts);
            let is_call = |text: &String| recorded.ids.contains(text) && !is_id(text);
            let is_either = |text: &String| recorded.ids.contains(text) || is_id(text);
            let mixed = all().filter(|text| is_mixed(text)).count();
            let is_like_one = |of: &String| may_be_one(of) && is_token(of, b"_-") && of.contains(char::is_alphabetic);
            let vary = || others.iter().all(differ) && all().all(is_like_one) && 2 * mixed > all().count();
            let is_own = |text: &String| is_id(text) && !recorded.ids.contains(text) && !came(text);
            let is_none = || texts.iter().all(is_own) && others.iter().all(|other| other.get(place) == Some(texts));
            let is_short = texts.iter().all(is_call) || vary();
            let is_it = match is_short {
                true => Some(Stands::ShortIds),
                // By chance, a few of many have no digits.
                false if all().all(is_either) && all().any(is_call) => Some(Stands::Ids),
                false => is_none().then_some(Stands::Texts),
            };
            Some((place.clone(), is_it.filter(|_| !texts.is_empty())?))
        };
        IdPlaces(first.iter().filter_map(is_of).collect())
    }

    /// Returns the places that a golden names.
    pub fn named(golden: &Golden) -> IdPlaces {
        let mut places = IdPlaces::default();
        for (block, tree) in golden.blocks.iter().flat_map(|block| block.trees.iter().map(move |tree| (block, tree))) {
            places.node(&tree.root, &place(tree.label(), &block.request), "");
        }
        places
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a golden that names these places has those of others.
    pub fn has_all(&self, others: &IdPlaces) -> bool {
        let ids = |of: &IdPlaces| of.0.values().filter(|stands| **stands == Stands::ShortIds).count();
        others.0.iter().all(|(place, stands)| self.0.get(place) == Some(stands)) && ids(self) == ids(others)
    }

    /// What a text is at a place, whatever its form; `None` if its form says so.
    pub(super) fn knows(&self, label: &str, pointer: &str, text: &str, recorded: &Recorded) -> Option<Stands> {
        let stands = *self.0.get(&(label.to_owned(), pointer.to_owned()))?;
        let is_it = match stands {
            Stands::Ids => is_id(text) || recorded.ids.contains(text) || may_be_one(text) && is_mixed(text),
            Stands::ShortIds => is_token(text, SIGNS),
            Stands::Texts => true,
        };
        is_it.then_some(stands)
    }

    fn node(&mut self, node: &Node, label: &str, pointer: &str) {
        self.kinds(&node.kinds, label, pointer);
        for below in &node.below {
            // `key`, or `[].key` or `variant.key` in the elements of a list.
            let (inside, key) = below.name.rsplit_once('.').unwrap_or(("", &below.name));
            let depth = if inside.is_empty() { 0 } else { inside.matches("[]").count().max(1) };
            self.node(below, label, &format!("{pointer}{}/{}", "/*".repeat(depth), pointer_token(key)));
        }
    }

    fn kinds(&mut self, kinds: &[Kind], label: &str, pointer: &str) {
        let has_texts = kinds.iter().any(Kind::is_text);
        for kind in kinds {
            let mut add = |stands| {
                self.0.insert((label.to_owned(), pointer.to_owned()), stands);
            };
            match kind.bare() {
                Kind::Id(_) if !has_texts => add(Stands::Ids),
                Kind::Short(_) => add(Stands::ShortIds),
                Kind::Quoted(text) if text.split(['"', CUT]).nth(1).is_some_and(is_id) => add(Stands::Texts),
                Kind::List(list) => self.kinds(&list.elements, label, &format!("{pointer}/*")),
                Kind::Object(fields) => {
                    for field in fields {
                        self.kinds(&field.kinds, label, &format!("{pointer}/{}", pointer_token(&field.name)));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a text may be an id of which it is known where it stands.
fn may_be_one(text: &str) -> bool {
    is_token(text, SIGNS) && !is_id(text) && times::of_text(text).is_none()
}

/// Whether a text has digits, or letters of both cases, beyond its first character. Where most have none, they are words of which one is chosen.
fn is_mixed(text: &str) -> bool {
    let has = |is: fn(&char) -> bool| text.chars().skip(1).any(|c| is(&c));
    has(char::is_ascii_digit) || has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase)
}

fn is_token(text: &str, signs: &[u8]) -> bool {
    (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_alphanumeric() || signs.contains(&c))
}

#[cfg(test)]
mod tests;

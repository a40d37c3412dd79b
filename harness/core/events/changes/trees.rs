//! The trees of a golden: what its shapes lost, got or have otherwise, and which ids are no longer the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::{ChangeAt, VALUE, subject};
use crate::events::written::{Written, WrittenShape};
use retake_base::cause::CauseKind;
use retake_base::text::apart;

/// The tree of a label, with everything to which it refers written out.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) label: String,
    /// The text next to the label.
    what: String,
    hash: String,
    keys: Vec<Key>,
}

/// One line of a tree.
#[derive(Clone, Debug)]
struct Key {
    /// The names from the label to it: `/messages/tool.status`.
    path: String,
    what: String,
    /// The place as other trees refer to it; empty for a line that was copied from there.
    place: String,
}

/// What differs at a place of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Difference {
    Gone,
    New,
    Renamed(String),
    Is(String, String),
}

impl Tree {
    pub(super) fn all(parts: &[Written<'_>]) -> Vec<Vec<Tree>> {
        let mut known: Vec<Tree> = Vec::new();
        let mut all = Vec::new();
        for part in parts {
            let from = known.len();
            for shape in &part.shapes {
                let tree = Tree::of(shape, &known);
                known.push(tree);
            }
            all.push(known[from..].to_vec());
        }
        all
    }

    /// Reads a tree. What is as in another tree is copied from there, and the lines below that differ replace it.
    fn of(shape: &WrittenShape<'_>, known: &[Tree]) -> Tree {
        let (what, other) = reference(shape.what, shape.label);
        let mut tree = Tree {
            label: shape.label.to_owned(),
            what: what.to_owned(),
            hash: shape.hash.to_owned(),
            keys: Vec::new(),
        };
        let mut above: Vec<(String, String)> = vec![(String::new(), shape.label.to_owned())];
        tree.keys = other.as_ref().map(|other| below(other, known, &[])).unwrap_or_default();
        // The depth of the line whose content was copied.
        let mut copied = other.map(|_| 0);
        for key in &shape.keys {
            above.truncate(key.depth.max(1));
            let (path, place) = above.last().cloned().unwrap_or_default();
            let name = key.name.trim_end_matches('?');
            let (path, place) = (format!("{path}/{name}"), format!("{place}.{name}"));
            above.push((path.clone(), place.clone()));
            if copied.is_some_and(|depth| key.depth > depth) {
                tree.replace(&path, key.what);
                continue;
            }
            let (what, other) = reference(key.what, &place);
            copied = other.as_ref().map(|_| key.depth);
            let own = if other.is_some() { String::new() } else { place };
            tree.keys.push(Key { path: path.clone(), what: what.to_owned(), place: own });
            let from_there = other.map(|other| below(&other, known, &tree.keys)).unwrap_or_default();
            tree.keys.extend(from_there.into_iter().map(|key| Key { path: format!("{path}{}", key.path), ..key }));
        }
        tree
    }

    /// Puts a line in the place of a copied one.
    fn replace(&mut self, path: &str, what: &str) {
        if what == "–" {
            let inside = format!("{path}/");
            self.keys.retain(|key| key.path != path && !key.path.starts_with(&inside));
        } else if let Some(key) = self.keys.iter_mut().find(|key| key.path == path) {
            what.clone_into(&mut key.what);
        } else {
            self.keys.push(Key { path: path.to_owned(), what: what.to_owned(), place: String::new() });
        }
    }

    pub(super) fn of_label<'a>(trees: &'a [Tree], label: &str) -> Option<&'a Tree> {
        trees.iter().find(|tree| tree.label == label)
    }

    /// Returns the names of all lines.
    pub(super) fn paths(&self) -> BTreeSet<&str> {
        self.keys.iter().map(|key| key.path.as_str()).collect()
    }

    fn what_at(&self, path: &str) -> Option<&str> {
        self.keys.iter().find(|key| key.path == path).map(|key| key.what.as_str())
    }

    /// Returns the outermost places at which this tree differs from an older one, the most telling first.
    fn places(&self, old: &Tree) -> Vec<(String, Difference)> {
        let mut places: Vec<(String, Difference)> = Vec::new();
        let mut add = |path: &str, difference: Difference| {
            if !places.iter().any(|(above, _)| path.starts_with(&format!("{above}/"))) {
                places.push((path.to_owned(), difference));
            }
        };
        for Key { path, what, .. } in &old.keys {
            match self.what_at(path) {
                None => add(path, Difference::Gone),
                Some(now) if without_ids(now) != without_ids(what) => {
                    add(path, Difference::Is(now.to_owned(), what.clone()));
                }
                Some(_) => {}
            }
        }
        for key in self.keys.iter().filter(|key| old.what_at(&key.path).is_none()) {
            add(&key.path, Difference::New);
        }
        self.rename(old, &mut places);
        // A list that is longer or shorter may only have other elements of the same kinds.
        places.sort_by_key(|(_, difference)| match difference {
            Difference::Is(now, was) => without_lengths(&without_ids(now)) == without_lengths(&without_ids(was)),
            _ => false,
        });
        places
    }

    /// Joins a key that is gone and a new one to a renamed key, if no other key of the object has that shape.
    fn rename(&self, old: &Tree, places: &mut Vec<(String, Difference)>) {
        let parent = |path: &str| path.rfind('/').map(|at| path[..at].to_owned());
        let of = |wanted: Difference, places: &[(String, Difference)]| -> Vec<String> {
            places.iter().filter(|(_, it)| *it == wanted).map(|(path, _)| path.clone()).collect()
        };
        let (gone, come) = (of(Difference::Gone, places), of(Difference::New, places));
        for was in &gone {
            let alike = |is: &&String, was: &String| {
                parent(was) == parent(is) && old.what_at(was).map(without_ids) == self.what_at(is).map(without_ids)
            };
            let found: Vec<&String> = come.iter().filter(|is| alike(is, was)).collect();
            if let [is] = found[..]
                && gone.iter().filter(|other| alike(&is, other)).count() == 1
            {
                places.retain(|(path, _)| path != is);
                if let Some((_, difference)) = places.iter_mut().find(|(path, _)| path == was) {
                    *difference = Difference::Renamed(is.clone());
                }
            }
        }
    }
}

/// Parses the text of a line: its own part, and the place that is as this one. `place` is the line's own place.
fn reference<'a>(what: &'a str, place: &str) -> (&'a str, Option<String>) {
    let text = what.strip_suffix(", but").unwrap_or(what);
    let own = |end: usize| text[..end].trim_end_matches(", ");
    if let Some(before) = text.strip_suffix("as above") {
        return (own(before.len()), Some(place.to_owned()));
    }
    match text.rfind("as in ") {
        Some(at) if !text[at..].contains('"') => (own(at), Some(text[at + "as in ".len()..].to_owned())),
        _ => (what, None),
    }
}

/// Returns what is below a place that was written before, with paths from there on.
fn below(place: &str, known: &[Tree], of_this: &[Key]) -> Vec<Key> {
    let from = |keys: &[Key], above: &str| -> Vec<Key> {
        let inside = format!("{above}/");
        let keys = keys.iter().filter(|key| key.path.starts_with(&inside));
        keys.map(|key| Key { path: key.path[above.len()..].to_owned(), what: key.what.clone(), place: String::new() })
            .collect()
    };
    let at = |keys: &[Key]| keys.iter().rev().find(|key| key.place == place).map(|key| key.path.clone());
    if let Some(above) = at(of_this).filter(|above| !from(of_this, above).is_empty()) {
        return from(of_this, &above);
    }
    let in_tree = |tree: &Tree| if tree.label == place { Some(String::new()) } else { at(&tree.keys) };
    let mut found = known.iter().rev().filter_map(|tree| Some(from(&tree.keys, &in_tree(tree)?)));
    found.find(|keys| !keys.is_empty()).unwrap_or_default()
}

/// Returns the changes of the trees of a response, one for each label. `new_name` returns what the run calls a label.
pub(super) fn changes(
    of: &Written<'_>,
    old: &[Tree],
    new: &[Tree],
    new_name: &dyn Fn(&str) -> String,
) -> Vec<ChangeAt> {
    let both = old.iter().filter_map(|was| Some((was, Tree::of_label(new, &new_name(&was.label))?)));
    both.filter_map(|(was, is)| of_label(of, was, is)).collect()
}

fn of_label(of: &Written<'_>, was: &Tree, is: &Tree) -> Option<ChangeAt> {
    let (kind, subject_of) = subject(of, &was.label, CauseKind::EventShape);
    let shape = |place: &str, what: &str| {
        ChangeAt::new(kind, (&subject_of, place), format!("{subject_of} has a different shape: {what}"))
    };
    if without_ids(&is.what) != without_ids(&was.what) {
        let of = |tree: &Tree| if tree.what.is_empty() { "object".to_owned() } else { tree.what.clone() };
        let (before, now) = apart(&of(was), &of(is), VALUE);
        return Some(shape("", &format!("it is `{now}`, not `{before}`")));
    }
    let places = is.places(was);
    if let Some(((path, difference), more)) = places.split_first() {
        let what = match difference {
            Difference::Gone => format!("`{path}` is gone"),
            Difference::New => format!("`{path}` is new"),
            Difference::Renamed(is) => format!("`{path}` is now called `{is}`"),
            Difference::Is(now, was) => {
                let (was, now) = apart(was, now, VALUE);
                format!("`{path}` is `{now}`, not `{was}`")
            }
        };
        let rest = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        let mut found = shape(path, &format!("{what}{rest}"));
        if more.is_empty() {
            let name = path.rsplit(['/', '.']).next().unwrap_or_default();
            found.same = what.replacen(path.as_str(), name, 1);
        }
        found.change.is_less = places.iter().all(|(_, difference)| *difference == Difference::Gone);
        return Some(found);
    }
    let (kind, subject) = subject(of, &was.label, CauseKind::EventValue);
    (was.hash != is.hash).then(|| {
        let what = format!("{subject} has the same values, but at different places, in a different order or number");
        ChangeAt::new(kind, (&subject, "hash"), what)
    })
}

/// A place of a golden at which ids stand: the label, or the answer if it is no stream, and the path.
type Place = (String, String);

/// Finds what differs if two goldens differ only in their ids: how many there are at a place, or which places have the same.
pub(super) fn different_ids(
    (old, old_trees): (&[Written<'_>], &[Vec<Tree>]),
    (new, new_trees): (&[Written<'_>], &[Vec<Tree>]),
    suspected: Option<&Place>,
) -> Option<ChangeAt> {
    let at =
        |subject: &str, path: &str| if path.is_empty() { subject.to_owned() } else { format!("`{path}` of {subject}") };
    let (was, is) = (Ids::of(old, old_trees), Ids::of(new, new_trees));
    let kind = |place: &Place| {
        if place.0.starts_with("the body") { CauseKind::Body } else { CauseKind::EventShape }
    };
    let (lost, got) = (was.links.difference(&is.links), is.links.difference(&was.links));
    let changed: Vec<&(Place, Place)> = lost.clone().chain(got).collect();
    // The place that takes part in the most changes is the one that changed.
    let times = |place: &Place| changed.iter().filter(|(a, b)| a == place || b == place).count();
    let worst = changed
        .iter()
        .flat_map(|(a, b)| [a, b])
        .max_by_key(|place| (suspected == Some(place), times(place), was.count(place) != is.count(place)));
    if let Some(place) = worst {
        let partner = |links: &BTreeSet<(Place, Place)>, without: &BTreeSet<(Place, Place)>| {
            let of = links.difference(without).find(|(a, b)| a == place || b == place)?;
            Some(if of.0 == *place { of.1.clone() } else { of.0.clone() })
        };
        let (before, now) = (partner(&was.links, &is.links), partner(&is.links, &was.links));
        let ids = |of: &Place| if of == place { "each other".to_owned() } else { at(&of.0, &of.1) };
        let what = match (before, now) {
            (Some(before), Some(now)) if before != now && now != *place => {
                format!("they are those at {}, not those at {}", ids(&now), ids(&before))
            }
            (Some(before), _) if before == *place => "they are no longer the same each time".to_owned(),
            (Some(before), _) => format!("they are no longer those at {}", ids(&before)),
            (None, Some(now)) if now == *place => "they are the same each time now".to_owned(),
            (None, now) => format!("they are also those at {} now", now.map(|now| ids(&now)).unwrap_or_default()),
        };
        return Some(ChangeAt::new(
            kind(place),
            (&place.0, &place.1),
            format!("{} has other ids at `{}`: {what}", place.0, place.1),
        ));
    }
    let differs = |(at, before): (&(usize, Place), &String)| {
        let now = is.texts.get(at).filter(|now| *now != before)?;
        let (_, place) = at;
        let what = format!("{} has a different shape: `{}` is `{now}`, not `{before}`", place.0, place.1);
        Some(ChangeAt::new(kind(place), (&place.0, &place.1), what))
    };
    was.texts.iter().find_map(differs)
}

/// The most numbers of one place that are looked at: a golden may say `id 1..4000000000`.
const MOST: usize = 10_000;

/// Where ids stand in a golden.
#[derive(Default)]
struct Ids {
    /// The pairs of places that have an id in common. A place that has an id several times is paired with itself.
    links: BTreeSet<(Place, Place)>,
    texts: BTreeMap<(usize, Place), String>,
}

impl Ids {
    fn of(parts: &[Written<'_>], trees: &[Vec<Tree>]) -> Ids {
        let mut ids = Ids::default();
        let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
        for (nth, (part, trees)) in parts.iter().zip(trees).enumerate() {
            for tree in trees {
                let (_, subject) = subject(part, &tree.label, CauseKind::EventShape);
                let lines = tree.keys.iter().map(|key| (key.path.as_str(), key.what.as_str()));
                for (path, what) in [("", tree.what.as_str())].into_iter().chain(lines) {
                    let place = (subject.clone(), path.to_owned());
                    numbers(what)
                        .into_iter()
                        .flatten()
                        .take(MOST)
                        .for_each(|number| places.entry(number).or_default().push(place.clone()));
                    if what.split([' ', '{', '}', '[', ']', ',']).any(|word| word == "id" || word == "ids") {
                        ids.texts.insert((nth, place), what.to_owned());
                    }
                }
            }
        }
        for of_one in places.values() {
            let distinct: BTreeSet<&Place> = of_one.iter().collect();
            if let [only] = distinct.iter().collect::<Vec<_>>()[..] {
                ids.links.insert(((*only).clone(), (*only).clone()));
            }
            for a in &distinct {
                ids.links.extend(distinct.iter().filter(|b| a < b).map(|b| ((*a).clone(), (*b).clone())));
            }
        }
        ids
    }

    fn count(&self, place: &Place) -> usize {
        let of = self.texts.iter().filter(|((_, at), _)| at == place);
        of.flat_map(|(_, text)| numbers(text)).map(Iterator::count).sum()
    }
}

/// Returns the numbers of the ids in a text: those of `id 1..3 | id 7`.
fn numbers(what: &str) -> Vec<RangeInclusive<usize>> {
    let range = |text: &str| {
        let numbers: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let (first, last) = numbers.split_once("..").unwrap_or((&numbers, &numbers));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    what.split("id ").skip(1).filter_map(range).collect()
}

/// Returns a text without the numbers of its ids, and without how many there are.
fn without_ids(what: &str) -> String {
    if !what.contains("id") {
        return what.to_owned();
    }
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let mut words: Vec<&str> = Vec::new();
    for word in what.split(' ') {
        let bare = word.trim_end_matches([',', '}', ']']);
        match (words.last().copied(), bare) {
            (Some("id"), number) if is_number(number) => {
                // `id 3,` keeps what follows the number.
                let end = &word[bare.len()..];
                words.extend((!end.is_empty()).then_some(end));
            }
            (Some(number), "ids" | "known") if is_number(number) => {
                words.pop();
                words.push("id");
            }
            (Some("id"), "ids") => {}
            _ => words.push(word),
        }
    }
    // The kinds of one place are sorted by their texts, and so by the numbers.
    let joined = words.join(" ");
    let mut kinds: Vec<&str> = joined.split(" | ").collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(" | ")
}

/// Returns a text without the lengths of lists: `[1..3 × string, 4 in all]`.
fn without_lengths(what: &str) -> String {
    let mut text = String::new();
    for (at, part) in what.split('[').enumerate() {
        text.push_str(if at == 0 { "" } else { "[" });
        let part = match part.split_once(" × ") {
            Some((length, rest)) if at > 0 && length.chars().all(|c| c.is_ascii_digit() || c == '.') => rest,
            _ => part,
        };
        let end = part.find(" in all]").and_then(|end| Some((part[..end].rfind(", ")?, end)));
        match end {
            Some((from, end)) => text.extend([&part[..from], &part[end + " in all".len()..]]),
            None => text.push_str(part),
        }
    }
    text
}

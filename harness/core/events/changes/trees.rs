//! The trees of a golden: what its shapes lost, got or have otherwise, and which ids are no longer the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{ChangeAt, VALUE, subject};
use crate::events::written::{Written, WrittenShape};
use crate::key::normalize::regex;
use retake_base::cause::CauseKind;
use retake_base::text::apart;

/// The tree of a label, with everything to which it refers written out.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) label: String,
    hash: String,
    /// The lines, of which the first is the label's own.
    lines: Vec<TreeLine>,
}

/// One line of a tree.
#[derive(Clone, Debug)]
struct TreeLine {
    /// The names from the label to it: `/messages/tool.status`; empty for the label.
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
        for shape in parts.iter().flat_map(|part| &part.shapes) {
            known.push(Tree::of(shape, &known));
        }
        let mut known = known.into_iter();
        parts.iter().map(|part| known.by_ref().take(part.shapes.len()).collect()).collect()
    }

    /// Reads a tree. What is as in another tree is copied from there, and the lines below that differ replace it.
    fn of(shape: &WrittenShape<'_>, known: &[Tree]) -> Tree {
        let mut tree = Tree { label: shape.label.to_owned(), hash: shape.hash.to_owned(), lines: Vec::new() };
        let mut above: Vec<(String, String)> = Vec::new();
        let keys = shape.keys.iter().map(|key| (key.depth.max(1), key.name.trim_end_matches('?'), key.what));
        for (depth, name, what) in std::iter::once((0, shape.label, shape.what)).chain(keys) {
            above.truncate(depth);
            let (path, place) = match above.last() {
                None => (String::new(), name.to_owned()),
                Some((path, place)) => (format!("{path}/{name}"), format!("{place}.{name}")),
            };
            let (what, other) = reference(what, &place);
            let own = if other.is_some() { String::new() } else { place.clone() };
            tree.put(&path, what, own);
            let known = || known.iter().chain([&tree]).rev();
            let copied = other.and_then(|other| known().find_map(|tree| tree.below(&other))).unwrap_or_default();
            for line in copied {
                tree.put(&format!("{path}{}", line.path), &line.what, String::new());
            }
            above.push((path, place));
        }
        tree
    }

    /// Adds a line, or puts it in the place of a copied one. `–` stands for a line that is not there.
    fn put(&mut self, path: &str, what: &str, place: String) {
        if what == "–" {
            self.lines.retain(|line| line.path != path && !is_below(&line.path, path));
        } else if let Some(line) = self.lines.iter_mut().find(|line| line.path == path) {
            what.clone_into(&mut line.what);
        } else {
            self.lines.push(TreeLine { path: path.to_owned(), what: what.to_owned(), place });
        }
    }

    /// Returns what is below a place that was written here, with paths from there on.
    fn below(&self, place: &str) -> Option<Vec<TreeLine>> {
        let above = &self.lines.iter().rev().find(|line| line.place == place)?.path;
        let lines = self.lines.iter().filter(|line| is_below(&line.path, above));
        let lines: Vec<TreeLine> =
            lines.map(|line| TreeLine { path: line.path[above.len()..].to_owned(), ..line.clone() }).collect();
        (!lines.is_empty()).then_some(lines)
    }

    pub(super) fn of_label<'a>(trees: &'a [Tree], label: &str) -> Option<&'a Tree> {
        trees.iter().find(|tree| tree.label == label)
    }

    /// Returns the names of all lines.
    pub(super) fn paths(&self) -> BTreeSet<&str> {
        self.lines.iter().map(|line| line.path.as_str()).collect()
    }

    fn what_at(&self, path: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.path == path).map(|line| line.what.as_str())
    }

    /// Returns the outermost places at which this tree differs from an older one, the most telling first.
    fn places(&self, old: &Tree) -> Vec<(String, Difference)> {
        let of_old = old.lines.iter().filter_map(|TreeLine { path, what, .. }| match self.what_at(path) {
            None => Some((path, Difference::Gone)),
            Some(now) if without_ids(now) != without_ids(what) => {
                Some((path, Difference::Is(now.to_owned(), what.clone())))
            }
            Some(_) => None,
        });
        let is_new = |line: &&TreeLine| old.what_at(&line.path).is_none();
        let of_new = self.lines.iter().filter(is_new).map(|line| (&line.path, Difference::New));
        let mut places: Vec<(String, Difference)> = Vec::new();
        for (path, difference) in of_old.chain(of_new) {
            if !places.iter().any(|(above, _)| is_below(path, above)) {
                places.push((path.clone(), difference));
            }
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

/// Whether a path leads on from another one. All paths lead on from that of the label, which is empty.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
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
    let places = is.places(was);
    if let Some(((path, difference), more)) = places.split_first() {
        let what = match difference {
            Difference::Is(now, was) if path.is_empty() => {
                let of = |what: &str| if what.is_empty() { "object".to_owned() } else { what.to_owned() };
                let (before, now) = apart(&of(was), &of(now), VALUE);
                return Some(shape("", &format!("it is `{now}`, not `{before}`")));
            }
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
                for TreeLine { path, what, .. } in &tree.lines {
                    let place = (subject.clone(), path.clone());
                    numbers(what)
                        .into_iter()
                        .flatten()
                        .take(MOST)
                        .for_each(|number| places.entry(number).or_default().push(place.clone()));
                    if what.split([' ', '{', '}', '[', ']', ',']).any(|word| word == "id" || word == "ids") {
                        ids.texts.insert((nth, place), what.clone());
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
    static NUMBERS: LazyLock<Regex> = LazyLock::new(|| regex(r"\bid (\d+)(?:\.\.(\d+))?"));
    let range = |found: Captures<'_>| {
        let first = found[1].parse().ok()?;
        Some(first..=found.get(2).map_or(Some(first), |last| last.as_str().parse().ok())?)
    };
    NUMBERS.captures_iter(what).filter_map(range).collect()
}

/// Returns a text without the numbers of its ids, and without how many there are.
fn without_ids(what: &str) -> String {
    static IDS: LazyLock<Regex> = LazyLock::new(|| regex(r"\bid [\d.]+|\b\d+ (known )?ids\b"));
    if !what.contains("id") {
        return what.to_owned();
    }
    let text = IDS.replace_all(what, "id");
    // The kinds of one place are sorted by their texts, and so by the numbers.
    let mut kinds: Vec<&str> = text.split(" | ").collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(" | ")
}

/// Returns a text without the lengths of lists: `[1..3 × string, 4 in all]`.
fn without_lengths(what: &str) -> String {
    static LENGTHS: LazyLock<Regex> = LazyLock::new(|| regex(r"(\[)[\d.]+ × |, \d+ in all(\])"));
    LENGTHS.replace_all(what, "$1$2").into_owned()
}

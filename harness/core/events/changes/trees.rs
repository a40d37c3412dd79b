//! The trees of a golden: what its shapes lost, got or have otherwise, and which ids are no longer the same.

use std::collections::{BTreeMap, BTreeSet};

use super::words::EACH_OTHER;
use super::{Change, Subject, What};
use crate::events::golden::{
    Block, Id, Kind, Kinds, NUMBER, Node, Printed, STRING, Tree, change, of_this_recording, without_orders,
};
use crate::events::times::{LATER, NOW};
use crate::events::words::is_word;

/// What differs at a place of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Difference {
    Gone,
    New,
    Renamed(String),
    Is(Kinds, Kinds),
    /// It is absent where it was null, or the other way round.
    NullGone,
    NullNew,
    /// The elements of a list are in another order.
    Order,
}

impl Difference {
    /// Whether only texts differ, other than words.
    fn is_prose(&self) -> bool {
        let is_text = |kind: &Kind| match kind.bare() {
            Kind::Quoted(text) => !is_word(text.trim_matches('"')),
            other => *other == Kind::plain(STRING),
        };
        let others = |kinds: &Kinds| kinds.iter().filter(|kind| !is_text(kind)).cloned().collect::<Kinds>();
        matches!(self, Difference::Is(now, was) if others(now) == others(was))
    }
}

/// The kinds at each place, in the order of the lines. A place is the names from the label to it: `/messages/tool.status`; that of
/// the label is empty.
struct Places<'a>(Vec<(String, &'a Node)>);

impl Block {
    pub(super) fn tree_of(&self, label: &str) -> Option<&Tree> {
        self.trees.iter().find(|tree| tree.label() == label)
    }
}

impl Tree {
    /// Returns the names of all places.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        Places::of(self).0.into_iter().map(|(path, _)| path).collect()
    }
}

impl<'a> Places<'a> {
    fn of(tree: &'a Tree) -> Places<'a> {
        fn add<'a>(node: &'a Node, path: String, all: &mut Vec<(String, &'a Node)>) {
            let at = all.len();
            all.push((String::new(), node));
            node.below.iter().for_each(|below| add(below, format!("{path}/{}", below.name), all));
            all[at].0 = path;
        }
        let mut all = Vec::new();
        add(&tree.root, String::new(), &mut all);
        Places(all)
    }

    fn at(&self, path: &str) -> Option<&'a Node> {
        self.0.iter().find(|(known, _)| known == path).map(|(_, node)| *node)
    }

    /// Returns the outermost places at which this tree differs from an older one, the most telling first.
    fn differing(&self, old: &Places<'_>) -> Vec<(String, Difference)> {
        let is_null_gone = |of: &Node, by: &Node| by.optional && !of.optional && by.kinds == without_null(&of.kinds);
        let of_old = old.0.iter().filter_map(|(path, was)| match self.at(path) {
            None if was.kinds == [Kind::plain(NULL)] => Some((path, Difference::NullGone)),
            None => Some((path, Difference::Gone)),
            Some(now) if plain(&now.kinds, false) == plain(&was.kinds, false) => None,
            Some(now) if is_null_gone(was, now) => Some((path, Difference::NullGone)),
            Some(now) if is_null_gone(now, was) => Some((path, Difference::NullNew)),
            Some(now) if without_orders(&now.kinds) == without_orders(&was.kinds) => Some((path, Difference::Order)),
            Some(now) => Some((path, Difference::Is(now.shown_beside(&was.kinds), was.kinds.clone()))),
        });
        let is_new = |(path, _): &&(String, _)| old.at(path).is_none();
        let of_new = self.0.iter().filter(is_new).map(|(path, _)| (path, Difference::New));
        let mut places: Vec<(String, Difference)> = Vec::new();
        for (path, difference) in of_old.chain(of_new) {
            let is_below = |above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
            if !places.iter().any(|(above, _)| is_below(above)) {
                places.push((path.clone(), difference));
            }
        }
        self.rename(old, &mut places);
        // The order is only there if numbers that count differ beside it. Which elements a list has says more than what these have. One that is longer or shorter may only have others of the same kinds.
        let is_named = |kind: &Kind| matches!(kind, Kind::Id(Id::Named(_)));
        places.sort_by_key(|(_, difference)| match difference {
            Difference::Order => (false, 0),
            // Prices follow from tokens.
            Difference::Is(now, was) if now.iter().any(is_named) || was.iter().any(Kind::is_tokens) => (false, 0),
            Difference::Is(_, was) if matches!(was[..], [Kind::From(_)]) => (false, 2),
            Difference::Is(now, was) if plain(now, true) == plain(was, true) => (difference.is_prose(), 2),
            difference => (difference.is_prose(), 1),
        });
        places
    }

    /// Joins a key that is gone and a new one to a renamed key, if no other key of the object is of that kind.
    fn rename(&self, old: &Places<'_>, places: &mut Vec<(String, Difference)>) {
        let parent = |path: &str| path.rfind('/').map(|at| path[..at].to_owned());
        let of = |wanted: Difference, places: &[(String, Difference)]| -> Vec<String> {
            places.iter().filter(|(_, it)| *it == wanted).map(|(path, _)| path.clone()).collect()
        };
        let (gone, come) = (of(Difference::Gone, places), of(Difference::New, places));
        // Texts and times are held at the places that the golden names, which is not the new one.
        let scalar = |node: Option<&Node>| node.map(|node| scalars(&node.kinds));
        for was in &gone {
            let alike = |a: &String, b: &String| parent(b) == parent(a) && scalar(old.at(b)) == scalar(self.at(a));
            let found: Vec<&String> = come.iter().filter(|is| alike(is, was)).collect();
            if let [is] = found[..]
                && gone.iter().filter(|other| alike(is, other)).count() == 1
            {
                places.retain(|(path, _)| path != is);
                if let Some((_, difference)) = places.iter_mut().find(|(path, _)| path == was) {
                    *difference = Difference::Renamed(is.clone());
                }
            }
        }
    }
}

impl Node {
    /// The kinds, with the run's value in place of a type where other kinds are no type: a golden holds values there.
    fn shown_beside(&self, others: &[Kind]) -> Kinds {
        let is_one = |kind: &Kind, of: &[&str]| of.iter().any(|of| *kind == Kind::plain(of));
        let is_type = |of: &Kind| is_one(of, &[STRING, NUMBER, "boolean", "object"]);
        let sample = self.sample.0.as_ref().filter(|_| !others.iter().any(is_type));
        let shown = |kind: &Kind| sample.filter(|_| is_one(kind, &[STRING, NUMBER])).unwrap_or(kind).clone();
        self.kinds.iter().map(shown).collect()
    }
}

const NULL: &str = "null";

fn without_null(kinds: &[Kind]) -> Kinds {
    kinds.iter().filter(|kind| **kind != Kind::plain(NULL)).cloned().collect()
}

fn scalars(kinds: &[Kind]) -> BTreeSet<String> {
    kinds.iter().map(scalar_of).collect()
}

/// What a kind is where it is not held.
fn scalar_of(kind: &Kind) -> String {
    match kind {
        Kind::Time(form, _) if !form.starts_with("yyyy") => NUMBER.to_owned(),
        kind if kind.is_number() || matches!(kind, Kind::From(_)) => NUMBER.to_owned(),
        Kind::Quoted(_) | Kind::More(_) | Kind::Time(..) | Kind::Id(_) | Kind::Short(_) => STRING.to_owned(),
        Kind::Derived(kind) | Kind::Whole(kind, _) => scalar_of(kind),
        other => other.to_string(),
    }
}

/// Returns kinds without the numbers of ids and how many there are, sorted; and on demand without the lengths of lists and what
/// counts their elements.
fn plain(kinds: &[Kind], without_lengths: bool) -> Kinds {
    let mut plain = kinds.to_vec();
    change(&mut plain, &|kinds| {
        for kind in kinds.iter_mut() {
            match kind {
                Kind::Id(Id::Named(_)) => {}
                Kind::Id(id) | Kind::Short(id) => *id = Id::One,
                Kind::From(_) if without_lengths => *kind = Kind::plain(NUMBER),
                Kind::List(list) if without_lengths => (list.range, list.total) = (None, None),
                _ => {}
            }
        }
        // The kinds of one place are sorted by their texts, and so by the numbers.
        kinds.sort_by_cached_key(ToString::to_string);
        kinds.dedup();
    });
    plain
}

/// Returns the changes of the trees of a response, one for each label. `new_name` returns what the run calls a label.
pub(super) fn changes<'a>(old: &'a Block, new: &Block, new_name: &dyn Fn(&'a str) -> &'a str) -> Vec<Change> {
    let both = old.trees.iter().filter_map(|was| Some((was, new.tree_of(new_name(was.label()))?)));
    both.filter_map(|(was, is)| of_label(Subject::of(old, was.label()), was, is)).collect()
}

/// Returns the change of a place of a label that has everything that it had, and another kind beside it.
pub(super) fn added(old: &Block, was: &Tree, is: &Tree) -> Option<Change> {
    let is_more = |(_, difference): &(String, Difference)| matches!(difference, Difference::Is(now, was) if was.iter().all(|kind| now.contains(kind)));
    let places = Places::of(is).differing(&Places::of(was)).into_iter().filter(is_more).collect::<Vec<_>>();
    told(&Subject::of(old, was.label()), &places)
}

fn of_label(subject: Subject, was: &Tree, is: &Tree) -> Option<Change> {
    let is_renamed = was.label() != is.label();
    let mut places = Places::of(is).differing(&Places::of(was));
    // What is held is held under the old name of a renamed event.
    places.retain(|(_, it)| !matches!(it, Difference::Is(is, was) if is_renamed && scalars(is) == scalars(was)));
    if places.is_empty() {
        return (is.whole.is_some() && was.whole != is.whole).then(|| Change::new(What::Hash, subject, "hash"));
    }
    told(&subject, &places)
}

/// Tells of the first of these places.
fn told(subject: &Subject, places: &[(String, Difference)]) -> Option<Change> {
    let ((path, difference), more) = places.split_first()?;
    let change = |what| Change::new(what, subject.clone(), path);
    let found = match difference {
        Difference::Gone => change(What::Shape).between("it", ""),
        Difference::NullGone => change(What::NullGone),
        Difference::NullNew => change(What::NullNew),
        Difference::New => change(What::Shape).between("", "it"),
        Difference::Renamed(is) => change(What::ShapeRenamed).between("", is),
        Difference::Order => change(What::Order),
        Difference::Is(now, was) if matches!((&was[..], &now[..]), ([Kind::From(_)], [Kind::Plain(now)]) if now != NUMBER) => {
            change(What::Counts).between(Printed(was).to_string(), Printed(now).to_string())
        }
        Difference::Is(now, was) => {
            let (was, now) = (of_this_recording(was), of_this_recording(now));
            let is_no_later = was.strip_prefix(now.strip_suffix(NOW).unwrap_or(&now)) == Some(LATER);
            let (was, now) = if is_no_later { (LATER.trim(), "no later") } else { (&*was, &*now) };
            change(What::Shape).between(was, now)
        }
    };
    let name = path.rsplit(['/', '.']).next().unwrap_or_default();
    let same = format!("{:?} {name} {} {}", found.what, found.before, found.now);
    let is_less = places.iter().all(|(_, it)| matches!(it, Difference::Gone | Difference::NullGone));
    let same = if more.is_empty() && !path.is_empty() { same } else { String::new() };
    let others: Vec<String> = [": ", ", "].iter().zip(more).map(|(by, (path, _))| format!("{by}`{path}`")).collect();
    let others = others.concat() + if more.len() > 2 { ", …" } else { "" };
    Some(Change { more: more.len(), others, is_less, same, is_prose: difference.is_prose(), ..found })
}

/// A place of a golden at which ids stand: the label, or the answer if it is no stream, and the path.
type Place = (Subject, String);

/// Finds what differs if two goldens differ only in their ids, or by what follows from them: how many there are at a place, or which
/// places have the same. If events `moved`, they are numbered anew, which is no difference.
pub(super) fn different_ids(old: &[Block], new: &[Block], suspected: Option<&Place>, moved: bool) -> Option<Change> {
    let at = |(subject, path): &Place| match path.as_str() {
        "" => subject.words(),
        path => format!("`{path}` of {}", subject.words()),
    };
    let (was, is) = (Ids::of(old), Ids::of(new));
    let changed: Vec<&(Place, Place)> = was.links.symmetric_difference(&is.links).collect();
    // The place that takes part in the most changes is the one that changed.
    let times = |place: &Place| changed.iter().filter(|(a, b)| a == place || b == place).count();
    let lost_and_got = was.links.difference(&is.links).chain(is.links.difference(&was.links));
    let worst = lost_and_got
        .flat_map(|(a, b)| [a, b])
        .max_by_key(|place| (suspected == Some(place), times(place), was.count(place) != is.count(place)));
    let Some(place) = worst else {
        let differs = |(at, before): (&(usize, Place), &Kinds)| {
            let is_it = |now: &&Kinds| if moved { was.count(&at.1) != is.count(&at.1) } else { *now != before };
            let now = is.kinds.get(at).filter(is_it)?;
            let (subject, path) = at.1.clone();
            let is_one = count(before) > 1 && count(now) == 1 && !path.contains("[]");
            if is_one && matches!(subject, Subject::Event(_)) {
                return Some(Change::new(What::Ids, subject, path).between("", EACH_OTHER));
            }
            Some(Change::new(What::Shape, subject, path).between(Printed(before).to_string(), Printed(now).to_string()))
        };
        // An id that is sent in place of another one leaves that one alone at other places.
        let is_alone = |change: &Change| change.now.split(" | ").any(|kind| kind == "id" || kind.ends_with(" ids"));
        return was.kinds.iter().filter_map(differs).min_by_key(is_alone);
    };
    let partner = |links: &BTreeSet<(Place, Place)>, without: &BTreeSet<(Place, Place)>| {
        let (a, b) = links.difference(without).find(|(a, b)| a == place || b == place)?;
        Some(if a == place { b.clone() } else { a.clone() })
    };
    let (before, now) = (partner(&was.links, &is.links), partner(&is.links, &was.links));
    let now = now.filter(|now| before.is_none() || before.as_ref() != Some(now) && now != place);
    let ids = |of: Option<&Place>| match of {
        None => String::new(),
        Some(of) if of == place => EACH_OTHER.to_owned(),
        Some(of) => at(of),
    };
    let change = Change::new(What::Ids, place.0.clone(), &place.1);
    Some(change.between(ids(before.as_ref()), ids(now.as_ref())))
}

/// The most numbers of one place that are looked at: a golden may say `id 1..4000000000`.
const MOST: usize = 10_000;

/// Where ids stand in a golden.
#[derive(Default)]
struct Ids {
    /// The pairs of places that have an id in common. A place that has an id several times is paired with itself.
    links: BTreeSet<(Place, Place)>,
    /// What stands at the places that have ids, by response.
    kinds: BTreeMap<(usize, Place), Kinds>,
}

impl Ids {
    fn of(blocks: &[Block]) -> Ids {
        let mut ids = Ids::default();
        let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
        for (nth, block) in blocks.iter().enumerate() {
            for tree in &block.trees {
                for (path, Node { kinds, .. }) in Places::of(tree).0 {
                    let place = (Subject::of(block, tree.label()), path);
                    let numbers = each_id(kinds).into_iter().filter_map(|id| match id {
                        Id::Numbered(first, last) => Some(*first..=*last),
                        _ => None,
                    });
                    numbers.flatten().take(MOST).for_each(|id| places.entry(id).or_default().push(place.clone()));
                    if !each_id(kinds).is_empty() {
                        ids.kinds.insert((nth, place), kinds.clone());
                    }
                }
            }
        }
        for of_one in places.values() {
            let distinct: BTreeSet<&Place> = of_one.iter().collect();
            for a in &distinct {
                let others = distinct.iter().filter(|b| a < b || distinct.len() == 1);
                ids.links.extend(others.map(|b| ((*a).clone(), (*b).clone())));
            }
        }
        ids
    }

    /// How many ids stand at a place.
    fn count(&self, place: &Place) -> usize {
        let there = self.kinds.iter().filter(|((_, at), _)| at == place);
        there.fold(0, |all, (_, kinds)| count(kinds).saturating_add(all))
    }
}

/// How many ids kinds have.
fn count(kinds: &[Kind]) -> usize {
    let many = |id: &Id| match id {
        Id::One | Id::Named(_) => 1,
        Id::Several(many) | Id::Known(many) => *many,
        Id::Numbered(first, last) => last.saturating_sub(*first).saturating_add(1),
    };
    each_id(kinds).into_iter().fold(0, |all, id| many(id).saturating_add(all))
}

/// Returns the ids in kinds that have no name: those of `id 1..3 | id 7`.
fn each_id(kinds: &[Kind]) -> Vec<&Id> {
    let mut ids = Vec::new();
    for kind in kinds {
        kind.each(&mut |kind| {
            if let Kind::Id(id) | Kind::Short(id) = kind {
                ids.push(id);
            }
        });
    }
    ids.retain(|id| !matches!(id, Id::Named(_)));
    ids
}

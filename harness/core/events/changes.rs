//! Describes what changed between two goldens. Pure.
//!
//! A golden is read back into its parts, and each part is compared in its own way: `head` has status, content type and headers,
//! `sequence` the events, which are aligned, `trees` the shapes of their payloads, and `values` what a golden shows of an event.
//! Within one response an earlier part hides the later ones: a different number of events changes every tree.

use std::collections::{BTreeMap, BTreeSet};

mod head;
mod sequence;
mod trees;
mod values;

use super::written::{Written, WrittenEvent, read};
use retake_base::cause::{Cause, CauseKind};
use retake_base::text::counted;
use sequence::Aligned;
use trees::{Tree, different_ids};

/// The largest number of characters of a value in a description.
const VALUE: usize = 40;

/// One change between two goldens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The description, for the first line of a failure.
    pub cause: Cause,
    /// Whether the change only removes something, as when the system did less.
    pub is_less: bool,
}

/// Returns the changes from a golden to the text of a run, in the order of the responses. Empty if they are the same.
pub fn changes(golden: &str, run: &str) -> Vec<Change> {
    if golden.trim_end() == run.trim_end() {
        return Vec::new();
    }
    let (old, new) = (read(golden), read(run));
    let (old_trees, new_trees) = (Tree::all(&old), Tree::all(&new));
    let mut found = Found::default();
    for (index, (was, is)) in old.iter().zip(&new).enumerate() {
        found.compare((was, &old_trees[index]), (is, &new_trees[index]));
    }
    for missing in old.iter().skip(new.len()) {
        found.say(CauseKind::EventMissing, format!("the response to `{}` is missing", missing.request));
    }
    for extra in new.iter().skip(old.len()) {
        found.say(CauseKind::EventExtra, format!("the response to `{}` is not in the golden", extra.request));
    }
    // Ids are numbered through a whole golden, so any other change may number them anew. But if the ids of a text's pieces
    // changed, the pieces are put together differently.
    let of_pieces = match &found.0[..] {
        [ChangeAt { by: Some(by), place, .. }] => Some((place.0.clone(), by.clone())),
        _ => None,
    };
    if found.0.is_empty() || of_pieces.is_some() {
        let ids = different_ids((&old, &old_trees), (&new, &new_trees), of_pieces.as_ref());
        if let Some(ids) = ids.filter(|ids| of_pieces.as_ref().is_none_or(|place| ids.place == *place)) {
            found = Found(vec![ids]);
        }
    }
    if found.0.is_empty() {
        found.say(CauseKind::EventShape, "the run differs from the golden".to_owned());
    }
    found.changes()
}

/// Like [`changes`], for a run that broke off. Only what came before the break is compared, so nothing after it counts as
/// missing. `came` has the names of the events in the response that broke off.
pub fn changes_until_break(golden: &str, run: &str, came: &[&str]) -> Vec<Change> {
    let mut found = Found::default();
    let (old, new) = (read(golden), read(run));
    let (old_trees, new_trees) = (Tree::all(&old), Tree::all(&new));
    let mut rest: Vec<usize> = (0..old.len()).collect();
    for (is, trees) in new.iter().zip(&new_trees) {
        let Some(at) = rest.iter().position(|index| old[*index].request == is.request) else { continue };
        let index = rest.remove(at);
        found.compare((&old[index], &old_trees[index]), (is, trees));
    }
    let known = |name: &str| rest.iter().any(|index| old[*index].events.iter().any(|event| event.label == name));
    if rest.iter().any(|index| !old[*index].events.is_empty()) {
        for name in came.iter().filter(|name| !known(name)) {
            found.say(CauseKind::EventExtra, format!("the event `{name}` came, which the golden lacks"));
        }
    }
    found.changes()
}

/// A change at a place. The same place in a later response shows the same change again.
struct ChangeAt {
    change: Change,
    /// The label and the place in its payload; empty for a change that has no place.
    place: (String, String),
    /// What is the same if the change is seen at other places too: the last name of the place, and what it is now.
    same: String,
    /// The number of other places that have the change too.
    more: usize,
    /// For a text in pieces, where the id is that tells its pieces from those of other texts.
    by: Option<String>,
}

impl ChangeAt {
    fn new(kind: CauseKind, place: (&str, &str), what: String) -> ChangeAt {
        let change = Change { cause: Cause::new(kind, what), is_less: kind == CauseKind::EventMissing };
        let place = (place.0.to_owned(), place.1.to_owned());
        ChangeAt { change, place, same: String::new(), more: 0, by: None }
    }
}

/// The changes found so far.
#[derive(Default)]
struct Found(Vec<ChangeAt>);

impl Found {
    fn say(&mut self, kind: CauseKind, what: String) {
        self.push(ChangeAt::new(kind, ("", ""), what));
    }

    fn push(&mut self, found: ChangeAt) {
        let is_there = |known: &ChangeAt| {
            known.change.cause == found.change.cause || (!known.place.0.is_empty() && known.place == found.place)
        };
        if self.0.iter().any(is_there) {
            return;
        }
        match self.0.iter_mut().find(|known| !found.same.is_empty() && known.same == found.same) {
            Some(known) => known.more += 1,
            None => self.0.push(found),
        }
    }

    fn changes(self) -> Vec<Change> {
        let told = |ChangeAt { mut change, more, .. }: ChangeAt| {
            if more > 0 {
                change.cause.what += &[", also at ", &counted(more, "other place")].concat();
            }
            change
        };
        self.0.into_iter().map(told).collect()
    }

    /// Compares two responses, in the order of what hides what.
    fn compare(&mut self, (old, old_trees): (&Written<'_>, &[Tree]), (new, new_trees): (&Written<'_>, &[Tree])) {
        if old.request != new.request {
            let what = format!("the request is `{}`, not `{}`", new.request, old.request);
            return self.say(CauseKind::EventShape, what);
        }
        let heads = head::changes(old, new);
        let is_other_body = heads.iter().any(|change| change.change.cause.kind == CauseKind::ContentType);
        for change in heads {
            self.push(change);
        }
        let aligned = Aligned::of(old, old_trees, new, new_trees);
        let mut changes = aligned.changes();
        if changes.iter().all(|change| change.change.cause.kind == CauseKind::EventRenamed) && !is_other_body {
            let trees = trees::changes(old, old_trees, new_trees, &|label| aligned.new_name(label).to_owned());
            let of_values = || values::changes(&aligned);
            changes.extend(if trees.is_empty() { of_values() } else { values::by_events(trees, &aligned) });
        }
        for change in changes {
            self.push(change);
        }
    }
}

/// The label of an answer that is not a stream.
const BODY: &str = "body";

/// Returns a description of a label, and the kind of its change: `of_event`, unless the label is a body's.
fn subject(of: &Written<'_>, label: &str, of_event: CauseKind) -> (CauseKind, String) {
    if label == BODY {
        (CauseKind::Body, format!("the body of `{}`", of.request))
    } else {
        (of_event, format!("the event `{label}`"))
    }
}

// Which events of two goldens stand in different places. The proof asks this to find what may vary.
/// Returns the names of the events whose positions differ between two goldens, and the names of those whose numbers differ.
pub fn moved_and_counted(one: &str, other: &str) -> (Vec<String>, Vec<String>) {
    let (mut moved, mut counted) = (BTreeSet::new(), BTreeSet::new());
    for (one, other) in read(one).iter().zip(&read(other)) {
        let (before, after) = (counts(&one.events), counts(&other.events));
        let varies = |label: &str| before.get(label) != after.get(label);
        counted.extend(before.keys().filter(|label| varies(label)).map(|label| (*label).to_owned()));
        let each = |written: &Written<'_>| -> Vec<(String, String)> {
            let events = written.events.iter().filter(|event| !varies(event.label));
            events.flat_map(|event| vec![(event.label.to_owned(), event.rest.to_owned()); event.times]).collect()
        };
        let (a, b) = (each(one), each(other));
        let differing = a.iter().zip(&b).filter(|(a, b)| a != b);
        moved.extend(differing.flat_map(|(a, b)| [a.0.clone(), b.0.clone()]));
    }
    (moved.into_iter().collect(), counted.into_iter().collect())
}

/// Returns the names of the events at which two goldens differ, and of their neighbours: events that change places with a run of
/// collapsed events are the same in both.
pub fn tangled(one: &str, other: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (one, other) in read(one).iter().zip(&read(other)) {
        let (a, b) = (one_by_one(one), one_by_one(other));
        let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let most = a.len().min(b.len()) - before;
        let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        if before + after == a.len().max(b.len()) {
            continue;
        }
        for events in [a, b] {
            let end = (events.len() - after + 1).min(events.len());
            names.extend(events[before.saturating_sub(1)..end].iter().map(|event| event.label.to_owned()));
        }
    }
    names.into_iter().collect()
}

/// Returns the events of a sequence, each as often as it repeats.
fn one_by_one<'a>(written: &Written<'a>) -> Vec<WrittenEvent<'a>> {
    let events = written.events.iter();
    events.flat_map(|event| vec![WrittenEvent { times: 1, ..event.clone() }; event.times]).collect()
}

fn counts<'a>(events: &[WrittenEvent<'a>]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.label).or_default() += event.times;
    }
    counts
}

#[cfg(test)]
mod tests;

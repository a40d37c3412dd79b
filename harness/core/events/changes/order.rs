//! Which events of two goldens stand in different places. The proof asks this to find what may vary.

use std::collections::{BTreeMap, BTreeSet};

use crate::events::written::{Written, WrittenEvent, read};

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

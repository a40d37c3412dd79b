//! The events of two responses, aligned: each event of the one is paired with the event of the other that it became, or has none.
//! So an event that is missing does not make all events after it look changed.

use std::collections::{BTreeMap, BTreeSet};

use super::trees::Tree;
use super::{BODY, ChangeAt, VALUE};
use crate::events::written::{Written, WrittenEvent};
use retake_base::cause::CauseKind;
use retake_base::text::{clipped, times};

/// What it costs to pair two events of one name that differ in this, or to leave an event alone. Two events are paired unless
/// leaving both alone, which costs twice [`ALONE`], lets more of the other events be equal.
const LENGTHS: u32 = 1;
const ALONE: u32 = 2;
const CONTENT: u32 = 3;
/// The most events of a response that are aligned, not counting what is the same at both ends: the cost grows with the square.
const ALIGNED: usize = 1500;

/// The label of events that have neither a name nor a type.
pub(super) const NAMELESS: &str = "message";

/// The values of a renamed event whose texts were not put together.
pub(super) const ANY: &[&str] = &["…"];

/// One event of a golden.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    pub(super) label: &'a str,
    /// The label that the event is compared by: for a renamed event, that of the golden.
    name: &'a str,
    /// The text after the label.
    pub(super) rest: &'a str,
    /// The same without the lengths of lists.
    pub(super) keys: String,
    pub(super) values: &'a [&'a str],
    is_late: bool,
    /// Whether the golden has one line for it and its neighbours. Then the lengths are those of all of them.
    pub(super) is_of_several: bool,
}

/// The events of two responses, aligned.
pub(super) struct Aligned<'a> {
    pub(super) of: &'a Written<'a>,
    old: Vec<Event<'a>>,
    new: Vec<Event<'a>>,
    /// The pairs, in order.
    both: Vec<(usize, usize)>,
    /// The events of the golden that have no pair, and those of the run.
    gone: Vec<usize>,
    come: Vec<usize>,
    /// The new name of each renamed event by its old one.
    renamed: BTreeMap<&'a str, &'a str>,
    endings: (&'a str, &'a str),
}

impl<'a> Aligned<'a> {
    pub(super) fn of(
        old: &'a Written<'a>,
        old_trees: &[Tree],
        new: &'a Written<'a>,
        new_trees: &[Tree],
    ) -> Aligned<'a> {
        let renamed = renamed((&old.events, old_trees), (&new.events, new_trees));
        let before = |label: &'a str| renamed.iter().find(|(_, now)| **now == label).map_or(label, |(was, _)| *was);
        let old_events = events(&old.events, |label| label);
        let mut new_events = events(&new.events, before);
        // The options of a golden name its own labels, so the renamed events are not collapsed any more.
        let collapsed = |name: &str| old.events.iter().any(|event| event.label == name && event.rest == "…");
        for event in new_events.iter_mut().filter(|event| event.label != event.name && collapsed(event.name)) {
            (event.rest, event.keys, event.values) = ("…", "…".to_owned(), ANY);
        }
        new_events.dedup_by(|next, event| next.rest == "…" && event.name == next.name && event.rest == "…");
        let (both, gone, come) = aligned(&old_events, &new_events);
        let endings = (old.ending, new.ending);
        Aligned { of: old, old: old_events, new: new_events, both, gone, come, renamed, endings }
    }

    /// Returns the pairs, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Event<'a>, &Event<'a>)> {
        self.both.iter().map(|(was, is)| (&self.old[*was], &self.new[*is]))
    }

    /// Returns what the events with this label are called in the run.
    pub(super) fn new_name<'b>(&'b self, label: &'b str) -> &'b str {
        self.renamed.get(label).copied().unwrap_or(label)
    }

    /// Returns what differs in the sequence: how the stream ends; events that were renamed, are missing, extra, or moved.
    pub(super) fn changes(&self) -> Vec<ChangeAt> {
        let mut found = Vec::new();
        let (was, is) = self.endings;
        if was != is {
            let how = |ending: &str| if ending == "broke off" { "breaks off" } else { "stays open" };
            let what = match is {
                "" => format!("the stream no longer {}", how(was)),
                is => format!("the stream now {}", how(is)),
            };
            found.push(ChangeAt::new(CauseKind::EventShape, ("", ""), what));
        }
        for (was, is) in &self.renamed {
            let what = format!("the event `{was}` is now called `{is}`");
            found.push(ChangeAt::new(CauseKind::EventRenamed, (was, "name"), what));
        }
        let before = found.len();
        let (mut moved, mut come) = (Vec::new(), self.come.clone());
        let mut gone = self.gone.clone();
        gone.retain(|was| {
            let is_it = |is: &usize| self.is_same(*was, *is, true);
            let at = come.iter().position(is_it).or_else(|| come.iter().position(|is| self.is_same(*was, *is, false)));
            moved.extend(at.map(|at| (*was, come.remove(at))));
            at.is_none()
        });
        let (old_counts, new_counts) = (counts(&self.old), counts(&self.new));
        let mut told = BTreeSet::new();
        let each = gone.iter().map(|at| (&self.old[*at], false)).chain(come.iter().map(|at| (&self.new[*at], true)));
        for (event, is_extra) in each {
            let name = self.name(event);
            let elsewhere = if is_extra { &self.old } else { &self.new };
            if event.rest == "…" && elsewhere.iter().any(|other| other.name == event.name) || !told.insert(name.clone())
            {
                continue;
            }
            let of = |counts: &BTreeMap<String, usize>| counts.get(&counted_by(event, &name)).copied().unwrap_or(0);
            let kind = if is_extra { CauseKind::EventExtra } else { CauseKind::EventMissing };
            let what = match (of(&old_counts), of(&new_counts)) {
                (_, 0) => format!("the event {name} did not come"),
                (0, _) => format!("the event {name} came, which the golden lacks"),
                (was, is) if was == is => continue,
                (was, is) => format!("the event {name} came {}, not {}", times(is), times(was)),
            };
            found.push(ChangeAt::new(kind, (event.label, "count"), what));
        }
        if found.len() == before {
            found.extend(self.moved(&moved));
        }
        if found.len() == before {
            // Pieces of one text stand in one line, wherever other events interrupt them.
            let collapsed = gone.first().map(|at| (&self.old[*at], "no longer comes")).or_else(|| {
                let at = come.first()?;
                Some((&self.new[*at], "also comes"))
            });
            found.extend(collapsed.map(|(event, how)| {
                let at = if how == "also comes" { self.place(*come.first().unwrap_or(&0)) } else { "there".to_owned() };
                let what = format!("the event `{}` {how} {at}", event.label);
                ChangeAt::new(CauseKind::EventOrder, (event.label, "order"), what)
            }));
        }
        found
    }

    /// Describes the events that came in a different place. Several of them are one change.
    fn moved(&self, moved: &[(usize, usize)]) -> Option<ChangeAt> {
        let real: Vec<&(usize, usize)> = moved.iter().filter(|(was, _)| self.old[*was].rest != "…").collect();
        let (was, is) = **real.first()?;
        let event = &self.old[was];
        let others = self.old.iter().filter(|other| other.label == event.label);
        // What only this event of its name has tells which one it is.
        let has_other_keys = others.clone().any(|other| other.keys != event.keys);
        let own_value = |value: &&&str| others.clone().filter(|other| other.values.contains(value)).count() == 1;
        let same_keys = others.clone().filter(|other| other.keys == event.keys).count();
        let more = match event.values.iter().find(own_value) {
            _ if has_other_keys && same_keys == 1 => format!(" with `{}`", clipped(event.rest, VALUE)),
            Some(value) => format!(" with `{}`", clipped(value, VALUE)),
            None if has_other_keys => format!(" with `{}`", clipped(event.rest, VALUE)),
            None => String::new(),
        };
        let place = self.place(is);
        let rest = if real.len() > 1 { format!(", and {} more", real.len() - 1) } else { String::new() };
        let what = format!("the event `{}`{more} came in a different place: {place}{rest}", event.label);
        Some(ChangeAt::new(CauseKind::EventOrder, (event.label, "order"), what))
    }

    /// Describes the place of an event of the run by the event before it.
    fn place(&self, at: usize) -> String {
        match at.checked_sub(1).map(|before| &self.new[before]) {
            None => "first".to_owned(),
            Some(before) => format!("after `{}`", before.label),
        }
    }

    /// Whether an event of the golden and one of the run are the same, apart from their places.
    fn is_same(&self, was: usize, is: usize, with_content: bool) -> bool {
        let (was, is) = (&self.old[was], &self.new[is]);
        let same_name = was.name == is.name && (was.label != NAMELESS || self.name(was) == self.name(is));
        same_name && (!with_content || was.keys == is.keys && was.values == is.values)
    }

    /// Names the events that are counted together: those of a label, but nameless events by their keys.
    fn name(&self, event: &Event<'_>) -> String {
        if event.label != NAMELESS || !event.rest.starts_with('{') {
            return format!("`{}`", event.label);
        }
        let differ = |events: &[Event<'_>]| {
            let of: BTreeSet<&str> =
                events.iter().filter(|event| event.label == NAMELESS).map(|event| event.keys.as_str()).collect();
            of.len() > 1
        };
        if differ(&self.old) || differ(&self.new) {
            format!("`{} {}`", event.label, event.keys)
        } else {
            format!("`{}`", event.label)
        }
    }
}

/// Returns the events of a sequence, each as often as it repeats. `name` returns the label by which they are compared.
fn events<'a>(written: &'a [WrittenEvent<'a>], name: impl Fn(&'a str) -> &'a str) -> Vec<Event<'a>> {
    let one = |event: &'a WrittenEvent<'a>| Event {
        label: event.label,
        name: name(event.label),
        rest: event.rest,
        keys: keys_of(event.rest),
        values: &event.values,
        is_late: event.is_late,
        is_of_several: event.times > 1,
    };
    written.iter().flat_map(|event| std::iter::repeat_n(one(event), event.times)).collect()
}

/// Returns the pairs, the events of `old` without a pair, and those of `new`.
fn aligned(old: &[Event<'_>], new: &[Event<'_>]) -> (Vec<(usize, usize)>, Vec<usize>, Vec<usize>) {
    let is_equal = |a: &Event<'_>, b: &Event<'_>| cost(a, b) == Some(0);
    let front = old.iter().zip(new).take_while(|(a, b)| is_equal(a, b)).count();
    let most = old.len().min(new.len()) - front;
    let back = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| is_equal(a, b)).count();
    let (of_old, of_new) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    let (a, b) = (&of_old[..of_old.len().min(ALIGNED)], &of_new[..of_new.len().min(ALIGNED)]);
    // For each pair of positions, what it costs to align everything from there on.
    let width = b.len() + 1;
    let mut costs = vec![0; (a.len() + 1) * width];
    let paired = |costs: &[u32], i: usize, j: usize| Some(cost(a.get(i)?, b.get(j)?)? + costs[(i + 1) * width + j + 1]);
    for i in (0..=a.len()).rev() {
        for j in (0..=b.len()).rev() {
            let alone = [
                (i < a.len()).then(|| costs[(i + 1) * width + j] + ALONE),
                (j < b.len()).then(|| costs[i * width + j + 1] + ALONE),
            ];
            let best = alone.into_iter().flatten().chain(paired(&costs, i, j)).min();
            costs[i * width + j] = best.unwrap_or(0);
        }
    }
    let mut both: Vec<(usize, usize)> = (0..front).map(|at| (at, at)).collect();
    let (mut gone, mut come, mut i, mut j) = (Vec::new(), Vec::new(), 0, 0);
    while i < a.len() || j < b.len() {
        let best = costs[i * width + j];
        if paired(&costs, i, j) == Some(best) {
            both.push((front + i, front + j));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && costs[(i + 1) * width + j] + ALONE == best {
            gone.push(front + i);
            i += 1;
        } else {
            come.push(front + j);
            j += 1;
        }
    }
    gone.extend(front + a.len()..front + of_old.len());
    come.extend(front + b.len()..front + of_new.len());
    both.extend((0..back).rev().map(|from_end| (old.len() - 1 - from_end, new.len() - 1 - from_end)));
    (both, gone, come)
}

/// Returns what it costs to pair two events; `None` if they cannot be the same event.
fn cost(a: &Event<'_>, b: &Event<'_>) -> Option<u32> {
    if a.name != b.name || a.is_late != b.is_late {
        return None;
    }
    Some(match () {
        () if b.values == ANY => 0,
        () if a.keys != b.keys || a.values != b.values => CONTENT,
        () if a.rest != b.rest => LENGTHS,
        () => 0,
    })
}

/// Finds the events that were renamed: the one name is gone, the other is new, and the payloads are alike.
fn renamed<'a>(
    (old, old_trees): (&'a [WrittenEvent<'a>], &[Tree]),
    (new, new_trees): (&'a [WrittenEvent<'a>], &[Tree]),
) -> BTreeMap<&'a str, &'a str> {
    let labels = |events: &'a [WrittenEvent<'a>]| -> Vec<&'a str> {
        let mut labels: Vec<&str> = Vec::new();
        for event in events {
            if !labels.contains(&event.label) && event.label != BODY {
                labels.push(event.label);
            }
        }
        labels
    };
    let (before, after) = (labels(old), labels(new));
    let count = |events: &[WrittenEvent<'_>], label: &str| -> usize {
        events.iter().filter(|event| event.label == label).map(|event| event.times).sum()
    };
    let rests = |events: &[WrittenEvent<'_>], label: &str| -> BTreeSet<String> {
        events.iter().filter(|event| event.label == label).map(|event| keys_of(event.rest)).collect()
    };
    let alike = |was: &str, is: &str| {
        let is_collapsed = rests(old, was).contains("…") != rests(new, is).contains("…");
        let (was_tree, is_tree) = (Tree::of_label(old_trees, was), Tree::of_label(new_trees, is));
        let same_tree = || was_tree.is_some_and(|was| is_tree.is_some_and(|is| was.paths() == is.paths()));
        let same_rest = !rests(old, was).is_disjoint(&rests(new, is));
        if is_collapsed { same_tree() } else { same_rest && count(old, was) == count(new, is) }
    };
    let mut come: Vec<&str> = after.iter().copied().filter(|label| !before.contains(label)).collect();
    let mut renamed = BTreeMap::new();
    for was in before.iter().copied().filter(|label| !after.contains(label)) {
        if let Some(at) = come.iter().position(|is| alike(was, is)) {
            renamed.insert(was, come.remove(at));
        }
    }
    renamed
}

fn counts(events: &[Event<'_>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.name.to_owned()).or_default() += 1;
        *counts.entry(format!("{} {}", event.name, event.keys)).or_default() += 1;
    }
    counts
}

/// Returns the key of [`counts`] for events that are named like this.
fn counted_by(event: &Event<'_>, name: &str) -> String {
    if name.contains(' ') { format!("{} {}", event.name, event.keys) } else { event.name.to_owned() }
}

/// Returns the keys of an event as they are written, without the lengths of lists.
pub(super) fn keys_of(rest: &str) -> String {
    let mut depth = 0;
    rest.chars()
        .filter(|c| {
            depth += usize::from(*c == '[');
            let kept = depth == 0;
            depth -= usize::from(*c == ']' && depth > 0);
            kept
        })
        .collect()
}

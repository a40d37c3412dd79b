//! The events of two responses, aligned: each event of the one is paired with the event of the other that it became, or has none.
//! So an event that is missing does not make all events after it look changed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, MOST, Subject, VALUE, What, is_body};
use crate::events::captured::Ending;
use crate::events::golden::{Block, EventLine, Shown, Top, Tree};
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
/// The mark that ends many streams.
const DONE: &str = "\"[DONE]\"";

/// One event of a golden.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    pub(super) label: &'a str,
    /// The label that the event is compared by: for a renamed event, that of the golden.
    name: &'a str,
    pub(super) top: &'a Top,
    /// The same without the lengths of lists.
    pub(super) keys: Top,
    pub(super) values: &'a [Shown],
    /// Whether it may have any values: those of a renamed event whose texts were not put together.
    pub(super) is_any: bool,
    is_late: bool,
    /// Whether the golden has one line for it and its neighbours. Then the lengths are those of all of them.
    pub(super) is_of_several: bool,
}

impl Event<'_> {
    fn is_collapsed(&self) -> bool {
        *self.top == Top::Collapsed
    }

    fn subject(&self) -> Subject {
        Subject::Event(self.label.to_owned())
    }
}

/// The events of two responses, aligned.
pub(super) struct Aligned<'a> {
    pub(super) of: &'a Block,
    old: Vec<Event<'a>>,
    new: Vec<Event<'a>>,
    /// The pairs, in order.
    both: Vec<(usize, usize)>,
    /// The events of the golden that have no pair, and those of the run.
    gone: Vec<usize>,
    come: Vec<usize>,
    /// The new name of each renamed event by its old one.
    renamed: BTreeMap<&'a str, &'a str>,
    endings: (Ending, Ending),
}

impl<'a> Aligned<'a> {
    pub(super) fn of(old: &'a Block, new: &'a Block) -> Aligned<'a> {
        let renamed = renamed(old, new);
        let before = |label: &'a str| renamed.iter().find(|(_, now)| **now == label).map_or(label, |(was, _)| *was);
        let old_events = events(&old.events, |label| label);
        let mut new_events = events(&new.events, before);
        // The options of a golden name its own labels, so the renamed events are not collapsed any more.
        let collapsed = |name: &str| old.events.iter().any(|event| event.label == name && event.top == Top::Collapsed);
        for event in new_events.iter_mut().filter(|event| event.label != event.name && collapsed(event.name)) {
            (event.top, event.keys, event.is_any) = (&Top::Collapsed, Top::Collapsed, true);
        }
        new_events.dedup_by(|next, event| next.is_collapsed() && event.name == next.name && event.is_collapsed());
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
    pub(super) fn changes(&self) -> Vec<Change> {
        let mut found = Vec::new();
        let (was, is) = self.endings;
        if was != is {
            let how = |ending| match ending {
                Ending::Ended => String::new(),
                Ending::Open => "stays open".to_owned(),
                Ending::BrokeOff => "breaks off".to_owned(),
                Ending::Closed(code) => format!("is closed with code {code}"),
            };
            found.push(Change::of_response(What::Ending).between(how(was), how(is)));
        }
        for (was, is) in &self.renamed {
            found.push(Change::new(What::Renamed, Subject::Event((*was).to_owned()), "name").between(*was, *is));
        }
        let before = found.len();
        let (mut moved, mut come, mut gone) = (Vec::new(), self.come.clone(), self.gone.clone());
        gone.retain(|was| {
            let is_it = |is: &usize| self.is_same(*was, *is, true);
            let at = come.iter().position(is_it).or_else(|| come.iter().position(|is| self.is_same(*was, *is, false)));
            moved.extend(at.map(|at| (*was, come.remove(at))));
            at.is_none()
        });
        let mut told = BTreeSet::new();
        let each = gone.iter().map(|at| (&self.old[*at], false)).chain(come.iter().map(|at| (&self.new[*at], true)));
        for (event, is_extra) in each {
            let with = self.tells_apart(event);
            let elsewhere = if is_extra { &self.old } else { &self.new };
            let is_there = event.is_collapsed() && elsewhere.iter().any(|other| other.name == event.name);
            if is_there || !told.insert((event.label, with.clone())) {
                continue;
            }
            let is_it = |other: &&Event<'_>| other.name == event.name && (with.is_empty() || other.keys == event.keys);
            let count = |events: &[Event<'_>]| events.iter().filter(is_it).count();
            let (was, is) = (count(&self.old), count(&self.new));
            if was == is {
                continue;
            }
            let said = |count| if count == 0 { String::new() } else { times(count) };
            let what = if is_extra { What::Extra } else { What::Missing };
            let change = Change { with, ..Change::new(what, event.subject(), "count") };
            found.push(change.between(said(was), said(is)));
        }
        if found.len() == before {
            found.extend(self.moved(&moved));
        }
        if found.len() == before {
            found.extend(self.moved_pieces());
        }
        found
    }

    /// Finds the events that came in a different place. Several of them are one change.
    fn moved(&self, moved: &[(usize, usize)]) -> Option<Change> {
        let real: Vec<&(usize, usize)> = moved.iter().filter(|(was, _)| !self.old[*was].is_collapsed()).collect();
        let (was, is) = **real.first()?;
        let event = &self.old[was];
        let others = self.old.iter().filter(|other| other.label == event.label);
        // What only this event of its name has tells which one it is.
        let has_other_keys = others.clone().any(|other| other.keys != event.keys);
        let with = |value: &Shown| others.clone().filter(|other| other.values.contains(value)).count();
        let own_value = |value: &&Shown| others.clone().count() > 1 && with(value) == 1;
        let same_keys = others.clone().filter(|other| other.keys == event.keys).count();
        let with = match event.values.iter().find(own_value) {
            Some(value) if !(has_other_keys && same_keys == 1) => value.to_string(),
            _ if has_other_keys => event.top.to_string(),
            _ => String::new(),
        };
        let change = Change::new(What::Moved, event.subject(), "order").between("", self.place(is, event.label));
        Some(Change { with: clipped(&with, VALUE).into_owned(), more: real.len() - 1, ..change })
    }

    /// Finds collapsed events that came in a different place: pieces of one text stand in one line, wherever other events
    /// interrupt them.
    fn moved_pieces(&self) -> Option<Change> {
        let mut pieces = self.old.iter().chain(&self.new).filter(|event| event.is_collapsed());
        pieces.find_map(|event| {
            let (was, is) = (places(&self.old, event.name), places(&self.new, event.name));
            let only = |a: &[String], b: &[String]| a.iter().find(|at| !b.contains(at)).cloned().unwrap_or_default();
            let (was, is) = (only(&was, &is), only(&is, &was));
            let what = match (&*was, &*is) {
                ("", "") => return None,
                (_, "") => What::CollapsedGone,
                ("", _) => What::CollapsedMoved,
                _ => What::Moved,
            };
            Some(Change::new(what, event.subject(), "order").between(was, is))
        })
    }

    /// Describes the place of an event of the run by the event before it, which has a number if its label is that of the event.
    fn place(&self, at: usize, label: &str) -> String {
        match at.checked_sub(1).map(|before| &self.new[before]) {
            None => "first".to_owned(),
            Some(before) if before.label == label && label != NAMELESS => {
                format!("after `{label}` ({} of {})", count(label, &self.new[..at]), count(label, &self.new))
            }
            Some(before) => format!("after `{}`", format!("{} {}", before.label, self.tells_apart(before)).trim()),
        }
    }

    /// Whether an event of the golden and one of the run are the same, apart from their places.
    fn is_same(&self, was: usize, is: usize, with_content: bool) -> bool {
        let (was, is) = (&self.old[was], &self.new[is]);
        let apart = || self.tells_apart(was) == self.tells_apart(is) && was.label == is.label;
        let same_name = was.name == is.name && (was.label != NAMELESS || apart());
        same_name && (!with_content || was.keys == is.keys && was.values == is.values)
    }

    /// Returns what tells events apart that are counted together: those of a label, but nameless events by their keys. Empty if
    /// the label does.
    fn tells_apart(&self, event: &Event<'_>) -> String {
        let differ = |events: &[Event<'_>]| {
            let mut of = events.iter().filter(|event| event.label == NAMELESS).map(|event| &event.keys);
            let first = of.next();
            of.any(|keys| Some(keys) != first)
        };
        let is_by_keys = event.label == NAMELESS && matches!(event.top, Top::Keys(_));
        let is_done = event.label == NAMELESS && matches!(event.top, Top::Word(word) if word == DONE);
        let by_keys = is_done || is_by_keys && (differ(&self.old) || differ(&self.new));
        if by_keys { event.keys.to_string() } else { String::new() }
    }
}

/// How many events have a name.
fn count(name: &str, events: &[Event<'_>]) -> usize {
    events.iter().filter(|event| event.name == name).count()
}

/// Describes the places of collapsed events by the events before them, each with its number if there are several of its name.
fn places(events: &[Event<'_>], name: &str) -> Vec<String> {
    let of_name = events.iter().enumerate().filter(|(_, event)| event.name == name);
    let place = |(at, _): (usize, &Event<'_>)| match events[..at].iter().rfind(|before| before.name != name) {
        None => "first".to_owned(),
        Some(Event { name: label, .. }) if count(label, events) == 1 => format!("after `{label}`"),
        Some(Event { name: label, .. }) => {
            format!("after `{label}` ({} of {})", count(label, &events[..at]), count(label, events))
        }
    };
    of_name.map(place).collect()
}

/// Returns the events of a sequence, each as often as it repeats. `name` returns the label by which they are compared.
fn events<'a>(lines: &'a [EventLine], name: impl Fn(&'a str) -> &'a str) -> Vec<Event<'a>> {
    let one = |EventLine { label, top, times, shown: values, is_late }: &'a EventLine| {
        let (name, keys, is_of_several) = (name(label), top.without_lengths(), *times > 1);
        Event { label, name, top, keys, values, is_any: false, is_late: *is_late, is_of_several }
    };
    lines.iter().flat_map(|event| std::iter::repeat_n(one(event), event.times.min(MOST))).collect()
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
            costs[i * width + j] = alone.into_iter().flatten().chain(paired(&costs, i, j)).min().unwrap_or(0);
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
        () if b.is_any => 0,
        () if a.keys != b.keys || a.values != b.values => CONTENT,
        () if a.top != b.top => LENGTHS,
        () => 0,
    })
}

/// Finds the events that were renamed: the one name is gone, the other is new, and the payloads are alike.
fn renamed<'a>(old: &'a Block, new: &'a Block) -> BTreeMap<&'a str, &'a str> {
    let (before, after) = (old.labels(), new.labels());
    let of = |of: &'a Block, label: &str| of.events.iter().filter(|it| it.label == label).collect::<Vec<_>>();
    let alike = |was: &str, is: &str| {
        let (was_events, is_events) = (of(old, was), of(new, is));
        let is_collapsed = |events: &[&EventLine]| events.iter().any(|event| event.top == Top::Collapsed);
        if is_collapsed(&was_events) != is_collapsed(&is_events) {
            let paths = |block: &Block, label| block.tree_of(label).map(Tree::paths);
            return paths(old, was).is_some_and(|was| Some(was) == paths(new, is));
        }
        let count = |events: &[&EventLine]| events.iter().map(|event| event.times).sum::<usize>();
        let keys: Vec<Top> = was_events.iter().map(|event| event.top.without_lengths()).collect();
        let has_same = is_events.iter().any(|event| keys.contains(&event.top.without_lengths()));
        has_same && count(&was_events) == count(&is_events)
    };
    let mut come: Vec<&str> = after.iter().copied().filter(|label| !before.contains(label)).collect();
    let mut renamed = BTreeMap::new();
    for was in before.iter().copied().filter(|label| !after.contains(label)) {
        let Some(at) = come.iter().position(|is| alike(was, is)) else { continue };
        renamed.insert(was, come.remove(at));
    }
    renamed
}

impl Block {
    /// Returns the labels of its events, each once.
    fn labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for event in &self.events {
            if !labels.contains(&&*event.label) && !is_body(&event.label) {
                labels.push(&event.label);
            }
        }
        labels
    }
}

impl Top {
    pub(in crate::events) fn without_lengths(&self) -> Top {
        match self {
            Top::Keys(keys) => Top::Keys(keys.iter().map(|(key, _)| (key.clone(), None)).collect()),
            Top::List(_) => Top::List(String::new()),
            other => other.clone(),
        }
    }
}
